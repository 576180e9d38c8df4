import {
	applyNodeChanges,
	Background,
	BackgroundVariant,
	type Connection,
	type EdgeChange,
	type FinalConnectionState,
	type FitViewOptions,
	MiniMap,
	type NodeChange,
	Panel,
	ReactFlow,
	type ReactFlowInstance,
	type ReactFlowProps,
	type Edge as RFEdge,
	type Node as RFNode,
	SelectionMode,
	useConnection,
	useReactFlow,
	useStore,
	type Viewport,
} from "@xyflow/react";
import { Maximize, Minus, Plus, Redo2, Undo2, WandSparkles } from "lucide-react";
import { memo, type MouseEvent as ReactMouseEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useStore as useZustand } from "zustand";
import { list, sentences, t } from "../../lang";
import { Button, Kbd, NotesPlace, say } from "../../ui";
import {
	type Definition,
	type Edge,
	edgeBy,
	edgeKey,
	edgeUnder,
	endWidth,
	moveOnto,
	type Node,
	nodeOf,
	placeAfter,
	stepWidth,
	wayOf,
} from "./definition";
import { Line, Refusal } from "./edge";
import { useCanvasKeys } from "./keys";
import { isDetached } from "./kinds";
import { tidy } from "./layout";
import { Step, useKindName } from "./node";
import { edit, editor, history, nameOf, redo, replayOf, select, setEditor, undo, useEditor } from "./store";
import { connect, tryEdge } from "./sync";
import "./canvas.css";

export type Flow = ReactFlowInstance<RFNode, RFEdge>;

/** drawn are the nodes of a draft as React Flow has them. Those that stay the same keep
 * their identity, so that only the others are drawn anew. */
function drawn(draft: Definition, selected: string[], before: RFNode[]): RFNode[] {
	const old = new Map(before.map((n) => [n.id, n]));
	const chosen = new Set(selected);
	return draft.nodes.map((node) => {
		const position = node.position ?? { x: 0, y: 0 };
		const was = old.get(node.id);
		if (was && was.position.x === position.x && was.position.y === position.y && was.selected === chosen.has(node.id))
			return was;
		return {
			...was,
			id: node.id,
			type: "step",
			position,
			selected: chosen.has(node.id),
			data: {},
			ariaLabel: nameOf(node),
		};
	});
}

function useNodes() {
	const draft = useEditor((s) => s.draft);
	const selected = useEditor((s) => s.selected);
	const [nodes, setNodes] = useState<RFNode[]>(() => drawn(draft, selected, []));
	const dragging = useRef(false);
	useEffect(() => {
		if (!dragging.current) setNodes((before) => drawn(draft, selected, before));
	}, [draft, selected]);
	const onNodesChange = useCallback((changes: NodeChange<RFNode>[]) => {
		const kept = changes.filter((change) => change.type !== "remove" && change.type !== "select");
		const choices = changes.filter((change) => change.type === "select");
		if (choices.length > 0) {
			const chosen = new Set(editor().selected);
			for (const change of choices) {
				if (change.selected) chosen.add(change.id);
				else chosen.delete(change.id);
			}
			select([...chosen]);
		}
		if (kept.length > 0) setNodes((before) => applyNodeChanges(kept, before));
	}, []);
	const onNodeDragStart = useCallback(() => {
		dragging.current = true;
	}, []);
	const flow = useReactFlow<RFNode, RFEdge>();
	const onNodeDragStop = useCallback(
		(_: unknown, __: RFNode, moved: RFNode[]) => {
			dragging.current = false;
			const places = new Map(moved.map((n) => [n.id, { x: Math.round(n.position.x), y: Math.round(n.position.y) }]));
			edit((draft) => {
				const stays = (n: Node) => {
					const to = places.get(n.id);
					return !to || (to.x === n.position?.x && to.y === n.position?.y);
				};
				if (draft.nodes.every(stays)) return draft;
				const next = {
					...draft,
					nodes: draft.nodes.map((n) => (stays(n) ? n : { ...n, position: places.get(n.id)! })),
				};
				const [one, ...more] = moved;
				return one && more.length === 0 ? droppedOn(next, draft, one, flow) : next;
			});
		},
		[flow],
	);
	return { nodes, onNodesChange, onNodeDragStart, onNodeDragStop };
}

