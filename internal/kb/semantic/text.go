package semantic

import (
	"crypto/sha256"
	"strings"
	"unicode"
	"unicode/utf8"

	"genkan/internal/kb"
)

const (
	// longestChunk is the length of the text of one vector, in characters. Models with a
	// small window still read most of it.
	longestChunk = 2_000
	// mostChunks is the maximum number of chunks of an item. The rest of a longer item is
	// found by its words only.
	mostChunks = 4
	// longestSnippet is the maximum length of a snippet in characters.
	longestSnippet = 200
)

// pieces returns the parts of an item's text without its title, at most mostChunks.
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

// cut returns the best offset to cut a text of more than most characters, in bytes:
// after the last sentence or word that begins in its last quarter.
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

// texts returns the texts to embed: the title with each piece, or the title alone.
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

// hashOf returns the hash of several texts.
func hashOf(texts ...string) Hash {
	h := sha256.New()
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text))
		h.Write(sum[:])
	}
	return Hash(h.Sum(nil))
}

// snippet returns the beginning of the piece that is nearest to a query.
func snippet(item *kb.Item, chunk int) string {
	all := pieces(item)
	if len(all) == 0 {
		return strings.TrimSpace(item.Title)
	}
	// The item may have become shorter since its vectors were computed.
	text := strings.Join(strings.Fields(all[min(chunk, len(all)-1)]), " ")
	if n := cut(text, longestSnippet); n < len(text) {
		return strings.TrimSpace(text[:n]) + "…"
	}
	return text
}
