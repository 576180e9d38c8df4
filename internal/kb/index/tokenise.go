package index

import (
	"unicode/utf8"
)

// These are the kinds of terms. The kind is the first byte of a term's key, so that the
// dictionary keeps kinds apart.
const (
	pairTerm  = 'b' // two adjacent characters, with their positions
	gramTerm  = 'c' // a longer run of characters, in a base: see grams.go
	tagTerm   = 'g' // a tag as it was given, for the filter
	kanaTerm  = 'k' // a suffix of a katakana word
	stemTerm  = 's' // a word without its inflection
	typeTerm  = 't' // the document's type, for the filter
	charTerm  = 'u' // one character of a script without spaces
	stateTerm = 'v' // the document's status, for the filter
	wordTerm  = 'w' // a word as it is written
	boundTerm = 'x' // a word and the character beside it: API設 of API設計
	// beginTerm is a prefix of many words, in a base: see beginning.go. It is derived from the
	// words, so it comes after them.
	beginTerm = 'z'
)

// longestWord is the length to which words are cut, in bytes. A longer one is a key or a
// blob and not a word; it is found by its beginning.
const longestWord = 64

// token is one occurrence of a term.
type token struct {
	key []byte
	// position counts the characters of scripts without spaces. Only pairs use it.
	position uint32
	// head is set for tokens of the title.
	head bool
}

// tokeniser splits documents into tokens. The base, the delta and every process must
// split them in the same way.
type tokeniser struct {
	// emit takes a token, and reports whether it is a common run of characters.
	emit     func(token) bool
	key      []byte
	position uint32
	length   uint32
	head     bool
	last     piece // the piece before
	// These describe the current run: the offsets of its characters, and which of its parts
	// are common.
	starts []int
	common []bool
}

// document emits the tokens of a document, and returns its length and the number of
// positions of its head.
func (t *tokeniser) document(d *Document) (length, head uint32) {
	t.position, t.length, t.head = 0, 0, true
	t.say(typeTerm, d.Type)
	t.say(stateTerm, d.Status)
	t.text(d.Title)
	for _, tag := range d.Tags {
		t.say(tagTerm, tag)
	}
	head, t.head = t.position, false
	t.text(d.Description)
	t.text(d.Content)
	return max(t.length, 1), min(head, 1<<16-1)
}

func (t *tokeniser) text(text string) {
	t.last = piece{}
	t.position++ // no phrase crosses the end of a field
	pieces(Fold(text), t.piece)
}

func (t *tokeniser) piece(p piece) {
	if p.class == letter {
		p.text = cut(p.text)
		t.length++
		t.say(wordTerm, p.text)
		t.key = appendStem(append(t.key[:0], stemTerm), p.text)
		t.emit(token{key: t.key, head: t.head})
	} else {
		t.run(p.text)
	}
	if p.joined && p.class != t.last.class {
		t.key = appendBound(append(t.key[:0], boundTerm), t.last, p)
		t.emit(token{key: t.key, head: t.head})
	}
	t.last = p
}

// run emits the characters and the pairs of characters of a run.
func (t *tokeniser) run(text string) {
	t.starts, t.common = t.starts[:0], t.common[:0]
	common := false
	_, size := utf8.DecodeRuneInString(text)
	for i := 0; i < len(text); {
		t.starts = append(t.starts, i)
		t.length++
		t.say(charTerm, text[i:i+size])
		next := 0
		if i+size < len(text) {
			_, next = utf8.DecodeRuneInString(text[i+size:])
			is := t.say(pairTerm, text[i:i+size+next])
			t.common = append(t.common, is)
			common = common || is
		}
		t.position++
		i, size = i+size, next
	}
	t.position++ // no phrase crosses the end of a run
	if common {
		t.grams(text)
	}
	kanaWords(text, func(word string) {
		for i := 0; utf8.RuneCountInString(word[i:]) >= leastKana; {
			t.say(kanaTerm, cut(word[i:]))
			_, size := utf8.DecodeRuneInString(word[i:])
			i += size
		}
	})
}

// leastKana is the minimum length of a katakana word that gets its own terms. Such words
// are the most common phrases of technical texts (システム, サーバー). A word contains the
// query if one of its suffixes begins with it, so no positions are needed.
const leastKana = 3

// kanaWords calls yield with the katakana words of a run.
func kanaWords(run string, yield func(word string)) {
	start := -1
	for i, r := range run {
		switch inWord := katakana(r) || r == longMark; {
		case inWord && start < 0:
			start = i
		case !inWord && start >= 0:
			yield(run[start:i])
			start = -1
		}
	}
	if start >= 0 {
		yield(run[start:])
	}
}

func (t *tokeniser) say(kind byte, text string) (common bool) {
	t.key = append(append(t.key[:0], kind), text...)
	return t.emit(token{key: t.key, position: t.position, head: t.head})
}

// appendBound appends the boundary of two adjacent pieces of different scripts: the whole
// word, and the nearest character.
func appendBound(dst []byte, a, b piece) []byte {
	if a.class == letter {
		_, size := utf8.DecodeRuneInString(b.text)
		return append(append(dst, cut(a.text)...), b.text[:size]...)
	}
	_, size := utf8.DecodeLastRuneInString(a.text)
	return append(append(dst, a.text[len(a.text)-size:]...), cut(b.text)...)
}

// cut shortens a word that is too long.
func cut(word string) string {
	if len(word) <= longestWord {
		return word
	}
	n := longestWord
	for n > 0 && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}

// stemKey returns the key of a word without its inflection.
func stemKey(word string) string { return string(appendStem([]byte{stemTerm}, word)) }