/** droppedOn moves a step into the edge that it was dropped on. */
function droppedOn(draft: Definition, before: Definition, { id, position }: RFNode, flow: Flow): Definition {
	// In a large drawing a step covers edges by chance, and many steps would have to move up.
	const edge = draft.nodes.length <= 2 * part ? edgeUnder(draft, id, position) : undefined;
	const [source, node] = [edge && nodeOf(draft, edge.source), nodeOf(draft, id)];
	const next = edge ? moveOnto(before, id, edge) : before;
	if (next === before || !source || !node) return draft;
	setTimeout(() => fitAll(flow), 30);
	say(t("“{name}” follows “{other}” now. Undo brings it back.", { name: nameOf(node), other: nameOf(source) }));
	return next;
}

// How many nodes are drawn in a frame.
const part = 30;

/** useGrowing is how many nodes are drawn yet. Hundreds at once would hold the page up for
 * longer than a click may wait, so they come in parts. */
function useGrowing(all: number): number {
	const [drawn, setDrawn] = useState(all > 2 * part ? part : Number.POSITIVE_INFINITY);
	useEffect(() => {
		if (drawn === Number.POSITIVE_INFINITY) return;
		const more = () => setDrawn((n) => (n + part < all ? n + part : Number.POSITIVE_INFINITY));
		const frame = requestAnimationFrame(more);
		return () => cancelAnimationFrame(frame);
	}, [drawn, all]);
	return drawn;
}

/** boundsOf is where nodes are, also before they are drawn. */
function boundsOf(nodes: Node[]): { x: number; y: number; width: number; height: number } {
	const xs = nodes.map((n) => n.position?.x ?? 0);
	const ys = nodes.map((n) => n.position?.y ?? 0);
	const [x, y] = [Math.min(...xs), Math.min(...ys) - 32];
	const right = Math.max(...nodes.map((n, i) => xs[i]! + (n.type === "end" ? endWidth : stepWidth)));
	return { x, y, width: right - x, height: Math.max(...ys) + 32 - y };
}

// Names are read well from this zoom on, and just so from the lesser one.
const readable = 0.75;
const legible = 0.6;

/** showAll shows the whole drawing, also before all of it is drawn. In a narrow window, where
 * nobody could read that, it shows the start. */
function showAll(flow: Flow, duration?: number): void {
	const { nodes } = editor().draft;
	const pane = document.querySelector("[data-canvas]");
	const box = boundsOf(nodes);
	if (pane && pane.clientWidth < 640 && pane.clientWidth < box.width * readable) {
		const { x, y } = nodes.find((n) => n.type === "start")?.position ?? box;
		const middle = (pane.clientHeight - toolbar) / 2;
		void flow.setViewport({ x: 16 - x * readable, y: middle - y * readable, zoom: readable });
	} else if (nodes.length <= 2 * part) void flow.fitView({ ...whole, duration });
	else void flow.fitBounds(box, { padding: 0.1, duration });
}

/** keepInView shows the whole drawing if its names can be read then. Otherwise it moves the
 * drawing so that the selected step is in view, or the start, and returns to where. */
function keepInView(flow: Flow, duration?: number): Viewport | null {
	const { draft, selected } = editor();
	const pane = document.querySelector("[data-canvas]");
	const box = boundsOf(draft.nodes);
	const { x, y, zoom } = flow.getViewport();
	const room = pane && { width: pane.clientWidth, height: pane.clientHeight - toolbar };
	const fits = room && Math.min(room.width / (box.width * 1.1), room.height / (box.height * 1.1));
	if (!room || fits! >= legible || zoom < readable) {
		showAll(flow, duration);
		return null;
	}
	const one = nodeOf(draft, selected.at(-1) ?? "") ?? draft.nodes.find((n) => n.type === "start");
	const { x: left, y: middle } = one?.position ?? box;
	// From the edge of the window, as far as it must.
	const moved = (at: number, before: number, behind: number, room: number) =>
		at - before < 16 ? 16 + before - at : at + behind > room - 16 ? room - 16 - behind - at : 0;
	const to = readable;
	const [dx, dy] = [x * (to / zoom), y * (to / zoom)];
	const view = {
		x: dx + moved(left * to + dx, 0, stepWidth * to, room.width),
		y: dy + moved(middle * to + dy, 40 * to, 40 * to, room.height),
		zoom: to,
	};
	void flow.setViewport(view, { duration });
	return view;
}

