package index

import (
	"slices"
	"strings"
)

// delta is the documents that came after the base, in memory. Documents are
// numbered as they come. One that is replaced stays in the lists, marked as
// dead, until half of them are.
type delta struct {
	columns
	kindNames, stateNames names
	dead                  bitmap
	alive                 int
	length                uint64
	byID                  map[int64]uint32
	terms                 map[string]*list
	docs                  []deltaDocument
	// words are the keys of words and katakana in order, for what begins with something.
	words  []string
	titles []deltaTitle
}

// deltaDocument is what is kept to take a document out again.
type deltaDocument struct {
	document Document
	terms    []*list
}

type deltaTitle struct {
	folded, title string
	doc           uint32
}

func newDelta() *delta {
	return &delta{byID: map[int64]uint32{}, terms: map[string]*list{}}
}

// prepared is a document taken apart, which needs no lock.
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
	kept := deltaDocument{document: *d, terms: make([]*list, len(p.keys))}
	var fresh []string
	for i, key := range p.keys {
		l := x.terms[key]
		if l == nil {
			l = &list{plain: true, positions: key[0] == pairTerm, starts: []uint32{0}}
			x.terms[key] = l
			if key[0] == wordTerm || key[0] == kanaTerm {
				fresh = append(fresh, key)
			}
		}
		l.df++
		l.live++
		l.docs = append(l.docs, doc)
		l.values = append(l.values, p.values[i])
		if l.positions {
			l.where = append(l.where, p.where[i]...)
			l.starts = append(l.starts, uint32(len(l.where)))
		}
		kept.terms[i] = l
	}
	x.words = insertSorted(x.words, fresh)
	x.docs = append(x.docs, kept)
	x.byID[d.ID] = doc
	x.alive++
	x.length += uint64(p.length)
	title := deltaTitle{Fold(d.Title), d.Title, doc}
	at, _ := slices.BinarySearchFunc(x.titles, title, compareTitles)
	x.titles = slices.Insert(x.titles, at, title)
}

// insertSorted puts new strings where they belong.
func insertSorted(sorted, fresh []string) []string {
	slices.Sort(fresh)
	// From the end, so that each one that is there moves once.
	i, j := len(sorted)-1, len(fresh)-1
	sorted = append(sorted, fresh...)
	for at := len(sorted) - 1; j >= 0; at-- {
		if i >= 0 && sorted[i] > fresh[j] {
			sorted[at] = sorted[i]
			i--
		} else {
			sorted[at] = fresh[j]
			j--
		}
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
	*kept = deltaDocument{}
}

// tidy builds the delta anew when most of it is dead.
func (x *delta) tidy() {
	if dead := len(x.docs) - x.alive; dead < 64 || dead < x.alive {
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
	return *l, true
}

func (x *delta) has(key []byte, _ scope) bool { return x.terms[string(key)] != nil }

func (x *delta) scopeOf(prefix string) scope {
	at, _ := slices.BinarySearch(x.words, prefix)
	if at == len(x.words) || !strings.HasPrefix(x.words[at], prefix) {
		return scope{}
	}
	return scope{at, at + 1}
}

// each calls with the lists of the words that begin with a prefix, in order.
func (x *delta) each(prefix string, yield func(l *list) bool) {
	at, _ := slices.BinarySearch(x.words, prefix)
	for _, w := range x.words[at:] {
		if !strings.HasPrefix(w, prefix) {
			return
		}
		if l := x.terms[w]; l.live > 0 && !yield(l) {
			return
		}
	}
}
