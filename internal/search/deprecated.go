package search

import (
	"regexp"
	"slices"
	"strings"
)

// deprecatedWeight is what is left of the score of a deprecated tool. A tool that
// matches as well and is not deprecated comes before it; a tool that matches a
// little does not.
const deprecatedWeight = .7

// deprecatedText limits how much of a description Deprecated reads, in bytes. Such
// a note stands near the beginning.
const deprecatedText = 2 << 10

// These are ways to say that a tool itself is deprecated. "Lists deprecated APIs" is
// none of them.
var deprecatedMarks = []*regexp.Regexp{
	// [deprecated], (DEPRECATED since 2.0), 【非推奨】
	regexp.MustCompile(`(?i)[\[({<（【「]\s*deprecated\s*(?:[\])}>）】」:：,;.–—-]|since\b|as of\b|in favou?r\b|in \d|use\b)`),
	regexp.MustCompile(`[\[({<（【「]\s*非推奨\s*[\])}>）】」:：、,]`),
	// Deprecated: use X. At the beginning of a line or sentence.
	regexp.MustCompile(`(?im)(?:^|[.!?。]\s)[\s\PL]*deprecated\s*(?:[:：.,;!–—]|-\s|$)`),
	regexp.MustCompile(`(?i)@deprecated\b`),
	regexp.MustCompile(`^[^\pL\pN]*DEPRECATED\b`),
	regexp.MustCompile(`(?i)\*\*deprecated\*\*`),
	regexp.MustCompile(`(?m)(?:^|[.!?。])[\s\PL]*非推奨\s*(?:[:：。、,.!！–—]|-\s|$)`),
	// this tool is deprecated; old_search has been deprecated in favor of search
	regexp.MustCompile(`(?i)\b(?:this|it|(?:this|the) (?:tool|function|method|command|endpoint|action|operation|api|call|version)) (?:is|was|has been)(?: now| being)? deprecated\b`),
	regexp.MustCompile(`(?i)^\W*[\w./-]+ (?:is|was|has been)(?: now)? deprecated\b`),
	regexp.MustCompile(`(?i)\b(?:is|was|been)(?: now)? deprecated(?:[,;:]| [–—-])?(?: and)?(?: please)? (?:use|prefer|see|switch to|replaced by|in favou?r of|will be removed)\b`),
	regexp.MustCompile(`(?:このツール|本ツール|この機能|これ|当ツール)は(?:現在)?(?:、)?非推奨`),
	regexp.MustCompile(`は(?:現在)?非推奨(?:です|になりました|となりました|とされ)`),
}

// Deprecated reports whether a description says that its tool is deprecated.
func Deprecated(description string) bool {
	text := upTo(deprecatedText, description)
	if lower := strings.ToLower(text); !strings.Contains(lower, "deprecated") && !strings.Contains(text, "非推奨") {
		return false
	}
	for _, mark := range deprecatedMarks {
		if mark.MatchString(text) {
			return true
		}
	}
	return startsDeprecated(text)
}

// startsDeprecated reports whether a description begins with the word, as in
// "Deprecated alias of search". "Deprecated APIs of a project" is about others: a
// plural follows.
func startsDeprecated(text string) bool {
	found := deprecatedStart.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	next := strings.ToLower(found[1])
	return !strings.HasSuffix(next, "s") || slices.Contains([]string{"as", "is", "this", "alias"}, next)
}

var deprecatedStart = regexp.MustCompile(`(?i)^[^\pL\pN]*deprecated\s+(\pL+)`)
