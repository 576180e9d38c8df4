import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { JsonText } from "./json";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://127.0.0.1/ui/" }));

test("characters that nobody sees are written out in JSON", () => {
	const text = '{"path":"files/\u2066\u202etxt.seton\u202c\u2069"}';
	const shown = renderToStaticMarkup(createElement(JsonText, { text }));
	expect(shown).toContain("files/[U+2066][U+202E]txt.seton[U+202C][U+2069]");
	expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

test("a string that was cut is one string, however many quotes it has", () => {
	const cut = `{"text": "${'\\"'.repeat(60_000)}`;
	for (const text of [cut, `${cut}\n…`, `${cut}\\\n…`]) {
		const shown = renderToStaticMarkup(createElement(JsonText, { text }));
		expect(shown.match(/<span/g)).toHaveLength(2);
	}
});
