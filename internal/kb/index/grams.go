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
	mostGram  = 6    // characters
	mostGrams = 4096 // common runs
	// One document in so many has a pair that is common, or a longer run: of
	// these there are fewer, and each costs space.
	pairShare   = 16
	longerShare = 10
	leastCommon = 32
	// The first documents: so many, or so many bytes of text.
	sampleDocuments = 1024
	sampleBytes     = 16 << 20
)

// grams are the common runs of characters, with the document from which on the
// runs that are made of them are terms.
type grams map[string]uint32

// counter finds them while a base is built.
type counter struct {
	common grams
	// counts are of documents, by hash: collisions make a run common too early,
	// which costs a little space.
	counts []uint32
}

func newCounter() *counter {
	return &counter{common: grams{}, counts: make([]uint32, 1<<18)}
}

// slot is where a run is counted: FNV-1a, so that it is the same in each build.
func (g *counter) slot(run string) *uint32 {
	h := uint64(14695981039346656037)
	for i := range len(run) {
		h = (h ^ uint64(run[i])) * 1099511628211
	}
	return &g.counts[(h^h>>32)&uint64(len(g.counts)-1)]
}

func isCommonRun(run string, n, documents int) bool {
	share := longerShare
	if utf8.RuneCountInString(run) == 2 {
		share = pairShare
	}
	return n >= leastCommon && n >= documents/share
}

// saw counts a document that has a run, the last of so many.
func (g *counter) saw(run string, documents int, since uint32) {
	n := g.slot(run)
	if *n++; !isCommonRun(run, int(*n), documents) || len(g.common) >= mostGrams {
		return
	}
	if _, ok := g.common[run]; !ok {
		g.common[run] = since
	}
}

// sample learns from the first documents. Each round finds runs that are longer
// by one, since what is longer is counted when the shorter is common.
func (g *counter) sample(documents []Document) {
	for range mostGram - 2 {
		before := len(g.common)
		clear(g.counts)
		found := grams{}
		seen := map[string]bool{}
		t := tokeniser{common: g.common, emit: func(t token) {
			if t.key[0] == pairTerm || t.key[0] == gramTerm {
				seen[string(t.key[1:])] = true
			}
		}}
		for i := range documents {
			clear(seen)
			t.document(&documents[i])
			for run := range seen {
				if n := g.slot(run); *n < uint32(len(documents)) {
					*n++
				}
				found[run] = 0
			}
		}
		for _, run := range slices.Sorted(maps.Keys(found)) {
			if n := int(*g.slot(run)); isCommonRun(run, n, len(documents)) && len(g.common) < mostGrams {
				g.common[run] = 0
			}
		}
		if len(g.common) == before {
			break
		}
	}
	clear(g.counts) // they are counted again, with the others
}

// grams emits the runs of a run that are terms.
func (t *tokeniser) grams(text string) {
	t.starts = t.starts[:0]
	for i := range text {
		t.starts = append(t.starts, i)
	}
	t.starts = append(t.starts, len(text))
	isCommon := func(from, to int) bool {
		_, ok := t.common[text[t.starts[from]:t.starts[to]]]
		return ok
	}
	before := false // whether the pair before is common
	for i := 0; i+2 < len(t.starts); i++ {
		pair := isCommon(i, i+2)
		for n := 3; before && pair && n <= mostGram && i+n <= len(t.starts); n++ {
			if n > 3 && !(isCommon(i-1, i+n-2) && isCommon(i, i+n-1)) {
				break
			}
			t.say(gramTerm, text[t.starts[i-1]:t.starts[i+n-1]])
		}
		before = pair
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
