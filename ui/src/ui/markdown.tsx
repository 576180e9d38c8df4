import DOMPurify from "dompurify";
import { marked } from "marked";
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

/** Markdown shows a text of others as formatted text. It is loaded when it is needed:
 * lazy(() => import("@/ui/markdown")). */
export default function Markdown({ text, className }: { text: string; className?: string }) {
	const html = useMemo(
		() =>
			purifier.sanitize(marked.parse(text, { async: false, gfm: true }), {
				FORBID_TAGS: ["style", "form", "input", "button", "iframe", "svg", "math"],
				FORBID_ATTR: ["style", "class", "id"],
			}),
		[text],
	);
	// biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised above
	return <div className={cx("prose", className)} dangerouslySetInnerHTML={{ __html: html }} />;
}
