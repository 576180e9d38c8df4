package index

import (
	"strings"
)

// The last word of a query may be a prefix: a document has it if it has any word that
// begins with it, and as often as it has such words. The base has separate lists for
// prefixes of many or common words, made from the lists of the words while the base is
// built (beginnings.go). For other prefixes the search joins the lists of the words,
// which costs little since they are short. The same holds for katakana words, of which
// every suffix is a term.

// prefixList holds the documents of a segment with words that begin with a prefix.
type prefixList struct {
	word string
	list list // has no documents if there are none
}

// countPrefix counts the living documents with a word that begins with the given one.
func (s *search) countPrefix(word string) int {
	n := 0
	for _, seg := range s.segments {
		if l := s.beginning(seg, word); l.df > 0 {
			n += s.liveInList(seg, string(beginTerm)+word, &l)
		}
	}
	return n
}

// beginning returns the list of a segment for the words with a prefix. A query has one
// such word, its last.
func (s *search) beginning(seg *segment, word string) list {
	if seg.begun.word != word {
		key := string(wordTerm) + word
		l, ok := seg.joined(key)
		if !ok {
			l = s.join(seg, key)
		}
		seg.begun = prefixList{word, l}
	}
	return seg.begun.list
}

// joined returns the list of a prefix if the segment has one: that of the only key, or one
// that was built with the base. Such a list is built for the longest prefix that keys
// share.
func (d *dictionary) joined(key string) (list, bool) {
	first, last := d.span(key)
	switch first {
	case "":
		return list{}, true
	case last:
		return d.find(first)
	}
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	return d.find(string(beginTerm) + first[:n])
}

// joined returns false: the delta has no such lists.
func (x *delta) joined(string) (list, bool) { return list{}, false }

// span returns the first and the last key with a prefix.
func (d *dictionary) span(prefix string) (first, last string) {
	d.walk(prefix, func(r *reader) bool {
		first = string(r.key)
		return false
	})
	if first == "" {
		return "", ""
	}
	r, ok := d.group(d.from(prefix+"\xff", d.all())) // no key has this byte
	for ok && r.next() && (strings.HasPrefix(string(r.key), prefix) || string(r.key) < prefix) {
		last = string(r.key)
	}
	return first, last
}

// join merges the lists of the keys with a prefix: counts are added, and a document has
// the prefix in its head if one of the keys is there.
func (s *search) join(seg *segment, prefix string) list {
	set, values := s.scratch.set(seg.documents), s.scratch.numbers(seg.documents)
	c := s.scratch.cursor(nil)
	seg.each(prefix, func(l *list) bool {
		c.reset(l)
		for b := range l.blocks() {
			c.load(b)
			if c.n == 0 {
				continue
			}
			c.val()
			for i, doc := range c.docs[:c.n] {
				v := c.values[i]
				if set.has(doc) { // otherwise the value is left from another search
					v = bothValues(v, values[doc])
				}
				values[doc] = v
				set.set(doc)
			}
		}
		return true
	})
	n := set.count()
	l := list{plain: true, documents: uint32(seg.documents), df: n, docs: make([]uint32, 0, n), values: make([]uint32, 0, n)}
	set.each(0, uint32(seg.documents), func(doc uint32) {
		l.docs = append(l.docs, doc)
		l.values = append(l.values, values[doc])
		if !seg.dead.has(doc) {
			l.live++
		}
	})
	return l
}

// bothValues returns the combined value of two terms.
func bothValues(a, b uint32) uint32 { return (a|b)&1 | (a&^1 + b&^1 + 2) }
