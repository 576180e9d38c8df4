import { column, type Definition, leaving, nodeOf, type Point, rowHeight, wayOf } from "./definition";
import { isDetached, outsOf } from "./kinds";

/** tidy gives every node its place: the path runs to the right, and each further way out
 * begins a row below. Only one edge enters a node, so the drawing is a tree; other
 * graphs are wrong but are drawn, too. */
export function tidy<T extends Pick<Definition, "nodes" | "edges">>(draft: T): T {
	const places = new Map<string, Point>();
	const free: number[] = []; // for each column, the first row that is free

	const children = (id: string): string[] => {
		const node = nodeOf(draft, id);
		if (!node) return [];
		const ways = [...outsOf(node), "error"];
		const rank = (target: string, way: string) => {
			const to = nodeOf(draft, target);
			return to && isDetached(to) ? 1000 : (ways.indexOf(way) + 1000) % 1000;
		};
		return leaving(draft, id)
			.map((edge) => ({ id: edge.target, rank: rank(edge.target, wayOf(node, edge)) }))
			.sort((a, b) => a.rank - b.rank)
			.map((child) => child.id);
	};

	const place = (root: string, depth: number, wanted: number): void => {
		const chain: string[] = [];
		const more: [string, number][] = [];
		for (let id: string | undefined = root; id !== undefined && !places.has(id); ) {
			places.set(id, { x: 0, y: 0 });
			const at = depth + chain.push(id) - 1;
			const node = nodeOf(draft, id);
			const all = children(id);
			const main: string | undefined = all.find((child) => {
				const target = nodeOf(draft, child);
				return target && !isDetached(target);
			});
			for (const child of all) if (child !== main) more.unshift([child, at + 1]);
			id = node && main;
		}
		const row = chain.reduce((row, _, i) => Math.max(row, free[depth + i] ?? 0), wanted);
		for (const [i, id] of chain.entries()) {
			places.set(id, { x: (depth + i) * column, y: row * rowHeight });
			free[depth + i] = row + 1;
		}
		// Branches near the end come first, so that no edge crosses another.
		for (const [child, at] of more) if (!places.has(child)) place(child, at, row + 1);
	};

	const entered = new Set(draft.edges.map((edge) => edge.target));
	const roots = [
		...draft.nodes.filter((n) => n.type === "start"),
		...draft.nodes.filter((n) => n.type !== "start" && !entered.has(n.id)),
		...draft.nodes, // what is left is in a loop
	];
	for (const root of roots) {
		if (places.has(root.id)) continue;
		place(root.id, 0, Math.max(0, ...free.map((row) => row ?? 0)));
	}
	return { ...draft, nodes: draft.nodes.map((n) => ({ ...n, position: places.get(n.id)! })) };
}

/** placed is a drawing with a place for every node. Other editors write places in other ways. */
export function placed<T extends Pick<Definition, "nodes" | "edges">>(drawing: T): T {
	const has = (p: unknown): p is Point => {
		const { x, y } = (p ?? {}) as Partial<Point>;
		return Number.isFinite(x) && Number.isFinite(y);
	};
	return drawing.nodes.every((n) => has(n.position)) ? drawing : tidy(drawing);
}
