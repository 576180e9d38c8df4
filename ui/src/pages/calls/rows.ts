import type { S } from "@/api/client";

/** Call is a call of the list: one that has ended, or one that runs and has no outcome. */
export type Call = S["CallStarted"] &
	Partial<S["ListedCall"]> & {
		/** When it began, in milliseconds. */
		started: number;
		/** It ended while somebody was reading further down: it keeps its row. */
		alone?: boolean;
	};

/** Row is a line of the list. */
export type Row = {
	key: string;
	call: Call;
	depth: number;
	/** The calls that this row stands for, the newest first, if they are several. */
	folded?: Call[];
	open?: boolean;
};

const alike = (a: Call, b: Call): boolean =>
	a.outcome !== undefined &&
	a.outcome === b.outcome &&
	a.client === b.client &&
	a.program === b.program &&
	a.server === b.server &&
	a.tool === b.tool &&
	a.arguments === b.arguments &&
	a.effect === b.effect &&
	!a.alone &&
	!b.alone;

/** rowsOf puts calls in order: the one that began last first, those that a call made
 * below it, and repeats with the same arguments into one row, unless it is open. */
export function rowsOf(calls: Call[], open: ReadonlySet<string>): Row[] {
	const known = new Set<string>();
	for (const call of calls) known.add(call.id);
	const children = new Map<string, Call[]>();
	const top: Call[] = [];
	for (const call of calls) {
		if (!call.parent || !known.has(call.parent)) top.push(call);
		else {
			const siblings = children.get(call.parent);
			if (siblings) siblings.push(call);
			else children.set(call.parent, [call]);
		}
	}
	const rows: Row[] = [];
	const add = (list: Call[], depth: number) => {
		for (let i = 0; i < list.length; ) {
			const call = list[i]!;
			let end = i + 1;
			if (!children.has(call.id))
				while (end < list.length && alike(call, list[end]!) && !children.has(list[end]!.id)) end++;
			const group = list.slice(i, end);
			if (group.length === 1) rows.push({ key: call.id, call, depth });
			else {
				const isOpen = group.some((one) => open.has(one.id));
				// The oldest stays the oldest while others come.
				rows.push({ key: `${group.at(-1)!.id}+`, call, depth, folded: group, open: isOpen });
				if (isOpen) for (const one of group) rows.push({ key: one.id, call: one, depth: depth + 1 });
			}
			const made = group.length === 1 ? children.get(call.id) : undefined;
			if (made)
				add(
					made.toSorted((a, b) => a.started - b.started || order(b, a)),
					depth + 1,
				);
			i = end;
		}
	};
	add(
		top.toSorted((a, b) => b.started - a.started || order(a, b)),
		0,
	);
	return rows;
}

/** order puts calls that began at the same time into the order of their numbers. */
const order = (a: Call, b: Call): number => number(b.id) - number(a.id);
const number = (id: string): number => Number(id.slice(id.lastIndexOf("-") + 1));
