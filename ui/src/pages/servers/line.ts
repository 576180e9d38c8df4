// A command line is written as in a shell, but nothing is expanded, and a backslash escapes only
// quotes and itself, within double quotes: the paths of Windows are full of them.
const quoted = /"((?:[^"\\]|\\.)*)"|'([^']*)'/gs;
const word = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/gs;

/** words splits a command line. */
export const words = (line: string): string[] =>
	(line.match(word) ?? []).map((word) =>
		word.replace(quoted, (_, double?: string, single?: string) =>
			double === undefined ? single! : double.replace(/\\(["\\])/g, "$1"),
		),
	);

/** closed tells whether every quote of a command line ends. */
export const closed = (line: string): boolean => !/["']/.test(line.replace(quoted, ""));

/** lineOf is the command line that has these words. */
export const lineOf = (words: string[]): string => words.map(quote).join(" ");

function quote(word: string): string {
	if (word !== "" && !/[\s"']/.test(word)) return word;
	return word.includes("'") ? `"${word.replace(/["\\]/g, "\\$&")}"` : `'${word}'`;
}
