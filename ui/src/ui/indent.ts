const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** indented is a text that is JSON with line breaks and spaces between its tokens, which
 * stay as they are: JSON.parse would round numbers and decode strings. Other texts stay. */
export function indented(text: string): string {
	try {
		JSON.parse(text);
	} catch {
		return text;
	}
	const out: string[] = [];
	let line = "\n";
	let last = "";
	for (const [part] of text.matchAll(token)) {
		const closes = part === "}" || part === "]";
		if (closes) line = line.slice(0, -2);
		if (closes ? last !== "{" && last !== "[" : last === "{" || last === "[" || last === ",") out.push(line);
		out.push(part === ":" ? ": " : part);
		if (part === "{" || part === "[") line += "  ";
		last = part;
	}
	return out.join("");
}