/** useKeepInView shows the whole drawing again if it was in view and a step that is added,
 * or less room for it, would hide a part, and if there is half as much room again. */
function useKeepInView(flow: Flow): void {
	const nodes = useEditor((s) => s.draft.nodes);
	const width = useStore((s) => s.width);
	const height = useStore((s) => s.height);
	const before = useRef({ nodes, width, height });
	const due = useRef(false);
	/** Where the drawing was moved to, and the room in which all of it was in view before. */
	const moved = useRef<{ to: Viewport; width: number; height: number }>(undefined);
	useEffect(() => {
		const was = before.current;
		before.current = { nodes, width, height };
		const inView = (now: typeof was) => {
			const { x, y, zoom } = flow.getViewport();
			const box = boundsOf(now.nodes);
			return (
				box.x * zoom + x >= 0 &&
				box.y * zoom + y >= 0 &&
				(box.x + box.width) * zoom + x <= now.width &&
				(box.y + box.height) * zoom + y <= now.height - toolbar
			);
		};
		const resized = was.width !== width || was.height !== height;
		const stays = !resized && nodes.length <= was.nodes.length;
		const now = flow.getViewport();
		const back = moved.current;
		const isThere = back && Math.abs(now.x - back.to.x) + Math.abs(now.y - back.to.y) < 2 && now.zoom === back.to.zoom;
		const larger =
			resized &&
			was.width > 0 &&
			(width > 1.5 * was.width || (isThere && width >= back.width && height >= back.height));
		if (!due.current && !larger && (stays || !inView(was) || inView(before.current))) return;
		due.current = true;
		const timer = setTimeout(() => {
			due.current = false;
			const duration = resized ? undefined : 200;
			const to = keepInView(flow, duration);
			const room = larger ? undefined : (moved.current ?? was);
			// Where a drawing is that is shown whole is known once it is there.
			setTimeout(
				() => {
					moved.current = room && { to: to ?? flow.getViewport(), width: room.width, height: room.height };
				},
				(duration ?? 0) + 30,
			);
		}, 30);
		return () => clearTimeout(timer);
	}, [flow, nodes, width, height]);
}

/** useForbidden tells whether an edge that is being drawn is over a step that the server
 * does not allow. */
function useForbidden(): { forbidden: boolean; onReconnectStart: (_: unknown, edge: RFEdge) => void } {
	const over = useConnection(({ inProgress, fromHandle, toHandle }) => {
		if (!inProgress || !toHandle) return "";
		const [from, to] = fromHandle.type === "source" ? [fromHandle, toHandle] : [toHandle, fromHandle];
		return JSON.stringify([from.nodeId, from.id, to.nodeId]);
	});
	const drawing = useConnection((c) => c.inProgress);
	const replaced = useRef("");
	const [forbidden, setForbidden] = useState("");
	useEffect(() => {
		if (!drawing) replaced.current = "";
	}, [drawing]);
	useEffect(() => {
		if (!over) return;
		let here = true;
		const [source, sourceHandle, target] = JSON.parse(over) as [string, string, string];
		tryEdge(edgeOf({ source, sourceHandle, target, targetHandle: null }), edgeBy(editor().draft, replaced.current))
			.then(({ reason }) => here && setForbidden(reason ? over : ""))
			.catch(() => {}); // it is asked again when the edge is dropped
		return () => {
			here = false;
		};
	}, [over]);
	const onReconnectStart = useCallback((_: unknown, edge: RFEdge) => {
		replaced.current = edge.id;
	}, []);
	return { forbidden: over !== "" && forbidden === over, onReconnectStart };
}

const lines = new WeakMap<Edge, RFEdge>();

