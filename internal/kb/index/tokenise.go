package index

import (
	"unicode/utf8"
)

// The kinds of terms; each is the first byte of its terms' keys, so that the
// dictionary keeps them apart.
const (
	pairTerm  = 'b' // two characters that stand together, with their positions
	gramTerm  = 'c' // a longer run of characters, in a base: see grams.go
	tagTerm   = 'g' // a tag as it was given, for the filter
	kanaTerm  = 'k' // a katakana word from one of its characters to its end
	stemTerm  = 's' // a word without its inflection
	typeTerm  = 't' // the document's type, for the filter
	charTerm  = 'u' // one character of a script without spaces
	stateTerm = 'v' // its status, for the filter
	wordTerm  = 'w' // a word as it is written
	boundTerm = 'x' // a word and the character beside it: API設 of API設計
	// beginTerm is the beginning of many words, in a base: see beginning.go. It
	// is made of the words, so it stands behind them.
	beginTerm = 'z'
)

// longestWord is how much of a word is kept, in bytes; what is longer is no
// word but a key or a blob, and is found by its beginning.
const longestWord = 64

// token is one occurrence of a term.
type token struct {
	key []byte
	// position counts the characters of scripts without spaces; it is used by
	// pairs alone.
	position uint32
	// head is the title.
	head bool
}

// tokeniser takes documents apart, always in the same way: base and delta, and
// every process, must agree.
type tokeniser struct {
	// emit takes a token, and says whether it is a common run of characters.
	emit     func(token) bool
	key      []byte
	position uint32
	length   uint32
	head     bool
	last     piece // the piece before
	// Of the run under way: where its characters begin, and which of its runs of
	// characters are common.
	starts []int
	common []bool
}

// document emits what is in a document, and returns how long it is and how many
// positions its head takes.
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
	t.position++ // no phrase goes over the end of a field
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
	t.position++ // no phrase goes over the end of a run
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

// leastKana is how long a katakana word must be to have terms of its own. These
// are the most common phrases of technical texts (システム, サーバー); what begins
// with the query among all the ends of such words is what has it somewhere, and
// no position need be looked at.
const leastKana = 3

// kanaWords calls with the katakana words of a run.
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

// appendBound appends what two neighbours of different scripts are at their
// boundary: the whole word, and the nearest character.
func appendBound(dst []byte, a, b piece) []byte {
	if a.class == letter {
		_, size := utf8.DecodeRuneInString(b.text)
		return append(append(dst, cut(a.text)...), b.text[:size]...)
	}
	_, size := utf8.DecodeLastRuneInString(a.text)
	return append(append(dst, a.text[len(a.text)-size:]...), cut(b.text)...)
}

// cut shortens what is too long to be a word.
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

// stemKey is the key of a word without its inflection.
func stemKey(word string) string { return string(appendStem([]byte{stemTerm}, word)) }
