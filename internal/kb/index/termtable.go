package index

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
)

// termTable maps keys of terms to numbers while a base is built, for every word of every
// document. Most keys are shorter than eight bytes (a pair of characters has seven) and
// are stored in the table itself, so that a lookup reads one place in memory.
type termTable struct {
	slots []termSlot // a power of two
	used  int
	shift int
	// The seed is unpredictable, so that no text can make many keys collide.
	seed maphash.Seed
	odd  uint64
}

// termSlot is a slot of the table.
type termSlot struct {
	code uint64
	term uint32 // plus one; zero is empty
}

func newTermTable() termTable {
	const first = 1 << 12
	return termTable{
		slots: make([]termSlot, first), shift: 64 - bits.Len(first-1),
		seed: maphash.MakeSeed(), odd: rand.Uint64() | 1, //nolint:gosec // it is no secret
	}
}

// hashed marks a code that is not the key itself.
const hashed = 1 << 63

// code returns the key with its length, or its hash.
func (t *termTable) code(key []byte) uint64 {
	n := len(key)
	switch {
	case n >= 8:
		return maphash.Bytes(t.seed, key) | hashed
	case cap(key) >= 8:
		return binary.LittleEndian.Uint64(key[:8])&(1<<(8*n)-1) | uint64(n)<<56
	}
	code := uint64(n) << 56
	for i, b := range key {
		code |= uint64(b) << (8 * i)
	}
	return code
}

// find returns the slot of a key, or the empty slot where it belongs.
func (t *termTable) find(code uint64, same func(term uint32) bool) *termSlot {
	for at := int(code * t.odd >> t.shift); ; at = (at + 1) & (len(t.slots) - 1) {
		s := &t.slots[at]
		if s.term == 0 || s.code == code && (code&hashed == 0 || same(s.term-1)) {
			return s
		}
	}
}

// put fills an empty slot.
func (t *termTable) put(at *termSlot, code uint64, term uint32) {
	*at = termSlot{code, term + 1}
	if t.used++; t.used < len(t.slots)/2 {
		return
	}
	old := t.slots
	t.slots, t.shift = make([]termSlot, 2*len(old)), t.shift-1
	for _, s := range old {
		if s.term != 0 {
			*t.find(s.code, func(uint32) bool { return false }) = s
		}
	}
}
