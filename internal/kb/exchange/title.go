package exchange

import (
	"path"
	"strings"
)

// titleOf returns the first heading of a Markdown text, or else the name of its file.
func titleOf(name, body string) string {
	if title := heading(body); title != "" {
		return title
	}
	base := path.Base(slashed(name))
	if ext := path.Ext(base); strings.EqualFold(ext, ".md") || strings.EqualFold(ext, ".markdown") {
		base = strings.TrimSuffix(base, ext)
	}
	return strings.TrimSpace(base)
}

// heading returns the first heading outside of code, underlined or with number signs.
func heading(body string) string {
	fence, before := "", ""
	for line := range strings.Lines(body) {
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		switch {
		case fence != "":
			// A block of code ends at a line of at least as many of the same sign and nothing else.
			if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
				fence = ""
			}
			continue
		case indented:
			before = ""
			continue
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fence = line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
			before = ""
			continue
		case before != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "") && line != "":
			return before
		}
		if title, ok := numbered(line); ok && title != "" {
			return title
		}
		before = line
	}
	return ""
}

// numbered parses a heading of one to six number signs. Closing number signs are
// optional.
func numbered(line string) (title string, ok bool) {
	rest := strings.TrimLeft(line, "#")
	if signs := len(line) - len(rest); signs < 1 || signs > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	rest = strings.TrimSpace(rest)
	if bare := strings.TrimRight(rest, "#"); bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		rest = strings.TrimSpace(bare)
	}
	return rest, true
}
