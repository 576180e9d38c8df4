// Package glossary knows what Japanese words mean in English, so that a Japanese
// query finds tools that are described in English. Most words and meanings are
// those of EDICT (see README.md here); they are searched where they stand in
// the program, so that neither a start nor a first query waits for them.
package glossary

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Each of these has a line for each word: the word, a tab, its meanings with
// slashes between them. The lines are sorted by bytes. The words of computing
// come before those of edict: there they are missing, or what they mean among
// tools is not their first meaning.
var (
	//go:embed edict.txt
	edict string
	//go:embed computing.txt
	computing string
)

// longest is how many characters a word has at most.
const longest = 9

// Word is a word of a text.
type Word struct {
	// From and To are its characters, counted from the beginning of the text.
	From, To int
	// Base is the word as a dictionary has it.
	Base string
	// Meanings are its translations, the most usual first.
	Meanings []string
}

// Words are the Japanese words of a text. The longest word that begins somewhere is
// taken; what is no word, as endings and particles are not, is passed over.
func Words(text []rune) []Word {
	var found []Word
	for i := 0; i < len(text); {
		if isJapanese(text[i]) {
			if w := match(text[i:]); w.To > 0 {
				w.From, w.To = i, i+w.To
				found = append(found, w)
				i = w.To
				continue
			}
		}
		i++
	}
	return found
}

// neverFirst are letters that no loan begins with: what is before one is no whole word.
const neverFirst = "ァィゥェォャュョッーン"

// match returns the longest word that a text begins with; its To is 0 if there is
// none. A single letter of the syllabaries is grammar, and two are mostly.
func match(text []rune) (longestYet Word) {
	var all [longest * utf8.UTFMax]byte
	word := all[:0]
	before := pages{computing, edict}
	for n := 1; n <= min(longest, len(text)) && before != (pages{}); n++ {
		stem := string(word)
		word = utf8.AppendRune(word, text[n-1])
		these := before.of(string(word))
		whole := n == len(text) || !strings.ContainsRune(neverFirst, text[n])
		if whole && (n > 2 || hasIdeograph(text[:n]) || unicode.Is(unicode.Katakana, text[0]) && n > 1) {
			if base, meanings := form(stem, text[n-1], before, these); base != "" {
				longestYet = Word{To: n, Base: base, Meanings: strings.Split(meanings, "/")}
			}
		}
		before = these
	}
	return longestYet
}

// endings are what dictionaries have instead of a letter behind the unchanging
// part of a verb or adjective: 読み, 読ん and 読め are forms of 読む, 小さく of 小さい.
var endings = map[rune]string{
	'い': "くぐう", 'っ': "うつる", 'ん': "むぶぬ",
	'か': "くい", 'き': "く", 'く': "い", 'け': "くい", 'こ': "く",
	'が': "ぐ", 'ぎ': "ぐ", 'げ': "ぐ", 'ご': "ぐ",
	'さ': "す", 'し': "す", 'せ': "す", 'そ': "す",
	'た': "つ", 'ち': "つ", 'て': "つ", 'と': "つ",
	'ば': "ぶ", 'び': "ぶ", 'べ': "ぶ", 'ぼ': "ぶ",
	'ま': "む", 'み': "む", 'め': "む", 'も': "む",
	'ら': "る", 'り': "る", 'れ': "る", 'ろ': "る",
	'わ': "う", 'え': "う", 'お': "う",
}

// form returns the word that a text is a form of, and its meanings: itself, a verb or
// adjective, or a loan that is also written with a long vowel at its end, or without.
// What is 調べる without its last letter is a form of it, and seldom a noun. The text
// is a stem and a letter; before are the pages of the stem, and these those of the text.
func form(stem string, last rune, before, these pages) (base, meanings string) {
	word := stem + string(last)
	kana := unicode.Is(unicode.Hiragana, last)
	if kana {
		if m, ok := these.lookup(word + "る"); ok {
			return word + "る", m
		}
	}
	if m, ok := these.lookup(word); ok {
		return word, m
	}
	switch {
	case last == 'ー':
		if m, ok := before.lookup(stem); ok {
			return stem, m
		}
	case unicode.Is(unicode.Katakana, last):
		if m, ok := these.lookup(word + "ー"); ok {
			return word + "ー", m
		}
	case kana:
		for _, ending := range endings[last] {
			if m, ok := before.lookup(stem + string(ending)); ok {
				return stem + string(ending), m
			}
		}
	}
	return "", ""
}

// pages are the parts of the dictionaries whose words begin with a text.
type pages [2]string

// of are the pages among these whose words begin with a longer text.
func (p pages) of(text string) pages {
	for i := range p {
		from := start(p[i], text)
		p[i] = p[i][from:]
		// The end is near: most texts begin few words.
		const few = 1 << 10
		if len(p[i]) > few {
			if end := few + strings.IndexByte(p[i][few:], '\n') + 1; !strings.HasPrefix(p[i][end:], text) {
				p[i] = p[i][:end]
			}
		}
		p[i] = p[i][:start(p[i], text+"\xff")]
	}
	return p
}

// lookup returns the meanings of a word.
func (p pages) lookup(word string) (meanings string, ok bool) {
	for i := range p {
		if meanings, ok = lookup(p[i], word); ok {
			break
		}
	}
	return meanings, ok
}

// lookup returns the meanings of a word.
func lookup(dictionary, word string) (meanings string, ok bool) {
	line := dictionary[start(dictionary, word):]
	line, _, _ = strings.Cut(line, "\n")
	key, meanings, _ := strings.Cut(line, "\t")
	return meanings, key == word && meanings != ""
}

// start is where the first line stands whose word is not before another word. It
// is found by binary search.
func start(dictionary, word string) int {
	low, high := 0, len(dictionary)
	for low < high {
		line := low + strings.LastIndexByte(dictionary[low:(low+high)/2], '\n') + 1
		end := line + strings.IndexByte(dictionary[line:high], '\n') + 1
		if key, _, _ := strings.Cut(dictionary[line:end], "\t"); key < word {
			low = end
		} else {
			high = line
		}
	}
	return low
}

func hasIdeograph(text []rune) bool {
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			return true
		}
	}
	return false
}

func isJapanese(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
