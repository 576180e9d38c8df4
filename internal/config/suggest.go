package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"genkan/internal/gateway"
)

// maxQuoted is how much of a word from the file a message repeats.
const maxQuoted = 48

// quoted shows a word from the file on one line, whatever is in it.
func quoted(s string) string {
	if r := []rune(s); len(r) > maxQuoted {
		s = string(r[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// habit returns our word for what other programs call it.
func habit(word string) string {
	switch gateway.Squash(word) {
	case "servers", "mcp", "contextservers":
		return "mcpServers"
	case "serverurl", "httpurl", "endpoint":
		return "url"
	case "environment", "envs":
		return "env"
	case "transport":
		return "type"
	case "workingdirectory", "workingdir", "workdir", "dir":
		return "cwd"
	case "enabled":
		return "disabled"
	case "cmd":
		return "command"
	case "bind", "address":
		return "listen"
	case "language", "locale":
		return "lang"
	case "warning":
		return "warn"
	default:
		return ""
	}
}

// Nearest says which server of the configuration was probably meant.
func (c *Config) Nearest(name string) gateway.Text {
	var known []string
	for _, s := range c.Servers {
		known = append(known, s.Name)
	}
	if len(known) == 0 {
		return gateway.Textf("there are none")
	}
	return didYouMean(name, known)
}

// didYouMean names the one word that was probably meant, or else all of them.
func didYouMean(word string, known []string) gateway.Text {
	if ours := habit(word); ours != "" {
		for _, k := range known {
			if k == ours {
				return gateway.Textf("did you mean %q?", k)
			}
		}
	}
	best := gateway.Nearest(word, slices.Values(known))
	if best != "" {
		return gateway.Textf("did you mean %q?", best)
	}
	return gateway.Textf("use one of %s", strings.Join(known, ", "))
}

const maxName = 32

// legalName reports whether a server may have the name: it becomes part of
// URLs and of tool names.
func legalName(s string) bool {
	if s == "" || len(s) > maxName || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// suggestName makes a legal name that nobody has out of one that is not.
// Clients use package paths as names, whose last part is the telling one.
func suggestName(s string, taken func(string) bool) string {
	s = strings.TrimRight(s, "/")
	s = s[strings.LastIndexByte(s, '/')+1:]
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
			b.WriteRune(r)
		} else if t := b.String(); t != "" && t[len(t)-1] != '-' {
			b.WriteByte('-')
		}
		if b.Len() == maxName {
			break
		}
	}
	name := strings.Trim(b.String(), "-")
	switch {
	case name == "":
		name = "server"
	case name[0] < 'a':
		name = shorten("s-"+name, maxName)
	}
	free := name
	for i := 2; taken(free); i++ {
		tail := "-" + strconv.Itoa(i)
		free = shorten(name, maxName-len(tail)) + tail
	}
	return free
}

func shorten(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.TrimRight(s, "-")
}
