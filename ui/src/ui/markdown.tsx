import DOMPurify from "dompurify";
import { useEffect, useMemo, useState } from "react";
import { cx, Spinner } from "./basics";
import { htmlOf } from "./markdown-html";
import { seen } from "./seen";

// Images of others would tell them that somebody reads. A link must not take the place of
// Genkan's page, and one into Genkan would ask it with the reader's session: it is text.
const inside = (href: string | null): boolean =>
	href !== null && URL.canParse(href, document.baseURI) && new URL(href, document.baseURI).origin === location.origin;
const purifier = DOMPurify();
const forbidden = {
	FORBID_TAGS: ["style", "form", "input", "button", "iframe", "svg", "math"],
	FORBID_ATTR: ["style", "class", "id"],
};
purifier.addHook("afterSanitizeAttributes", (node) => {
	if (node.tagName === "IMG" && !node.getAttribute("src")?.startsWith("data:image/")) {
		node.replaceWith(document.createTextNode(node.getAttribute("alt") || ""));
	}
	if (node.tagName === "A") {
		if (inside(node.getAttribute("href"))) node.removeAttribute("href");
		node.setAttribute("target", "_blank");
		node.setAttribute("rel", "noopener noreferrer");
	}
});

// Some texts take minutes to read, such as 100 KB of a-_ again and again. A text of others must
// not keep the page from working.
const shortText = 4000;
const patience = 1000;

/** useHTML is a Markdown text as HTML: undefined while it is read, null if it cannot be read,
 * or not in time. Long texts are read beside the page. */
function useHTML(text: string, lines: boolean): string | null | undefined {
	const short = useMemo(() => {
		if (text.length > shortText) return undefined;
		try {
			return htmlOf(text, lines);
		} catch {
			return null;
		}
	}, [text, lines]);
	const [long, setLong] = useState<{ of: string; html: string | null }>();
	useEffect(() => {
		if (text.length <= shortText) return;
		const worker = new Worker(new URL("./markdown-worker.ts", import.meta.url), { type: "module" });
		const end = (html: string | null) => {
			clearTimeout(timer);
			worker.terminate();
			setLong({ of: text, html });
		};
		let timer: ReturnType<typeof setTimeout>;
		worker.onmessage = ({ data }: MessageEvent<string | null>) => {
			if (data !== "") return end(data);
			// It is there: from now on it counts.
			timer = setTimeout(() => end(null), patience);
			worker.postMessage({ text, lines });
		};
		worker.onerror = () => end(null);
		return () => {
			clearTimeout(timer);
			worker.terminate();
		};
	}, [text, lines]);
	return text.length > shortText ? (long?.of === text ? long.html : undefined) : short;
}

/** Markdown shows a text of others as formatted text. Lines are joined to paragraphs, unless
 * the text may be no Markdown and its lines are to stay. What takes too long to read is shown
 * as it is written. It is loaded when it is needed:
 * lazy(() => import("@/ui/markdown")). */
export default function Markdown({ text, lines, className }: { text: string; lines?: boolean; className?: string }) {
	const html = useHTML(seen(text), lines === true);
	const safe = useMemo(() => {
		try {
			return html && purifier.sanitize(html, forbidden);
		} catch {
			return null; // it nests too deep
		}
	}, [html]);
	if (safe === undefined) return <Spinner />;
	if (safe === null) return <p className={cx("break-words whitespace-pre-wrap", className)}>{seen(text)}</p>;
	// biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised above
	return <div className={cx("prose", className)} dangerouslySetInnerHTML={{ __html: safe }} />;
}
