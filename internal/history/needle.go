package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// needle is a text in the forms that JSON may have it in, folded.
type needle struct{ forms [][]byte }

func newNeedle(text string) *needle {
	if text == "" {
		return nil
	}
	folded := string(fold([]byte(text)))
	n := &needle{}
	add := func(form string) {
		if !slices.ContainsFunc(n.forms, func(f []byte) bool { return string(f) == form }) {
			n.forms = append(n.forms, []byte(form))
		}
	}
	add(folded)
	if quoted, err := json.Marshal(folded); err == nil {
		add(string(quoted[1 : len(quoted)-1]))
	}
	add(escaped(folded))
	add(escaped(strings.ToLower(text))) // folding does not look into escapes
	return n
}

// escaped returns a text as programs write it that keep to ASCII.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c < utf8.RuneSelf {
			b.WriteRune(c)
			continue
		}
		for _, unit := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

func (n *needle) in(body []byte) bool {
	if len(body) == 0 {
		return false
	}
	body = fold(body)
	return slices.ContainsFunc(n.forms, func(form []byte) bool { return bytes.Contains(body, form) })
}

// fold returns the form in which texts are compared: NFKC, which maps full-width letters
// and half-width kana to the usual ones, and lower case. A search folds all bodies that
// are kept, so what is plain is only copied.
func fold(text []byte) []byte {
	folded := make([]byte, 0, len(text))
	var odd []byte
	for at := 0; at < len(text); {
		from, to := at, len(folded) // of the last plain character, in both
		for at < len(text) {
			if text[at] < utf8.RuneSelf {
				begin := at
				for at < len(text) && text[at] < utf8.RuneSelf {
					at++
				}
				copied := len(folded)
				folded = append(folded, text[begin:at]...)
				for i, c := range folded[copied:] {
					if 'A' <= c && c <= 'Z' {
						folded[copied+i] = c + 'a' - 'A'
					}
				}
				from, to = at-1, len(folded)-1
				continue
			}
			r, size := utf8.DecodeRune(text[at:])
			c := plain(r)
			if c == 0 {
				break
			}
			from, to = at, len(folded)
			folded = utf8.AppendRune(folded, c)
			at += size
		}
		if at == len(text) {
			break
		}
		// What follows may be an accent of the last plain character.
		folded = folded[:to]
		for at < len(text) {
			r, size := utf8.DecodeRune(text[at:])
			if plain(r) != 0 {
				break
			}
			at += size
		}
		odd = norm.NFKC.Append(odd[:0], text[from:at]...)
		for i := 0; i < len(odd); {
			r, size := utf8.DecodeRune(odd[i:])
			folded = utf8.AppendRune(folded, unicode.ToLower(r))
			i += size
		}
	}
	return folded
}

// plain returns what folding makes of a character wherever it stands, unless an accent
// follows; 0 if that depends on the characters around it, or is not known.
func plain(r rune) rune {
	const wide = '！' - '!'
	switch {
	case r < utf8.RuneSelf || r >= 0x4e00 && r <= 0x9fff || r >= 'ぁ' && r <= 'ゖ' || r >= 'ァ' && r <= 'ー' ||
		r >= '、' && r <= '〃' || r >= '「' && r <= '』':
		return r
	case r == '　':
		return ' '
	case r >= '！' && r <= '～':
		return unicode.ToLower(r - wide)
	}
	return 0
}
