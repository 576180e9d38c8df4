// Package glossary knows what Japanese words mean in English, so that a Japanese
// query finds tools that are described in English. The words and meanings are
// those of EDICT (see README.md here); they are read when they are first needed.
package glossary

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed edict.gz
var edict []byte

// longest is how many characters a word has at most.
const longest = 8

// load reads the dictionary. A damaged one would be a mistake of the build, and
// is empty then.
var load = sync.OnceValue(func() map[string]string { //nolint:gochecknoglobals // read once
	words := map[string]string{}
	r, err := gzip.NewReader(bytes.NewReader(edict))
	if err != nil {
		return words
	}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if word, meanings, ok := strings.Cut(lines.Text(), "\t"); ok {
			words[word] = meanings
		}
	}
	return words
})

// Meanings are those of the words of a text, for each word the most usual first.
// The longest word that begins somewhere is taken; what is no word, as endings
// and particles are not, is passed over.
func Meanings(text string) [][]string {
	if !hasJapanese(text) {
		return nil
	}
	words := load()
	var found [][]string
	runes := []rune(text)
	for i := 0; i < len(runes); {
		n := match(words, runes[i:])
		if n == 0 {
			i++
			continue
		}
		found = append(found, strings.Split(words[string(runes[i:i+n])], "/"))
		i += n
	}
	return found
}

// match is how long the word is that a text begins with. A single letter of the
// syllabaries is grammar, and two are mostly.
func match(words map[string]string, text []rune) int {
	for n := min(longest, len(text)); n > 0; n-- {
		if _, ok := words[string(text[:n])]; ok && (n > 2 || hasIdeograph(text[:n]) || unicode.In(text[0], unicode.Katakana) && n > 1) {
			return n
		}
	}
	return 0
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
