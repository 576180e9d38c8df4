import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";

const src = join(import.meta.dirname, "../src");
const files = [
	join(src, "ui/ja.ts"),
	join(src, "shell/ja.ts"),
	...readdirSync(join(src, "pages")).map((page) => join(src, "pages", page, "ja.ts")),
];

/** japanese has the Japanese of every text of the pages. */
export const japanese: Record<string, string> = Object.assign(
	{},
	...(await Promise.all(files.map(async (file) => (await import(file)).default))),
);

/** wordsIn is t of the pages, for specs that do the same in both languages. */
export const wordsIn =
	(lang: "en" | "ja") =>
	(english: string, values: Record<string, string | number> = {}) => {
		const text = lang === "ja" ? japanese[english] : english;
		if (text === undefined) throw new Error(`no page says ${english}`);
		return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
	};

/** englishOn reports English that is left on a Japanese page: texts of the dictionary, and
 * anything else that reads as a sentence. What programs and servers said, in code and in
 * the parts that foreign names, is theirs. */
export async function englishOn(page: Page, foreign: RegExp): Promise<string[]> {
	const shown = await page.evaluate(() => {
		const found = new Set<string>();
		const add = (text: string | null | undefined) => text?.trim() && found.add(text.trim().replace(/\s+/g, " "));
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let node = walker.nextNode(); node; node = walker.nextNode())
			if (node.parentElement?.checkVisibility() && !node.parentElement.closest("code, pre, kbd, script"))
				add(node.textContent);
		// The title of a term is its technical name.
		for (const element of document.body.querySelectorAll("[aria-label], [title], [placeholder]"))
			if (element.checkVisibility() && !element.matches("[data-term]"))
				for (const name of ["aria-label", "title", "placeholder"]) add(element.getAttribute(name));
		add(document.title);
		return [...found];
	});
	const known = Object.entries(japanese)
		.filter(([english, japanese]) => english !== japanese && /[a-z]{2}/.test(english.replace(/\{\w+\}/g, "")))
		.map(([english]) => {
			const pattern = english.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
			return new RegExp(`^${pattern.join(".+")}$`);
		});
	const sentence = /\b[A-Za-z']{2,} [a-z']{2,} [a-z']{2,}/;
	return shown.filter(
		(text) => !foreign.test(text) && (known.some((pattern) => pattern.test(text)) || sentence.test(text)),
	);
}