function useEdges(): RFEdge[] {
	const draft = useEditor((s) => s.draft);
	const refused = useEditor((s) => s.refused);
	const drawing = useMemo(() => {
		const seen = new Set<string>();
		return draft.edges.flatMap((edge): RFEdge[] => {
			const id = edgeKey(edge);
			const source = nodeOf(draft, edge.source);
			const target = nodeOf(draft, edge.target);
			if (seen.has(id) || !source || !target) return [];
			seen.add(id);
			const sourceHandle = isDetached(source) ? null : wayOf(source, edge);
			let line = lines.get(edge);
			const ariaLabel = edgeLabel(draft, edge);
			if (line?.sourceHandle !== sourceHandle || line.ariaLabel !== ariaLabel) {
				line = { id, type: "line", source: edge.source, target: edge.target, sourceHandle, ariaLabel };
				lines.set(edge, line);
			}
			return [line!];
		});
	}, [draft]);
	return useMemo(
		() =>
			refused
				? [
						...drawing,
						{
							id: "refused",
							type: "refusal",
							source: refused.edge.source,
							target: refused.edge.target,
							sourceHandle: refused.edge.sourceHandle || "out",
							ariaLabel: edgeLabel(draft, refused.edge),
							selectable: false,
							zIndex: 1,
						},
					]
				: drawing,
		[drawing, draft, refused],
	);
}

/** edgeLabel names an edge for people who do not see it. */
function edgeLabel(draft: Definition, { source, target }: Edge): string {
	const name = (id: string) => {
		const node = nodeOf(draft, id);
		return node ? nameOf(node) : id;
	};
	return t("From {source} to {target}", { source: name(source), target: name(target) });
}

const edgeOf = (c: Connection) => ({
	source: c.source,
	target: c.target,
	...(c.sourceHandle && c.sourceHandle !== "out" && { sourceHandle: c.sourceHandle }),
});

// The buttons at the bottom cover nothing of it.
const toolbar = 60;
const whole = { padding: { x: 0.1, top: 0.1, bottom: `${toolbar}px` }, maxZoom: 1 } satisfies FitViewOptions;

// React Flow compares what it is given by identity: what is made anew at each drawing makes
// it draw everything. So all that does not change is here.
const constant = {
	nodeTypes: { step: Step },
	edgeTypes: { line: Line, refusal: Refusal },
	onConnect: (c: Connection) => void connect(edgeOf(c)),
	onReconnect: (old: RFEdge, c: Connection) => {
		const was = edgeBy(editor().draft, old.id);
		if (was) void connect(edgeOf(c), was);
	},
	onPaneClick: () => setEditor({ refused: null, adding: null }),
	onNodeDoubleClick: (_: unknown, node: RFNode) => !editor().readOnly && setEditor({ renaming: node.id }),
	// A node is placed by the middle of its left side, so that a path is a straight line
	// however tall its nodes are.
	nodeOrigin: [0, 0.5],
	nodesFocusable: false,
	edgesFocusable: false,
	disableKeyboardA11y: true,
	deleteKeyCode: null,
	multiSelectionKeyCode: ["Shift", "Meta", "Control"],
	selectionKeyCode: "Shift",
	selectionMode: SelectionMode.Partial,
	panActivationKeyCode: null,
	zoomOnDoubleClick: false,
	elevateNodesOnSelect: false,
	minZoom: 0.02,
	maxZoom: 2,
	snapToGrid: true,
	snapGrid: [8, 8],
	connectionRadius: 28,
} satisfies ReactFlowProps;

