import { htmlOf } from "./markdown-html";

// It says that it is there, and answers the text that it then gets with HTML, or with null.
addEventListener("message", ({ data }: MessageEvent<{ text: string; lines: boolean }>) => {
	let html: string | null = null;
	try {
		html = htmlOf(data.text, data.lines) || null;
	} catch {}
	postMessage(html);
});
postMessage("");
