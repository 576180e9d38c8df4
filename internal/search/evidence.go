package search

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"weak"

	"genkan/internal/search/glossary"
)

// Lesson says that a query was followed by a call of a tool that succeeded.
type Lesson struct {
	// Server and Tool are the server's name and its own name for the tool.
	Server, Tool string
	// Terms are those of the query, as Terms makes them.
	Terms []string
	// Weight is how much the lesson counts, 0 to 1.
	Weight float32
}

// Evidence is what was learned from earlier searches. What it says never changes.
type Evidence struct {
	lessons []lesson
	// having are the lessons that have a term.
	having map[string][]int32
	// words are the terms in a fixed order, so that sums come out the same each
	// time.
	words []string
	// measured is how long the lessons are in the index that was searched last.
	measured atomic.Pointer[measured]
}

// measured are the lengths of lessons, which depend on how telling their words are
// in an index. It must not keep an index alive that nobody searches any more.
type measured struct {
	in      weak.Pointer[Index]
	lengths []float64
}

type lesson struct {
	server, tool string
	weight       float32
}

// How lessons count. docs/search.md says how this was chosen.
const (
	// taught is what a tool gains at most, as a part of what the query weighs. An
	// exact name counts five times that.
	taught = .8
	// leastAlike is how alike a lesson and a query must be: having a common word
	// in common is no evidence.
	leastAlike = .25
	// further is how much the lessons beside the best one count.
	further = .3
)

// Bounds of what is kept of a query.
const (
	mostTerms   = 24
	longestTerm = 24 // bytes
)

// Terms are what is kept of a query that a tool was right for: its words without
// their endings and with what Japanese words mean, in the order of the alphabet,
// each once. Numbers, paths, addresses and what looks like a key are left out, and
// so is what is too long for a word: they are about that one case, and may be
// nobody's business.
func Terms(query string) []string {
	var list []string
	add := func(w string) {
		if len(w) <= longestTerm && (w[0] < '0' || w[0] > '9') {
			list = append(list, w)
		}
	}
	text := withoutKeys(plain(beginning(query)))
	each(text, add)
	for _, w := range glossary.Words([]rune(text)) {
		each(w.Meanings[0], add)
	}
	list = list[:min(len(list), mostTerms)]
	slices.Sort(list)
	return slices.Compact(list)
}

// withoutKeys leaves out what is written together and is no word: addresses of
// people, what begins as keys do, and longer runs of letters and digits. Of
// password=x and token:x the name is left.
func withoutKeys(text string) string {
	const long, longRun = 16, 8
	var kept []string
	for w := range strings.FieldsSeq(text) {
		if name, value, ok := strings.Cut(w, "="); ok && value != "" {
			w = name
		}
		if name, value, ok := strings.Cut(w, ":"); ok && value != "" {
			w = name
		}
		digits := ascii(w) && strings.ContainsAny(w, "0123456789") && strings.ContainsFunc(w, unicode.IsLetter)
		if strings.Contains(w, "@") || keyLike.MatchString(w) ||
			digits && (len(w) >= long || len(w) >= longRun && digitInside.MatchString(w)) {
			continue
		}
		kept = append(kept, w)
	}
	return strings.Join(kept, " ")
}

var (
	// keyLike are beginnings that issuers give their keys.
	keyLike = regexp.MustCompile(`^["'(]*(?:gh[pousr]_|github_pat_|glpat-|[srp]k[-_]|xox[a-z]-|xapp-|AKIA|ASIA|AIza|npm_|pypi-|hf_|gsk_|lin_api_|eyJ)`)
	// digitInside is a digit between letters, as passwords have and few words.
	digitInside = regexp.MustCompile(`[A-Za-z][0-9]+[A-Za-z]`)
)

// NewEvidence makes evidence of lessons.
func NewEvidence(lessons []Lesson) *Evidence {
	e := &Evidence{having: map[string][]int32{}}
	for _, l := range lessons {
		n := int32(len(e.lessons)) //nolint:gosec // lessons are bounded where they are kept
		e.lessons = append(e.lessons, lesson{l.Server, l.Tool, min(max(l.Weight, 0), 1)})
		for _, w := range l.Terms {
			if e.having[w] == nil {
				e.words = append(e.words, w)
			}
			e.having[w] = append(e.having[w], n)
		}
	}
	return e
}

// gains are what tools gain from lessons, by server and by the server's own name.
type gains struct {
	byTool map[string]map[string]float32
	most   float32
}

// teach tells what tools gain for a query. Lessons that are much like it count far
// more than those that are a little like it: a tool's lessons are about that tool
// and not about all that its words are about.
func (e *Evidence) teach(x *Index, query string, mass float32) gains {
	if e == nil || len(e.lessons) == 0 {
		return gains{}
	}
	lengths := e.lengthsIn(x)
	common := make([]float64, len(e.lessons))
	own := 0.0
	for _, w := range Terms(query) {
		telling := x.inCommon(w)
		own += telling
		for _, n := range e.having[w] {
			common[n] += telling
		}
	}
	own = math.Sqrt(own)
	type tally struct{ best, sum float32 }
	tallies := map[[2]string]tally{}
	for n, sum := range common {
		if sum == 0 {
			continue
		}
		l := &e.lessons[n]
		alike := float32(sum / (own * lengths[n]))
		if alike < leastAlike {
			continue
		}
		at := [2]string{l.server, l.tool}
		t, gain := tallies[at], alike*alike*l.weight
		tallies[at] = tally{max(t.best, gain), t.sum + gain}
	}
	g := gains{byTool: map[string]map[string]float32{}}
	for at, t := range tallies {
		if g.byTool[at[0]] == nil {
			g.byTool[at[0]] = map[string]float32{}
		}
		gain := taught * mass * min(1, t.best+further*(t.sum-t.best))
		g.byTool[at[0]][at[1]] = gain
		g.most = max(g.most, gain)
	}
	return g
}

// inCommon is how much a word in common says.
func (x *Index) inCommon(word string) float64 {
	idf := float64(x.idf(word))
	return idf * idf
}

// lengthsIn are the lengths of the lessons in an index.
func (e *Evidence) lengthsIn(x *Index) []float64 {
	in := weak.Make(x)
	if m := e.measured.Load(); m != nil && m.in == in {
		return m.lengths
	}
	squares := make([]float64, len(e.lessons))
	for _, w := range e.words {
		telling := x.inCommon(w)
		for _, n := range e.having[w] {
			squares[n] += telling
		}
	}
	for n := range squares {
		squares[n] = math.Sqrt(squares[n])
	}
	e.measured.Store(&measured{in, squares})
	return squares
}