/** Canvas is the drawing of the draft. */
export function Canvas() {
	const id = useEditor((s) => s.id);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const { nodes, onNodesChange, onNodeDragStart, onNodeDragStop } = useNodes();
	const [large] = useState(nodes.length > 2 * part);
	const growing = useGrowing(nodes.length);
	const edges = useEdges();
	const [chosenEdges, setChosenEdges] = useState<ReadonlySet<string>>(new Set());
	const shown = useMemo(
		() => (chosenEdges.size === 0 ? edges : edges.map((e) => (chosenEdges.has(e.id) ? { ...e, selected: true } : e))),
		[edges, chosenEdges],
	);
	const grown = useMemo(() => {
		if (growing >= nodes.length) return { nodes, edges: shown };
		const some = nodes.slice(0, growing);
		const ids = new Set(some.map((n) => n.id));
		return { nodes: some, edges: shown.filter((e) => ids.has(e.source) && ids.has(e.target)) };
	}, [nodes, shown, growing]);
	const flow = useReactFlow();
	const onKeyDown = useCanvasKeys(chosenEdges);
	useKeepInView(flow);
	const { forbidden, onReconnectStart } = useForbidden();

	const onConnectEnd = useCallback(
		(event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
			if (state.isValid || !state.fromNode || !("clientX" in event)) return;
			const screen = { x: event.clientX, y: event.clientY };
			// On a step, its whole body takes the edge; the server says whether it may.
			const onto = document.elementFromPoint(screen.x, screen.y)?.closest<HTMLElement>("[data-node]")?.dataset.node;
			if (onto === state.fromNode.id) return;
			if (onto || state.toNode) {
				const target = onto ?? state.toNode!.id;
				const sourceHandle = state.fromHandle?.id ?? null;
				const edge = edgeOf({ source: state.fromNode.id, sourceHandle, target, targetHandle: null });
				return void connect(edge).then((why) => {
					if (!why || nodeOf(editor().draft, target)?.type !== "start") return;
					setEditor({ refused: null }); // no edge is drawn to the start
					say(sentences(t("This edge was not drawn."), t("With it: {reason}", { reason: why })));
				});
			}
			const point = flow.screenToFlowPosition(screen);
			setEditor({
				adding: {
					kind: "add",
					screen,
					place: {
						at: { x: point.x, y: point.y },
						from: { id: state.fromNode.id, way: state.fromHandle?.id ?? "out" },
					},
				},
			});
		},
		[flow],
	);
	const onPaneContextMenu = useCallback(
		(event: MouseEvent | ReactMouseEvent) => {
			event.preventDefault();
			if (editor().readOnly) return;
			const screen = { x: event.clientX, y: event.clientY };
			setEditor({ adding: { kind: "add", screen, place: { at: flow.screenToFlowPosition(screen) } } });
		},
		[flow],
	);
	const onEdgesChange = useCallback((changes: EdgeChange[]) => {
		const choices = changes.filter((c) => c.type === "select");
		if (choices.length === 0) return;
		setChosenEdges((before) => {
			const after = new Set(before);
			for (const c of choices) c.selected ? after.add(c.id) : after.delete(c.id);
			return after;
		});
	}, []);
	// Another workflow begins in full view.
	// biome-ignore lint/correctness/useExhaustiveDependencies: id is what it waits for
	useEffect(() => {
		const timer = setTimeout(() => showAll(flow), 0);
		return () => clearTimeout(timer);
	}, [id, flow]);

	return (
		<section
			aria-label={t("Drawing of the workflow")}
			aria-describedby="drawing-help"
			data-canvas
			data-forbidden={forbidden || undefined}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing takes keys
			tabIndex={0}
			onKeyDown={onKeyDown}
			className="relative min-h-0 flex-1 overflow-hidden focus-visible:-outline-offset-2"
		>
			<p id="drawing-help" className="sr-only">
				{t(
					"Arrows move between steps, Tab adds a step, C connects, F2 renames, Delete removes, Enter goes to its settings, Escape leaves.",
				)}
			</p>
			<ReactFlow
				nodes={grown.nodes}
				edges={grown.edges}
				onNodesChange={onNodesChange}
				onNodeDragStart={onNodeDragStart}
				onNodeDragStop={onNodeDragStop}
				onEdgesChange={onEdgesChange}
				onConnectEnd={onConnectEnd}
				onReconnectStart={onReconnectStart}
				onPaneContextMenu={onPaneContextMenu}
				nodesDraggable={!readOnly}
				nodesConnectable={!readOnly}
				edgesReconnectable={!readOnly}
				fitView={!large}
				fitViewOptions={whole}
				{...constant}
			>
				<Background variant={BackgroundVariant.Dots} gap={24} size={1.2} />
				<Overview />
				<Tools flow={flow} />
			</ReactFlow>
			<Spoken />
			{/* The bars and panes below have controls that notes must not cover. */}
			<NotesPlace />
		</section>
	);
}

