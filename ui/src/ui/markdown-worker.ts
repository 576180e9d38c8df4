import { htmlOf } from "./markdown-html";

// It says that it is there, and answers each text that it then gets with HTML, or with null.
addEventListener("message", ({ data }: MessageEvent<{ text: string; lines: boolean }>) =>
	postMessage(htmlOf(data.text, data.lines)),
);
postMessage("");
