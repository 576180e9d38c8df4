package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// run holds the postings of consecutive documents in memory.
type run struct {
	table termTable
	keys  []byte // the keys of all terms, concatenated
	terms []runTerm
	size  int
	// grams knows which runs of characters are common.
	grams *counter

	// These belong to the current document: its terms, and their positions as linked lists.
	touched []uint32
	nodes   []runNode
}

type runTerm struct {
	postings    []byte
	key, length uint32 // the offset and length of its key
	last        uint32 // document, plus one
	count       uint32 // in the current document
	first, tail int32  // positions, in nodes
	slot        uint32 // the counter of a run of characters
	kind        byte
	head        bool
	common      bool // for a run of characters: it need not be counted any more
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

// term returns the number of a term.
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
	r.size += len(key) + 96 // the approximate cost of an entry
	return i
}

// isChars reports whether the term is a run of characters that may be common.
func (t *runTerm) isChars() bool { return t.kind == pairTerm || t.kind == gramTerm }

// token adds an occurrence of a term, and reports whether it is a common run of
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

// end finishes the current document, and counts each of its runs of characters once.
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

// sorted returns the terms in the order of their keys. It compares the first eight bytes,
// which nearly always decide, so that keys elsewhere in memory are rarely read: reading
// them would take longer than the rest of a build with many terms.
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

// empty removes all terms and keeps the memory.
func (r *run) empty() {
	clear(r.terms)
	clear(r.table.slots)
	r.table.used, r.keys, r.terms, r.size = 0, r.keys[:0], r.terms[:0], 0
}
