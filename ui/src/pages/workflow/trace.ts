import type { S } from "../../api/client";
import { patched } from "../call/patch";
import type { Replay } from "./store";

/** State is the call and its answer at a point of the path. */
export type State = { request: { method: string; params: unknown }; response?: unknown };

/** stateAt is what comes into a node of a replay, and what it leaves. */
export function stateAt(
	sample: S["CallDetails"],
	replay: Replay | null,
	node: string,
): { before: State; after?: State } {
	const isOf = replay?.call === sample.id;
	const { params, answer } = givenTo(sample, isOf ? replay : null);
	let state: State = { request: { method: sample.method, params: params ?? {} } };
	if (!isOf || !replay.matched || !replay.steps[node]) return { before: { ...state, response: answer } };
	for (const step of replay.result.trace?.steps ?? []) {
		const before = state;
		if (step.type === "mcp-call" && step.status === "ok") state = { ...state, response: answer };
		// What came of a run is in the answer already.
		if (!replay.ran || replay.ran.mode === "shadow" || !state.response) state = patched(state, step.patch);
		if (step.node === node) return { before, after: state };
	}
	return { before: state };
}

/** givenTo is what a replay worked on: what was sent then and answered. Of a call that was not
 * replayed it is what its record has, which workflows may have changed. */
export const givenTo = (sample: S["CallDetails"], replay: Replay | null): { params: unknown; answer: unknown } =>
	replay?.result.given ?? { params: sample.request?.json, answer: sample.response?.json };

/** standsTwice tells whether a text of an answer that was changed still stands in its
 * structuredContent as it was: servers send both, and agents read either. */
export function standsTwice(before: unknown, after: unknown): boolean {
	type Answer = { content?: { text?: unknown }[]; structuredContent?: unknown };
	const textsOf = (answer: unknown) => {
		const { content } = (answer ?? {}) as Answer;
		return Array.isArray(content) ? content.map((part) => part?.text).filter((text) => typeof text === "string") : [];
	};
	const left = (after as Answer | undefined)?.structuredContent;
	if (left === undefined) return false;
	const kept = new Set(textsOf(after));
	const gone = textsOf(before).filter((text) => text !== "" && !kept.has(text));
	if (gone.length === 0) return false;
	const there = new Set<unknown>();
	const rest = [left];
	while (rest.length > 0) {
		const value = rest.pop();
		if (typeof value === "object" && value !== null) for (const one of Object.values(value)) rest.push(one);
		else there.add(value);
	}
	const whole = JSON.stringify(left);
	return gone.some((text) => {
		if (there.has(text)) return true;
		try {
			return JSON.stringify(JSON.parse(text)) === whole;
		} catch {
			return false; // it is no JSON
		}
	});
}

export type DiffLine = { kind: " " | "+" | "-" | "…"; text: string };
const context = 3;
const most = 1500;

/** diff compares two values line by line, with a few lines around what differs. */
export function diff(before: unknown, after: unknown): DiffLine[] {
	const lines = (value: unknown) => (value === undefined ? [] : JSON.stringify(value, null, 2).split("\n"));
	return diffLines(lines(before), lines(after));
}

/** diffLines is diff for texts. */
export function diffLines(a: string[], b: string[]): DiffLine[] {
	let from = 0;
	while (from < a.length && from < b.length && a[from] === b[from]) from++;
	let cut = 0;
	while (cut < a.length - from && cut < b.length - from && a.at(-1 - cut) === b.at(-1 - cut)) cut++;
	const [x, y] = [a.slice(from, a.length - cut), b.slice(from, b.length - cut)];
	const out: DiffLine[] = a.slice(0, from).map((text) => ({ kind: " ", text }));
	if (x.length > most || y.length > most) {
		out.push(...x.map((text): DiffLine => ({ kind: "-", text })), ...y.map((text): DiffLine => ({ kind: "+", text })));
	} else {
		// The longest common subsequence, from the end.
		const size = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
		for (let i = x.length - 1; i >= 0; i--)
			for (let j = y.length - 1; j >= 0; j--)
				size[i]![j] = x[i] === y[j] ? size[i + 1]![j + 1]! + 1 : Math.max(size[i + 1]![j]!, size[i]![j + 1]!);
		let [i, j] = [0, 0];
		while (i < x.length || j < y.length) {
			if (i < x.length && j < y.length && x[i] === y[j]) {
				out.push({ kind: " ", text: x[i]! });
				i++;
				j++;
			} else if (i < x.length && (j >= y.length || size[i + 1]![j]! >= size[i]![j + 1]!))
				out.push({ kind: "-", text: x[i++]! });
			else out.push({ kind: "+", text: y[j++]! });
		}
	}
	out.push(...a.slice(a.length - cut).map((text): DiffLine => ({ kind: " ", text })));
	const near = new Set<number>();
	for (const [i, line] of out.entries())
		if (line.kind !== " ") for (let k = i - context; k <= i + context; k++) near.add(k);
	const short: DiffLine[] = [];
	for (const [i, line] of out.entries()) {
		if (near.has(i)) short.push(line);
		else if (short.at(-1)?.kind !== "…") short.push({ kind: "…", text: "" });
	}
	return short;
}
