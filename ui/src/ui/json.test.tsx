import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { JsonText } from "./json";

test("characters that nobody sees are written out in JSON", () => {
	const shown = renderToStaticMarkup(<JsonText text={'{"path":"files/\u2066\u202etxt.seton\u202c\u2069"}'} />);
	expect(shown).toContain("files/[U+2066][U+202E]txt.seton[U+202C][U+2069]");
	expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});
