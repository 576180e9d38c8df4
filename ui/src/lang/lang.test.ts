import { expect, test } from "vitest";
import ja from "./ja";

// Every text in the sources has its Japanese, and no Japanese is left without a text.
const sources = import.meta.glob<string>(
	["../**/*.{ts,tsx}", "!../**/*.test.*", "!../api/schema.d.ts", "!./index.ts"],
	{
		query: "?raw",
		import: "default",
		eager: true,
	},
);

function texts(): Map<string, string> {
	const found = new Map<string, string>();
	const string = String.raw`("(?:[^"\\]|\\.)*")`;
	for (const [path, source] of Object.entries(sources)) {
		for (const [, text] of source.matchAll(new RegExp(String.raw`\bt\(\s*${string}`, "g")))
			found.set(JSON.parse(text!), path);
		for (const [, , many] of source.matchAll(new RegExp(String.raw`\btn\(\s*[^"]+?,\s*${string},\s*${string}`, "g")))
			found.set(JSON.parse(many!), path);
		// Texts that are chosen first and translated later are marked with /* t */.
		for (const [, text] of source.matchAll(new RegExp(String.raw`/\* t \*/\s*${string}`, "g")))
			found.set(JSON.parse(text!), path);
	}
	return found;
}

test("every text has its Japanese", () => {
	const missing = [...texts()].filter(([text]) => !(text in ja)).map(([text, path]) => `${path}: ${text}`);
	expect(missing).toEqual([]);
});

test("no Japanese is left without its text", () => {
	const all = texts();
	expect(Object.keys(ja).filter((text) => !all.has(text))).toEqual([]);
});

test("values in braces are the same in both languages", () => {
	const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
	const wrong = Object.entries(ja).filter(([en, jp]) => String(names(en)) !== String(names(jp)));
	expect(wrong).toEqual([]);
});
