// Package index is the full-text index of a knowledge base: exact and ranked, in Japanese
// and English. It does not depend on a store. It is derived from documents and can always
// be built again from them.
//
// A Base is an immutable file that covers the documents up to a change sequence. An Index
// is a base with an in-memory delta of later changes. A search returns the same documents
// in the same order with the same scores, however documents are divided between the two.
package index

import (
	"slices"
	"sync"
)

// Document holds the indexed fields of an item.
type Document struct {
	ID                                        int64
	Type, Status, Title, Description, Content string
	Tags                                      []string
	Updated                                   int64 // Unix milliseconds
}

// Query is a search query. An empty filter matches everything. With several values in a
// filter, a document must match one of them; with several filters, all of them.
type Query struct {
	Text                   string
	Types, Statuses, Tags  []string
	UpdatedFrom, UpdatedTo int64 // both inclusive; 0 is open
	Limit, Offset          int   // a limit of 0 is 20
}

// Match says how well the results match the query.
type Match uint8

const (
	// All means that all documents found have all words.
	All Match = iota
	// Near means that no document has all words as they were written. The results have them
	// with a typing error corrected, or have the parts of a run of Japanese separately.
	Near
	// Some means that no document has all words. The results have the most words of all
	// documents.
	Some
)

// Result holds the hits, the best first, among equals by id.
type Result struct {
	Hits  []Hit
	Total int // exact
	Match Match
	// Words is the number of words in the query, and Had the number that each hit has.
	Words, Had int
	// Text is the query with typing errors corrected. Snippets use it.
	Text string
}

// Hit is a document that was found.
type Hit struct {
	ID    int64
	Score float64
}

// Index is a base and the changes since. Searches run concurrently. Apply waits for
// running searches, which takes milliseconds.
type Index struct {
	mu       sync.RWMutex
	base     *Base // nil if there is none
	dead     bitmap
	deads    []uint32 // the dead documents in ascending order
	deadLen  uint64
	delta    *delta
	sequence int64
	scratch  sync.Pool
	closed   bool

	deadMu sync.Mutex
	deadIn map[string]int // number of dead documents that have a term, cached
}

// New returns an index of a base. Base may be nil.
func New(base *Base) *Index {
	x := &Index{base: base, delta: newDelta(), deadIn: map[string]int{}}
	x.scratch.New = func() any { return new(scratch) }
	if base != nil {
		x.sequence = base.Sequence()
		x.dead = bitmapFor(base.Len())
	}
	return x
}

// Sequence returns the last change that the index includes.
func (x *Index) Sequence() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.sequence
}

// Len returns the number of documents, and the number of those in the delta. When the
// delta is large, a new base is due.
func (x *Index) Len() (documents, delta int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.documents(), x.delta.alive
}

// DeltaSize returns the approximate memory size of the delta in bytes. It depends on the
// number of different words: ordinary text takes some times its length, random words
// fifty times.
func (x *Index) DeltaSize() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.delta.size
}

// Apply applies changes. A put replaces the document with its id; a delete of an unknown
// id does nothing. Apply ignores a sequence that is not later than the last.
func (x *Index) Apply(sequence int64, puts []Document, deletes []int64) {
	prepared := make([]prepared, len(puts))
	for i := range puts {
		prepared[i] = prepare(&puts[i])
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed || sequence <= x.sequence && x.sequence != 0 {
		return
	}
	x.sequence = sequence
	for _, id := range deletes {
		x.remove(id)
	}
	for i := range puts {
		x.remove(puts[i].ID)
		x.delta.add(&puts[i], &prepared[i])
	}
	x.delta.tidy()
}

// remove removes the document with an id from base and delta.
func (x *Index) remove(id int64) {
	x.delta.remove(id)
	if x.base == nil {
		return
	}
	doc, ok := x.base.number(id)
	if !ok || x.dead.has(doc) {
		return
	}
	x.dead.set(doc)
	at, _ := slices.BinarySearch(x.deads, doc)
	x.deads = slices.Insert(x.deads, at, doc)
	x.deadLen += uint64(x.base.length(doc))
	clear(x.deadIn)
}

// Close closes the index and its base after running searches have ended. Later searches
// find nothing.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	base := x.base
	x.closed, x.base, x.dead, x.deads, x.deadLen, x.delta = true, nil, nil, nil, 0, newDelta()
	clear(x.deadIn)
	if base == nil {
		return nil
	}
	return base.Close()
}

// documents returns the number of living documents.
func (x *Index) documents() int {
	n := x.delta.alive
	if x.base != nil {
		n += x.base.Len() - len(x.deads)
	}
	return n
}

// mean returns their mean length.
func (x *Index) mean() float64 {
	total := x.delta.length
	if x.base != nil {
		total += x.base.header.length - x.deadLen
	}
	return float64(total) / float64(max(1, x.documents()))
}
