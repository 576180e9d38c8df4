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
	const names = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort();
	const wrong = Object.entries(ja).filter(([en, jp]) => String(names(en)) !== String(names(jp)));
	expect(wrong).toEqual([]);
});

test("a text has the same Japanese on every page", () => {
	const files = import.meta.glob<{ default: Record<string, string> }>("../**/ja.ts", { eager: true });
	const said = Object.entries(files).filter(([path]) => path !== "./ja.ts");
	const wrong = said.flatMap(([path, { default: texts }]) =>
		Object.entries(texts)
			.filter(([text, japanese]) => ja[text] !== japanese)
			.map(([text]) => `${path}: ${text}`),
	);
	expect(wrong).toEqual([]);
});

// The rules are in the README, under Texts.
test("Japanese is written as the word list says", () => {
	const rules: [RegExp, string][] = [
		[/[ぁ-んァ-ヶー一-龠][(?:!,]|[)?:!,][ぁ-んァ-ヶー一-龠]/, "full-width ( ) : ? ,"],
		[/[ぁ-んァ-ヶー一-龠][A-Za-z0-9{]|[A-Za-z0-9}%][ぁ-んァ-ヶー一-龠]/, "a space between Japanese and other letters"],
		[/[。、（）「」：？] | [。、（）「」：？]/, "no space beside full-width punctuation"],
		[/一つ|秘密|ディレクトリー|フォルダ(?!ー)|メモリー|やめる|アイテム|エントリー/, "the words of the list"],
	];
	const wrong = Object.values(ja).flatMap((text) =>
		rules.filter(([rule]) => rule.test(text)).map(([, name]) => `${text}: ${name}`),
	);
	expect(wrong).toEqual([]);
});
