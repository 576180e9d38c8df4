import DOMPurify from "dompurify";
import { useEffect, useMemo, useState } from "react";
import { cx } from "./basics";
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
// not keep the page from working. An answer may have thousands of them, so one worker reads the
// long ones in their turn.
const shortText = 1000;
const patience = 1000;

let started: Promise<Worker> | undefined;
let turn: Promise<unknown> = Promise.resolve();

const start = () =>
	new Promise<Worker>((resolve, reject) => {
		const worker = new Worker(new URL("./markdown-worker.ts", import.meta.url), { type: "module" });
		worker.onmessage = () => resolve(worker);
		worker.onerror = reject;
	});

async function readBeside(text: string, lines: boolean, gone: AbortSignal): Promise<string | null> {
	if (gone.aborted) return null;
	let worker: Worker | undefined;
	try {
		started ??= start();
		const one = await started;
		worker = one;
		return await new Promise<string | null>((resolve, reject) => {
			const timer = setTimeout(reject, patience);
			one.onmessage = ({ data }: MessageEvent<string | null>) => {
				clearTimeout(timer);
				resolve(data);
			};
			one.postMessage({ text, lines });
		});
	} catch {
		worker?.terminate();
		started = undefined;
		return null;
	}
}

/** useHTML is a Markdown text as HTML: null if it cannot be read, or not in time, or not yet.
 * Long texts are read beside the page. */
function useHTML(text: string, lines: boolean): string | null {
	const isShort = text.length <= shortText;
	const short = useMemo(() => (isShort ? htmlOf(text, lines) : null), [text, lines, isShort]);
	const [long, setLong] = useState<{ of: string; html: string | null }>();
	useEffect(() => {
		if (isShort) return;
		const gone = new AbortController();
		turn = turn.then(async () => {
			const html = await readBeside(text, lines, gone.signal);
			if (!gone.signal.aborted) setLong({ of: text, html });
		});
		return () => gone.abort();
	}, [text, lines, isShort]);
	return long?.of === text ? long.html : short;
}

/** Markdown shows a text of others as formatted text. Lines are joined to paragraphs, unless
 * the text may be no Markdown and its lines are to stay. What is not read yet, or takes too long,
 * is shown as it is written. It is loaded when it is needed:
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
	if (!safe) return <p className={cx("break-words whitespace-pre-wrap", className)}>{seen(text)}</p>;
	// biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised above
	return <div className={cx("prose", className)} dangerouslySetInnerHTML={{ __html: safe }} />;
}
