import { expect, test } from "vitest";
import { htmlOf } from "./markdown-html";

test("a text that shows nothing as Markdown is no Markdown", () => {
	expect(htmlOf("[tea]: https://example.com/tea")).toBeNull();
	expect(htmlOf("**hot**")).toBe("<p><strong>hot</strong></p>\n");
});

test("what nests too deep is no Markdown", () => expect(htmlOf("> ".repeat(20_000))).toBeNull());
