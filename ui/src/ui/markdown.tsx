import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useMemo } from "react";
import { cx } from "./basics";

// Images of others would tell them that somebody reads, and a link must not take the
// place of Genkan's page.
const purifier = DOMPurify();
purifier.addHook("afterSanitizeAttributes", (node) => {
	if (node.tagName === "IMG" && !node.getAttribute("src")?.startsWith("data:image/")) {
		node.replaceWith(document.createTextNode(node.getAttribute("alt") || ""));
	}
	if (node.tagName === "A") {
		node.setAttribute("target", "_blank");
		node.setAttribute("rel", "noopener noreferrer");
	}
});

// HTML in a text is text, as people would see it in a file. Only line breaks are what
// tables need them for.
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
// Japanese has no spaces: a line that is broken between two of its characters goes on.
const cjk = "[\\u3000-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef]";
const broken = new RegExp(`(${cjk})\\n(?=${cjk})`, "g");
const reading = (breaks: boolean) =>
	new Marked({
		gfm: true,
		breaks,
		async: false,
		walkTokens: (token) => {
			if (token.type === "text" && !token.tokens) token.text = token.text.replace(broken, "$1");
		},
		renderer: { html: ({ text }) => (/^<br\s*\/?>$/i.test(text) ? "<br>" : escaped(text)) },
	});
const joining = reading(false);
const breaking = reading(true);

/** Markdown shows a text of others as formatted text. Lines are joined to paragraphs, unless
 * the text may be no Markdown and its lines are to stay. It is loaded when it is needed:
 * lazy(() => import("@/ui/markdown")). */
export default function Markdown({ text, lines, className }: { text: string; lines?: boolean; className?: string }) {
	const html = useMemo(
		() =>
			purifier.sanitize((lines ? breaking : joining).parse(text) as string, {
				FORBID_TAGS: ["style", "form", "input", "button", "iframe", "svg", "math"],
				FORBID_ATTR: ["style", "class", "id"],
			}),
		[text, lines],
	);
	// biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised above
	return <div className={cx("prose", className)} dangerouslySetInnerHTML={{ __html: html }} />;
}
