import { useReactFlow } from "@xyflow/react";
import { type KeyboardEvent, useEffect } from "react";
import { t, tn } from "../../lang";
import { complain, composing, say } from "../../ui";
import { fitAll, layOut, openAdd } from "./canvas";
import {
	type Definition,
	edgeKey,
	entering,
	leaving,
	nodeOf,
	type Point,
	part,
	partIn,
	paste,
	remove,
} from "./definition";
import { isDetached } from "./kinds";
import { placed } from "./layout";
import { edit, editor, redo, select, setEditor, undo } from "./store";
import { replayNow } from "./sync";

/** writing tells whether a key belongs to somebody who writes. */
const writing = (target: EventTarget | null): boolean =>
	target instanceof HTMLElement &&
	(target.isContentEditable || Boolean(target.closest("input, textarea, select, [data-editor], [role=combobox]")));

/** beside is the node that an arrow leads to. */
function beside(draft: Definition, id: string, arrow: string): string | undefined {
	if (arrow === "ArrowRight") return leaving(draft, id)[0]?.target ?? nearest(draft, id, arrow);
	if (arrow === "ArrowLeft") return entering(draft, id)[0]?.source ?? nearest(draft, id, arrow);
	return nearest(draft, id, arrow);
}

function nearest(draft: Definition, id: string, arrow: string): string | undefined {
	const from = nodeOf(draft, id)?.position ?? { x: 0, y: 0 };
	const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[arrow]!;
	let best: string | undefined;
	let least = Number.POSITIVE_INFINITY;
	for (const node of draft.nodes) {
		const x = (node.position?.x ?? 0) - from.x;
		const y = (node.position?.y ?? 0) - from.y;
		const along = x * dx! + y * dy!;
		if (node.id === id || along <= 0) continue;
		const cost = along + 3 * Math.abs(x * dy! + y * dx!);
		if (cost < least) [best, least] = [node.id, cost];
	}
	return best;
}

/** copyText is what is copied of the selected nodes. */
export const copyText = (): string => JSON.stringify(part(editor().draft, editor().selected), null, 2);

/** pasteText adds nodes from a text. It tells whether there were any. */
export function pasteText(text: string): boolean {
	const from = partIn(text);
	if (!from || from.nodes.length === 0) return false;
	let ids: string[] = [];
	edit((draft) => {
		const [next, made] = paste(draft, placed(from));
		ids = made;
		return made.length > 0 ? next : draft;
	});
	select(ids);
	return true;
}

/** connectFrom asks to which step a node is to lead, if it may lead to any. */
export function connectFrom(id: string, screen: Point): void {
	const node = nodeOf(editor().draft, id);
	if (!node) return;
	if (node.type === "end") say(t("Nothing follows an end."));
	else if (isDetached(node)) say(t("Nothing follows a script that nobody waits for."));
	else setEditor({ adding: { kind: "connect", from: id, screen } });
}

function removeChosen(edges: ReadonlySet<string>): void {
	const { selected } = editor();
	if (selected.length === 0 && edges.size === 0) return;
	edit((draft) => {
		const without = edges.size > 0 ? { ...draft, edges: draft.edges.filter((e) => !edges.has(edgeKey(e))) } : draft;
		return remove(without, selected);
	});
	const { draft } = editor();
	if (selected.some((id) => nodeOf(draft, id)?.type === "start")) say(t("The start stays: every workflow has one."));
	select(selected.filter((id) => nodeOf(draft, id)));
}

/** useCanvasKeys are the keys of the drawing, and of the whole page where that is what
 * people expect: undo, copy, paste, replay. */
