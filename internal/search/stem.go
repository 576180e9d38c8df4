package search

import "strings"

// stem takes the endings off an English word that say how it is used and not
// what it means: plurals, -ing, -ed, -er, -ion, -ment. It is light on purpose:
// what it makes need not be a word, but two words that it makes one should be
// about one thing.
func stem(w string) string {
	if len(w) < 4 || !ascii(w) {
		return w
	}
	w = singular(w)
	switch {
	case strings.HasSuffix(w, "ingly") && len(w) > 5:
		w = w[:len(w)-5]
	case strings.HasSuffix(w, "ing") && hasVowel(w[:len(w)-3]) && len(w) > 5:
		w = undouble(w[:len(w)-3])
	case strings.HasSuffix(w, "ied") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ed") && hasVowel(w[:len(w)-2]) && len(w) > 4:
		w = undouble(w[:len(w)-2])
	case strings.HasSuffix(w, "ly") && len(w) > 5:
		w = w[:len(w)-2]
	}
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(w, e.from); ok && len(rest) >= e.least {
			w = rest + e.to
			break
		}
	}
	if len(w) > 4 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// endings of nouns that are made from verbs, the longer first.
var endings = []struct {
	from, to string
	least    int
}{
	{"ization", "iz", 3},
	{"isation", "iz", 3},
	{"ifications", "ify", 3},
	{"ification", "ify", 3},
	{"ations", "at", 3},
	{"ation", "at", 3},
	{"ators", "at", 3},
	{"ator", "at", 3},
	{"itions", "it", 3},
	{"ition", "it", 3},
	{"ctions", "ct", 2},
	{"ction", "ct", 2},
	{"ctors", "ct", 2},
	{"ctor", "ct", 2},
	{"tions", "t", 3},
	{"tion", "t", 3},
	{"sions", "s", 3},
	{"sion", "s", 3},
	{"ments", "", 4},
	{"ment", "", 4},
	{"ers", "", 4},
	{"er", "", 4},
	{"ors", "", 4},
	{"or", "", 4},
	{"ances", "", 4},
	{"ance", "", 4},
	{"ences", "", 4},
	{"ence", "", 4},
	{"ities", "", 4},
	{"ity", "", 4},
	{"ness", "", 4},
	{"ise", "iz", 3},
	{"ize", "iz", 3},
	{"ful", "", 4},
	{"al", "", 5},
	{"ic", "", 5},
}

func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "xes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"), w == "news":
		return w
	case strings.HasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	return w
}

// undouble makes run of runn, and leaves call.
func undouble(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

func hasVowel(w string) bool { return strings.ContainsAny(w, "aeiouy") }

func ascii(w string) bool {
	for i := range len(w) {
		if w[i] >= 0x80 {
			return false
		}
	}
	return true
}

// each emits the terms of a text: its words without their endings.
func each(text string, emit func(term string)) {
	words(text, func(w string) {
		if !stopWords[w] {
			emit(stem(w))
		}
	})
}
