package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// run is the postings of some documents that follow one another, in memory.
type run struct {
	table termTable
	keys  []byte // of all terms, side by side
	terms []runTerm
	size  int
	// grams knows which runs of characters are common.
	grams *counter

	// The document under way: its terms, and their positions as linked lists.
	touched []uint32
	nodes   []runNode
}

type runTerm struct {
	postings    []byte
	key, length uint32 // where its key is
	last        uint32 // document, plus one
	count       uint32 // in the document under way
	first, tail int32  // positions, in nodes
	slot        uint32 // where a run of characters is counted
	kind        byte
	head        bool
	common      bool // of a run of characters: it need not be counted any more
}

type runNode struct {
	position uint32
	next     int32
}

func newRun(grams *counter) *run { return &run{table: newTermTable(), grams: grams} }

func (r *run) key(i uint32) []byte {
	t := &r.terms[i]
	return r.keys[t.key:][:t.length]
}

// term is the number of a term.
func (r *run) term(key []byte) uint32 {
	code := r.table.code(key)
	at := r.table.find(code, func(i uint32) bool { return bytes.Equal(r.key(i), key) })
	if at.term != 0 {
		return at.term - 1
	}
	i := uint32(len(r.terms))
	term := runTerm{key: uint32(len(r.keys)), length: uint32(len(key)), kind: key[0]}
	if term.isChars() {
		term.slot = r.grams.slot(key[1:])
		_, term.common = r.grams.common[string(key[1:])]
	}
	r.keys = append(r.keys, key...)
	r.terms = append(r.terms, term)
	r.table.put(at, code, i)
	r.size += len(key) + 96 // what an entry costs, about
	return i
}

// isChars tells the runs of characters that may be common.
func (t *runTerm) isChars() bool { return t.kind == pairTerm || t.kind == gramTerm }

// token takes an occurrence of a term, and says whether it is a common run of
// characters.
func (r *run) token(t token) bool {
	i := r.term(t.key)
	term := &r.terms[i]
	if term.count == 0 {
		r.touched = append(r.touched, i)
		term.first, term.head = -1, false
	}
	term.count++
	term.head = term.head || t.head
	if term.kind == pairTerm {
		n := int32(len(r.nodes))
		r.nodes = append(r.nodes, runNode{t.position, -1})
		if term.first < 0 {
			term.first = n
		} else {
			r.nodes[term.tail].next = n
		}
		term.tail = n
	}
	return term.common
}

// end closes the document under way, and counts the runs of characters that it
// has, each once.
func (r *run) end(doc uint32) {
	for _, i := range r.touched {
		term := &r.terms[i]
		before := len(term.postings)
		term.postings = appendPosting(term.postings, doc-term.last, value(int(term.count), term.head))
		at := uint32(0)
		for n := term.first; n >= 0; n = r.nodes[n].next {
			term.postings = binary.AppendUvarint(term.postings, uint64(r.nodes[n].position-at))
			at = r.nodes[n].position
		}
		r.size += len(term.postings) - before
		term.last, term.count = doc+1, 0
		if term.isChars() && !term.common {
			term.common = r.grams.saw(term.slot, r.key(i)[1:], int(doc+1), doc+1)
		}
	}
	r.touched, r.nodes = r.touched[:0], r.nodes[:0]
}

// sorted are the terms in the order of their keys. They are compared by their first
// eight bytes, which decide nearly always, so that no key is looked up elsewhere in
// memory: that would take longer than all else of a build with many terms.
func (r *run) sorted() []uint32 {
	type place struct {
		first uint64
		term  uint32
	}
	places := make([]place, len(r.terms))
	for i := range places {
		var first [8]byte
		copy(first[:], r.key(uint32(i)))
		places[i] = place{binary.BigEndian.Uint64(first[:]), uint32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return bytes.Compare(r.key(a.term), r.key(b.term))
	})
	order := make([]uint32, len(places))
	for i := range places {
		order[i] = places[i].term
	}
	return order
}

// empty forgets all terms, and keeps the memory.
func (r *run) empty() {
	clear(r.terms)
	clear(r.table.slots)
	r.table.used, r.keys, r.terms, r.size = 0, r.keys[:0], r.terms[:0], 0
}
