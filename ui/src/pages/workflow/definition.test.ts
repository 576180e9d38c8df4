import { expect, test } from "vitest";
import { add, newDefinition, placeFor, replacedBy } from "./definition";

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
