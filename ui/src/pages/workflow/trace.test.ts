import { expect, test } from "vitest";
import { standsTwice } from "./trace";

const answer = (text: string, structuredContent?: unknown) => ({
	content: [{ type: "text", text }],
	...(structuredContent !== undefined && { structuredContent }),
});

test("a text that was changed may still stand in structuredContent", () => {
	for (const [name, before, after, want] of [
		["as a member", answer("a b", { content: "a b" }), answer("a", { content: "a b" }), true],
		["deeper", answer("a b", { all: ["a b"] }), answer("a", { all: ["a b"] }), true],
		["as JSON", answer('{"a": 1}', { a: 1 }), answer("{}", { a: 1 }), true],
		["changed there, too", answer("a b", { content: "a b" }), answer("a", { content: "a" }), false],
		["not changed", answer("a b", { content: "a b" }), answer("a b", { content: "a b" }), false],
		["another text", answer("a b", { content: "c" }), answer("a", { content: "c" }), false],
		["without any", answer("a b"), answer("a"), false],
		["of no answer", undefined, answer("a", { content: "a" }), false],
		["of a call that failed", answer("a b", { content: "a b" }), undefined, false],
		["of odd answers", { content: "a b" }, { content: null, structuredContent: null }, false],
	] as [string, unknown, unknown, boolean][])
		expect(standsTwice(before, after), name).toBe(want);
});
