package config

import (
	"slices"
	"unicode"

	"genkan/internal/gateway"
)

// maxQuoted is how much of a word from the file a message repeats.
const maxQuoted = 48

// cutWord is a word from the file, as much of it as a message repeats.
func cutWord(s string) string {
	if r := []rune(s); len(r) > maxQuoted {
		s = string(r[:maxQuoted]) + "…"
	}
	return s
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
	return gateway.Textf("use one of %s", gateway.Names(known))
}
