package index

import (
	"encoding/binary"
	"sort"
	"strings"
)

// The dictionary is the sorted keys in groups of 16. A group begins with where
// its first list stands (varint); each key has
//
//	how much it shares with the key before    varint, 0 for the first
//	the length of the rest, and the rest      varint, bytes
//	in how many documents it is               varint
//	the length of its list                    varint; lists stand side by side
//
// and the directory has where each group begins (8 bytes).
const groupSize = 16

// dictionary reads it.
type dictionary struct {
	groups, directory, lists []byte
	terms                    int
	documents                uint32
}

type dictionaryWriter struct {
	groups, directory []byte
	last              []byte
	terms             int
	offset            uint64 // of the next list
}

func (w *dictionaryWriter) add(key []byte, df, size int) {
	shared := 0
	if w.terms%groupSize == 0 {
		w.directory = binary.LittleEndian.AppendUint64(w.directory, uint64(len(w.groups)))
		w.groups = binary.AppendUvarint(w.groups, w.offset)
	} else {
		for shared < len(key) && shared < len(w.last) && key[shared] == w.last[shared] {
			shared++
		}
	}
	w.groups = binary.AppendUvarint(w.groups, uint64(shared))
	w.groups = binary.AppendUvarint(w.groups, uint64(len(key)-shared))
	w.groups = append(w.groups, key[shared:]...)
	w.groups = binary.AppendUvarint(w.groups, uint64(df))
	w.groups = binary.AppendUvarint(w.groups, uint64(size))
	w.last = append(w.last[:0], key...)
	w.offset += uint64(size)
	w.terms++
}

// entry is a key as it is read.
type entry struct {
	key          []byte
	df           int
	offset, size uint64
}

// reader walks through the entries of a group.
type reader struct {
	d     *dictionary
	rest  []byte
	left  int
	entry entry
}

func (d *dictionary) groupCount() int { return len(d.directory) / 8 }

// group starts to read a group. False is damage, as everywhere here.
func (d *dictionary) group(i int) (reader, bool) {
	at := binary.LittleEndian.Uint64(d.directory[8*i:])
	if at >= uint64(len(d.groups)) {
		return reader{}, false
	}
	r := reader{d: d, rest: d.groups[at:], left: min(groupSize, d.terms-i*groupSize)}
	offset, ok := r.number()
	r.entry.offset = offset
	return r, ok
}

func (r *reader) number() (uint64, bool) {
	n, used := binary.Uvarint(r.rest)
	if used <= 0 {
		return 0, false
	}
	r.rest = r.rest[used:]
	return n, true
}

func (r *reader) next() bool {
	if r.left == 0 {
		return false
	}
	r.left--
	e := &r.entry
	e.offset += e.size
	shared, ok := r.number()
	length, ok2 := r.number()
	if !ok || !ok2 || shared > uint64(len(e.key)) || length > uint64(len(r.rest)) {
		return false
	}
	e.key = append(e.key[:shared], r.rest[:length]...)
	r.rest = r.rest[length:]
	df, ok := r.number()
	size, ok2 := r.number()
	if !ok || !ok2 || df > uint64(r.d.documents) || e.offset > uint64(len(r.d.lists)) || size > uint64(len(r.d.lists))-e.offset {
		return false
	}
	e.df, e.size = int(df), size
	return true
}

// first is the first key of a group, without copying it.
func (d *dictionary) first(i int) []byte {
	at := binary.LittleEndian.Uint64(d.directory[8*i:])
	if at >= uint64(len(d.groups)) {
		return nil
	}
	r := reader{rest: d.groups[at:]}
	_, ok := r.number()
	_, ok2 := r.number()
	length, ok3 := r.number()
	if !ok || !ok2 || !ok3 || length > uint64(len(r.rest)) {
		return nil
	}
	return r.rest[:length]
}

// from is the group where a key stands, if it is there.
func (d *dictionary) from(key string) int {
	return max(0, sort.Search(d.groupCount(), func(i int) bool { return string(d.first(i)) > key })-1)
}

func (d *dictionary) find(key string) (list, bool) {
	if d.terms == 0 {
		return list{}, false
	}
	r, ok := d.group(d.from(key))
	if !ok {
		return list{}, false
	}
	var room [longestWord + 8]byte
	r.entry.key = room[:0]
	for r.next() {
		switch order := strings.Compare(string(r.entry.key), key); {
		case order == 0:
			// The eight bytes behind a list are there to be read with it: see unpackLow.
			end := min(r.entry.offset+r.entry.size+8, uint64(len(d.lists)))
			return newList(d.lists[r.entry.offset:end], r.entry.df, d.documents, key[0] == pairTerm)
		case order > 0:
			return list{}, false
		}
	}
	return list{}, false
}

// each calls with the keys that begin with a prefix, in order, until it says no.
// A key is valid during the call.
func (d *dictionary) each(prefix string, yield func(key []byte) bool) {
	if d.terms == 0 {
		return
	}
	for i := d.from(prefix); i < d.groupCount(); i++ {
		r, ok := d.group(i)
		if !ok {
			return
		}
		for r.next() {
			if string(r.entry.key) < prefix {
				continue
			}
			if !strings.HasPrefix(string(r.entry.key), prefix) || !yield(r.entry.key) {
				return
			}
		}
	}
}