/** Overview is the whole drawing in small, once it does not fit. */
const Overview = memo(function Overview() {
	const many = useEditor((s) => s.draft.nodes.length > 8);
	const traced = useEditor(replayOf);
	const problems = useEditor((s) => s.problems);
	const wrong = useMemo(() => new Set(problems.map((p) => p.node)), [problems]);
	const colour = useCallback(
		(n: RFNode) => {
			if (wrong.has(n.id)) return "var(--bad)";
			if (traced?.steps[n.id]) return "var(--ok)";
			return n.selected ? "var(--accent)" : "var(--line-strong)";
		},
		[wrong, traced],
	);
	if (!many) return null;
	return (
		<MiniMap
			pannable
			zoomable
			ariaLabel={t("The whole drawing")}
			className="max-sm:hidden"
			style={{ width: 160, height: 96 }}
			maskColor="color-mix(in srgb, var(--sunken) 70%, transparent)"
			nodeBorderRadius={6}
			nodeColor={colour}
		/>
	);
});

const Tools = memo(function Tools({ flow }: { flow: Flow }) {
	const readOnly = useEditor((s) => s.readOnly !== null);
	const past = useZustand(history, (s) => s.pastStates.length > 0);
	const future = useZustand(history, (s) => s.futureStates.length > 0);
	const zoom = useStore((s) => Math.round(s.transform[2] * 100));
	return (
		<Panel
			position="bottom-left"
			className="flex items-center rounded-lg border border-line bg-surface p-1 shadow-card"
		>
			{!readOnly && (
				<>
					<Button
						look="quiet"
						onClick={(event) => {
							const at = event.currentTarget.getBoundingClientRect();
							openAdd({ x: at.left, y: at.top - 412 });
						}}
					>
						<Plus />
						{t("Add")}
						<Kbd>Tab</Kbd>
					</Button>
					<Button
						look="quiet"
						size="icon"
						aria-label={t("Undo")}
						title={`${t("Undo")} (Ctrl+Z)`}
						disabled={!past}
						onClick={undo}
					>
						<Undo2 />
					</Button>
					<Button
						look="quiet"
						size="icon"
						aria-label={t("Redo")}
						title={`${t("Redo")} (Shift+Ctrl+Z)`}
						disabled={!future}
						onClick={redo}
					>
						<Redo2 />
					</Button>
					<Button look="quiet" title={t("Lays the drawing out anew")} onClick={() => layOut(flow)}>
						<WandSparkles />
						{t("Tidy")}
					</Button>
				</>
			)}
			<Button look="quiet" onClick={() => fitAll(flow)}>
				<Maximize />
				{t("Fit")}
			</Button>
			<Button look="quiet" size="icon" aria-label={t("Smaller")} onClick={() => void flow.zoomOut({ duration: 120 })}>
				<Minus />
			</Button>
			<span className="tabular w-10 text-center text-faint text-xs">{zoom}%</span>
			<Button look="quiet" size="icon" aria-label={t("Larger")} onClick={() => void flow.zoomIn({ duration: 120 })}>
				<Plus />
			</Button>
		</Panel>
	);
});

export const fitAll = (flow: Flow) => void flow.fitView({ ...whole, duration: 200 });

/** layOut gives every node its place. */
export function layOut(flow: Flow): void {
	edit(tidy);
	setTimeout(() => fitAll(flow), 30);
}

/** openAdd opens the menu of nodes for what follows the selected one. */
export function openAdd(screen: { x: number; y: number }): void {
	const { selected, draft, readOnly } = editor();
	if (readOnly) return;
	const last = selected.at(-1) ?? draft.nodes.find((n) => n.type === "start")?.id ?? "";
	setEditor({ adding: { kind: "add", screen, place: placeAfter(draft, last) } });
}

/** Spoken tells those who cannot see the drawing what is selected. */
function Spoken() {
	const node = useEditor((s) => (s.selected.length === 1 ? nodeOf(s.draft, s.selected[0]!) : undefined));
	const problem = useEditor((s) => node && s.problems.find((p) => p.node === node.id)?.reason);
	const kind = useKindName(node);
	const text = node ? list([nameOf(node), kind, problem].flatMap((one) => one || [])) : "";
	return (
		<p role="status" className="sr-only">
			{text}
		</p>
	);
}
