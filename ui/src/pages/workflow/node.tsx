import { Handle, type NodeProps, Position, useConnection, useUpdateNodeInternals } from "@xyflow/react";
import {
	AlertTriangle,
	ArrowRight,
	Ban,
	Braces,
	CircleHelp,
	GitFork,
	LayoutTemplate,
	type LucideIcon,
	Package,
	Play,
	Plus,
	Send,
	SlidersHorizontal,
	Square,
	UserCheck,
	Wrench,
} from "lucide-react";
import { memo, useEffect, useRef } from "react";
import type { S } from "../../api/client";
import { list, number, t, tn, took } from "../../lang";
import { composing, cx, type Tone } from "../../ui";
import { failsBy, hookOf, type Node, next, nodeOf } from "./definition";
import { canFail, isDetached, kindOf, outsOf } from "./kinds";
import {
	type Editor,
	edit,
	editNode,
	editor,
	nameOf,
	type Problem,
	replayOf,
	select,
	setEditor,
	type TraceStep,
	useEditor,
} from "./store";
import { reasonOf } from "./sync";
import { useTemplate } from "./template";

/** iconOf is the picture of a node's kind. fromTemplate is set if a template has its script. */
export function iconOf(node: Node, fromTemplate = !!hookOf(node).template): LucideIcon {
	switch (node.type) {
		case "start":
			return Play;
		case "end":
			return node.data?.outcome && node.data.outcome !== "ok" ? Ban : Square;
		case "mcp-call":
			return ArrowRight;
		case "hook":
			if (fromTemplate) return LayoutTemplate;
			return hookOf(node).module ? Package : isDetached(node) ? Send : Braces;
		case "condition":
			return GitFork;
		case "set":
			return SlidersHorizontal;
		case "tool":
			return Wrench;
		case "approve":
			return UserCheck;
		default:
			return CircleHelp;
	}
}

/** kindText is the small word below a node's name. */
function kindText(node: Node, fromTemplate: boolean): string {
	if (node.type === "hook" && hookOf(node).module) return hookOf(node).module!;
	if (isDetached(node)) return t("the call does not wait");
	if (fromTemplate) return t("from a template");
	if (node.type === "tool" && node.data?.tool) return String(node.data.tool);
	if (node.data?.message) return String(node.data.message);
	if (node.type === "mcp-call") return t("the server answers");
	const kind = kindOf(node, editor().draft.workflowType);
	return kind?.title === nameOf(node) ? kind.description : (kind?.title ?? t("Unknown step"));
}

/** useKindName is the kind of a node beside its name; nothing if it is named so. */
export function useKindName(node: Node | undefined): string {
	const template = useTemplate(node);
	if (!node) return "";
	const kind =
		template || hookOf(node).template ? t("from a template") : (kindOf(node, editor().draft.workflowType)?.title ?? "");
	return kind === nameOf(node) ? "" : kind;
}

/** toneOf is the colour of what a node did. */
export const toneOf = (step: TraceStep): Tone =>
	step.status === "ok"
		? "ok"
		: step.status === "skipped" || step.status === "dropped"
			? "idle"
			: step.status === "denied"
				? "warn"
				: "bad";

/** statusText says what a node did. */
export function statusText(step: TraceStep): string {
	const words: Record<string, string> = {
		ok: t("ok"),
		error: t("failed"),
		timeout: t("took too long"),
		oom: t("out of memory"),
		crashed: t("crashed"),
		skipped: t("not in a replay"),
		denied: t("refused"),
		dropped: t("dropped"),
	};
	return words[step.status] ?? step.status;
}

/** statsText says how a step did in real calls. */
export const statsText = ({ runs, errors, killed, p50Millis, p95Millis }: S["NodeStats"]): string =>
	list(
		[
			tn(runs, "{n} run", "{n} runs"),
			errors > 0 && t("{n} failed", { n: number(errors) }),
			killed > 0 && t("{n} stopped for time or memory", { n: number(killed) }),
			t("p50 {time}", { time: took(p50Millis) }),
			t("p95 {time}", { time: took(p95Millis) }),
		].filter((part) => part !== false),
	);

const changes = (step: TraceStep): number => (Array.isArray(step.patch) ? step.patch.length : 0);

const problemsBy = new WeakMap<Problem[], Map<string, string>>();
const problemOf = (id: string) => (s: Editor) => {
	let by = problemsBy.get(s.problems);
	if (!by) {
		by = new Map(s.problems.toReversed().map((p) => [p.node ?? "", reasonOf(p)]));
		problemsBy.set(s.problems, by);
	}
	return by.get(id);
};

const totals = new WeakMap<object, number>();

/** shareOf is the part of the time that a node takes, of all that are not the call: in the
 * replay, or else in the runs until now. */
