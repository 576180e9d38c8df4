// Package index is the full-text index of a knowledge base: exact and ranked,
// in Japanese and English. It knows no store; it is derived from documents, and
// can always be built again from them.
//
// A Base is an immutable file that covers the documents up to a change
// sequence. An Index is a base with an in-memory delta of what changed later.
// However documents are divided between the two, a search finds the same, in
// the same order, with the same scores.
package index

import (
	"slices"
	"sync"
)

// Document is what is indexed of an item.
type Document struct {
	ID                                        int64
	Type, Status, Title, Description, Content string
	Tags                                      []string
	Updated                                   int64 // Unix milliseconds
}

// Query is what is looked for. A filter that is empty lets everything pass; of
// those that are given, a document must have one of each.
type Query struct {
	Text                   string
	Types, Statuses, Tags  []string
	UpdatedFrom, UpdatedTo int64 // both inclusive; 0 is open
	Limit, Offset          int   // a limit of 0 is 20
}

// Match says how well a query could be met.
type Match uint8

const (
	// All documents found have all words.
	All Match = iota
	// Near: nothing had all words as they were written. What was found has them
	// but for a slip of the pen, or has the parts of a run of Japanese apart.
	Near
	// Some: nothing has all words; what was found has as many as anything has.
	Some
)

// Result is what was found, the best first; equals by id.
type Result struct {
	Hits  []Hit
	Total int // exact
	Match Match
	// Words is how many words the query has, and Had how many each hit has.
	Words, Had int
	// Text is the query as it was understood, slips mended: what snippets show.
	Text string
}

// Hit is a document that was found.
type Hit struct {
	ID    int64
	Score float64
}

// Index is a base and what changed since. Searches run side by side; Apply
// waits for those under way, which takes milliseconds.
type Index struct {
	mu       sync.RWMutex
	base     *Base // nil is none
	dead     bitmap
	deads    []uint32 // the same, ascending
	deadLen  uint64
	delta    *delta
	sequence int64
	scratch  sync.Pool
	closed   bool

	deadMu sync.Mutex
	deadIn map[string]int // how many of the dead have a term; asked often
}

// New makes an index of a base, or of nothing.
func New(base *Base) *Index {
	x := &Index{base: base, delta: newDelta(), deadIn: map[string]int{}}
	x.scratch.New = func() any { return new(scratch) }
	if base != nil {
		x.sequence = base.Sequence()
		x.dead = bitmapFor(base.Len())
	}
	return x
}

// Sequence is the last change that the index knows.
func (x *Index) Sequence() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.sequence
}

// Len counts the documents, and those of them that are in the delta: when these
// are many, a new base is due.
func (x *Index) Len() (documents, delta int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.documents(), x.delta.alive
}

// DeltaSize is how much memory the delta takes, in bytes, about. It depends on how
// many different words a text has: ordinary text takes some times its length,
// random words fifty times.
func (x *Index) DeltaSize() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.delta.size
}

// Apply takes changes in. A put replaces the document with its id; deletes of
// what is not there do nothing. Later sequences only; the same again is ignored.
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

// remove takes the document with an id out of base and delta.
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

// Close closes the index and its base, when the searches under way have ended.
// Later ones find nothing.
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

// documents counts those that are there.
func (x *Index) documents() int {
	n := x.delta.alive
	if x.base != nil {
		n += x.base.Len() - len(x.deads)
	}
	return n
}

// mean is their mean length.
func (x *Index) mean() float64 {
	total := x.delta.length
	if x.base != nil {
		total += x.base.header.length - x.deadLen
	}
	return float64(total) / float64(max(1, x.documents()))
}
