package semantic

import (
	"crypto/sha256"
	"strings"
	"unicode"
	"unicode/utf8"

	"genkan/internal/kb"
)

const (
	// longestChunk is how much of a text becomes one vector, in characters: what
	// models with a small window still read most of.
	longestChunk = 2_000
	// mostChunks are made of an item; what a longer one says further down is found
	// by its words only.
	mostChunks = 4
	// longestSnippet is in characters.
	longestSnippet = 200
)

// pieces are the parts of an item's text beside its title, at most mostChunks.
func pieces(item *kb.Item) []string {
	rest := strings.TrimSpace(item.Description + "\n\n" + item.Content)
	var all []string
	for rest != "" && len(all) < mostChunks {
		n := cut(rest, longestChunk)
		all = append(all, strings.TrimSpace(rest[:n]))
		rest = strings.TrimSpace(rest[n:])
	}
	return all
}

// cut is where a text of more than so many characters is best cut, in bytes: behind
// the last sentence or word that begins in its last quarter.
func cut(text string, most int) int {
	count, early, word, sentence := 0, 3*most/4, 0, 0
	for i, r := range text {
		if count == most {
			switch {
			case sentence > 0:
				return sentence
			case word > 0:
				return word
			}
			return i
		}
		if count++; count < early {
			continue
		}
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			end = i + 1
		}
		switch {
		case r == '\n' || r == '。' || r == '！' || r == '？':
			sentence = end
		case unicode.IsSpace(r) || r == '、':
			word = end
		}
	}
	return len(text)
}

// texts are what vectors are made of: the title with each piece, or alone.
func texts(item *kb.Item) []string {
	title := strings.TrimSpace(item.Title)
	all := pieces(item)
	if len(all) == 0 {
		return []string{title}
	}
	for i, piece := range all {
		all[i] = title + "\n" + piece
	}
	return all
}

// hashOf is that of several texts.
func hashOf(texts ...string) Hash {
	h := sha256.New()
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text))
		h.Write(sum[:])
	}
	return Hash(h.Sum(nil))
}

// snippet is the beginning of the piece that a query is nearest to.
func snippet(item *kb.Item, chunk int) string {
	all := pieces(item)
	if len(all) == 0 {
		return strings.TrimSpace(item.Title)
	}
	// It may have become shorter since its vectors were made.
	text := strings.Join(strings.Fields(all[min(chunk, len(all)-1)]), " ")
	if n := cut(text, longestSnippet); n < len(text) {
		return strings.TrimSpace(text[:n]) + "…"
	}
	return text
}