export function useCanvasKeys(edges: ReadonlySet<string>): (event: KeyboardEvent) => void {
	const flow = useReactFlow();
	useEffect(() => {
		const onKey = (event: globalThis.KeyboardEvent) => {
			if (event.isComposing || document.querySelector("dialog[open]")) return;
			const mod = event.metaKey || event.ctrlKey;
			const target = event.target as HTMLElement;
			if (target.closest?.("[data-own-keys], [role=combobox]")) return;
			const key = event.key.toLowerCase();
			// Who writes undoes what was written, and nothing of the drawing.
			if (mod && (key === "z" || key === "y") && writing(target)) return;
			if (mod && key === "z") {
				event.preventDefault();
				event.shiftKey ? redo() : undo();
			} else if (mod && key === "y") {
				event.preventDefault();
				redo();
			} else if (mod && event.key === "Enter") {
				event.preventDefault();
				void replayNow().catch(complain);
			}
		};
		const onCopy = (event: ClipboardEvent) => {
			if (writing(event.target) || !window.getSelection()?.isCollapsed || editor().selected.length === 0) return;
			event.preventDefault();
			event.clipboardData?.setData("text/plain", copyText());
			const n = editor().selected.length;
			say(tn(n, "{n} step copied as JSON", "{n} steps copied as JSON"));
			if (event.type === "cut") removeChosen(new Set());
		};
		const onPaste = (event: ClipboardEvent) => {
			if (writing(event.target) || document.querySelector("dialog[open]")) return;
			const text = event.clipboardData?.getData("text/plain") ?? "";
			if (pasteText(text)) event.preventDefault();
			else if (text.trim().startsWith("{")) say(t("There are no steps in what was pasted."));
		};
		window.addEventListener("keydown", onKey);
		document.addEventListener("copy", onCopy);
		document.addEventListener("cut", onCopy);
		document.addEventListener("paste", onPaste);
		return () => {
			window.removeEventListener("keydown", onKey);
			document.removeEventListener("copy", onCopy);
			document.removeEventListener("cut", onCopy);
			document.removeEventListener("paste", onPaste);
		};
	}, []);

	return (event) => {
		if (composing(event) || writing(event.target)) return;
		const { selected, draft, readOnly } = editor();
		const last = selected.at(-1);
		const mod = event.metaKey || event.ctrlKey;
		const near = () => {
			const shown = last && document.querySelector(`[data-node="${CSS.escape(last)}"]`);
			const box = (shown || event.currentTarget).getBoundingClientRect();
			return shown ? { x: box.right + 12, y: box.top } : { x: box.left + 24, y: box.top + 24 };
		};
		const take = () => {
			event.preventDefault();
			event.stopPropagation();
		};
		if (event.key === "Tab" && !event.shiftKey && !mod && !readOnly && event.target === event.currentTarget) {
			take();
			openAdd(near());
		} else if (event.key.startsWith("Arrow") && !mod) {
			take();
			if (event.shiftKey && !readOnly) return moveBy(event.key);
			const to = last ? beside(draft, last, event.key) : draft.nodes.find((n) => n.type === "start")?.id;
			if (!to) return;
			select([to]);
			reveal(to);
		} else if (mod && event.key.toLowerCase() === "a") {
			take();
			select(draft.nodes.map((n) => n.id));
		} else if (mod && event.key.toLowerCase() === "d" && !readOnly) {
			take();
			pasteText(copyText());
		} else if (mod || event.altKey) return;
		else if (event.key === "Escape") {
			take();
			if (editor().refused || selected.length > 0) {
				setEditor({ refused: null });
				select([]);
			} else document.querySelector<HTMLElement>("[data-after-canvas]")?.focus();
		} else if (event.key === "1") fitAll(flow);
		else if (readOnly) return;
		else if (event.key === "Delete" || event.key === "Backspace") {
			take();
			removeChosen(edges);
		} else if (event.key === "d" && last) {
			take();
			pasteText(copyText());
		} else if (event.key === "F2" && last) {
			take();
			setEditor({ renaming: last });
		} else if (event.key === "c" && last) {
			take();
			connectFrom(last, near());
		} else if (event.key === "t") {
			take();
			layOut(flow);
		} else if (event.key === "Enter" && last) {
			take();
			document
				.querySelector<HTMLElement>(
					"[data-settings] input, [data-settings] textarea, [data-settings] select, [data-settings] [data-editor]",
				)
				?.focus();
		}
	};

	function reveal(id: string): void {
		const node = nodeOf(editor().draft, id);
		if (!node?.position) return;
		const { zoom } = flow.getViewport();
		const shown = document.querySelector(`[data-node="${CSS.escape(id)}"]`)?.getBoundingClientRect();
		const pane = document.querySelector("[data-canvas]")!.getBoundingClientRect();
		if (
			shown &&
			shown.left > pane.left &&
			shown.right < pane.right &&
			shown.top > pane.top &&
			shown.bottom < pane.bottom
		)
			return;
		void flow.setCenter(node.position.x + 92, node.position.y, { zoom, duration: 150 });
	}
}

function moveBy(arrow: string): void {
	const [dx, dy] = { ArrowRight: [16, 0], ArrowLeft: [-16, 0], ArrowDown: [0, 16], ArrowUp: [0, -16] }[arrow]!;
	const chosen = new Set(editor().selected);
	edit(
		(draft) => ({
			...draft,
			nodes: draft.nodes.map((n) =>
				chosen.has(n.id) && n.position ? { ...n, position: { x: n.position.x + dx!, y: n.position.y + dy! } } : n,
			),
		}),
		`move ${[...chosen].join(" ")}`,
	);
}
