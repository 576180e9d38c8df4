import type { S } from "../../api/client";
import { parseExact } from "../../api/exact";
import { isDetached, outsOf } from "./kinds";

// A workflow as the API has it. Keys that the editor does not know stay as they are.
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Point = { x: number; y: number };
export type Data = Record<string, unknown> & { label?: string };
export type Node = { id: string; type: string; position?: Point; data?: Data };
export type Edge = { id?: string; source: string; target: string; sourceHandle?: string | null };
export type Match = {
	servers?: string[];
	tools?: string[];
	clients?: string[];
	annotations?: Record<string, boolean>;
	when?: string;
};
export type Definition = {
	id: string;
	name: string;
	description?: string;
	workflowType: string;
	nodes: Node[];
	edges: Edge[];
	match?: Match;
	mode?: string;
	failMode?: string;
	order?: number;
	limits?: Record<string, unknown>;
	state?: Record<string, unknown>;
	vars?: Record<string, unknown>;
	version?: number;
	enabled?: boolean;
};
export type Hook = {
	script?: string;
	module?: string;
	template?: string;
	blocking?: boolean;
	partial?: boolean;
	onError?: string;
	params?: unknown;
};
export type Case = { handle: string; when: string };
export type Setting = { value?: unknown; cel?: string };

export const hookOf = (node: Node): Hook => (node.data?.hook as Hook | undefined) ?? {};
export const casesOf = (node: Node): Case[] => (Array.isArray(node.data?.cases) ? (node.data.cases as Case[]) : []);

/** wayOf is the way out that an edge takes. Other editors name the only one as they like. */
export function wayOf(node: Node | undefined, edge: Edge): string {
	const handle = edge.sourceHandle || "out";
	if (!node || handle === "error") return handle;
	const outs = outsOf(node);
	return outs.includes(handle) || !outs.includes("out") ? handle : "out";
}

/** readDefinition reads a definition. Values that calls and scripts get keep all digits of their
 * numbers, because they are stored again. The rest is what this page counts with. */
