import type { MarkedExtension } from "marked";

/** cjk is a letter, a punctuation mark or a space of Chinese or Japanese. */
export const cjk = "[\\u3000-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef]";

// CommonMark tells by the spaces and the punctuation around ** whether it opens or closes.
// These languages have no spaces, and Korean none before a particle, so **「重要」**です would
// stay as it is. Here the punctuation of Chinese and Japanese counts as letters, and other
// punctuation beside letters of these languages is like the end of a word.
const asian = `(?:(?!\\s)${cjk}|[\\uac00-\\ud7af])`;
const mark = `(?!~)(?!${cjk})[\\p{P}\\p{S}]`;
const letter = `(?:[^\\s\\p{P}\\p{S}]|~|${asian})`;
const rules = {
	emStrongLDelim: new RegExp(
		`^(?:\\*+(?:((?!\\*)${mark})|([^\\s*]))?)|^_+(?:((?!_)(?!~)[\\p{P}\\p{S}])|([^\\s_]))?`,
		"u",
	),
	// The groups are those of marked: 1 and 2 close, 3 and 4 open, 5 and 6 may do both.
	emStrongRDelimAst: new RegExp(
		[
			"^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)",
			"[^*]+(?=[^*])",
			`(?!\\*)${mark}(\\*+)(?=\\s|$)`,
			`${letter}(\\*+)(?!\\*)(?=\\s|${mark}|$)`,
			`(?:\\s|(?!\\*)${mark}(?!\\*+${asian}))(\\*+)(?=${letter})`,
			`\\s(\\*+)(?!\\*)(?=${mark})`,
			`(?!\\*)${mark}(\\*+)(?!\\*)(?=${mark})`,
			`(?:${letter}|(?!\\*)${mark}(?=\\*+${asian}))(\\*+)(?=${letter})`,
		].join("|"),
		"gu",
	),
	punctuation: new RegExp(`^((?![*_])(?:[\\s\\p{P}\\p{S}]|${asian}))`, "u"),
};

/** emphasis reads * and ** beside letters and punctuation of these languages as people mean
 * them. Everything else stays as in CommonMark. */
export const emphasis: MarkedExtension = {
	tokenizer: {
		emStrong() {
			// Each text has rules of its own.
			if (this.rules.inline.punctuation !== rules.punctuation)
				this.rules = { ...this.rules, inline: { ...this.rules.inline, ...rules } };
			return false; // as usual, by these rules
		},
	},
};
