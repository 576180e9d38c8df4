package index

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/unicode/norm"
)

// titles holds the titles of the base and two orders of its documents: by folded title,
// and by type (its number) and folded title. A suggestion is a binary search in one of
// them, so a filter by type costs nothing.
type titles struct {
	text, starts  []byte
	order, byType titleOrder
	// typeStarts holds the beginning of each type in the order by type, and the end.
	typeStarts []byte
	columns    *columns
}

// titleOrder holds documents in the order of their titles. The beginnings of every 64th
// folded title are adjacent, so that most steps of a search read cached memory.
type titleOrder struct{ docs, marks []byte }

const (
	marked   = 64
	markSize = 16 // bytes of a folded title, filled up with zeros
)

func marksOf(documents uint64) uint64 { return (documents + marked - 1) / marked }

func (o titleOrder) at(i int) uint32 { return binary.LittleEndian.Uint32(o.docs[4*i:]) }

// near narrows a part of the order to where titles that begin with a prefix
// begin: what its marks say is before them is left out, and what is behind. From
// there up to and without sure, all titles do.
func (o titleOrder) near(from, to int, prefix string) (low, high, sure int) {
	// A mark may be shorter than the prefix, or look as if it went on.
	told := len(prefix) <= markSize && !strings.Contains(prefix, "\x00")
	if len(prefix) > markSize {
		prefix = prefix[:markSize] // of titles that share so much, all may be meant
	}
	mark := func(i int) string { return text(o.marks[i*markSize:][:len(prefix)]) }
	first, end := (from+marked-1)/marked, (to+marked-1)/marked // the marks of the part
	at := first + sort.Search(end-first, func(i int) bool { return mark(first+i) >= prefix })
	behind := at + sort.Search(end-at, func(i int) bool { return mark(at+i) > prefix })
	if at > first {
		from = (at - 1) * marked
	}
	if behind > at && told {
		sure = (behind-1)*marked + 1
	}
	if behind < end {
		to = behind * marked
	}
	return from, to, sure
}

// isFolded marks a title that is its own folded form.
const isFolded = 1 << 63

// at returns a title and whether it is folded already.
func (t *titles) at(doc uint32) (title []byte, folded bool) {
	if int(doc) >= t.columns.count() {
		return nil, true
	}
	start, end := binary.LittleEndian.Uint64(t.starts[8*doc:]), binary.LittleEndian.Uint64(t.starts[8*doc+8:])
	from, to := start&^isFolded, end&^isFolded
	if from > to || to > uint64(len(t.text)) {
		return nil, true
	}
	return t.text[from:to], start&isFolded != 0
}

// compare compares a title's folded form with a prefix. It returns 0 if the title begins
// with it.
func (t *titles) compare(doc uint32, prefix string) int {
	title, folded := t.at(doc)
	if folded {
		return strings.Compare(text(title[:min(len(title), len(prefix))]), prefix)
	}
	for _, r := range text(title) {
		if !isPlain(r) {
			return compareFolding(text(title), prefix)
		}
	}
	// A plain title is folded during the comparison, without an allocation.
	for i := range len(prefix) {
		if i == len(title) {
			return -1
		}
		c := title[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != prefix[i] {
			return int(c) - int(prefix[i])
		}
	}
	return 0
}

// compareFolding folds only as much of a title as the prefix is long.
func compareFolding(title, prefix string) int {
	var it norm.Iter
	it.InitString(norm.NFKC, title)
	var buffer [utf8.UTFMax]byte
	for i := 0; !it.Done() && i < len(prefix); {
		for _, r := range string(it.Next()) {
			for _, c := range buffer[:utf8.EncodeRune(buffer[:], unicode.ToLower(r))] {
				switch {
				case i == len(prefix):
					return 0
				case c != prefix[i]:
					return int(c) - int(prefix[i])
				}
				i++
			}
		}
		if i >= len(prefix) {
			return 0
		}
	}
	if prefix == "" {
		return 0
	}
	return -1
}

// text returns bytes of the file as a string without a copy, only for comparisons.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// titleBuilder collects the titles of a base.
type titleBuilder struct {
	text   []byte
	starts []uint64
	folded []string
}

func (b *titleBuilder) add(title string) {
	start := uint64(len(b.text))
	folded := Fold(title)
	if folded == title {
		start |= isFolded
	}
	b.starts = append(b.starts, start)
	b.text = append(b.text, title...)
	b.folded = append(b.folded, strings.Clone(folded))
}

func (b *titleBuilder) offsets() []byte {
	out := make([]byte, 0, 8*len(b.starts)+8)
	for _, s := range b.starts {
		out = binary.LittleEndian.AppendUint64(out, s)
	}
	return binary.LittleEndian.AppendUint64(out, uint64(len(b.text)))
}

func (b *titleBuilder) title(doc uint32) []byte {
	end := uint64(len(b.text))
	if int(doc)+1 < len(b.starts) {
		end = b.starts[doc+1] &^ isFolded
	}
	return b.text[b.starts[doc]&^isFolded : end]
}

// sort builds the two orders.
func (b *titleBuilder) sort(c *columns) (order, byType titleOrder) {
	docs := make([]uint32, len(b.folded))
	for i := range docs {
		docs[i] = uint32(i)
	}
	slices.SortFunc(docs, func(x, y uint32) int {
		if c := strings.Compare(b.folded[x], b.folded[y]); c != 0 {
			return c
		}
		if c := bytes.Compare(b.title(x), b.title(y)); c != 0 {
			return c
		}
		return int(x) - int(y)
	})
	put := func() titleOrder {
		var o titleOrder
		for i, d := range docs {
			o.docs = binary.LittleEndian.AppendUint32(o.docs, d)
			if i%marked == 0 {
				var mark [markSize]byte
				copy(mark[:], b.folded[d])
				o.marks = append(o.marks, mark[:]...)
			}
		}
		return o
	}
	order = put()
	slices.SortStableFunc(docs, func(x, y uint32) int { return int(c.kind(x)) - int(c.kind(y)) })
	return order, put()
}

// Suggest returns titles whose folded form begins with a prefix, in order, of the given
// types or of all. Each title is returned once.
func (x *Index) Suggest(prefix string, types []string, limit int) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	prefix = Fold(prefix)
	if limit <= 0 {
		limit = 10
	}
	var parts [][]string
	if x.base != nil {
		parts = x.base.titles.suggest(prefix, types, limit, x.dead)
	}
	if found := x.delta.suggest(prefix, types, limit); len(found) > 0 {
		parts = append(parts, found)
	}
	switch len(parts) {
	case 0:
		return nil
	case 1: // it is in order, and what is not folded need not be
		return parts[0]
	}
	return mergeTitles(parts, limit)
}

