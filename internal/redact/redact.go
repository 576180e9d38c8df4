package redact

import (
	"cmp"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// Known is a secret that genkan holds.
type Known struct {
	// Name is shown in place of the value: [redacted:vault:NAME].
	Name  string
	Value gateway.Secret
}

// Rules find secrets. They do not change and are safe for concurrent use.
type Rules struct {
	known  *knownValues
	strict bool
	// knownOnly leaves all but known values.
	knownOnly bool
}

// Option changes how rules work.
type Option func(*Rules)

// Strict makes rules mask too much rather than too little: also what only looks
// generated, such as hashes and identifiers. Each secret is replaced with ***. It
// is for the output of programs, which nobody needs to read in full.
func Strict(r *Rules) { r.strict = true }

// KnownOnly returns rules that find the same known values, also in base64 and hexadecimal,
// and nothing by its name or form. They mask nothing beside a value. They are for people who
// decide about a text, from whom its author could hide a part that only looks like a secret,
// or a part around a secret that the author knows.
func (r *Rules) KnownOnly() *Rules { return &Rules{known: r.known, strict: r.strict, knownOnly: true} }

// New returns rules that find the known values besides everything that looks like a
// secret. Values of fewer than 6 bytes, and those without a letter or a digit, are
// ignored.
func New(known []Known, options ...Option) *Rules {
	r := &Rules{known: newKnownValues(known)}
	for _, o := range options {
		o(r)
	}
	return r
}

// JSON replaces the secrets in a JSON text, which may be cut off anywhere. It returns
// the text and the names of the rules that found something, in the order in which
// they first appear. Valid JSON stays valid: a secret that is not a string becomes
// one. All other bytes are kept. The result may share its memory with body. A text
// that is not JSON is treated as Text does.
func (r *Rules) JSON(body []byte) ([]byte, []string) {
	out, names := r.replace(string(body), func(p *pass, v view) {
		if !p.json(v, 0) {
			p.scan(v, 0)
		}
	})
	if names == nil {
		return body, nil
	}
	return []byte(out), names
}

// Text replaces the secrets in a plain text. It returns the text and the names of the
// rules that found something, in the order in which they first appear.
func (r *Rules) Text(text string) (string, []string) {
	return r.replace(text, func(p *pass, v view) { p.scan(v, 0) })
}

// passes bounds how often a text is searched. What is masked may change how the text
// around it is read.
const passes = 3

func (r *Rules) replace(text string, search func(*pass, view)) (string, []string) {
	var names []string
	for n := range passes {
		p := &pass{rules: r, again: n > 0}
		p.findMarks(text)
		search(p, view{text: text, quote: `"`})
		found := p.merged()
		if len(found) == 0 {
			break
		}
		var b strings.Builder
		b.Grow(len(text) + 16*len(found))
		end := 0
		for _, s := range found {
			b.WriteString(text[end:s.start])
			b.WriteString(s.quote)
			b.WriteString(r.mark(s.rule))
			b.WriteString(s.quote)
			end = s.end
			if !slices.Contains(names, s.rule) {
				names = append(names, s.rule)
			}
		}
		b.WriteString(text[end:])
		text = b.String()
	}
	return text, names
}

const (
	markStart, markEnd = "[redacted:", "]"
	strictMark         = "***"
)

// mark returns what replaces a secret that a rule found.
func (r *Rules) mark(rule string) string {
	if r.strict {
		return strictMark
	}
	return markStart + rule + markEnd
}

// span is a part of the text that is replaced.
type span struct {
	start, end int
	rule       string
	// rank orders rules that found the same text; the highest names it.
	rank int
	// quote is put around the mark, if it replaces something that is no string.
	quote string
}

const (
	byGuess = iota
	byKey
	byShape
	byValue
)

// pass is one search of a text.
type pass struct {
	rules *Rules
	found []span
	// marks are the marks that the text already has, in order.
	marks [][2]int
	keys  map[string]class
	// again reports that the text was searched before: a JSON string without a mark has
	// no secret.
	again bool
	// encoded is how deep the search is in encoded runs.
	encoded int
}

// findMarks finds the marks that are in the text already, so that they stay. Only
// those that the rules themselves can have written count.
func (p *pass) findMarks(text string) {
	for at := 0; ; {
		i := strings.Index(text[at:], markStart)
		if i < 0 {
			return
		}
		start := at + i
		at = start + len(markStart)
		const longest = 160
		n := strings.IndexByte(text[at:min(len(text), at+longest)], markEnd[0])
		if n < 0 {
			continue
		}
		rule := text[at : at+n]
		name, isKnown := strings.CutPrefix(rule, vaultPrefix)
		if isKnown && p.rules.known.has(name) || !isKnown && ruleNames()[rule] {
			p.marks = append(p.marks, [2]int{start, at + n + 1})
		}
	}
}

// isMark reports whether a part of the text lies inside of a mark.
func (p *pass) isMark(start, end int) bool {
	i, _ := slices.BinarySearchFunc(p.marks, start, func(m [2]int, at int) int { return cmp.Compare(m[1], at+1) })
	return i < len(p.marks) && p.marks[i][0] <= start && end <= p.marks[i][1]
}

// touchesMark reports whether a part of the text has a mark in it.
func (p *pass) touchesMark(start, end int) bool {
	i, _ := slices.BinarySearchFunc(p.marks, start, func(m [2]int, at int) int { return cmp.Compare(m[1], at+1) })
	return i < len(p.marks) && p.marks[i][0] < end
}

// add marks a part of a view as secret.
func (p *pass) add(v view, start, end int, rule string, rank int) {
	if start < end {
		p.addSpan(span{v.start(start), v.end(end), rule, rank, ""})
	}
}

// addValue marks a part of a view, which is no JSON string, as secret. A string
// takes its place.
func (p *pass) addValue(v view, start, end int, rule string, rank int) {
	if start < end {
		p.addSpan(span{v.start(start), v.end(end), rule, rank, v.quote})
	}
}

func (p *pass) addSpan(s span) {
	if p.isMark(s.start, s.end) {
		return
	}
	// A value that overlaps itself is one span.
	if n := len(p.found); n > 0 && s.quote == "" {
		if last := &p.found[n-1]; last.rule == s.rule && last.rank == s.rank && last.quote == "" && s.start >= last.start && s.start < last.end {
			last.end = max(last.end, s.end)
			return
		}
	}
	p.found = append(p.found, s)
}

// merged returns what was found in order, without overlaps. Spans that overlap
// become one, which the highest rank names, and the longest among these.
func (p *pass) merged() []span {
	slices.SortStableFunc(p.found, func(a, b span) int {
		return cmp.Or(a.start-b.start, b.end-a.end, len(b.quote)-len(a.quote))
	})
	all := p.found[:0]
	var named span // the span that names the last of all
	for _, s := range p.found {
		if n := len(all); n > 0 && s.start < all[n-1].end {
			last := &all[n-1]
			if s.rank > named.rank || s.rank == named.rank && s.end-s.start > named.end-named.start {
				named, last.rule = s, s.rule
			}
			last.end = max(last.end, s.end)
			continue
		}
		named = s
		all = append(all, s)
	}
	return all
}
