import { expect, test } from "vitest";
import kinds from "../../../../internal/api/testdata/kinds.json";
import {
	add,
	isMoved,
	moveOnto,
	newDefinition,
	nodeOf,
	partIn,
	paste,
	placeAfter,
	placeFor,
	replacedBy,
	withHook,
} from "./definition";
import { type Kind, setKinds } from "./kinds";
import { placed } from "./layout";

setKinds(kinds as Kind[]);

const draft = newDefinition("w", "w");
const [toCall, toEnd] = draft.edges as [(typeof draft.edges)[0], (typeof draft.edges)[0]];
const hook = (behind: boolean) => ({ label: "", workflowTypes: [], blocking: true, behind, settings: {}, script: "" });

test("a hook of a template goes to its side of the call", () => {
	const behind = { after: "call", way: "out" };
	expect(placeFor(draft, hook(true), { after: "start" })).toEqual(behind);
	expect(placeFor(draft, hook(true), { edge: toCall })).toEqual(behind);
	expect(placeFor(draft, hook(true), { at: { x: 0, y: 0 }, from: { id: "start", way: "out" } })).toEqual(behind);
	for (const place of [{ edge: toEnd }, { after: "call", way: "error" }, { after: "end" }, { at: { x: 0, y: 0 } }])
		expect(placeFor(draft, hook(true), place)).toBe(place);
	for (const place of [{ after: "call" }, { after: "end" }, { edge: toEnd }])
		expect(placeFor(draft, hook(false), place)).toEqual({ edge: toCall });
	for (const place of [{ after: "start" }, { edge: toCall }]) expect(placeFor(draft, hook(false), place)).toBe(place);
});

test("one step follows an exit, and any number run beside it", () => {
	const [beside, id] = add(draft, "hook", { hook: { blocking: false } }, { at: { x: 0, y: 0 } });
	expect(replacedBy(beside, { source: "start", target: id })).toBeUndefined();
	expect(replacedBy(beside, { source: "start", target: "end" })).toBe(toCall);
	expect(replacedBy(beside, { source: "call", target: "end", sourceHandle: "error" })).toBeUndefined();
});

test("a step from an exit that leads on comes in between, unless nothing can follow it", () => {
	const from = { id: "start", way: "out" };
	const lines = (type: string) =>
		add(draft, type, {}, { at: { x: 0, y: 0 }, from })[0].edges.map((e) => `${e.source} ${e.target}`);
	expect(lines("set")).toEqual(["call end", "start set", "set call"]);
	expect(lines("end")).toEqual(["call end", "start end-2"]);
});

test("a step that nobody waits for moves beside the path, and back into it", () => {
	const lines = (d: typeof draft) => d.edges.map((e) => `${e.source} ${e.sourceHandle ?? "out"} ${e.target}`).sort();
	const [waited, id] = add(draft, "hook", { hook: { blocking: true } }, { edge: toEnd });
	const inPath = ["call out hook", "hook out end", "start out call"];
	expect(lines(waited)).toEqual(inPath);
	const beside = withHook(waited, id, { blocking: false });
	expect(lines(beside)).toEqual(["call out end", "call out hook", "start out call"]);
	expect(nodeOf(beside, id)!.position!.y).toBeGreaterThan(nodeOf(waited, id)!.position!.y);
	const again = withHook(beside, id, { blocking: true });
	expect(lines(again)).toEqual(inPath);
	expect(nodeOf(again, id)!.position).toEqual(nodeOf(waited, id)!.position);
	// A way out for failures is gone; what ran beside the step stays beside the path.
	const [more, other] = add(waited, "hook", { hook: { blocking: false } }, { after: id });
	const failing = { ...more, edges: [...more.edges, { source: id, sourceHandle: "error", target: "end" }] };
	expect(lines(withHook(failing, id, { blocking: false }))).toEqual([
		"call out end",
		"call out hook",
		`call out ${other}`,
		"start out call",
	]);
	// Which step follows is not clear, so no edge changes.
	const both = { ...beside, edges: [...beside.edges, { source: "start", target: id }] };
	expect(lines(withHook(both, id, { blocking: true }))).toEqual(lines(both));
});

test("a step that cannot follow a node is added to the path at it", () => {
	const [beside, id] = add(draft, "hook", { hook: { blocking: false } }, { after: "start" });
	expect(placeAfter(beside, id)).toEqual({ edge: toCall });
	expect(placeAfter(draft, "end")).toEqual({ edge: toEnd });
	expect(placeAfter(draft, "call")).toEqual({ after: "call" });
	const lines = add(beside, "set", {}, { after: id })[0].edges.map((e) => `${e.source} ${e.target}`);
	expect(lines.sort()).toEqual(["call end", `start ${id}`, "set call", "start set"].sort());
});

test("what is pasted has places of its own, whatever those that it came with", () => {
	const nodes = ["a", "b"].map((id) => ({ id, type: "set", position: [0, 0] as never }));
	let now = draft;
	for (const _ of [1, 2]) [now] = paste(now, placed({ nodes, edges: [{ source: "a", target: "b" }] }));
	const places = now.nodes.map(({ position }) => `${Math.round(position!.x / 190)} ${position!.y}`);
	expect(new Set(places).size).toBe(7);
});

test("a draft whose nodes were moved means the same", () => {
	const moved = { ...draft, nodes: draft.nodes.map((node) => ({ ...node, position: { x: 7, y: 7 } })) };
	expect(isMoved(draft, draft)).toBe(true);
	expect(isMoved(draft, moved)).toBe(true);
	expect(isMoved(draft, { ...moved, nodes: moved.nodes.map((node) => ({ ...node, data: {} })) })).toBe(false);
	expect(isMoved(draft, { ...draft, nodes: draft.nodes.slice(1) })).toBe(false);
	expect(isMoved(draft, { ...draft, order: 2 })).toBe(false);
});

test("what is no workflow is no part of one", () => {
	expect(partIn('{"nodes":[{"id":"a","type":"set","data":{"label":1}}]}')).toEqual({
		nodes: [{ id: "a", type: "set", data: { label: 1 } }],
		edges: [],
	});
	expect(partIn('{"id":"a","type":"set"}')!.nodes).toEqual([{ id: "a", type: "set" }]);
	for (const text of ["5", "null", "[1]", '{"nodes":[null]}', "{"]) expect(partIn(text)).toBeNull();
});

test("a step that moves onto an edge keeps its way out, and stays if that is its failure", () => {
	const of = (type: string, sourceHandle: string) => ({
		...draft,
		nodes: [
			...draft.nodes,
			{ id: "s", type, data: { cases: [{ handle: "yes", when: "true" }] } },
			{ id: "no", type: "end" },
		],
		edges: [
			{ source: "start", target: "s" },
			{ source: "s", sourceHandle, target: "no" },
			{ source: "call", target: "end" },
		],
	});
	const condition = of("condition", "else");
	expect(moveOnto(condition, "s", condition.edges[2]!).edges).toEqual([
		{ source: "call", target: "s" },
		{ source: "s", target: "end", sourceHandle: "else" },
		{ source: "start", target: "no" },
	]);
	const failing = of("hook", "error");
	expect(moveOnto(failing, "s", failing.edges[2]!)).toBe(failing);
});
