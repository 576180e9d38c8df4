package search

import "math/bits"

// slipsIn is how many slips a word may have.
func slipsIn(word string) int {
	const long = 9
	if len(word) >= long {
		return 2
	}
	return 1
}

// letters has a bit for each letter of a word. Words with very different letters
// need not be compared.
func letters(word string) uint32 {
	set := uint32(0)
	for i := range len(word) {
		set |= 1 << (word[i] & 31)
	}
	return set
}

func differing(a, b uint32) int { return bits.OnesCount32(a ^ b) }

// near reports whether two words are one with a slip of the finger: one letter
// more, less, other, or two that changed places; in a long word two of them.
func near(a, b string) bool {
	most := slipsIn(a)
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	return distance(a, b, most) <= most
}

// distance counts slips, and gives up beyond most.
func distance(a, b string, most int) int {
	const usual = 32
	var space [3 * usual]int
	rows, n := space[:], len(b)+1
	if n > usual {
		rows = make([]int, 3*n)
	}
	before, row, next := rows[:n], rows[n:2*n], rows[2*n:3*n]
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
			least = min(least, next[j])
		}
		if least > most {
			return least
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
