import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath, useStore } from "@xyflow/react";
import { Plus, Trash2 } from "lucide-react";
import { memo, useState } from "react";
import { ended, t } from "../../lang";
import { cx } from "../../ui";
import {
	add,
	type Definition,
	descendants,
	type Edge,
	edgeBy,
	entering,
	hasAnswer,
	nodeOf,
	type Place,
	replacedBy,
	rowHeight,
	wayOf,
} from "./definition";
import { isDetached } from "./kinds";
import { edit, editor, nameOf, replayOf, setEditor, useEditor } from "./store";
import { connect } from "./sync";

/** removeEdge takes an edge out of the draft. */
export const removeEdge = (edge: Edge) => edit((draft) => ({ ...draft, edges: draft.edges.filter((e) => e !== edge) }));

/** Line is an edge of the drawing. Under the pointer it offers a + and its removal. */
export const Line = memo(function Line(props: EdgeProps) {
	const { id, source, selected } = props;
	const edge = useEditor((s) => edgeBy(s.draft, id));
	const beside = useEditor((s) => {
		const target = edge && nodeOf(s.draft, edge.target);
		return target !== undefined && isDetached(target);
	});
	const error = edge?.sourceHandle === "error";
	const traced = useEditor((s) => replayOf(s)?.matched === true);
	const taken = useEditor((s) => {
		const steps = replayOf(s)?.steps;
		if (!edge || !steps?.[edge.target]) return false;
		if (!steps[source]) return nodeOf(s.draft, source)?.type === "start";
		const way = steps[source]!.handle || (steps[source]!.status === "ok" ? "out" : "");
		return way === "" || way === wayOf(nodeOf(s.draft, source), edge) || beside;
	});
	const [over, setOver] = useState(false);
	const close = useStore((s) => s.transform[2] > 0.5);
	const [path, x, y] = getBezierPath(props);
	const colour = selected ? "var(--accent)" : error ? "var(--bad)" : taken ? "var(--ok)" : "var(--line-strong)";
	if (!edge) return null;
	return (
		<>
			<g onPointerEnter={() => setOver(true)} onPointerLeave={() => setOver(false)}>
				<BaseEdge
					id={id}
					path={path}
					interactionWidth={24}
					style={{
						stroke: colour,
						strokeWidth: 2,
						strokeDasharray: beside ? "5 5" : undefined,
						opacity: traced && !taken ? 0.35 : 1,
					}}
				/>
			</g>
			{(over || selected) && close && !editor().readOnly && (
				<EdgeLabelRenderer>
					<div
						role="toolbar"
						aria-label={t("Edge")}
						onPointerEnter={() => setOver(true)}
						onPointerLeave={() => setOver(false)}
						className="nodrag nopan pointer-events-auto absolute z-10 flex gap-1 p-1.5"
						style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
					>
						{!beside && (
							<EdgeButton
								label={t("Insert a step here")}
								onClick={(event) => {
									setOver(false);
									setEditor({
										adding: { kind: "add", screen: { x: event.clientX, y: event.clientY }, place: { edge } },
									});
								}}
							>
								<Plus className="size-3.5" />
							</EdgeButton>
						)}
						<EdgeButton label={t("Remove this edge")} onClick={() => removeEdge(edge)}>
							<Trash2 className="size-3" />
						</EdgeButton>
					</div>
				</EdgeLabelRenderer>
			)}
		</>
	);
});

function EdgeButton(props: { label: string; onClick: (event: React.MouseEvent) => void; children: React.ReactNode }) {
	return (
		<button
			type="button"
			tabIndex={-1}
			title={props.label}
			aria-label={props.label}
			onClick={props.onClick}
			className="inline-flex size-6 items-center justify-center rounded-md border border-line-strong bg-surface text-muted shadow-card hover:border-accent hover:text-accent"
		>
			{props.children}
		</button>
	);
}

/** Refusal is an edge that the server does not allow, with its reason. */
export const Refusal = memo(function Refusal(props: EdgeProps) {
	const refused = useEditor((s) => s.refused);
	const [path] = getBezierPath(props);
	const [left, top, zoom] = useStore((s) => s.transform);
	const width = useStore((s) => s.width);
	const height = useStore((s) => s.height);
	// The reason is read at any zoom, and stands within the drawing.
	const scale = Math.max(1, 1 / zoom);
	const within = (at: number, from: number, to: number) =>
		Math.max((8 - from) / zoom, Math.min(at, (to - from) / zoom));
	const x = within(props.targetX - 12, left, width - 268 * scale * zoom);
	// The reason has a few lines, and the buttons of the drawing are below it.
	const y = within(props.targetY + 44, top, height - 60 - 120 * scale * zoom);
	if (!refused) return null;
	return (
		<>
			<BaseEdge
				id={props.id}
				path={path}
				className={cx(refused.pending && "animate-pulse")}
				style={{
					stroke: refused.pending ? "var(--line-strong)" : "var(--bad)",
					strokeWidth: 2,
					strokeDasharray: "4 4",
				}}
			/>
			{refused.reason && (
				<EdgeLabelRenderer>
					<div
						role="alert"
						className="nodrag nopan pointer-events-auto absolute z-20 w-max max-w-[260px] origin-top-left rounded-md border border-bad/30 bg-bad-soft px-3 py-2 text-bad text-xs shadow-card"
						style={{ transform: `translate(${x}px, ${y}px) scale(${scale})` }}
					>
						<b className="block font-semibold">{t("This edge was not drawn.")}</b>
						{refused.would ? t("With it: {reason}", { reason: refused.reason }) : ended(refused.reason)}
						<WayOut edge={refused.edge} />
					</div>
				</EdgeLabelRenderer>
			)}
		</>
	);
});

/** WayOut offers what to draw instead of an edge to a step that another edge leads to. */
function WayOut({ edge }: { edge: Edge }) {
	const draft = useEditor((s) => s.draft);
	const [source, target] = [nodeOf(draft, edge.source), nodeOf(draft, edge.target)];
	const other = entering(draft, edge.target)[0];
	const from = other && nodeOf(draft, other.source);
	// What the exit leads to now would be lost, and a loop stays one.
	if (!source || !target || !other || !from) return null;
	if (replacedBy(draft, edge) || descendants(draft, target.id).has(source.id)) return null;
	const button = "mt-1.5 block cursor-pointer text-left font-medium underline underline-offset-2";
	// Two exits of one step cannot take each other's place.
	const isTwin = target.type === "mcp-call" && from === source && !hasAnswer(draft, source.id);
	if (target.type === "end" || isTwin) {
		const { x, y } = target.position ?? { x: 0, y: 0 };
		const place = { at: { x, y: y + rowHeight }, from: { id: source.id, way: wayOf(source, edge) } };
		const answers = target.data?.outcome || hasAnswer(draft, source.id);
		const like = target.type === "end" ? { ...target.data, label: undefined } : {};
		const addEnd = (draft: Definition, where: Place) => add(draft, "end", like, where);
		return (
			<button
				type="button"
				className={button}
				onClick={() =>
					edit((draft) => {
						if (answers) return addEnd(draft, place)[0];
						const [called, id] = add(draft, "mcp-call", {}, place);
						return addEnd(called, { after: id })[0];
					})
				}
			>
				{answers ? t("Add another end for it") : t("Call the tool there too, then end")}
			</button>
		);
	}
	return (
		<button type="button" className={button} onClick={() => void connect(edge, other)}>
			{t("Put it in place of the edge from “{name}”", { name: nameOf(from) })}
		</button>
	);
}
