package clients

import (
	"regexp"
	"strings"
)

// masked replaces a secret.
const masked = "***"

//nolint:gochecknoglobals // compiled once
var (
	// assignment is a name with a value, as programs print them: KEY=value,
	// "key": "value", Authorization: Bearer value.
	assignment = lazily(`([A-Za-z][A-Za-z0-9_.-]*)("?'?\s*[=:]\s*"?'?)((?:(?i:bearer|basic|token)\s+)?)([^\s"',;&]+)`)
	// word matches a possible secret without a name.
	word = lazily(`[A-Za-z0-9_.+/=~-]{8,}`)
	// link is a URL, whose password and parameters may be secret.
	link = lazily(`[a-z][a-z0-9+.-]*://[^\s"'<>]+`)
	// tokenWord is a token among words: "Bearer x".
	tokenWord = lazily(`(?i)\b(bearer\s+)([^\s"',;]{8,})`)
)

// Mask replaces everything that looks like a key in a foreign text, such as the
// output of a server. It masks too much rather than too little.
func Mask(text string) string {
	text = link().ReplaceAllStringFunc(text, func(u string) string {
		for _, p := range urlSecrets(u) {
			u = strings.ReplaceAll(u, p.secret, masked)
		}
		return u
	})
	text = tokenWord().ReplaceAllString(text, "${1}"+masked)
	text = replaceParts(assignment(), text, func(p []string) string {
		if secretWord(p[1]) && !placeholder(p[4]) && !harmless(p[4]) && p[4] != masked {
			p[4] = masked
		}
		return p[1] + p[2] + p[3] + p[4]
	})
	return word().ReplaceAllStringFunc(text, func(w string) string {
		bare := strings.Trim(w, ".")
		if wellKnown().MatchString(bare) || random(bare) {
			return strings.Replace(w, bare, masked, 1)
		}
		// A value may follow its name without a space.
		if name, value, ok := strings.Cut(bare, "="); ok && value != "" && (wellKnown().MatchString(value) || random(value)) {
			return strings.Replace(w, name+"="+value, name+"="+masked, 1)
		}
		return w
	})
}

// replaceParts replaces the matches of a pattern with the result of replace for
// their parts.
func replaceParts(pattern *regexp.Regexp, text string, replace func(parts []string) string) string {
	var b strings.Builder
	end := 0
	for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
		var parts []string
		for i := 0; i < len(at); i += 2 {
			parts = append(parts, text[at[i]:at[i+1]])
		}
		b.WriteString(text[end:at[0]])
		b.WriteString(replace(parts))
		end = at[1]
	}
	return b.String() + text[end:]
}
