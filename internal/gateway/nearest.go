package gateway

import (
	"iter"
	"strings"
)

// maxNearest is how long a word may be that somebody may have meant another
// one by, in characters. Whoever sends a longer one chose its length.
const maxNearest = 96

// longestWord is how long a word may be that is looked at at all, in bytes.
const longestWord = 256

// Nearest is the word that was probably meant by another one: it differs from
// it by few typing errors, for its length. It is empty when none does.
func Nearest(word string, known iter.Seq[string]) string {
	if len(word) > longestWord {
		return ""
	}
	w := []rune(Squash(word))
	if len(w) > maxNearest {
		return ""
	}
	best, least := "", 1+max(1, len(w)/3)
	for k := range known {
		other := []rune(Squash(k))
		if apart := len(other) - len(w); apart >= least || -apart >= least {
			continue
		}
		if n := distance(w, other); n < least {
			best, least = k, n
		}
	}
	return best
}

// Squash ignores what differs by style: log_level, log-level, logLevel.
func Squash(s string) string {
	return strings.ToLower(separators.Replace(s))
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "") //nolint:gochecknoglobals // never changed

// distance counts the typing errors between two words: a letter too many, too
// few, wrong, or two exchanged.
func distance(x, y []rune) int {
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
