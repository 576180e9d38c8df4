import {
	applyNodeChanges,
	Background,
	BackgroundVariant,
	type Connection,
	type EdgeChange,
	type FinalConnectionState,
	MiniMap,
	type NodeChange,
	Panel,
	ReactFlow,
	type ReactFlowInstance,
	type ReactFlowProps,
	type Edge as RFEdge,
	type Node as RFNode,
	SelectionMode,
	useReactFlow,
	useStore,
} from "@xyflow/react";
import { Maximize, Minus, Plus, Redo2, Undo2, WandSparkles } from "lucide-react";
import {
	memo,
	type MouseEvent as ReactMouseEvent,
	type ReactNode,
	useCallback,
	useEffect,
	useMemo,
	useRef,
	useState,
} from "react";
import { useStore as useZustand } from "zustand";
import { currentLang, t } from "../../lang";
import { Button, Kbd } from "../../ui";
import {
	type Definition,
	type Edge,
	edgeBy,
	edgeKey,
	isDetached,
	type Node,
	nameOf,
	nodeOf,
	wayOf,
} from "./definition";
import { Line, Refusal } from "./edge";
import { useCanvasKeys } from "./keys";
import { tidy } from "./layout";
import { Step } from "./node";
import { edit, editor, history, redo, select, setEditor, undo, useEditor } from "./store";
import { connect } from "./sync";
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
	const onNodeDragStop = useCallback((_: unknown, __: RFNode, moved: RFNode[]) => {
		dragging.current = false;
		const places = new Map(moved.map((n) => [n.id, { x: Math.round(n.position.x), y: Math.round(n.position.y) }]));
		edit((draft) => {
			const stays = (n: Node) => {
				const to = places.get(n.id);
				return !to || (to.x === n.position?.x && to.y === n.position?.y);
			};
			if (draft.nodes.every(stays)) return draft;
			return { ...draft, nodes: draft.nodes.map((n) => (stays(n) ? n : { ...n, position: places.get(n.id)! })) };
		});
	}, []);
	return { nodes, onNodesChange, onNodeDragStart, onNodeDragStop };
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
			if (seen.has(id) || !source || !nodeOf(draft, edge.target)) return [];
			seen.add(id);
			const sourceHandle = isDetached(source) ? null : wayOf(source, edge);
			let line = lines.get(edge);
			if (line?.sourceHandle !== sourceHandle) {
				line = { id, type: "line", source: edge.source, target: edge.target, sourceHandle };
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
							selectable: false,
							zIndex: 1,
						},
					]
				: drawing,
		[drawing, refused],
	);
}

const edgeOf = (c: Connection) => ({
	source: c.source,
	target: c.target,
	...(c.sourceHandle && c.sourceHandle !== "out" && { sourceHandle: c.sourceHandle }),
});

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
	onlyRenderVisibleElements: true,
	elevateNodesOnSelect: false,
	minZoom: 0.1,
	maxZoom: 2,
	snapToGrid: true,
	snapGrid: [8, 8],
	connectionRadius: 28,
	fitView: true,
	fitViewOptions: { padding: 0.15, maxZoom: 1 },
} satisfies ReactFlowProps;

/** Canvas is the drawing of the draft. */
export function Canvas({ children }: { children?: ReactNode }) {
	const id = useEditor((s) => s.id);
	const readOnly = useEditor((s) => s.readOnly !== null);
	const { nodes, onNodesChange, onNodeDragStart, onNodeDragStop } = useNodes();
	const edges = useEdges();
	const [chosenEdges, setChosenEdges] = useState<ReadonlySet<string>>(new Set());
	const shown = useMemo(
		() => (chosenEdges.size === 0 ? edges : edges.map((e) => (chosenEdges.has(e.id) ? { ...e, selected: true } : e))),
		[edges, chosenEdges],
	);
	const flow = useReactFlow();
	const onKeyDown = useCanvasKeys(chosenEdges);

	const onConnectEnd = useCallback(
		(event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
			if (state.isValid || state.toNode || !state.fromNode || !("clientX" in event)) return;
			const screen = { x: event.clientX, y: event.clientY };
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
		const timer = setTimeout(() => void flow.fitView({ padding: 0.15, maxZoom: 1 }), 0);
		return () => clearTimeout(timer);
	}, [id, flow]);

	return (
		<section
			aria-label={t("Drawing of the workflow")}
			aria-describedby="drawing-help"
			data-canvas
			// biome-ignore lint/a11y/noNoninteractiveTabindex: the drawing takes keys
			tabIndex={0}
			onKeyDown={onKeyDown}
			className="relative min-h-0 flex-1 overflow-hidden focus-visible:-outline-offset-2"
		>
			<p id="drawing-help" className="sr-only">
				{t("Arrows move between steps, Tab adds a step, C connects, F2 renames, Delete removes, Escape leaves.")}
			</p>
			<ReactFlow
				nodes={nodes}
				edges={shown}
				onNodesChange={onNodesChange}
				onNodeDragStart={onNodeDragStart}
				onNodeDragStop={onNodeDragStop}
				onEdgesChange={onEdgesChange}
				onConnectEnd={onConnectEnd}
				onPaneContextMenu={onPaneContextMenu}
				nodesDraggable={!readOnly}
				nodesConnectable={!readOnly}
				edgesReconnectable={!readOnly}
				{...constant}
			>
				<Background variant={BackgroundVariant.Dots} gap={24} size={1.2} />
				<Overview />
				<Tools flow={flow} />
			</ReactFlow>
			<Spoken />
			{children}
		</section>
	);
}

/** Overview is the whole drawing in small, once it does not fit. */
const Overview = memo(function Overview() {
	const many = useEditor((s) => s.draft.nodes.length > 8);
	const traced = useEditor((s) => s.replay);
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

export const fitAll = (flow: Flow) => void flow.fitView({ padding: 0.15, maxZoom: 1, duration: 200 });

/** layOut gives every node its place. */
export function layOut(flow: Flow): void {
	edit(tidy);
	setTimeout(() => fitAll(flow), 30);
}

/** openAdd opens the menu of nodes for what follows the selected one. */
export function openAdd(screen: { x: number; y: number }): void {
	const { selected, draft, readOnly } = editor();
	if (readOnly) return;
	const last = selected.at(-1) ?? draft.nodes.find((n) => n.type === "start")?.id;
	setEditor({ adding: { kind: "add", screen, place: last ? { after: last } : { at: { x: 0, y: 0 } } } });
}

/** Spoken tells those who cannot see the drawing what is selected. */
function Spoken() {
	const text = useEditor((s) => {
		const node = s.selected.length === 1 ? nodeOf(s.draft, s.selected[0]!) : undefined;
		if (!node) return "";
		const problem = s.problems.find((p) => p.node === node.id)?.reason;
		return [nameOf(node), node.type, problem].filter(Boolean).join(currentLang() === "ja" ? "、" : ", ");
	});
	return (
		<p role="status" className="sr-only">
			{text}
		</p>
	);
}
