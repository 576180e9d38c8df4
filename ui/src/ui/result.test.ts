import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import Result from "./result";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://127.0.0.1/ui/" }));

const drawn = (result: unknown) => renderToStaticMarkup(createElement(Result, { result }));
const text = (text: string) => ({ type: "text", text });

test.each([
	["a text", { content: [text("safe\u202eevil")] }],
	["an error", { code: -32000, message: "safe\u202eevil" }],
	["a cell", { structuredContent: [{ a: "safe\u202eevil" }] }],
	["JSON in a cell", { structuredContent: [{ a: ["safe\u202eevil"] }] }],
	["the head of a column", { structuredContent: [{ "safe\u202eevil": 1 }] }],
	["a link", { content: [{ type: "resource_link", name: "safe\u202eevil", uri: "file:///a" }] }],
	["an address", { content: [{ type: "resource_link", name: "a", uri: "file:///safe\u202eevil" }] }],
	["a resource", { content: [{ type: "resource", resource: { uri: "file:///safe\u202eevil", text: "a" } }] }],
	["a kind of bytes", { contents: [{ uri: "file:///a", mimeType: "safe\u202eevil", blob: "AAAA" }] }],
	["a role", { messages: [{ role: "safe\u202eevil", content: text("a") }] }],
])("what turns the direction is written out in %s", (_, result) => {
	expect(drawn(result)).toContain("safe[U+202E]evil");
	expect(drawn(result)).not.toContain("\u202e");
});

test("of many blocks, only the first are formatted by themselves", () => {
	const blocks = Array.from({ length: 1000 }, () => text("# Tea\n\n**hot**"));
	const asked = (result: unknown) => drawn(result).split("Show as Markdown").length - 1;
	expect(asked({ content: blocks })).toBe(980);
	expect(asked({ messages: [{ role: "user", content: blocks }] })).toBe(980);
	expect(asked({ content: blocks.slice(0, 20) })).toBe(0);
});

test("a message has its role once, with what it says", () => {
	const shown = drawn({ messages: [{ role: "user", content: [text("one"), text("two")] }] });
	expect(shown.match(/user|one|two/g)).toEqual(["user", "one", "two"]);
});

test("one row that is left is one row", () => {
	const rows = Array.from({ length: 51 }, (_, n) => ({ n }));
	expect(drawn({ structuredContent: rows })).toContain("1 more row<");
});
