import { expect, test } from "vitest";
import { likeMarkdown } from "./likemarkdown";

test.each([
	["# Title\n\nIt is **bold**", true],
	["## Results\n- one\n- two", true],
	["see\n```sh\nls\n```\n", true],
	["| a | b |\n| --- | --- |\n| 1 | 2 |", true],
	["# staging\nDB_HOST=db\nDB_USER=app\n", false],
	["# staging\n\nDB_HOST=db\n", false],
	["# ports\nports:\n  - 80\n  - 443\n", false],
	["2 ** 3 ** 4", false],
	["- a\n- b", false],
])("%j is Markdown: %s", (text, is) => expect(likeMarkdown(text)).toBe(is));

test("the kind and the name of the file say it", () => {
	expect(likeMarkdown("plain", "text/markdown")).toBe(true);
	expect(likeMarkdown("plain", undefined, "file:///notes/README.md")).toBe(true);
	expect(likeMarkdown("# A\n\n**b**", "text/x-python")).toBe(false);
});

test("a text of brackets alone is read once", () => {
	const start = performance.now();
	expect(likeMarkdown(`# a\n\n${"[".repeat(200_000)}`)).toBe(false);
	expect(likeMarkdown(`# a\n\n${"[a](".repeat(50_000)}`)).toBe(false);
	expect(performance.now() - start).toBeLessThan(500);
});
