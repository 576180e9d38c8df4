import { expect, test } from "vitest";
import { add, newDefinition, nodeOf, placeFor, replacedBy, withHook } from "./definition";

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
