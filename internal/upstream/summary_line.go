package upstream

import (
	"regexp"
	"strings"
)

// Programs of some kinds end with words that say nothing: Node with its version,
// below the error and its stack; npm with the place of its log, below advice.
// Both are how most servers are started, so what went wrong is looked for there.
var (
	nodeFarewell = regexp.MustCompile(`^Node\.js v\d`)
	nodeError    = regexp.MustCompile(`^(Uncaught )?\w*(Error|Exception)\b[^:]*:`)
	npmWords     = regexp.MustCompile(`^npm (error|ERR!)`)
	npmFarewell  = regexp.MustCompile(`^npm (error|ERR!) A complete log of this run`)
	npmDetail    = regexp.MustCompile(`^npm (error|ERR!)( (code|errno|syscall|path|dest)\b.*| \d+)?\s*$`)
)

// SummaryLine is the index of the line of an output that tells best how things
// stand: the last one that says anything, or the error above the last words of
// node and npm. It is -1 when nothing is said.
func SummaryLine(lines []string) int {
	said := func(i int) bool { return strings.TrimSpace(lines[i]) != "" }
	last := len(lines) - 1
	for last >= 0 && !said(last) {
		last--
	}
	if last < 0 {
		return last
	}
	switch {
	case nodeFarewell.MatchString(lines[last]):
		// Above an earlier farewell is an earlier process.
		for i := last - 1; i >= 0 && !nodeFarewell.MatchString(lines[i]); i-- {
			if nodeError.MatchString(lines[i]) {
				return i
			}
		}
	case npmFarewell.MatchString(lines[last]):
		best := last
		for i := last - 1; i >= 0 && npmWords.MatchString(lines[i]) && !npmFarewell.MatchString(lines[i]); i-- {
			if !npmDetail.MatchString(lines[i]) {
				best = i
			}
		}
		return best
	}
	return last
}
