package index

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strings"
)

// These limits decide which prefixes get a list in the base: those whose words together
// have more postings than one document in so many, and at least limits.beginning. Each
// word counts as some additional postings, since its list must be found.
const (
	beginningShare = 32
	wordCost       = 8
)

// leastBegun returns the length of the shortest prefix that is looked up, in bytes,
// including its kind: two letters, or three characters of katakana.
func leastBegun(kind byte) int {
	if kind == kanaTerm {
		return 1 + leastKana*len("ア")
	}
	return 3
}

// beginnings builds the lists. Keys come in order, so keys with the same prefix are
// adjacent. Open is a stack of prefixes: each is the longest that its words share, and
// each extends the one before.
type beginnings struct {
	open    []opened
	last    []byte
	free    [][]uint64
	encoder encoder
	// least is limits.beginning.
	least int

	set    bitmap
	values []uint32

	// The lists are kept in a temporary file, because their keys come after those of the
	// words.
	file *os.File
	out  *bufio.Writer
	size int64
	made []beginningMade
}

// opened is a prefix for which more words may follow.
type opened struct {
	length int // of the prefix, in bytes
	words  int
	// postings are those of the words, each a document and a value. Unless they are compact,
	// a document may occur several times.
	postings []uint64
}

type beginningMade struct {
	key      string
	df       int
	at, size int64
}

func newBeginnings(file *os.File, e encoder, least int) *beginnings {
	return &beginnings{
		file: file, out: bufio.NewWriterSize(file, 1<<20), encoder: e, least: least,
		set: bitmapFor(int(e.documents)), values: make([]uint32, e.documents),
	}
}

// add adds the next key and its postings.
func (b *beginnings) add(key []byte, docs, values []uint32) error {
	shared := 0
	for shared < len(key) && shared < len(b.last) && key[shared] == b.last[shared] {
		shared++
	}
	if err := b.close(shared); err != nil {
		return err
	}
	var postings []uint64
	if n := len(b.free); n > 0 {
		postings, b.free = b.free[n-1][:0], b.free[:n-1]
	}
	for i, doc := range docs {
		postings = append(postings, uint64(doc)<<32|uint64(values[i]))
	}
	b.open = append(b.open, opened{len(key), 1, postings})
	b.last = append(b.last[:0], key...)
	return nil
}

// close finishes the prefixes that are longer than the part shared with the next key.
func (b *beginnings) close(shared int) error {
	for n := len(b.open); n > 0 && b.open[n-1].length > shared; n = len(b.open) {
		ends := b.open[n-1]
		b.open = b.open[:n-1]
		if b.isHeavy(&ends) {
			ends.postings = b.compact(ends.postings)
			if err := b.put(string(beginTerm)+string(b.last[:ends.length]), ends.postings); err != nil {
				return err
			}
		}
		if n == 1 || b.open[n-2].length < shared {
			if shared < leastBegun(b.last[0]) {
				b.free = append(b.free, ends.postings)
				continue
			}
			ends.length = shared
			b.open = append(b.open, ends)
			continue
		}
		around := &b.open[n-2]
		around.words += ends.words
		around.postings = append(around.postings, ends.postings...)
		b.free = append(b.free, ends.postings)
		if len(around.postings) > 2*len(b.values)+b.least {
			around.postings = b.compact(around.postings)
		}
	}
	return nil
}

func (b *beginnings) isHeavy(o *opened) bool {
	return o.words > 1 && len(o.postings)+wordCost*o.words >= max(b.least, len(b.values)/beginningShare)
}

// compact merges the postings of each document into one and sorts them.
func (b *beginnings) compact(postings []uint64) []uint64 {
	for _, p := range postings {
		doc, v := uint32(p>>32), uint32(p)
		if b.set.has(doc) {
			v = bothValues(v, b.values[doc])
		}
		b.values[doc] = v
		b.set.set(doc)
	}
	postings = postings[:0]
	b.set.each(0, uint32(len(b.values)), func(doc uint32) {
		postings = append(postings, uint64(doc)<<32|uint64(b.values[doc]))
	})
	clear(b.set)
	return postings
}

// put packs a list and writes it to the temporary file.
func (b *beginnings) put(key string, postings []uint64) error {
	b.encoder.begin(false)
	for _, p := range postings {
		b.encoder.add(uint32(p>>32), uint32(p), nil)
	}
	packed := b.encoder.finish(nil)
	b.made = append(b.made, beginningMade{key, len(postings), b.size, int64(len(packed))})
	b.size += int64(len(packed))
	_, err := b.out.Write(packed)
	return err
}

// finish calls yield with each list, in the order of keys.
func (b *beginnings) finish(yield func(key string, df int, packed []byte) error) error {
	if err := b.close(0); err != nil {
		return err
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	slices.SortFunc(b.made, func(x, y beginningMade) int { return strings.Compare(x.key, y.key) })
	var packed []byte
	for _, m := range b.made {
		packed = slices.Grow(packed[:0], int(m.size))[:m.size]
		if _, err := io.ReadFull(io.NewSectionReader(b.file, m.at, m.size), packed); err != nil {
			return errRun
		}
		if err := yield(m.key, m.df, packed); err != nil {
			return err
		}
	}
	return nil
}
