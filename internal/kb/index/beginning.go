package index

import (
	"strings"
)

// The last word of a query may go on: a document has it that has any word that
// begins with it, as often as it has such words. In a base, what begins many
// words or common ones has a list of its own, made of theirs while the base is
// built (beginnings.go); for the others the lists of the words are joined at the
// search, which costs little since they are short. The same is done for katakana
// words, of which every end is a term.

// begun is the documents of a segment with words that begin with one.
type begun struct {
	word string
	list list // without documents if there are none
}

// begun counts the living documents with a word that begins with the given one.
func (s *search) begun(word string) int {
	n := 0
	for _, seg := range s.segments {
		if l := s.beginning(seg, word); l.df > 0 {
			n += s.livesOf(seg, string(beginTerm)+word, &l)
		}
	}
	return n
}

// beginning is the list of a segment for the words that begin with one. A query
// has one such word, its last.
func (s *search) beginning(seg *segment, word string) list {
	if seg.begun.word != word {
		key := string(wordTerm) + word
		l, ok := seg.joined(key)
		if !ok {
			l = s.join(seg, key)
		}
		seg.begun = begun{word, l}
	}
	return seg.begun.list
}

// joined is the list for a beginning, if the segment has it: that of the only
// key, or one that was made with the base. Such a list is made for the longest
// beginning that keys share.
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

// joined says that the delta has no such lists.
func (x *delta) joined(string) (list, bool) { return list{}, false }

// span is the first and the last key that begins with a prefix.
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

// join makes one list of those of the keys that begin with a prefix: counts add
// up, and it is in the head where one of them is.
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
				if set.has(doc) { // else what is there is of another search
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

// bothValues is the value of two terms together.
func bothValues(a, b uint32) uint32 { return (a|b)&1 | (a&^1 + b&^1 + 2) }