// mergeTitles merges lists of titles in the order of their folded forms.
func mergeTitles(parts [][]string, limit int) []string {
	var found []deltaTitle
	for _, part := range parts {
		for _, title := range part {
			found = append(found, deltaTitle{folded: Fold(title), title: title})
		}
	}
	slices.SortFunc(found, compareTitles)
	list := make([]string, 0, min(limit, len(found)))
	for _, t := range found {
		if n := len(list); n < limit && (n == 0 || list[n-1] != t.title) {
			list = append(list, t.title)
		}
	}
	return list
}

// suggest returns titles of the base, one list for each type if types are given.
func (t *titles) suggest(prefix string, types []string, limit int, dead bitmap) [][]string {
	var parts [][]string
	collect := func(order titleOrder, from, to int) {
		if found := t.collect(order, from, to, prefix, limit, dead); len(found) > 0 {
			parts = append(parts, found)
		}
	}
	n := t.columns.count()
	if len(types) == 0 {
		collect(t.order, 0, n)
		return parts
	}
	for i, name := range t.columns.typeNames {
		if !slices.Contains(types, name) {
			continue
		}
		from, to := binary.LittleEndian.Uint32(t.typeStarts[4*i:]), binary.LittleEndian.Uint32(t.typeStarts[4*i+4:])
		if from > to || int64(to) > int64(n) {
			continue // damage
		}
		collect(t.byType, int(from), int(to))
	}
	return parts
}

// collect returns titles from a part of an order, each once.
func (t *titles) collect(order titleOrder, from, to int, prefix string, limit int, dead bitmap) []string {
	var found []string
	at := order.at
	low, high, sure := order.near(from, to, prefix)
	from = low + sort.Search(high-low, func(i int) bool { return t.compare(at(low+i), prefix) >= 0 })
	for from < to && len(found) < limit {
		doc := at(from)
		if from >= sure && t.compare(doc, prefix) != 0 {
			break
		}
		if dead.has(doc) {
			from++
			continue
		}
		title, _ := t.at(doc)
		if found == nil {
			found = make([]string, 0, min(limit, to-from))
		}
		found = append(found, string(title))
		// One of several equal titles is enough, so leap over the others.
		step := 1
		for from+step < to && t.same(at(from+step), title) {
			step *= 2
		}
		low, high := from+step/2+1, min(from+step, to)
		from = low + sort.Search(max(0, high-low), func(i int) bool { return !t.same(at(low+i), title) })
	}
	return found
}

func (t *titles) same(doc uint32, title []byte) bool {
	other, _ := t.at(doc)
	return bytes.Equal(other, title)
}

func (x *delta) suggest(prefix string, types []string, limit int) []string {
	at, _ := slices.BinarySearchFunc(x.titles, deltaTitle{folded: prefix}, func(a, b deltaTitle) int {
		return strings.Compare(a.folded, b.folded)
	})
	var found []string
	for _, t := range x.titles[at:] {
		if !strings.HasPrefix(t.folded, prefix) {
			break
		}
		if len(types) > 0 && !slices.Contains(types, x.typeNames[x.kind(t.doc)]) {
			continue
		}
		if n := len(found); n == 0 || found[n-1] != t.title {
			if n == limit {
				break
			}
			found = append(found, t.title)
		}
	}
	return found
}
