package index

import (
	"slices"
	"strings"
)

// delta holds the documents that are newer than the base, in memory. Documents are
// numbered in the order of arrival. A replaced document stays in the lists, marked as
// dead, until half of the documents are dead.
type delta struct {
	columns
	kindNames, stateNames names
	dead                  bitmap
	alive                 int
	length                uint64
	byID                  map[int64]uint32
	terms                 map[string]*deltaList
	docs                  []deltaDocument
	// size is the approximate memory size of the delta, and deadSize the part that only dead
	// documents need.
	size, deadSize int
	// words are the sorted keys of words and katakana, to look up prefixes.
	words  []string
	titles []deltaTitle
}

// deltaDocument holds the data to remove a document again.
type deltaDocument struct {
	document Document
	terms    []*deltaList
	size     int
}

// deltaList is a list in memory. A text of random words has one for each word and each
// stem, most with one document, so it has no fields that only a base needs.
type deltaList struct {
	docs, values []uint32
	where        *deltaPositions // of pairs
	live         int
}

// deltaPositions holds the positions of a pair in each document.
type deltaPositions struct{ starts, where []uint32 }

// list converts it for a search.
func (d *deltaList) list() list {
	l := list{plain: true, df: len(d.docs), live: d.live, docs: d.docs, values: d.values}
	if d.where != nil {
		l.positions, l.starts, l.where = true, d.where.starts, d.where.where
	}
	return l
}

// These are approximate sizes in memory, measured with TestDeltaKnowsItsSize: a term with
// its list, its entries in the map and among the words; the positions of a pair; a
// posting; and a document without its text.
const (
	termSize      = 120
	positionsSize = 80
	postingSize   = 24
	documentSize  = 400
)

// tidySize is the amount of dead memory below which the delta is not rebuilt.
const tidySize = 8 << 20

type deltaTitle struct {
	folded, title string
	doc           uint32
}

func newDelta() *delta {
	return &delta{byID: map[int64]uint32{}, terms: map[string]*deltaList{}}
}

// prepared is a tokenised document. Preparing it needs no lock.
type prepared struct {
	keys         []string
	values       []uint32
	where        [][]uint32
	length, head uint32
}

func prepare(d *Document) prepared {
	var p prepared
	at := map[string]int{}
	t := tokeniser{emit: func(t token) bool {
		i, ok := at[string(t.key)]
		if !ok {
			i = len(p.keys)
			key := string(t.key)
			at[key] = i
			p.keys = append(p.keys, key)
			p.values = append(p.values, value(1, t.head))
			p.where = append(p.where, nil)
		} else {
			p.values[i] += 2
			if t.head {
				p.values[i] |= 1
			}
		}
		if t.key[0] == pairTerm {
			p.where[i] = append(p.where[i], t.position)
		}
		return false
	}}
	p.length, p.head = t.document(d)
	return p
}

func (x *delta) add(d *Document, p *prepared) {
	doc := uint32(len(x.docs))
	x.columns.add(d, p.length, p.head, x.kindNames.number(d.Type), x.stateNames.number(d.Status))
	x.typeNames, x.states = x.kindNames.list, x.stateNames.list
	if int(doc)>>6 >= len(x.dead) {
		x.dead = append(x.dead, 0)
	}
	kept := deltaDocument{document: *d, terms: make([]*deltaList, len(p.keys))}
	kept.size = documentSize + len(d.Title) + len(d.Description) + len(d.Content)
	var fresh []string
	for i, key := range p.keys {
		l := x.terms[key]
		if l == nil {
			l = &deltaList{}
			kept.size += termSize + len(key)
			if key[0] == pairTerm {
				l.where = &deltaPositions{starts: []uint32{0}}
				kept.size += positionsSize
			}
			x.terms[key] = l
			if key[0] == wordTerm || key[0] == kanaTerm {
				fresh = append(fresh, key)
			}
		}
		l.live++
		l.docs = append(l.docs, doc)
		l.values = append(l.values, p.values[i])
		if l.where != nil {
			l.where.where = append(l.where.where, p.where[i]...)
			l.where.starts = append(l.where.starts, uint32(len(l.where.where)))
			kept.size += 4 * len(p.where[i])
		}
		kept.size += postingSize
		kept.terms[i] = l
	}
	x.size += kept.size
	x.words = insertSorted(x.words, fresh)
	x.docs = append(x.docs, kept)
	x.byID[d.ID] = doc
	x.alive++
	x.length += uint64(p.length)
	title := deltaTitle{Fold(d.Title), d.Title, doc}
	at, _ := slices.BinarySearchFunc(x.titles, title, compareTitles)
	x.titles = slices.Insert(x.titles, at, title)
}

// insertSorted inserts new strings into a sorted list.
func insertSorted(sorted, fresh []string) []string {
	slices.Sort(fresh)
	// Insert from the end, so that each existing string moves once.
	n := len(sorted)
	sorted = append(sorted, fresh...)
	for j := len(fresh) - 1; j >= 0; j-- {
		at, _ := slices.BinarySearch(sorted[:n], fresh[j])
		copy(sorted[at+j+1:], sorted[at:n])
		sorted[at+j] = fresh[j]
		n = at
	}
	return sorted
}

func compareTitles(a, b deltaTitle) int {
	if c := strings.Compare(a.folded, b.folded); c != 0 {
		return c
	}
	if c := strings.Compare(a.title, b.title); c != 0 {
		return c
	}
	return int(a.doc) - int(b.doc)
}

func (x *delta) remove(id int64) {
	doc, ok := x.byID[id]
	if !ok {
		return
	}
	delete(x.byID, id)
	x.dead.set(doc)
	x.alive--
	x.length -= uint64(x.columns.length(doc))
	kept := &x.docs[doc]
	for _, l := range kept.terms {
		l.live--
	}
	title := deltaTitle{Fold(kept.document.Title), kept.document.Title, doc}
	if at, ok := slices.BinarySearchFunc(x.titles, title, compareTitles); ok {
		x.titles = slices.Delete(x.titles, at, at+1)
	}
	x.deadSize += kept.size
	*kept = deltaDocument{}
}

// tidy rebuilds the delta when most of it is dead, by count or by size.
func (x *delta) tidy() {
	dead := len(x.docs) - x.alive
	if (dead < 64 || dead < x.alive) && (x.deadSize < tidySize || x.deadSize < x.size/2) {
		return
	}
	next := newDelta()
	for i := range x.docs {
		if !x.dead.has(uint32(i)) {
			p := prepare(&x.docs[i].document)
			next.add(&x.docs[i].document, &p)
		}
	}
	*x = *next
}

func (x *delta) find(key string) (list, bool) {
	l := x.terms[key]
	if l == nil || l.live == 0 {
		return list{}, false
	}
	return l.list(), true
}

func (x *delta) has(key []byte, _ scope) bool { return x.terms[string(key)] != nil }

func (x *delta) scopeOf(prefix string) scope {
	at, _ := slices.BinarySearch(x.words, prefix)
	if at == len(x.words) || !strings.HasPrefix(x.words[at], prefix) {
		return scope{}
	}
	return scope{at, at + 1}
}

// each calls yield with the lists of the words that begin with a prefix, in order.
func (x *delta) each(prefix string, yield func(l *list) bool) {
	at, _ := slices.BinarySearch(x.words, prefix)
	for _, w := range x.words[at:] {
		if !strings.HasPrefix(w, prefix) {
			return
		}
		if l := x.terms[w]; l.live > 0 {
			if found := l.list(); !yield(&found) {
				return
			}
		}
	}
}
