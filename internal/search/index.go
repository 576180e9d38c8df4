// Package search finds the tool that somebody describes. It is lexical: BM25F
// over the fields of a tool, each with its own weight and length, with what
// helps such a search where words differ. The index is immutable; one server's
// tools are replaced without touching the others.
package search

import (
	"math"
	"slices"
	"strings"
)

// Document is a tool as it is searched.
type Document struct {
	// ID is given back for a hit.
	ID          string
	Name        string
	Description string
	// Parameters are its arguments, with what is said of them.
	Parameters []Parameter
	// Examples are queries that this tool was right for, or what people say that
	// it is for.
	Examples []string
	Category string
	Tags     []string
	// Vector is what it means; nil if nobody makes vectors.
	Vector *Vector
}

// Parameter is an argument of a tool.
type Parameter struct{ Name, Text string }

// Server is a group of documents that come and go together.
type Server struct {
	Name, Title, Description string
	Documents                []Document
}

// field is a part of a document that counts in its own way.
type field uint8

const (
	inName field = iota
	inServer
	inDescription
	inParameters
	inParameterText
	inExamples
	inTags
	fields
)

// Weights say how much a field counts and how much its length matters.
type weight struct{ boost, length float32 }

// posting is an occurrence of a word: document, field and how often.
type posting uint32

const (
	countBits, fieldBits = 8, 3
	mostCount            = 1<<countBits - 1
)

func newPosting(doc int, f field, count int) posting {
	return posting(doc)<<(countBits+fieldBits) | posting(f)<<countBits | posting(min(count, mostCount)) //nolint:gosec // a server has far less than two million tools
}

func (p posting) doc() int     { return int(p >> (countBits + fieldBits)) }
func (p posting) field() field { return field(p >> countBits & (1<<fieldBits - 1)) }
func (p posting) count() int   { return int(p & mostCount) }

// segment is one server's part of the index.
type segment struct {
	server    string
	documents []indexed
	terms     map[string]occurrences
	totals    [fields]int
	// names are the documents by what they are called, words with a space between.
	names map[string][]int
	// spelled are the terms by their first byte, for words that nobody has.
	spelled map[byte][]string
}

// occurrences are where a term stands, and in how many documents.
type occurrences struct {
	list      []posting
	documents int
}

// indexed is what is kept of a document.
type indexed struct {
	Document
	lengths [fields]uint16
}

// Index is what is searched. It never changes.
type Index struct {
	segments []*segment
	count    int
	averages [fields]float32
	weights  [fields]weight
}

// defaultWeights: what a tool is called counts most, and whose it is more than
// what is said of it. Long texts are held against the parameters least: many of
// them say nothing bad about a tool.
var defaultWeights = [fields]weight{
	inName:          {3, .3},
	inServer:        {1.5, .3},
	inDescription:   {1, .6},
	inParameters:    {.7, .5},
	inParameterText: {.4, .6},
	inExamples:      {2, .5},
	inTags:          {1.5, .3},
}

// New makes an index of servers.
func New(servers ...Server) *Index {
	x := &Index{weights: defaultWeights}
	for _, s := range servers {
		x.segments = append(x.segments, newSegment(s))
	}
	x.sum()
	return x
}

// With is the index with a server's tools replaced, or added.
func (x *Index) With(s Server) *Index {
	next := &Index{weights: x.weights, segments: slices.Clone(x.segments)}
	fresh := newSegment(s)
	if i := slices.IndexFunc(next.segments, func(old *segment) bool { return old.server == s.Name }); i >= 0 {
		next.segments[i] = fresh
	} else {
		next.segments = append(next.segments, fresh)
	}
	next.sum()
	return next
}

// Without is the index without a server.
func (x *Index) Without(server string) *Index {
	next := &Index{weights: x.weights, segments: slices.DeleteFunc(slices.Clone(x.segments), func(s *segment) bool { return s.server == server })}
	next.sum()
	return next
}

// Len counts the documents.
func (x *Index) Len() int { return x.count }

func (x *Index) sum() {
	var totals [fields]int
	for _, s := range x.segments {
		x.count += len(s.documents)
		for f, n := range s.totals {
			totals[f] += n
		}
	}
	for f := range x.averages {
		x.averages[f] = max(1, float32(totals[f])/float32(max(1, x.count)))
	}
}

func newSegment(s Server) *segment {
	seg := &segment{
		server: s.Name, documents: make([]indexed, len(s.Documents)),
		terms: map[string]occurrences{}, names: map[string][]int{}, spelled: map[byte][]string{},
	}
	about := strings.Join([]string{s.Name, s.Title, s.Description}, " ")
	var counts [fields]map[string]int
	for f := range counts {
		counts[f] = map[string]int{}
	}
	for i, d := range s.Documents {
		add := func(f field, text string) { each(text, func(w string) { counts[f][w]++ }) }
		add(inName, d.Name)
		add(inServer, about)
		add(inDescription, d.Description)
		for _, p := range d.Parameters {
			add(inParameters, p.Name)
			add(inParameterText, p.Text)
		}
		for _, e := range d.Examples {
			add(inExamples, e)
		}
		add(inTags, d.Category+" "+strings.Join(d.Tags, " "))
		seg.documents[i].Document = d
		name := spaced(d.Name)
		seg.names[name] = append(seg.names[name], i)
		for f, words := range counts {
			n := 0
			for w, count := range words {
				at := seg.terms[w]
				at.list = append(at.list, newPosting(i, field(f), count))
				seg.terms[w] = at
				n += count
			}
			seg.documents[i].lengths[f] = uint16(min(n, math.MaxUint16))
			seg.totals[f] += n
			clear(words)
		}
	}
	seg.finish()
	return seg
}

// finish puts everything in order.
func (s *segment) finish() {
	for w, at := range s.terms {
		slices.Sort(at.list)
		at.list = slices.Clip(at.list)
		last := -1
		for _, p := range at.list {
			if d := p.doc(); d != last {
				at.documents++
				last = d
			}
		}
		s.terms[w] = at
		s.spelled[w[0]] = append(s.spelled[w[0]], w)
	}
}

// each emits the terms of a text: its words without their endings.
func each(text string, emit func(term string)) {
	words(text, func(w string) {
		if !stopWords[w] {
			emit(stem(w))
		}
	})
}
