package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// appendStem appends a word without its inflection: plural, -ed, -ing, a silent e, and
// accents. It is deliberately light: design and designer stay two words, and a stem need
// not be a word.
func appendStem(dst []byte, word string) []byte {
	if !ascii(word) {
		plain := string(appendPlain(nil, word))
		if !ascii(plain) {
			return append(dst, plain...)
		}
		word = plain
	}
	w, tail := word, ""
	switch n := len(w); {
	case n < 4 || w[0] <= '9':
		return append(dst, w...)
	case strings.HasSuffix(w, "ies") && n > 4:
		w, tail = w[:n-3], "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "xes"):
		w = w[:n-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
	case strings.HasSuffix(w, "s"):
		w = w[:n-1]
	case strings.HasSuffix(w, "ied") && n > 4:
		w, tail = w[:n-3], "y"
	case strings.HasSuffix(w, "eed"):
	case strings.HasSuffix(w, "ed") && vowelIn(w[:n-2]):
		w = single(w[:n-2])
	case strings.HasSuffix(w, "ing") && n > 5 && vowelIn(w[:n-3]):
		w = single(w[:n-3])
	}
	if tail == "" && len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return append(append(dst, w...), tail...)
}

// appendPlain appends a word without accents: café is cafe.
func appendPlain(dst []byte, word string) []byte {
	for _, r := range norm.NFD.String(word) {
		if !unicode.Is(unicode.Mn, r) {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// single returns run for runn, and leaves call unchanged.
func single(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' && w[n-1] != 'z' {
		return w[:n-1]
	}
	return w
}

func vowelIn(w string) bool { return strings.ContainsAny(w, "aeiouy") }

func ascii(w string) bool {
	for i := range len(w) {
		if w[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