const shareOf = (id: string) => (s: Editor) => {
	const replayed = replayOf(s)?.matched ? s.replay!.steps : undefined;
	const of = (id: string) => (replayed ? replayed[id]?.runMillis : s.stats[id]?.p95Millis) ?? 0;
	const mine = of(id);
	const type = nodeOf(s.draft, id)?.type;
	if (mine === 0 || type === "mcp-call" || type === "start" || type === "end") return 0;
	const key = replayed ?? s.stats;
	let total = totals.get(key);
	if (total === undefined) {
		total = s.draft.nodes.reduce((sum, n) => sum + (n.type === "mcp-call" ? 0 : of(n.id)), 0);
		totals.set(key, total);
	}
	return total > 0 ? Math.min(1, mine / total) : 0;
};

/** Step is a node of the drawing. */
export const Step = memo(function Step({ id, selected }: NodeProps) {
	const node = useEditor((s) => nodeOf(s.draft, id));
	const problem = useEditor(problemOf(id));
	const step = useEditor((s) => replayOf(s)?.steps[id]);
	const begins = node?.type === "start";
	useEditor((s) => s.draft.workflowType); // the name depends on it
	const traced = useEditor((s) => replayOf(s)?.matched === true);
	const stats = useEditor((s) => s.stats[id]);
	const share = useEditor(shareOf(id));
	const renaming = useEditor((s) => s.renaming === id);
	const template = useTemplate(node);
	if (!node) return null;
	const fromTemplate = !!template || !!hookOf(node).template;
	const round = node.type === "start" || (node.type === "end" && !node.data?.label && !node.data?.outcome);
	const Icon = iconOf(node, fromTemplate);
	const tone = step && toneOf(step);
	const ticked = round && step?.status === "ok" && changes(step) === 0 && step.runMillis <= 0.005;
	return (
		<div
			data-node={id}
			className={cx(
				"group relative border bg-surface shadow-card transition-[border-color,opacity]",
				round ? "flex h-11 w-[112px] items-center rounded-full px-4" : "w-[184px] rounded-lg px-3 py-2.5",
				selected
					? "border-accent outline-2 outline-accent/25"
					: problem
						? "border-bad"
						: tone === "bad"
							? "border-bad"
							: tone === "warn"
								? "border-warn"
								: tone === "ok"
									? "border-ok"
									: "border-line-strong",
				traced && !step && !begins && "opacity-40",
			)}
		>
			{node.type !== "start" && (
				<Handle type="target" position={Position.Left} isConnectableStart={false} className="genkan-in" />
			)}
			<div className="flex min-w-0 items-center gap-2 font-semibold">
				<Icon
					aria-hidden
					className={cx("size-4 shrink-0", node.data?.outcome === "deny" ? "text-warn" : "text-accent")}
					strokeWidth={1.8}
				/>
				{renaming ? <Rename node={node} /> : <span className={round ? "line" : "line flex-1"}>{nameOf(node)}</span>}
				{(ticked || (begins && traced && !step)) && <span className="font-medium text-ok text-xs">✓</span>}
			</div>
			{!round && (
				<div className="mt-0.5 flex min-h-4 flex-wrap items-center justify-between gap-x-2 text-faint text-xs">
					{problem ? (
						<span className="flex min-w-0 items-start gap-1 text-bad" title={problem}>
							<AlertTriangle aria-hidden className="mt-0.5 size-3 shrink-0" />
							<span className="line-clamp-2">{problem}</span>
						</span>
					) : (
						<>
							<span className={step || stats ? "line" : "line-clamp-2"}>{kindText(node, fromTemplate)}</span>
							{step ? (
								<Mark step={step} />
							) : (
								stats &&
								!traced && (
									<span className="tabular shrink-0" title={statsText(stats)}>
										{stats.errors > 0 ? (
											<span className="text-bad">{t("{n} failed", { n: stats.errors })}</span>
										) : (
											t("p95 {time}", { time: took(stats.p95Millis) })
										)}
									</span>
								)
							)}
						</>
					)}
				</div>
			)}
			{/* Beside the name is room for a tick only. */}
			{round && step && !ticked && (
				<span className="absolute top-full left-1/2 mt-1 -translate-x-1/2 whitespace-nowrap">
					<Mark step={step} />
				</span>
			)}
			{!round && share > 0 && (
				<div
					className="mt-2 h-[3px] overflow-hidden rounded-full bg-sunken"
					title={t("{share}% of the workflow's time", { share: Math.round(share * 100) })}
				>
					<div className="h-full rounded-full bg-warn" style={{ width: `${Math.max(3, share * 100)}%` }} />
				</div>
			)}
			<Ways node={node} />
		</div>
	);
});

/** timesText says how long a step waited for a free worker, and how long it ran. */
export const timesText = ({ queueMillis, runMillis }: TraceStep): string =>
	list([t("waited {time}", { time: took(queueMillis) }), t("ran {time}", { time: took(runMillis) })]);

