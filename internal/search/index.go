// Package search finds the tool that somebody describes. It ranks by words: BM25F
// over the fields of a tool, each with its own weight and length, with help where
// the words of query and tool differ. Evidence of package learn and vectors of
// package embed change the ranking if there are any. An Index is immutable; the
// tools of one server are replaced without touching the others.
package search

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
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
	// Sample are arguments that it was called with, a JSON object, for whoever
	// shows hits; they are not searched.
	Sample []byte
	// Deprecated says that it should not be used any more, so that it ranks lower.
	Deprecated bool
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
	inServerText
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
// what is said of it. What is said of its server is said of its neighbours, too,
// so it counts less. Long texts are held against the parameters least: many of
// them say nothing bad about a tool.
var defaultWeights = [fields]weight{
	inName:          {3, .3},
	inServer:        {1.5, .3},
	inServerText:    {.7, .3},
	inDescription:   {1, .6},
	inParameters:    {.7, .5},
	inParameterText: {.4, .6},
	inExamples:      {2, .5},
	inTags:          {1.5, .3},
}

// Index is what is searched. It never changes: one that differs in a server
// shares with it whatever did not change.
type Index struct {
	// segments are the servers' parts. The place of one that has gone is empty
	// until another server takes it, so that the others keep theirs.
	segments []*segment
	words    vocabulary
	// lists says for each word where it has postings, and documents how many
	// documents they are about.
	lists     [][]ref
	documents []uint32

	count   int
	weights [fields]weight
	// Documents are numbered through all segments; firsts are the numbers that
	// those of each segment begin with.
	firsts []uint32
	// factors is how much a word counts, by places: document, field.
	factors []float32

	// amounts are the documents that have a word, for words that were searched.
	amounts []atomic.Pointer[[]entry]

	// desks are lent to searches, and handed on to the next index.
	desks *sync.Pool
}

// New makes an index of servers.
func New(servers ...Server) *Index {
	x := &Index{weights: defaultWeights, words: newVocabulary(), desks: &sync.Pool{New: func() any { return new(desk) }}}
	words := newReader(&x.words)
	for i, s := range servers {
		x.segments = append(x.segments, newSegment(s, words))
		x.enter(i)
	}
	x.settle()
	return x
}

// With is the index with a server's tools replaced, or added.
func (x *Index) With(s Server) *Index {
	next := x.next()
	i := slices.IndexFunc(next.segments, func(old *segment) bool { return old.server == s.Name })
	if i < 0 {
		i = slices.IndexFunc(next.segments, func(old *segment) bool { return len(old.documents) == 0 })
	}
	if i < 0 {
		i = len(next.segments)
		next.segments = append(next.segments, &segment{})
	}
	next.replace(i, newSegment(s, newReader(&next.words)))
	next.settle()
	return next
}

// Without is the index without a server.
func (x *Index) Without(server string) *Index {
	next := x.next()
	for i, s := range next.segments {
		if s.server == server {
			next.replace(i, &segment{})
		}
	}
	next.settle()
	return next
}

// next is a copy that may be changed.
func (x *Index) next() *Index {
	return &Index{
		weights: x.weights, words: x.words.shared(), desks: x.desks,
		segments: slices.Clone(x.segments), lists: slices.Clone(x.lists), documents: slices.Clone(x.documents),
	}
}

// Len counts the documents.
func (x *Index) Len() int { return x.count }

// idf is how telling a word is.
func (x *Index) idf(word string) float32 { return telling(x.users(x.words.number(word)), x.count) }

// telling is the idf of a word that so many of so many documents have.
func telling(users, documents int) float32 {
	n := float64(users)
	return float32(math.Log(1 + (float64(documents)-n+.5)/(n+.5)))
}

// users is how many documents have a word.
func (x *Index) users(word uint32) int {
	if word == noWord {
		return 0
	}
	return int(x.documents[word])
}
