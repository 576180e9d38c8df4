package lang

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"genkan/internal/gateway"
)

// Kept translates a text that was stored in English, such as the error of a call in the
// history. It finds the format and the values that the text was made of. A text without a
// format of Genkan is returned unchanged.
func (l Language) Kept(text string) string {
	if l == English {
		return text
	}
	return l.kept(text, deepestText)
}

const (
	// deepestText is how many levels of nested texts are translated.
	deepestText = 3
	// leastLetters is how many letters a format needs to recognize a text. Shorter
	// formats match texts of servers by chance.
	leastLetters = 8
)

func (l Language) kept(text string, depth int) string {
	if said, ok := l.lookup(text); ok || depth == 0 {
		return said
	}
	// What a script threw. At the top it may be the text of a server.
	if thrown, ok := strings.CutPrefix(text, "Error: "); ok {
		if said, ok := l.lookup(thrown); ok || depth < deepestText {
			return said
		}
	}
	best, values := matching(patterns(), text)
	if best == nil {
		return text
	}
	var durations []string
	for i, value := range values {
		if d, err := time.ParseDuration(value); err == nil && best.verbs[i] == 'v' {
			values[i] = l.Sprintf("%v", d)
			durations = append(durations, values[i])
			continue
		}
		if best.format == thrownAt && best.verbs[i] == 's' {
			if said, ok := thrownText(value); ok && l == Japanese {
				values[i] = said
				continue
			}
		}
		if i == 1 && strings.HasPrefix(best.format, failedAt) {
			values[i] = `"` + l.node(value[1:len(value)-1]) + `"`
			continue
		}
		if strings.Contains(value, " ") { // a word alone is a name
			values[i] = l.keptRow(value, depth-1)
		}
	}
	format, _ := l.lookup(best.format)
	said := l.fill(format, values)
	for _, one := range durations {
		said = gateway.Closed(said, one)
	}
	return said
}

// fill puts values into the placeholders of a translation.
func (l Language) fill(format string, values []string) string {
	next := 0
	return placeholder.ReplaceAllStringFunc(format, func(verb string) string {
		if verb == "%%" {
			return "%"
		}
		m := placeholder.FindStringSubmatch(verb)
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
			next--
		}
		next++
		if value := values[next-1]; m[2] == "q" {
			return l.Sprintf("\"%s\"", value[1:len(value)-1])
		}
		return values[next-1]
	})
}

// thrownAt is the format of what a script threw, with its place.
const thrownAt = "line %d, column %d: %s"

// failedAt is what the formats begin with that say at which node a workflow failed.
const failedAt = "workflow %q failed at its node %q"

// node translates what errors call a node without a label: KIND (ID).
func (l Language) node(name string) string {
	if said, ok := l.lookup(name); ok {
		return said
	}
	if at := strings.LastIndex(name, " ("); at > 0 && strings.HasSuffix(name, ")") {
		if kind, ok := l.lookup(name[:at]); ok {
			return l.Sprintf("%s (%s)", kind, name[at+2:len(name)-1])
		}
	}
	return name
}

// thrownText translates what the engine of scripts throws. It must stand behind its place
// in a script: engines of servers have the same words.
func thrownText(text string) (string, bool) {
	if said, ok := jaThrown[text]; ok {
		return said, true
	}
	best, values := matching(thrownPatterns(), text)
	if best == nil {
		return "", false
	}
	return Japanese.fill(jaThrown[best.format], values), true
}

// matching returns the first pattern that a text was made of, with its values.
func matching(all []pattern, text string) (*pattern, []string) {
	for i := range all {
		if values, ok := all[i].match(text); ok {
			return &all[i], values
		}
	}
	return nil, nil
}

// keptRow translates texts in a row, as gateway.Texts joins them, if all of them were made of
// formats. Otherwise it takes them for one text.
func (l Language) keptRow(text string, depth int) string {
	row := strings.Split(text, gateway.Apart)
	for i, one := range row {
		if row[i] = l.kept(one, depth); row[i] == one {
			return l.kept(text, depth)
		}
	}
	return strings.Join(row, l.translate(gateway.Apart))
}

// placeholder matches a placeholder of a format. Its groups are the index of the value and
// the verb.
var placeholder = regexp.MustCompile(`%[-+# 0]*\d*(?:\.\d+)?(?:\[(\d+)\])?([a-zA-Z%])`)

// pattern finds the values in a text that was made of a format.
type pattern struct {
	format string
	// literals are the texts around the placeholders, and verbs the placeholders' verbs.
	literals []string
	verbs    []byte
}

//nolint:gochecknoglobals // constant
var (
	patterns       = sync.OnceValue(func() []pattern { return patternsOf(japanese...) })
	thrownPatterns = sync.OnceValue(func() []pattern { return patternsOf(jaThrown) })
)

// patternsOf returns the patterns of all formats that have values and enough letters, the
// longest first. It leaves out formats with adjacent placeholders, whose values cannot be
// told apart.
func patternsOf(tables ...map[string]string) (all []pattern) {
	for _, table := range tables {
		for format := range table {
			p := pattern{format: format, literals: []string{""}}
			rest := format
			for at := placeholder.FindStringSubmatchIndex(rest); at != nil; at = placeholder.FindStringSubmatchIndex(rest) {
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
}

// match returns the values of the placeholders in a text.
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
