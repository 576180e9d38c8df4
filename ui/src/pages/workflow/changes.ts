import { isExact } from "../../api/exact";
import { t } from "../../lang";
import { type Definition, type Edge, edgeKey, hookOf, type Node, nodeOf } from "./definition";
import { nameOf } from "./store";
import { type DiffLine, diffLines } from "./trace";

/** Change is what became of one part of a workflow between two versions. */
export type Change = {
	key: string;
	kind: "added" | "removed" | "changed";
	/** What was changed: a node's name, the settings, or the edges. */
	title: string;
	/** The node, if it is one. */
	node?: string;
	lines: DiffLine[];
};

const differs = (lines: DiffLine[]): boolean => lines.some((line) => line.kind === "+" || line.kind === "-");

/** changesBetween lists what differs: the settings of the workflow, its nodes, its edges.
 * Where nodes are drawn does not count. */
export function changesBetween(before: Definition, after: Definition): Change[] {
	const out: Change[] = [];
	const settings = differing(settingsOf(before), settingsOf(after));
	if (differs(settings)) out.push({ key: "settings", kind: "changed", title: t("The workflow"), lines: settings });
	for (const node of after.nodes) {
		const was = nodeOf(before, node.id);
		const lines = nodeLines(was, node);
		if (!was) out.push({ key: node.id, kind: "added", title: nameOf(node), node: node.id, lines });
		else if (differs(lines)) out.push({ key: node.id, kind: "changed", title: nameOf(node), node: node.id, lines });
	}
	for (const node of before.nodes)
		if (!nodeOf(after, node.id))
			out.push({
				key: node.id,
				kind: "removed",
				title: nameOf(node),
				node: node.id,
				lines: nodeLines(node, undefined),
			});
	const edges = diffLines(edgeLines(before), edgeLines(after));
	if (differs(edges)) out.push({ key: "edges", kind: "changed", title: t("Edges"), lines: edges });
	return out;
}

/** paramsApart are the steps of another workflow that have the script of the same step of one,
 * and other params. */
export const paramsApart = (one: Definition, other: Definition): Node[] =>
	other.nodes.filter((node) => {
		const [mine, theirs] = [hookOf(nodeOf(one, node.id) ?? node), hookOf(node)];
		const isSame = mine.script === theirs.script && mine.template === theirs.template && mine.module === theirs.module;
		return isSame && differs(differing({ params: theirs.params }, { params: mine.params }));
	});

/** settingsOf is what a workflow has beside its drawing. */
function settingsOf(definition: Definition): Record<string, unknown> {
	const {
		nodes: _,
		edges: __,
		version: ___,
		enabled: ____,
		...rest
	} = definition as Record<string, unknown> & Definition;
	const { createdAt: _____, updatedAt: ______, viewport: _______, ...kept } = rest as Record<string, unknown>;
	return kept;
}

/** arranged is a value whose members are in the order of another one: their order means
 * nothing. */
function arranged(value: unknown, like: unknown): unknown {
	const isObject = (one: unknown): one is Record<string, unknown> => typeof one === "object" && one !== null;
	if (!isObject(value) || !isObject(like) || isExact(value)) return value;
	if (Array.isArray(value)) return value.map((one, i) => arranged(one, like[i]));
	const names = new Set([...Object.keys(like), ...Object.keys(value)].filter((name) => name in value));
	return Object.fromEntries([...names].map((name) => [name, arranged(value[name], like[name])]));
}

/** differing compares the members of two objects. */
const differing = (before: Record<string, unknown>, after: Record<string, unknown>): DiffLine[] =>
	diffLines(linesOf(arranged(before, after) as typeof before), linesOf(after));

/** linesOf are the members of an object, with their names first. */
const linesOf = (object: Record<string, unknown>): string[] =>
	Object.entries(object)
		.filter(([, value]) => value !== undefined)
		.flatMap(([key, value]) => `${key}: ${JSON.stringify(value, null, 2)}`.split("\n"));

/** nodeLines compares the settings of a node, and its script line by line. */
function nodeLines(before: Node | undefined, after: Node | undefined): DiffLine[] {
	const factsOf = (node: Node | undefined): Record<string, unknown> => {
		if (!node) return {};
		const { script: _, ...hook } = hookOf(node);
		const { hook: had, ...data } = node.data ?? {};
		return { type: node.type, ...data, ...(had ? { hook } : {}) };
	};
	const settings = differing(factsOf(before), factsOf(after));
	const script = (node: Node | undefined) => (node && hookOf(node).script ? hookOf(node).script!.split("\n") : []);
	const code = diffLines(script(before), script(after));
	return [...(differs(settings) ? settings : []), ...(differs(code) ? code : [])];
}

function edgeLines(definition: Definition): string[] {
	const name = (id: string) => {
		const node = nodeOf(definition, id);
		return node ? nameOf(node) : id;
	};
	const line = (edge: Edge) =>
		`${name(edge.source)}${edge.sourceHandle && edge.sourceHandle !== "out" ? ` (${edge.sourceHandle})` : ""} → ${name(edge.target)}`;
	return [...definition.edges].sort((a, b) => (pathKey(a) < pathKey(b) ? -1 : 1)).map(line);
}
const pathKey = (edge: Edge) => edgeKey({ ...edge, id: undefined });