function Mark({ step }: { step: TraceStep }) {
	const n = changes(step);
	const colour = { ok: "text-ok", warn: "text-warn", bad: "text-bad", idle: "text-faint", accent: "" }[toneOf(step)];
	return (
		<span
			className={cx("tabular shrink-0 font-medium text-xs", colour)}
			title={step.queueMillis > 0.05 ? timesText(step) : undefined}
		>
			{step.status === "ok" ? (n > 0 ? tn(n, "{n} change", "{n} changes") : "✓") : statusText(step)}
			{step.runMillis > 0.005 && <span className="ml-1 font-normal text-faint">{took(step.runMillis)}</span>}
		</span>
	);
}

/** Ways are the handles at which edges leave a node, with a + where nothing follows. */
function Ways({ node }: { node: Node }) {
	const open = useEditor((s) =>
		outsOf(node)
			.filter((way) => !next(s.draft, node.id, way))
			.join("\n"),
	);
	const fails = useEditor((s) => failsBy(s.draft, node));
	const connecting = useConnection((c) => c.inProgress && c.fromNode?.id === node.id);
	const ways = outsOf(node);
	const dangling = new Set(open ? open.split("\n") : []);
	// React Flow measures handles anew only if it is told of others.
	const measure = useUpdateNodeInternals();
	const named = ways.join("\n");
	const measured = useRef(named);
	useEffect(() => {
		if (measured.current === named) return;
		measured.current = named;
		measure(node.id);
	}, [named, measure, node.id]);
	return (
		<>
			{ways.map((way, i) => {
				const top = `${((i + 0.5) * 100) / ways.length}%`;
				return (
					<div key={way}>
						<Handle
							id={way}
							type="source"
							position={Position.Right}
							isConnectableEnd={false}
							style={{ top }}
							className="genkan-out"
						/>
						{(ways.length > 1 || dangling.has(way)) && (
							<div
								className="absolute left-full ml-2 flex -translate-y-1/2 items-center whitespace-nowrap text-xs"
								style={{ top }}
							>
								{ways.length > 1 && (
									<span
										className="line -mt-4 max-w-14 rounded-sm bg-sunken/80 px-1 text-[11px] text-muted leading-4"
										title={wayText(way)}
									>
										{wayText(way)}
									</span>
								)}
								{dangling.has(way) && !connecting && (
									<>
										{ways.length === 1 && <span className="h-0.5 w-5 bg-line-strong" />}
										<AddHere node={node} way={way} />
									</>
								)}
							</div>
						)}
					</div>
				);
			})}
			{canFail(node) && (
				<Handle
					id="error"
					type="source"
					position={Position.Bottom}
					isConnectableEnd={false}
					title={t("When it fails")}
					className={cx("genkan-error", !fails && "genkan-hidden")}
				/>
			)}
		</>
	);
}

/** wayText is how a way out is named on the drawing. */
export const wayText = (way: string): string =>
	way === "else"
		? t("else")
		: way === "denied"
			? t("no")
			: way === "out"
				? t("yes")
				: way === "error"
					? t("fails")
					: way;

function AddHere({ node, way }: { node: Node; way: string }) {
	const readOnly = useEditor((s) => s.readOnly);
	if (readOnly) return null;
	return (
		<button
			type="button"
			tabIndex={-1}
			aria-label={t("Add a step after {name}", { name: nameOf(node) })}
			onClick={(event) => {
				event.stopPropagation();
				select([node.id]);
				setEditor({
					adding: { kind: "add", screen: { x: event.clientX, y: event.clientY }, place: { after: node.id, way } },
				});
			}}
			className="nodrag pointer-events-auto inline-flex size-5 items-center justify-center rounded-md border border-line-strong bg-surface text-muted hover:border-accent hover:text-accent"
		>
			<Plus className="size-3.5" />
		</button>
	);
}

/** Rename is the name of a node while it is written. */
function Rename({ node }: { node: Node }) {
	const done = () => setEditor({ renaming: null });
	return (
		<input
			// biome-ignore lint/a11y/noAutofocus: the person asked to write here
			autoFocus
			aria-label={t("Name")}
			defaultValue={nameOf(node)}
			onFocus={(event) => event.target.select()}
			onBlur={(event) => {
				rename(node, event.target.value);
				done();
			}}
			onKeyDown={(event) => {
				event.stopPropagation();
				if (composing(event)) return;
				if (event.key === "Enter") event.currentTarget.blur();
				if (event.key === "Escape") {
					event.currentTarget.value = nameOf(node);
					event.currentTarget.blur();
				}
				if (event.key === "Enter" || event.key === "Escape")
					document.querySelector<HTMLElement>("[data-canvas]")?.focus();
			}}
			className="nodrag min-w-0 flex-1 rounded-sm bg-sunken px-1 font-semibold outline-accent"
		/>
	);
}

/** rename names a node; an empty name is that of its kind. */
export function rename(node: Node, name: string): void {
	const label = name.trim();
	if (label === nameOf(node)) return;
	if (label) editNode(node.id, (data) => ({ ...data, label }), `name ${node.id}`);
	else
		edit((draft) => ({
			...draft,
			nodes: draft.nodes.map((n) => {
				if (n.id !== node.id) return n;
				const { label: _, ...data } = n.data ?? {};
				return { ...n, data };
			}),
		}));
}
