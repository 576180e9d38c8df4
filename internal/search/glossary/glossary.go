// Package glossary knows what Japanese words mean in English, so that a Japanese
// query finds tools that are described in English. The words and meanings are
// those of EDICT (see README.md here); they are searched where they stand in
// the program, so that neither a start nor a first query waits for them.
package glossary

import (
	_ "embed"
	"strings"
	"unicode"
)

// edict has a line for each word: the word, a tab, its meanings with slashes
// between them. The lines are sorted by bytes.
//
//go:embed edict.txt
var edict string

// longest is how many characters a word has at most.
const longest = 8

// lookup returns the meanings of a word by binary search.
func lookup(word string) (meanings string, ok bool) {
	for low, high := 0, len(edict); low < high; {
		start := low + strings.LastIndexByte(edict[low:(low+high)/2], '\n') + 1
		end := start + strings.IndexByte(edict[start:high], '\n')
		key, meanings, _ := strings.Cut(edict[start:end], "\t")
		switch {
		case key == word:
			return meanings, true
		case key < word:
			low = end + 1
		default:
			high = start
		}
	}
	return "", false
}

// Meanings are those of the words of a text, for each word the most usual first.
// The longest word that begins somewhere is taken; what is no word, as endings
// and particles are not, is passed over.
func Meanings(text string) [][]string {
	if !hasJapanese(text) {
		return nil
	}
	var found [][]string
	runes := []rune(text)
	for i := 0; i < len(runes); {
		meanings, n := match(runes[i:])
		if n == 0 {
			i++
			continue
		}
		found = append(found, strings.Split(meanings, "/"))
		i += n
	}
	return found
}

// match returns the meanings of the longest word that a text begins with, and the
// word's length. A single letter of the syllabaries is grammar, and two are mostly.
func match(text []rune) (meanings string, n int) {
	for n := min(longest, len(text)); n > 0; n-- {
		if n > 2 || hasIdeograph(text[:n]) || unicode.In(text[0], unicode.Katakana) && n > 1 {
			if meanings, ok := lookup(string(text[:n])); ok {
				return meanings, n
			}
		}
	}
	return "", 0
}

func hasIdeograph(text []rune) bool {
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			return true
		}
	}
	return false
}

func hasJapanese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) })
}
