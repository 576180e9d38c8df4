import * as dagre from "@dagrejs/dagre";
import type { S } from "@/api/client";
import { refOf } from "./drafts";

type Summary = S["ItemSummary"];
export type Place = { x: number; y: number };
type Drawing = {
	items: Map<string, Summary>;
	/** Pairs of references, the one that is nearer to the centre first. */
	edges: [string, string][];
	/** How many relations away from the centre; Infinity if nothing that is drawn leads there. */
	away: Map<string, number>;
};

export const size = { width: 184, height: 52 };

export const edgeKey = (a: string, b: string): string => [a, b].sort().join(" ");

/** joined puts together what is around several items, and paths. */
export function joined(center: string, around: S["RelatedItems"][], paths: Summary[][]): Drawing {
	const items = new Map<string, Summary>();
	const pairs = new Map<string, [string, string]>();
	const see = (item: Summary) => items.set(refOf(item), item);
	const join = (a: string, b: string) => pairs.set(edgeKey(a, b), [a, b]);
	for (const { center_item, related_items, edges } of around) {
		see(center_item);
		for (const { item } of related_items) see(item);
		for (const [a, b] of edges) join(a!, b!);
	}
	for (const path of paths)
		for (const [i, item] of path.entries()) {
			see(item);
			if (i > 0) join(refOf(path[i - 1]!), refOf(item));
		}
	const near = new Map<string, string[]>();
	for (const [a, b] of pairs.values()) {
		near.set(a, [...(near.get(a) ?? []), b]);
		near.set(b, [...(near.get(b) ?? []), a]);
	}
	const away = new Map([[center, 0]]);
	for (const [ref, distance] of away) // a map goes on with what is added meanwhile
		for (const next of near.get(ref) ?? []) if (!away.has(next)) away.set(next, distance + 1);
	const far = (ref: string) => away.get(ref) ?? Number.POSITIVE_INFINITY;
	return {
		items,
		edges: [...pairs.values()]
			.filter(([a, b]) => items.has(a) && items.has(b))
			.map(([a, b]) => (far(a) <= far(b) ? [a, b] : [b, a])),
		away,
	};
}

/** placed gives every item its place, from the centre to the right, or down where there
 * is little width. The anchor stays where it was. */
export function placed(
	drawing: Drawing,
	down: boolean,
	anchor: string,
	before: Map<string, Place>,
): Map<string, Place> {
	const graph = new dagre.graphlib.Graph();
	graph.setGraph({ rankdir: down ? "TB" : "LR", ranksep: 44, nodesep: 16 });
	graph.setDefaultEdgeLabel(() => ({}));
	for (const ref of drawing.items.keys()) graph.setNode(ref, { ...size });
	for (const [a, b] of drawing.edges) graph.setEdge(a, b);
	dagre.layout(graph);
	const at = (ref: string): Place => {
		const { x, y } = graph.node(ref) as Place;
		return { x: x - size.width / 2, y: y - size.height / 2 };
	};
	const was = before.get(anchor);
	const is = drawing.items.has(anchor) ? at(anchor) : undefined;
	const [dx, dy] = was && is ? [was.x - is.x, was.y - is.y] : [0, 0];
	return new Map(
		[...drawing.items.keys()].map((ref) => {
			const { x, y } = at(ref);
			return [ref, { x: x + dx, y: y + dy }];
		}),
	);
}
