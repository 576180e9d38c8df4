import { expect, test } from "vitest";
import kinds from "../../../../internal/api/testdata/kinds.json";
import { changesBetween } from "./changes";
import type { Definition } from "./definition";
import { type Kind, setKinds } from "./kinds";

setKinds(kinds as Kind[]);

const flow = (script: string, more: Partial<Definition> = {}): Definition => ({
	id: "w",
	name: "w",
	workflowType: "tools/call",
	nodes: [
		{ id: "start", type: "start", position: { x: 0, y: 0 } },
		{ id: "hook", type: "hook", data: { label: "Redact", hook: { blocking: true, script } } },
		{ id: "end", type: "end" },
	],
	edges: [
		{ source: "start", target: "hook" },
		{ source: "hook", target: "end" },
	],
	...more,
});
const told = (before: Definition, after: Definition) =>
	changesBetween(before, after).map(
		({ kind, title, lines }) =>
			`${kind} ${title}: ${lines
				.filter((line) => line.kind === "+" || line.kind === "-")
				.map((line) => line.kind + line.text.trim())
				.join(" ")}`,
	);

test("the order of members is no change", () => {
	const set = (data: object): Partial<Definition> => ({
		nodes: [{ id: "set", type: "set", data: data as never }],
		edges: [],
	});
	expect(
		told(
			flow("", {
				mode: "shadow",
				limits: { hookMs: 1, totalMs: 2 },
				...set({ vars: { a: { value: { x: 1, y: [2] } } } }),
			}),
			{
				mode: "shadow",
				...flow("", { limits: { totalMs: 2, hookMs: 1 }, ...set({ vars: { a: { value: { y: [2], x: 1 } } } }) }),
			},
		),
	).toEqual([]);
});

test("places, order of edges and times are no change", () => {
	const moved = flow("a");
	moved.nodes[0] = { id: "start", type: "start", position: { x: 9, y: 9 } };
	moved.edges.reverse();
	expect(told(flow("a"), { ...moved, version: 7, enabled: true })).toEqual([]);
});

test("a script is compared line by line", () => {
	expect(told(flow("let a = 1;\nreturn a;"), flow("let a = 2;\nreturn a;"))).toEqual([
		"changed Redact: -let a = 1; +let a = 2;",
	]);
});

test("nodes that came and went are told, with edges and settings", () => {
	const after = flow("a", { name: "other" });
	after.nodes = [...after.nodes.slice(0, 1), { id: "ask", type: "approve", data: { label: "Ask" } }, after.nodes[2]!];
	after.edges = [
		{ source: "start", target: "ask" },
		{ source: "ask", target: "end" },
		{ source: "ask", sourceHandle: "denied", target: "end" },
	];
	expect(told(flow("a"), after)).toEqual([
		'changed The workflow: -name: "w" +name: "other"',
		'added Ask: +type: "approve" +label: "Ask"',
		'removed Redact: -type: "hook" -label: "Redact" -hook: { -"blocking": true -} -a',
		"changed Edges: -Redact → End -Start → Redact +Ask (denied) → End +Ask → End +Start → Ask",
	]);
});
