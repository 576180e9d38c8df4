// Each of these is in other texts, too: a comment of a file of settings looks like a heading,
// and YAML has lists.
const signs = [
	/^#{1,6} \S.*\n\s*\n|^#{2,6} \S/m, // a heading
	/^ {0,3}(?:[-*]|\d+\.) \S/m, // a list
	/\[[^[\]\n]+\]\([^()\s]+\)/, // a link; without ( in it, so that each place is read once
	/\*\*[^*\s][^*\n]*\*\*/, // bold words
];
const sure = /^```[\s\S]*^```|^\|?[ :]*-{3,}[ :]*\|[-| :]*$/m; // a fence, or the line below a table's head

/** likeMarkdown tells whether a text is likely to be Markdown: by its kind or the name of its
 * file, or because it has several signs of it. */
export function likeMarkdown(text: string, kind?: string, uri?: string): boolean {
	if (kind === "text/markdown" || /\.(?:md|markdown)$/i.test(uri ?? "")) return true;
	if (kind !== undefined && kind !== "text/plain") return false;
	return sure.test(text) || signs.filter((sign) => sign.test(text)).length > 1;
}
