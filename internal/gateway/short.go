package gateway

import "unicode/utf8"

// maxShort is the length in bytes that Short cuts to.
const maxShort = 128

// Short returns text as messages repeat it. A long text is cut, because its
// length is chosen by whoever sent it.
func Short(text string) string {
	head, cut := Cut(text, maxShort)
	if cut > 0 {
		head += "…"
	}
	return head
}

// Cut returns the beginning of text, at most limit bytes and whole characters,
// and the number of bytes that are missing.
func Cut(text string, limit int) (head string, cut int) {
	if len(text) <= limit {
		return text, 0
	}
	at := limit
	for at > 0 && at > limit-utf8.UTFMax && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at], len(text) - at
}
