package upstream

import (
	"regexp"
	"strings"
)

// The output of some programs ends with a line that does not say what went wrong:
// Node's with its version, below the error and its stack; npm's with the path of
// its log, below advice. Most servers are started with them, so their errors are
// looked for.
var (
	nodeFarewell = regexp.MustCompile(`^Node\.js v\d`)
	nodeError    = regexp.MustCompile(`^(Uncaught )?\w*(Error|Exception)\b[^:]*:`)
	npmWords     = regexp.MustCompile(`^npm (error|ERR!)`)
	npmFarewell  = regexp.MustCompile(`^npm (error|ERR!) A complete log of this run`)
	npmDetail    = regexp.MustCompile(`^npm (error|ERR!)( (code|errno|syscall|path|dest)\b.*| \d+)?\s*$`)
)

// SummaryLine returns the index of the line that says best what happened: the
// last line that is not empty, or the error above the last lines of node and npm.
// It returns -1 if all lines are empty.
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
