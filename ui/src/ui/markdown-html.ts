import { Marked } from "marked";
import { cjk, emphasis } from "./emphasis";

// HTML in a text is text, as people would see it in a file. Only line breaks are what
// tables need them for.
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
// Japanese has no spaces: a line that is broken between two of its characters goes on.
const broken = new RegExp(`(${cjk})\\n(?=${cjk})`, "g");
const reading = (breaks: boolean) =>
	new Marked(emphasis, {
		gfm: true,
		breaks,
		async: false,
		walkTokens: (token) => {
			if (token.type === "text" && !token.tokens) token.text = token.text.replace(broken, "$1");
		},
		renderer: {
			html: ({ text }) => (/^<br\s*\/?>$/i.test(text) ? "<br>" : escaped(text)),
			listitem({ task, tokens }) {
				return `<li${task ? " data-task" : ""}>${this.parser.parse(tokens)}</li>\n`;
			},
			checkbox: ({ checked }) => (checked ? "☑ " : "☐ "), // there are no inputs
		},
	});
const joining = reading(false);
const breaking = reading(true);

/** htmlOf is a Markdown text as HTML, which is not safe yet. lines keeps its lines. It is null
 * where quotes and lists nest too deep, and for a text that shows nothing, such as definitions
 * of links. */
export function htmlOf(text: string, lines = false): string | null {
	try {
		return ((lines ? breaking : joining).parse(text) as string) || null;
	} catch {
		return null;
	}
}
