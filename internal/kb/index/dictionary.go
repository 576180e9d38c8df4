package index

import (
	"bufio"
	"encoding/binary"
	"strings"
	"unsafe"
)

// The dictionary holds the sorted keys in groups of 16. A group begins with the offset of
// its first list (varint); each key has
//
//	the length shared with the key before     varint, 0 for the first
//	the length of the rest, and the rest      varint, bytes
//	the number of its documents               varint
//	the length of its list                    varint; lists are adjacent
//
// and the directory has the offset of each group (8 bytes).
const groupSize = 16

// dictionary reads the keys of a base.
type dictionary struct {
	groups, directory, lists []byte
	terms                    int
	documents                uint32
}

// dictionaryWriter writes the groups of a dictionary to out, since there may be many
// millions of keys, and holds the directory.
type dictionaryWriter struct {
	out       *bufio.Writer
	at        uint64 // how much was written
	directory []byte
	last      []byte
	entry     []byte
	terms     int
	offset    uint64 // of the next list
}

func (w *dictionaryWriter) add(key []byte, df, size int) error {
	shared := 0
	e := w.entry[:0]
	if w.terms%groupSize == 0 {
		w.directory = binary.LittleEndian.AppendUint64(w.directory, w.at)
		e = binary.AppendUvarint(e, w.offset)
	} else {
		for shared < len(key) && shared < len(w.last) && key[shared] == w.last[shared] {
			shared++
		}
	}
	e = binary.AppendUvarint(e, uint64(shared))
	e = binary.AppendUvarint(e, uint64(len(key)-shared))
	e = append(e, key[shared:]...)
	e = binary.AppendUvarint(e, uint64(df))
	e = binary.AppendUvarint(e, uint64(size))
	w.last = append(w.last[:0], key...)
	w.offset += uint64(size)
	w.terms++
	w.at += uint64(len(e))
	w.entry = e
	_, err := w.out.Write(e)
	return err
}

// entry is the data of a key.
type entry struct {
	df           int
	offset, size uint64
}

// reader walks through the entries of a group.
type reader struct {
	d     *dictionary
	rest  []byte
	left  int
	key   []byte
	entry entry
}

func (d *dictionary) groupCount() int { return len(d.directory) / 8 }

// group starts to read a group. It returns false for damage, as all functions here do.
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

// take reads the next entry without building its key. It returns the rest of the key.
func (r *reader) take() (shared uint64, suffix []byte, ok bool) {
	r.left--
	e := &r.entry
	e.offset += e.size
	shared, ok = r.number()
	length, ok2 := r.number()
	if !ok || !ok2 || length > uint64(len(r.rest)) {
		return 0, nil, false
	}
	suffix, r.rest = r.rest[:length], r.rest[length:]
	df, ok := r.number()
	size, ok2 := r.number()
	if !ok || !ok2 || df > uint64(r.d.documents) || e.offset > uint64(len(r.d.lists)) || size > uint64(len(r.d.lists))-e.offset {
		return 0, nil, false
	}
	e.df, e.size = int(df), size
	return shared, suffix, true
}

// next reads the next entry with its key.
func (r *reader) next() bool {
	if r.left == 0 {
		return false
	}
	shared, suffix, ok := r.take()
	if !ok || shared > uint64(len(r.key)) {
		return false
	}
	r.key = append(r.key[:shared], suffix...)
	return true
}

// first returns the first key of a group without copying it.
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

// scope is a range of groups of the dictionary.
type scope struct{ from, to int }

// scopeOf returns the groups that can have keys with a prefix.
func (d *dictionary) scopeOf(prefix string) scope {
	if first, _ := d.span(prefix); first == "" {
		return scope{}
	}
	from := d.from(prefix, d.all())
	return scope{from, d.from(prefix+"\xff", scope{from, d.groupCount()}) + 1}
}

func (d *dictionary) all() scope { return scope{0, d.groupCount()} }

// from returns the group of a scope that has a key, if any has.
func (d *dictionary) from(key string, in scope) int {
	low, high := in.from, in.to
	for low < high {
		if middle := (low + high) / 2; string(d.first(middle)) > key {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return max(in.from, low-1)
}

// locate reads the entry of a key. It compares while it reads and copies nothing.
func (d *dictionary) locate(key string, in scope) (entry, bool) {
	if in.from >= in.to {
		return entry{}, false
	}
	r, ok := d.group(d.from(key, in))
	if !ok {
		return entry{}, false
	}
	same := 0 // the length that the previous key shares with the wanted one
	for r.left > 0 {
		e := &r.entry
		shared, suffix, ok := r.take()
		if !ok {
			return entry{}, false
		}
		if int(shared) > same {
			continue // it differs at the same byte as the key before
		}
		same = int(shared)
		for len(suffix) > 0 && same < len(key) && suffix[0] == key[same] {
			suffix = suffix[1:]
			same++
		}
		switch {
		case len(suffix) == 0 && same == len(key):
			return *e, true
		case same == len(key) || len(suffix) > 0 && suffix[0] > key[same]:
			return entry{}, false
		}
	}
	return entry{}, false
}

func (d *dictionary) find(key string) (list, bool) {
	e, ok := d.locate(key, d.all())
	if !ok {
		return list{}, false
	}
	return d.list(e, key[0])
}

// list returns the list of an entry.
func (d *dictionary) list(e entry, kind byte) (list, bool) {
	// The result includes the eight bytes after the list: see unpackLow.
	end := min(e.offset+e.size+8, uint64(len(d.lists)))
	return newList(d.lists[e.offset:end], e.df, d.documents, kind == pairTerm)
}

func (d *dictionary) has(key []byte, in scope) bool {
	_, ok := d.locate(unsafe.String(unsafe.SliceData(key), len(key)), in)
	return ok
}

// each calls yield with the lists of the keys with a prefix, in order, until yield
// returns false.
func (d *dictionary) each(prefix string, yield func(l *list) bool) {
	d.walk(prefix, func(r *reader) bool {
		l, ok := d.list(r.entry, prefix[0])
		return !ok || yield(&l)
	})
}

// walk calls yield with the entries of the keys with a prefix, in order, until yield
// returns false.
func (d *dictionary) walk(prefix string, yield func(r *reader) bool) {
	if d.terms == 0 {
		return
	}
	for i := d.from(prefix, d.all()); i < d.groupCount(); i++ {
		r, ok := d.group(i)
		if !ok {
			return
		}
		for r.next() {
			if string(r.key) < prefix {
				continue
			}
			if !strings.HasPrefix(string(r.key), prefix) || !yield(&r) {
				return
			}
		}
	}
}
