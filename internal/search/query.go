package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"genkan/internal/search/glossary"
)

// Query is what is looked for.
type Query struct {
	Text string
	// About says what kind of server is meant, in words; empty if that is not
	// said.
	About string
	// Limit is how many hits are wanted; 0 is ten.
	Limit int
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
}

// Result is what was found, the best first.
type Result struct {
	Hits []Hit
	// Total is how many documents have any word of the query.
	Total int
	// Confidence is how much of the query the best hit answers, about 0 to 1.
	Confidence float32
}

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
}

func defaultTuning() tuning {
	return tuning{saturation: 1.2, coordination: .25, clause: .35, related: .2, about: .8, pin: .5, exact: 4, slip: .7, meaning: .5}
}

// term is a word of a query.
type term struct {
	text   string
	weight float32
	idf    float32
	others []other
}

// Search finds documents.
func (x *Index) Search(q Query) Result { return x.search(q, defaultTuning()) }

func (x *Index) search(q Query, t tuning) Result {
	text := q.Text
	if !t.noPaths {
		text = plain(text)
	}
	whole := x.terms(text, t)
	if len(whole) == 0 || x.count == 0 {
		return Result{}
	}
	var clauses [][]term
	for _, part := range split(text) {
		if terms := x.terms(part, t); len(terms) > 0 {
			clauses = append(clauses, terms)
		}
	}
	if len(clauses) > 1 {
		t.coordination = 0 // no tool answers all of several things
	} else {
		clauses = nil
	}
	about := x.terms(q.About, t)
	said := sayings(text)
	limit := q.Limit
	if limit <= 0 {
		limit = 10
	}
	best := top{limit: limit}
	s := scorer{x: x, tuning: t, mass: massOf(whole)}
	r := Result{}
	taught := q.Evidence.teach(x, q.Text, s.mass)
	near, sure := x.nearness(q.Dense, s.mass), float32(0)
	for n, seg := range x.segments {
		learned := taught.of(seg, said)
		for i, score := range s.segment(seg, whole, clauses, about, said) {
			d := &seg.documents[i].Document
			score += learned[d.Name]
			words := score
			score += near.of(n, i, words)
			if score > 0 && (q.Include == nil || q.Include(seg.server, d)) {
				sure = max(sure, words)
				r.Total++
				best.offer(Hit{Server: seg.server, Document: d, Score: score})
			}
		}
	}
	r.Hits = best.sorted()
	// Something is always nearest in meaning, so that makes nobody sure.
	r.Confidence = sure / s.mass
	return r
}

// top keeps the best hits.
type top struct {
	limit int
	hits  []Hit
}

func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Document.ID, b.Document.ID))
}

// offer takes a hit in if it is one of the best so far. Twice the room saves
// most of the sorting.
func (t *top) offer(h Hit) {
	if len(t.hits) == 2*t.limit {
		slices.SortFunc(t.hits, better)
		t.hits = t.hits[:t.limit]
	}
	if len(t.hits) < t.limit || better(h, t.hits[t.limit-1]) < 0 {
		t.hits = append(t.hits, h)
	}
}

func (t *top) sorted() []Hit {
	slices.SortFunc(t.hits, better)
	return t.hits[:min(len(t.hits), t.limit)]
}

// terms are the words of a text with what they weigh, and those that stand for
// them where a tool says it otherwise.
func (x *Index) terms(text string, t tuning) []term {
	var list []term
	each(text, func(w string) {
		if i := slices.IndexFunc(list, func(q term) bool { return q.text == w }); i >= 0 {
			list[i].weight = min(list[i].weight+.5, 2)
			return
		}
		list = append(list, term{text: w, weight: 1})
	})
	for i := range list {
		q := &list[i]
		q.idf = x.idf(q.text)
		if q.idf >= x.unknown() && len(q.text) >= 5 && ascii(q.text) {
			for _, w := range x.slips(q.text) {
				q.others = append(q.others, other{w, t.slip})
			}
		}
		for _, w := range kindred[q.text] {
			q.others = append(q.others, other{w, t.related})
		}
	}
	return x.glossed(text, list, t)
}

// glossed adds what the Japanese words of a text mean. What of its characters no
// document has is left out then: it was said in other words.
func (x *Index) glossed(text string, list []term, t tuning) []term {
	if t.noGlossary {
		return list
	}
	all := glossary.Meanings(text)
	if len(all) == 0 {
		return list
	}
	list = slices.DeleteFunc(list, func(q term) bool { return q.idf >= x.unknown() && !ascii(q.text) })
	for _, meanings := range all {
		var q term
		weight := float32(1)
		for _, m := range meanings {
			each(m, func(w string) {
				idf := x.idf(w)
				switch {
				case idf >= x.unknown():
				case q.text == "":
					q = term{text: w, weight: 1, idf: idf}
				default:
					weight *= t.meaning
					q.others = append(q.others, other{w, weight})
				}
				for _, k := range kindred[w] {
					q.others = append(q.others, other{k, weight * t.related})
				}
			})
		}
		if q.text != "" {
			list = append(list, q)
		}
	}
	return list
}

// other is a word that stands for a query's own.
type other struct {
	text   string
	weight float32
}

// unknown is the idf of a word that no document has.
func (x *Index) unknown() float32 {
	return float32(math.Log(1 + (float64(x.count)+.5)/.5))
}

// slips are words of the index that a word may have been meant to be.
func (x *Index) slips(word string) []string {
	var found []string
	for _, seg := range x.segments {
		for _, w := range seg.spelled[word[0]] {
			if near(word, w) && !slices.Contains(found, w) {
				found = append(found, w)
			}
		}
	}
	return found
}

// idf is how telling a word is.
func (x *Index) idf(word string) float32 {
	n := 0
	for _, seg := range x.segments {
		n += seg.terms[word].documents
	}
	return float32(math.Log(1 + (float64(x.count)-float64(n)+.5)/(float64(n)+.5)))
}

func massOf(terms []term) float32 {
	mass := float32(0)
	for _, q := range terms {
		mass += q.weight * q.idf
	}
	return max(mass, 1e-6)
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
