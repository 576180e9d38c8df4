/** shellWord is a text as one word of a command line. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** shellLine is a command line of words; those that need no quotes have none. */
export const shellLine = (words: string[]): string =>
	words.map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : shellWord(word))).join(" ");
