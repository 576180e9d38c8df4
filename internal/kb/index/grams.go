package index

import (
	"encoding/binary"
	"maps"
	"slices"
	"unicode/utf8"
)

// A phrase with a rare pair is cheap to verify. To make phrases of common pairs cheap as
// well, the base has terms for longer runs of characters, without positions. A run is a
// term if the run without its last character and the run without its first are both
// common. Three characters are a term when both pairs are common, four when both threes
// are, and so on. In real texts that is しました and について and little more.
//
// The first documents, which are read twice, decide which runs are common. A run that
// becomes common later is one from that document on: the base records the document.
const (
	mostGram  = 6     // characters
	mostGrams = 65536 // common runs
	// commonDocuments is the expected number of documents from which a run is common.
	// Verifying a phrase costs a third of a microsecond for each candidate document, so this
	// is about 5 ms. A collection of fewer documents has no such terms, because they cost
	// space: for Japanese manual pages a quarter of the text at a share of one document in
	// 64.
	commonDocuments = 15_000
	leastCommon     = 24 // occurrences before any extrapolation
	// sampleBytes limits the text of the first documents; limits bounds their number.
	sampleBytes = 16 << 20
)

// grams maps each common run of characters to the document from which on the runs made of
// it are terms.
type grams map[string]uint32

// counter finds common runs while a base is built.
type counter struct {
	common grams
	// expected is the approximate number of documents.
	expected int
	// counts holds numbers of documents, by hash. A collision makes a run common too early,
	// which costs a little space.
	counts []uint32
}

func newCounter(expected int) *counter {
	return &counter{common: grams{}, expected: expected, counts: make([]uint32, 1<<18)}
}

// slot returns the counter of a run. It uses FNV-1a, so that each build gives the same
// result.
func (g *counter) slot(run []byte) uint32 {
	h := uint64(14695981039346656037)
	for _, b := range run {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return uint32((h ^ h>>32) & uint64(len(g.counts)-1))
}

// isCommon reports whether a run is common if n of the first documents have it.
func (g *counter) isCommon(n, documents int) bool {
	return n >= leastCommon && n*g.expected >= commonDocuments*documents
}

// saw counts a document that has a run, and reports whether that makes the run common.
// Documents is the number of documents so far.
func (g *counter) saw(slot uint32, run []byte, documents int, since uint32) bool {
	g.counts[slot]++
	if !g.isCommon(int(g.counts[slot]), documents) || len(g.common) >= mostGrams {
		return false
	}
	g.common[string(run)] = since
	return true
}

// sample counts the first documents. Each round finds runs that are longer by one,
// because a run is counted only if its shorter parts are common.
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
	clear(g.counts) // they are counted again with the other documents
}

// grams emits the parts of a run that are terms: first those of three characters, which
// are two pairs, then those that consist of two of the previous length.
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

// find returns the document from which on a run is a term. A run of two characters is a
// pair and not a term of this kind.
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

// appendGrams encodes the runs: the length and bytes of each, and its document.
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
