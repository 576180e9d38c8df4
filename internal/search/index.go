// Package search finds the tool that somebody describes. It is lexical: BM25F
// over the fields of a tool, each with its own weight and length, with what
// helps such a search where words differ. The index is immutable; one server's
// tools are replaced without touching the others.
package search

import (
	"math"
	"slices"
	"sync"
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

// Index is what is searched. It never changes.
//
// A server's documents are taken apart once, into its segment. What a search
// reads is put together from all segments whenever one of them changes: how much
// a word counts for a document depends on how long documents are everywhere.
type Index struct {
	segments []*segment
	words    vocabulary
	count    int
	weights  [fields]weight

	// entries are the documents that have a word: those of word n are
	// entries[starts[n]:starts[n+1]], in the order of the segments.
	entries []entry
	starts  []uint32

	// desks are lent to searches, and handed on to the next index.
	desks *sync.Pool
}

// entry is a document and how much it has of something. Documents are numbered
// through all segments.
type entry struct {
	document uint32
	amount   float32
}

// New makes an index of servers.
func New(servers ...Server) *Index {
	x := &Index{weights: defaultWeights, words: newVocabulary(), desks: &sync.Pool{New: func() any { return new(desk) }}}
	words := newReader(&x.words)
	for _, s := range servers {
		x.segments = append(x.segments, newSegment(s, words))
	}
	x.assemble()
	return x
}

// With is the index with a server's tools replaced, or added.
func (x *Index) With(s Server) *Index {
	next := x.next(slices.Clone(x.segments))
	fresh := newSegment(s, newReader(&next.words))
	if i := slices.IndexFunc(next.segments, func(old *segment) bool { return old.server == s.Name }); i >= 0 {
		next.segments[i] = fresh
	} else {
		next.segments = append(next.segments, fresh)
	}
	next.assemble()
	return next
}

// Without is the index without a server.
func (x *Index) Without(server string) *Index {
	next := x.next(slices.DeleteFunc(slices.Clone(x.segments), func(s *segment) bool { return s.server == server }))
	next.assemble()
	return next
}

// next is an index of segments that takes over what x knows.
func (x *Index) next(segments []*segment) *Index {
	return &Index{weights: x.weights, words: x.words.shared(), desks: x.desks, segments: segments}
}

// Len counts the documents.
func (x *Index) Len() int { return x.count }

// idf is how telling a word is.
func (x *Index) idf(word string) float32 { return x.telling(x.words.number(word), x.count) }

// telling is the idf of a word if there were so many documents.
func (x *Index) telling(word uint32, documents int) float32 {
	n := float64(len(x.having(word)))
	return float32(math.Log(1 + (float64(documents)-n+.5)/(n+.5)))
}

// having are the documents that have a word.
func (x *Index) having(word uint32) []entry {
	if word == noWord {
		return nil
	}
	return x.entries[x.starts[word]:x.starts[word+1]]
}