export function readDefinition(text: string): Partial<Definition> {
	const values = (data: Data | undefined, exact: Data | undefined): Data | undefined => {
		if (!isObject(data) || !isObject(exact)) return data;
		const out: Data = { ...data };
		for (const key of ["arguments", "vars"]) if (isObject(data[key])) out[key] = exact[key];
		const [hook, same] = [data.hook, exact.hook];
		if (isObject(hook) && isObject(same) && "params" in hook) out.hook = { ...hook, params: same.params };
		return out;
	};
	const [read, exact] = [JSON.parse(text), parseExact(text)] as Partial<Definition>[];
	const out = values(read as Data, exact as Data) as Partial<Definition>;
	if (!Array.isArray(out.nodes)) return out;
	const nodes = out.nodes.map((node, i) =>
		node?.data ? { ...node, data: values(node.data, exact!.nodes![i]!.data) } : node,
	);
	return { ...out, nodes };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

const indexes = new WeakMap<Node[], Map<string, Node>>();
function indexOf(nodes: Node[]): Map<string, Node> {
	let index = indexes.get(nodes);
	if (!index) {
		index = new Map(nodes.map((node) => [node.id, node]));
		indexes.set(nodes, index);
	}
	return index;
}

/** nodeOf finds a node by its id. */
export const nodeOf = (draft: Pick<Definition, "nodes">, id: string): Node | undefined => indexOf(draft.nodes).get(id);

const leavings = new WeakMap<Edge[], Map<string, Edge[]>>();

/** leaving are the edges out of a node. */
export function leaving(draft: Pick<Definition, "edges">, id: string): Edge[] {
	let by = leavings.get(draft.edges);
	if (!by) {
		by = new Map();
		for (const edge of draft.edges) by.set(edge.source, [...(by.get(edge.source) ?? []), edge]);
		leavings.set(draft.edges, by);
	}
	return by.get(id) ?? [];
}

/** failsBy tells whether an edge leads on where a node fails. */
export const failsBy = (draft: Pick<Definition, "edges">, node: Node): boolean =>
	leaving(draft, node.id).some((edge) => wayOf(node, edge) === "error");

export const entering = (draft: Definition, id: string): Edge[] => draft.edges.filter((edge) => edge.target === id);

/** next is the edge by which a way out of a node leads on, not beside the path. */
export const next = (draft: Definition, id: string, way: string): Edge | undefined =>
	leaving(draft, id).find((edge) => {
		const target = nodeOf(draft, edge.target);
		return wayOf(nodeOf(draft, id), edge) === way && !(target && isDetached(target));
	});

/** replacedBy is the edge whose place another one takes: one step follows an exit. Any
 * number of steps may run beside it. */
export function replacedBy(draft: Definition, edge: Edge): Edge | undefined {
	const target = nodeOf(draft, edge.target);
	if (target && isDetached(target)) return undefined;
	return next(draft, edge.source, wayOf(nodeOf(draft, edge.source), edge));
}

/** edgeKey is a name for an edge that has none. */
export const edgeKey = (edge: Edge): string => edge.id ?? `${edge.source}|${edge.sourceHandle || "out"}|${edge.target}`;

const keys = new WeakMap<Edge[], Map<string, Edge>>();

/** edgeBy finds an edge by its key. */
export function edgeBy(draft: Definition, key: string): Edge | undefined {
	let by = keys.get(draft.edges);
	if (!by) {
		by = new Map(draft.edges.map((edge) => [edgeKey(edge), edge]));
		keys.set(draft.edges, by);
	}
	return by.get(key);
}

/** freeID is an id like base that no node has. */
export function freeID(draft: Definition, base: string): string {
	const index = indexOf(draft.nodes);
	if (!index.has(base)) return base;
	for (let n = 2; ; n++) if (!index.has(`${base}-${n}`)) return `${base}-${n}`;
}

/** newDefinition is a workflow that does nothing yet: Start, the call, End. */
export function newDefinition(id: string, name: string, workflowType = "tools/call", match?: Match): Definition {
	return {
		id,
		name,
		workflowType,
		...(match && { match }),
		nodes: [
			{ id: "start", type: "start", position: { x: 0, y: 0 } },
			{ id: "call", type: "mcp-call", position: { x: column, y: 0 } },
			{ id: "end", type: "end", position: { x: 2 * column, y: 0 } },
		],
		edges: [
			{ source: "start", target: "call" },
			{ source: "call", target: "end" },
		],
	};
}

export type Place =
	| { edge: Edge }
	| { after: string; way?: string }
	| { at: Point; from?: { id: string; way: string } };

// Between two columns is room for the name of an exit and a +.
export const column = 272;
export const rowHeight = 120;
export const stepWidth = 184;
export const endWidth = 112; // of a start, too

const at = (node: Node | undefined): Point => node?.position ?? { x: 0, y: 0 };

/** roomIn is the place for a node on an edge, and the nodes with those behind it moved. */
function roomIn(draft: Definition, edge: Edge): [Node[], Point] {
	const [source, target] = [nodeOf(draft, edge.source), nodeOf(draft, edge.target)];
	const behind = descendants(draft, edge.target);
	const shift = Math.max(0, at(source).x + 2 * column - at(target).x);
	const moved = (n: Node): Node =>
		shift > 0 && behind.has(n.id) && n.position ? { ...n, position: { ...n.position, x: n.position.x + shift } } : n;
	return [draft.nodes.map(moved), { x: at(target).x + shift - column, y: at(target).y }];
}

/** placeAfter is where a step is added that is to follow a node. Nothing follows an end, so the
 * step goes before it; nothing follows a script beside the path either, so the step goes into
 * the path that the script is beside. */
export function placeAfter(draft: Definition, id: string): Place {
	const node = nodeOf(draft, id);
	if (!node) return { at: { x: 0, y: 0 } };
	if (outsOf(node).length > 0) return { after: id };
	const edge = entering(draft, id)[0];
	if (!edge) return { at: below(at(node)) };
	if (!isDetached(node)) return { edge };
	const way = wayOf(nodeOf(draft, edge.source), edge);
	const on = next(draft, edge.source, way);
	return on ? { edge: on } : { after: edge.source, way };
}

// structuredClone would lose what parseExact keeps.
const copied = <T>(value: T): T => parseExact(JSON.stringify(value)) as T;

/** add puts a node into a draft. It returns the draft and the id of the node. */
export function add(draft: Definition, type: string, data: Data, place: Place): [Definition, string] {
	const id = freeID(draft, type === "mcp-call" ? "call" : type);
	const node: Node = { id, type, data: copied(data), position: { x: 0, y: 0 } };
	let { nodes, edges } = draft;
	const beside = isDetached(node);
	const link = (source: string, way: string, target: string): Edge => ({
		source,
		target,
		...(way !== "out" && { sourceHandle: way }),
	});

	if ("after" in place) {
		const before = nodeOf(draft, place.after);
		if (!before) return add(draft, type, data, { at: { x: 0, y: 0 } });
		const ways = outsOf(before);
		if (ways.length === 0) return add(draft, type, data, placeAfter(draft, before.id));
		const way = place.way ?? ways.find((way) => !next(draft, before.id, way)) ?? ways[0]!;
		const on = next(draft, before.id, way);
		if (on) return add(draft, type, data, { edge: on });
		const row = Math.max(0, ways.indexOf(way)) + (beside || way === "error" ? 1 : 0);
		node.position = { x: at(before).x + column, y: at(before).y + row * rowHeight };
		edges = [...edges, link(before.id, way, id)];
	} else if ("edge" in place) {
		const { edge } = place;
		const source = nodeOf(draft, edge.source);
		const way = wayOf(source, edge);
		if (beside) {
			node.position = { x: at(source).x + column, y: at(source).y + rowHeight };
			edges = [...edges, link(edge.source, way, id)];
		} else {
			[nodes, node.position] = roomIn(draft, edge);
			const way2 = outsOf(node)[0];
			edges = edges.map((e) => (e === edge ? link(edge.source, way, id) : e));
			if (way2) edges = [...edges, link(id, way2, edge.target)];
		}
	} else {
		node.position = place.at;
		if (place.from) {
			// What followed the exit follows the new step, if something can.
			const { id: from, way } = place.from;
			const on = beside ? undefined : next(draft, from, way);
			const way2 = outsOf(node)[0];
			edges = [...edges.filter((e) => e !== on), link(from, way, id)];
			if (on && way2) edges = [...edges, link(id, way2, on.target)];
		}
	}
	node.position = freeSpot(nodes, node.position);
	return [{ ...draft, nodes: [...nodes, node], edges }, id];
}

/** placeFor is where a hook of a template belongs: behind the call if it needs the answer,
 * before the call if it may refuse it. */
export function placeFor(draft: Definition, hook: S["TemplateHook"], place: Place): Place {
	const [before, behind] =
		"edge" in place
			? [place.edge.source, place.edge.target]
			: "after" in place
				? [place.after, place.after]
				: [place.from?.id ?? "", place.from?.id ?? ""];
	const isCall = (id: string) => nodeOf(draft, id)?.type === "mcp-call";
	if (hook.behind) {
		const call = isCall(before) ? undefined : [...descendants(draft, behind)].find(isCall);
		return call ? { after: call, way: "out" } : place;
	}
	let id = before;
	for (const _ of draft.nodes) {
		const edge = entering(draft, id)[0];
		if (!edge) break;
		if (isCall(id)) return { edge };
		id = edge.source;
	}
	return place;
}

/** settledFor is a draft with the settings that a hook of a template needs. Its own stay. */
export function settledFor(draft: Definition, hook: S["TemplateHook"]): Definition {
	const { limits } = hook.settings as Pick<Definition, "limits">;
	const settle = (node: Node): Node =>
		hook.callOnError && node.type === "mcp-call" && !node.data?.onError && !next(draft, node.id, "error")
			? { ...node, data: { ...node.data, onError: hook.callOnError } }
			: node;
	return {
		...draft,
		nodes: draft.nodes.map(settle),
		...(limits && { limits: { ...limits, ...draft.limits } }),
	};
}

const isTaken = (nodes: Node[], p: Point): boolean =>
	nodes.some((n) => n.position && Math.abs(n.position.x - p.x) < 190 && Math.abs(n.position.y - p.y) < 72);

/** freeSpot moves a place down until no node is there. */
function freeSpot(nodes: Node[], at: Point): Point {
	let spot = at;
	for (let i = 0; isTaken(nodes, spot) && i < 200; i++) spot = { ...spot, y: spot.y + rowHeight };
	return spot;
}

/** descendants are a node and all that follow it. */
export function descendants(draft: Definition, id: string): Set<string> {
	const found = new Set([id]);
	for (const one of found) for (const edge of leaving(draft, one)) found.add(edge.target);
	return found;
}

/** before are a node and all that lead to it. */
function before(draft: Definition, id: string): Node[] {
	const found = new Set([id]);
	for (const one of found) for (const edge of entering(draft, one)) found.add(edge.source);
	return draft.nodes.filter((node) => found.has(node.id));
}

/** hasAnswer tells whether there can be an answer after a node: a call or a script precedes
 * it. */
export const hasAnswer = (draft: Definition, id: string): boolean =>
	before(draft, id).some(({ type }) => type === "mcp-call" || type === "hook");

/** behindCall tells whether the call comes before a node. */
export const behindCall = (draft: Definition, id: string): boolean =>
	before(draft, id).some((node) => node.type === "mcp-call" && node.id !== id);

/** remove takes nodes out and joins what was before and behind each of them. */
export function remove(draft: Definition, ids: string[]): Definition {
	let out = draft;
	for (const id of ids) {
		const node = nodeOf(out, id);
		if (!node || node.type === "start") continue;
		const before = entering(out, id);
		const on = outsOf(node)
			.map((way) => next(out, id, way))
			.find((edge) => edge);
		const edges = out.edges.filter((edge) => edge.source !== id && edge.target !== id);
		if (before.length === 1 && on && on.target !== before[0]!.source)
			edges.push({ ...before[0]!, id: undefined, target: on.target });
		out = { ...out, nodes: out.nodes.filter((n) => n.id !== id), edges: edges.map(clean) };
	}
	return out;
}

/** edgeUnder returns the edge that a step covers, other than its own edges. Of several it returns
 * the one whose middle is nearest. */
export function edgeUnder(draft: Definition, id: string, place: Point): Edge | undefined {
	const middle = place.x + stepWidth / 2;
	let best: Edge | undefined;
	let least = Number.POSITIVE_INFINITY;
	for (const edge of draft.edges) {
		const [source, target] = [nodeOf(draft, edge.source), nodeOf(draft, edge.target)];
		if (!source || !target || source.id === id || target.id === id || isDetached(target)) continue;
		const [from, to] = [at(source), at(target)];
		const left = from.x + (source.type === "start" ? endWidth : stepWidth);
		if (place.x > to.x || place.x + stepWidth < left) continue;
		const part = Math.max(0, Math.min(1, (middle - left) / Math.max(1, to.x - left)));
		const distance = Math.abs(middle - (left + to.x) / 2);
		if (Math.abs(place.y - (from.y + part * (to.y - from.y))) > 44 || distance >= least) continue;
		[best, least] = [edge, distance];
	}
	return best;
}

/** closed fills the column that a removed step leaves: all steps to its right move left, unless
 * another step stands in that column. */
const closed = (draft: Definition, x: number): Definition =>
	draft.nodes.some((n) => Math.abs(at(n).x - x) < column)
		? draft
		: {
				...draft,
				nodes: draft.nodes.map((n) =>
					n.position && n.position.x > x ? { ...n, position: { ...n.position, x: n.position.x - column } } : n,
				),
			};

/** moveOnto moves a step out of its path and into an edge. It returns the same draft if the step
 * has several edges, or leads on only by its failure: how to join the path is not clear then. */
export function moveOnto(draft: Definition, id: string, edge: Edge): Definition {
	const node = nodeOf(draft, id);
	const [leads, ...more] = leaving(draft, id);
	const way = node && (leads ? wayOf(node, leads) : outsOf(node)[0]);
	if (!node || !way || way === "error" || more.length > 0 || node.type === "start" || isDetached(node)) return draft;
	const without = closed(remove(draft, [id]), at(node).x);
	if (!without.edges.includes(edge)) return draft;
	const [nodes, position] = roomIn(without, edge);
	const places = new Map(nodes.map((n) => [n.id, n]));
	const on = { source: id, target: edge.target, ...(way !== "out" && { sourceHandle: way }) };
	return {
		...draft,
		nodes: draft.nodes.map((n) => (n.id === id ? { ...n, position } : (places.get(n.id) ?? n))),
		edges: without.edges.flatMap((e) => (e === edge ? [clean({ ...e, id: undefined, target: id }), on] : [e])),
	};
}

/** withHook is a draft in which a node has another hook. If the call no longer waits for it,
 * the node moves beside the path, whose edges close; if the call waits again, the node moves
 * into the path. */
export function withHook(draft: Definition, id: string, hook: Hook): Definition {
	const was = nodeOf(draft, id);
	if (!was) return draft;
	const node: Node = { ...was, data: { ...was.data, hook } };
	const put = (nodes: Node[], position = was.position) =>
		nodes.map((n) => (n.id === id ? { ...node, ...(position && { position }) } : n));
	if (isDetached(node) === isDetached(was)) return { ...draft, nodes: put(draft.nodes) };
	const before = entering(draft, id);
	const onFrom = (from: Edge) => next(draft, from.source, wayOf(nodeOf(draft, from.source), from));

	if (isDetached(node)) {
		// What followed the node by its exit follows those before it. Its way out for a failure is gone.
		const on = leaving(draft, id).filter((edge) => wayOf(was, edge) === "out" && edge.target !== id);
		const edges = draft.edges.filter((edge) => edge.source !== id);
		for (const from of before)
			for (const { target } of on) {
				const edge = clean({ ...from, id: undefined, target });
				if (target !== from.source && !edges.some((e) => edgeKey({ ...e, id: undefined }) === edgeKey(edge)))
					edges.push(edge);
			}
		const others = draft.nodes.filter((n) => n.id !== id);
		return { ...draft, nodes: put(draft.nodes, was.position && freeSpot(others, below(was.position))), edges };
	}

	// Which step follows is clear if all exits that lead to the node lead on to the same one.
	const on = before.map(onFrom);
	const [first] = on;
	if (!first || on.some((edge) => edge?.target !== first.target)) return { ...draft, nodes: put(draft.nodes) };
	const [nodes, position] = roomIn(draft, first);
	const edges = draft.edges.filter((edge) => !on.includes(edge));
	edges.push({ source: id, target: first.target });
	const others = nodes.filter((n) => n.id !== id);
	return { ...draft, nodes: put(nodes, freeSpot(others, position)), edges };
}

const below = ({ x, y }: Point): Point => ({ x, y: y + rowHeight });

const clean = (edge: Edge): Edge => {
	if ("id" in edge && edge.id === undefined) {
		const { id: _, ...rest } = edge;
		return rest;
	}
	return edge;
};

/** part is what is copied: nodes and the edges between them. */
export function part(draft: Definition, ids: string[]): { nodes: Node[]; edges: Edge[] } {
	const chosen = new Set(ids);
	return {
		nodes: draft.nodes.filter((n) => chosen.has(n.id)),
		edges: draft.edges.filter((e) => chosen.has(e.source) && chosen.has(e.target)),
	};
}

/** partIn reads nodes and edges from a text; null if it has none. */
export function partIn(text: string): { nodes: Node[]; edges: Edge[] } | null {
	try {
		const value = readDefinition(text);
		const nodes = Array.isArray(value.nodes) ? value.nodes : readDefinition(`{"nodes":[${text}]}`).nodes!;
		if (!nodes.every((n) => n && typeof n.id === "string" && typeof n.type === "string")) return null;
		const edges = Array.isArray(value.edges) ? value.edges : [];
		return { nodes, edges };
	} catch {
		return null;
	}
}

/** paste adds a part, whose nodes have places, with new ids, below what is there. It returns
 * the draft and the ids. */
export function paste(draft: Definition, from: { nodes: Node[]; edges: Edge[] }): [Definition, string[]] {
	const ids = new Map<string, string>();
	const pasted = from.nodes.filter((n) => n.type !== "start" || !draft.nodes.some((m) => m.type === "start"));
	const down = (rows: number) => (n: Node) => ({ x: at(n).x + 32, y: at(n).y + rows * rowHeight });
	let rows = 1;
	while (rows < 200 && pasted.some((n) => isTaken(draft.nodes, down(rows)(n)))) rows++;
	let out = draft;
	for (const node of pasted) {
		const id = freeID(out, node.id);
		ids.set(node.id, id);
		out = { ...out, nodes: [...out.nodes, { ...copied(node), id, position: down(rows)(node) }] };
	}
	const edges = from.edges
		.filter((e) => ids.has(e.source) && ids.has(e.target))
		.map((e) => clean({ ...e, id: undefined, source: ids.get(e.source)!, target: ids.get(e.target)! }));
	return [{ ...out, edges: [...out.edges, ...edges] }, [...ids.values()]];
}

/** isMoved tells whether two drafts are the same but for the places of nodes, which mean
 * nothing to a run. */
export function isMoved(a: Definition, b: Definition): boolean {
	const same = (x: object, y: object, but: string) => {
		const [left, right] = [x, y] as Record<string, unknown>[];
		return [...Object.keys(left!), ...Object.keys(right!)].every((key) => key === but || left![key] === right![key]);
	};
	return (
		a === b ||
		(same(a, b, "nodes") &&
			a.nodes.length === b.nodes.length &&
			a.nodes.every((node, i) => node === b.nodes[i] || same(node, b.nodes[i]!, "position")))
	);
}
