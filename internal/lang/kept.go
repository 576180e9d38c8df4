package lang

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Kept says a text in this language that was kept in English, such as the error of a call
// in the history. It finds the format that the text was made of. A text of others, which
// has no format, stays as it is.
func (l Language) Kept(text string) string {
	if l == English {
		return text
	}
	return l.kept(text, deepestText)
}

const (
	// deepestText is how deep texts are in one another.
	deepestText = 3
	// leastLetters is how many letters a format has by which a text is recognized.
	// Shorter ones fit the words of others.
	leastLetters = 8
)

func (l Language) kept(text string, depth int) string {
	if said := l.translate(text); said != text || depth == 0 {
		return said
	}
	var best *pattern
	var values []string
	for i := range patterns() {
		if found, ok := patterns()[i].match(text); ok {
			best, values = &patterns()[i], found
			break
		}
	}
	if best == nil {
		return text
	}
	for i, value := range values {
		values[i] = l.kept(value, depth-1)
	}
	next := 0
	return place.ReplaceAllStringFunc(l.translate(best.format), func(verb string) string {
		if verb == "%%" {
			return "%"
		}
		if m := place.FindStringSubmatch(verb); m[1] != "" {
			next, _ = strconv.Atoi(m[1])
			next--
		}
		next++
		return values[next-1]
	})
}

// place is a place of a format; the first group is the number of its value, the second
// its verb.
var place = regexp.MustCompile(`%[-+# 0]*\d*(?:\.\d+)?(?:\[(\d+)\])?([a-zA-Z%])`)

// pattern finds the values in a text that was made of a format.
type pattern struct {
	format string
	// literals are what is before, between and behind the places, and verbs the verbs
	// of the places.
	literals []string
	verbs    []byte
}

// patterns returns those of the formats that have values and that can be told from
// others, the longest first. Places side by side cannot be told apart.
var patterns = sync.OnceValue(func() (all []pattern) { //nolint:gochecknoglobals // constant
	for _, table := range japanese {
		for format := range table {
			p := pattern{format: format, literals: []string{""}}
			rest := format
			for at := place.FindStringSubmatchIndex(rest); at != nil; at = place.FindStringSubmatchIndex(rest) {
				last := &p.literals[len(p.literals)-1]
				*last += rest[:at[0]]
				if verb := rest[at[4]]; verb == '%' {
					*last += "%"
				} else {
					p.literals, p.verbs = append(p.literals, ""), append(p.verbs, verb)
				}
				rest = rest[at[1]:]
			}
			p.literals[len(p.literals)-1] += rest
			letters := 0
			for _, r := range strings.Join(p.literals, "") {
				if unicode.IsLetter(r) {
					letters++
				}
			}
			inner := p.literals[1:max(len(p.literals)-1, 1)]
			if len(p.verbs) > 0 && letters >= leastLetters && !slices.Contains(inner, "") && !strings.Contains(format, "%[") {
				all = append(all, p)
			}
		}
	}
	length := func(p pattern) int { return len(strings.Join(p.literals, "")) }
	slices.SortFunc(all, func(a, b pattern) int {
		return cmp.Or(length(b)-length(a), strings.Compare(a.format, b.format))
	})
	return all
})

// match returns the values that a text has in the places of the format.
func (p *pattern) match(text string) (values []string, ok bool) {
	rest, ok := strings.CutPrefix(text, p.literals[0])
	if !ok || !strings.HasSuffix(rest, p.literals[len(p.literals)-1]) {
		return nil, false
	}
	for i, verb := range p.verbs {
		literal := p.literals[i+1]
		at := strings.Index(rest, literal)
		if i == len(p.verbs)-1 {
			at = len(rest) - len(literal)
		}
		if at <= 0 {
			return nil, false
		}
		value := rest[:at]
		switch verb {
		case 'd':
			_, err := strconv.Atoi(value)
			ok = err == nil
		case 'q':
			ok = len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"'
		}
		if !ok {
			return nil, false
		}
		values, rest = append(values, value), rest[at+len(literal):]
	}
	return values, true
}
