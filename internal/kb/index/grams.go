package index

import (
	"encoding/binary"
	"maps"
	"slices"
	"unicode/utf8"
)

// A phrase whose pairs are rare is cheap to verify. So that one whose pairs are
// in very many documents is, too, the base has terms for longer runs of
// characters, without positions: a run is a term if what it is without its last
// character and without its first are both common. Three characters are a term
// when both pairs are common, four when both threes are, and so on. In real
// texts that is しました and について and little more.
//
// What is common is decided by the first documents, which are read twice. What
// becomes common later counts from there on: the base says from which document.
const (
	mostGram  = 6     // characters
	mostGrams = 65536 // common runs
	// A run is common if so many documents can be expected to have it. Verifying a
	// phrase costs a third of a microsecond for each document that may have it, so
	// that this is 5 ms, about. A collection of fewer documents has no such terms,
	// which cost space: of Japanese manual pages a quarter of the text at a share of
	// one document in 64.
	commonDocuments = 15_000
	leastCommon     = 24 // have been seen, before anything is expected
	// sampleBytes bounds the text of the first documents; limits bounds their number.
	sampleBytes = 16 << 20
)

// grams are the common runs of characters, with the document from which on the
// runs that are made of them are terms.
type grams map[string]uint32

// counter finds them while a base is built.
type counter struct {
	common grams
	// expected is how many documents there will be, about.
	expected int
	// counts are of documents, by hash: collisions make a run common too early,
	// which costs a little space.
	counts []uint32
}

func newCounter(expected int) *counter {
	return &counter{common: grams{}, expected: expected, counts: make([]uint32, 1<<18)}
}

// slot is where a run is counted: FNV-1a, so that it is the same in each build.
func (g *counter) slot(run []byte) uint32 {
	h := uint64(14695981039346656037)
	for _, b := range run {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return uint32((h ^ h>>32) & uint64(len(g.counts)-1))
}

// isCommon reports whether a run is that n of the first documents have.
func (g *counter) isCommon(n, documents int) bool {
	return n >= leastCommon && n*g.expected >= commonDocuments*documents
}

// saw counts a document that has a run, the last of so many, and says whether
// that makes it common.
func (g *counter) saw(slot uint32, run []byte, documents int, since uint32) bool {
	g.counts[slot]++
	if !g.isCommon(int(g.counts[slot]), documents) || len(g.common) >= mostGrams {
		return false
	}
	g.common[string(run)] = since
	return true
}

// sample learns from the first documents. Each round finds runs that are longer
// by one, since what is longer is counted when the shorter is common.
func (g *counter) sample(documents []Document) {
	if g.expected < commonDocuments {
		return
	}
	for range mostGram - 2 {
		before := len(g.common)
		clear(g.counts)
		found := grams{}
		seen := map[string]bool{}
		t := tokeniser{emit: func(t token) bool {
			if t.key[0] != pairTerm && t.key[0] != gramTerm {
				return false
			}
			seen[string(t.key[1:])] = true
			_, common := g.common[string(t.key[1:])]
			return common
		}}
		for i := range documents {
			clear(seen)
			t.document(&documents[i])
			for run := range seen {
				if n := &g.counts[g.slot([]byte(run))]; *n < uint32(len(documents)) {
					*n++
				}
				found[run] = 0
			}
		}
		for _, run := range slices.Sorted(maps.Keys(found)) {
			if n := int(g.counts[g.slot([]byte(run))]); g.isCommon(n, len(documents)) && len(g.common) < mostGrams {
				g.common[run] = 0
			}
		}
		if len(g.common) == before {
			break
		}
	}
	clear(g.counts) // they are counted again, with the others
}

// grams emits the runs of a run that are terms: first those of three characters,
// which are two pairs, then those that are two of the last.
func (t *tokeniser) grams(text string) {
	starts, common := append(t.starts, len(text)), t.common
	for n := 3; n <= mostGram; n++ {
		more := false
		for i := range len(common) - 1 {
			common[i] = common[i] && common[i+1] && t.say(gramTerm, text[starts[i]:starts[i+n]])
			more = more || common[i]
		}
		if !more {
			return
		}
		common = common[:len(common)-1]
	}
}

// find is the document from which on a run is a term. A run of two characters
// is none; it is a pair.
func (g grams) find(run string) (since uint32, ok bool) {
	n := utf8.RuneCountInString(run)
	if n < 3 || n > mostGram {
		return 0, false
	}
	_, first := utf8.DecodeRuneInString(run)
	_, last := utf8.DecodeLastRuneInString(run)
	a, ok := g[run[:len(run)-last]]
	b, ok2 := g[run[first:]]
	return max(a, b), ok && ok2
}

// appendGrams puts them into bytes: the length of each, itself, and its document.
func appendGrams(dst []byte, g grams) []byte {
	for _, run := range slices.Sorted(maps.Keys(g)) {
		dst = binary.AppendUvarint(dst, uint64(len(run)))
		dst = append(dst, run...)
		dst = binary.AppendUvarint(dst, uint64(g[run]))
	}
	return dst
}

func readGrams(b []byte) (grams, bool) {
	g := grams{}
	for len(b) > 0 {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return nil, false
		}
		run := string(b[used : used+int(n)])
		b = b[used+int(n):]
		since, used := binary.Uvarint(b)
		if used <= 0 {
			return nil, false
		}
		g[run] = uint32(min(since, nowhere))
		b = b[used:]
	}
	return g, true
}
