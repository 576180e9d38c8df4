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
