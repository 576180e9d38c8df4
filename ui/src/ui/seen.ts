// Characters that nobody sees: they turn the direction of a text, or hide words in it. Those
// that join letters and emoji are left alone.
const unseen =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
	/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]|\u034f/gu;

/** seen is a text of others with what is invisible in it written out, as [U+202E]. */
export const seen = (text: string): string =>
	text.replace(unseen, (c) => `[U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`);
