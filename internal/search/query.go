package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Query is what is looked for.
type Query struct {
	Text string
	// About says what kind of server is meant, in words; empty if that is not
	// said.
	About string
	// Limit is how many hits are wanted; 0 is ten.
	Limit int
	// Explain asks for the words that matched.
	Explain bool
	// Include says which documents may be found; nil is all.
	Include func(server string, d *Document) bool
	// Evidence is what was learned for whoever asks; nil is nothing.
	Evidence *Evidence
	// Dense is what the text means; the zero value is nothing.
	Dense Dense
}

// Hit is a document that was found.
type Hit struct {
	Server   string
	Document *Document
	Score    float32
	// Matched are the words of the query that the document has, or what stands
	// for them, if they were asked for.
	Matched []string
	// number is the document's in the index.
	number uint32
}

// Result is what was found, the best first.
type Result struct {
	Hits []Hit
	// Total is how many documents have any word of the query.
	Total int
	// Confidence is how much of the query the best hit answers, about 0 to 1.
	Confidence float32
}

// LeastConfidence is the confidence below which nothing fits a query.
const LeastConfidence = .16

// NoMatch reports whether nothing fits the query, whatever the hits are.
func (r Result) NoMatch() bool { return len(r.Hits) == 0 || r.Confidence < LeastConfidence }

// tuning are the constants of the score. docs/search.md says how each was
// chosen, and what the search is without it.
type tuning struct {
	// saturation: how soon more of the same word stops to count.
	saturation float32
	// coordination: how much a document that has most of a query's words is
	// preferred to one that has few of them often.
	coordination float32
	// clause: how much the best of several parts of a query counts beside the
	// whole.
	clause float32
	// related: how much a word counts that means nearly the same.
	related float32
	// about: how much the hint at the server counts.
	about float32
	// pin: how much a name that stands in the query counts.
	pin float32
	// exact: how much the name counts when it is all of the query.
	exact float32
	// meaning: how much less each further meaning of a word counts.
	meaning float32
	// For evaluation: Japanese is not looked up, paths are words like others.
	noGlossary, noPaths bool
	// slip: how much a word counts that is the query's but for a slip.
	slip float32
	// gram: how much a word counts that is like the query's; likest is from which
	// part of their letters on.
	gram, likest float32
}

func defaultTuning() tuning {
	return tuning{saturation: 1.2, coordination: .25, clause: .35, related: .2, about: .8, pin: .5, exact: 4, slip: .7, meaning: .5, gram: .3, likest: .5}
}

// Search finds documents.
func (x *Index) Search(q Query) Result { return x.search(q, defaultTuning()) }

// MaxQuery is how much of a text is looked for, in bytes: several pages. What a
// search costs grows faster than its text.
const MaxQuery = 8 << 10

// beginning is what of a text is looked for. Letters of full or half width, as
// Japanese keyboards write them, are the usual ones.
func beginning(text string) string {
	text = upTo(MaxQuery, text)
	if strings.ContainsFunc(text, func(r rune) bool { return r >= '\uFF00' && (unicode.IsLetter(r) || unicode.IsDigit(r)) }) {
		return norm.NFKC.String(strings.NewReplacer("，", "、", "；", "、").Replace(text)) // commas go on separating
	}
	return text
}

func (x *Index) search(q Query, t tuning) Result {
	q.Text, q.About = beginning(q.Text), beginning(q.About)
	text := q.Text
	if !t.noPaths {
		text = plain(text)
	}
	s := newScorer(x, t)
	defer s.done()
	whole := s.terms(text)
	if len(whole) == 0 || x.count == 0 {
		return Result{}
	}
	var clauses [][]term
	for _, part := range split(text) {
		if terms := s.terms(part); len(terms) > 0 {
			clauses = append(clauses, terms)
		}
	}
	if len(clauses) > 1 {
		s.coordination = 0 // no tool answers all of several things
	} else {
		clauses = nil
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 10
	}
	best := top{limit: limit}
	s.mass = massOf(whole)
	named := x.named(text)
	about := s.hints(q.About)
	surely := s.withoutGuesses(func() []float32 { return s.scores(whole, clauses, about, named) })
	scores := s.scores(whole, clauses, about, named)
	if surely == nil {
		surely = scores
	}
	r := Result{}
	taught := q.Evidence.teach(x, q.Text, s.mass)
	near := x.nearness(q.Dense, s.mass)
	var surest Hit
	number := uint32(0)
	for n, seg := range x.segments {
		learned := taught.byTool[seg.server]
		for i := range seg.documents {
			d, words := &seg.documents[i].Document, scores[number]
			lesson := learned[d.Name]
			if _, said := named[number]; said {
				lesson = taught.most // no lesson puts another before what is named
			}
			words += lesson
			score := words + near.of(n, i, words)
			if d.Deprecated {
				score *= deprecatedWeight
			}
			if score > 0 && (q.Include == nil || q.Include(seg.server, d)) {
				r.Total++
				best.offer(Hit{Server: seg.server, Document: d, Score: score, number: number})
				if sure := surely[number] + lesson; sure > surest.Score {
					surest = Hit{Score: sure, number: number}
				}
			}
			number++
		}
	}
	r.Hits = best.sorted()
	if q.Explain {
		s.explain(r.Hits, whole, text)
	}
	// Something is always nearest in meaning, or in letters, so that makes nobody
	// sure.
	if surest.Score > 0 {
		r.Confidence = s.confidence(surest, whole)
	}
	return r
}

// top keeps the best hits.
type top struct {
	limit int
	hits  []Hit
	// full is whether there were more than have room, and those at the front are
	// in order.
	full bool
}

func better(a, b Hit) int {
	if a.Score != b.Score {
		return cmp.Compare(b.Score, a.Score)
	}
	return cmp.Or(strings.Compare(a.Document.ID, b.Document.ID), strings.Compare(a.Server, b.Server))
}

// offer takes a hit in if it is one of the best so far. Twice the room saves
// most of the sorting.
func (t *top) offer(h Hit) {
	if t.full && better(h, t.hits[t.limit-1]) >= 0 {
		return
	}
	if t.hits = append(t.hits, h); len(t.hits) == 2*t.limit {
		slices.SortFunc(t.hits, better)
		t.hits, t.full = t.hits[:t.limit], true
	}
}

func (t *top) sorted() []Hit {
	slices.SortFunc(t.hits, better)
	return t.hits[:min(len(t.hits), t.limit)]
}

// spaced is the words of a text with one space between.
func spaced(text string) string {
	var list []string
	words(text, func(w string) { list = append(list, w) })
	return strings.Join(list, " ")
}

// split takes a query apart where it names several things to do.
func split(text string) []string {
	text = separators.Replace(" " + text + " ")
	var parts []string
	for part := range strings.SplitSeq(text, "\x00") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

var separators = strings.NewReplacer( //nolint:gochecknoglobals // built once, and never changed

	", ", "\x00", "; ", "\x00", ". ", "\x00", ": ", "\x00", "\n", "\x00", " and ", "\x00", " + ", "\x00", " & ", "\x00", " then ", "\x00", " or ", "\x00",
	"、", "\x00", "。", "\x00", "，", "\x00", "；", "\x00",
)
