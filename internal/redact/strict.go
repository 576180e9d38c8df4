package redact

import (
	"math"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// lazily compiles an expression when it is first used. Most starts of genkan need
// none, and compiling all would take longer than opening the database.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

//nolint:gochecknoglobals // compiled once
var (
	// assigned is a name with a value, as programs print them: KEY=value,
	// "key": "value", Authorization: Bearer value.
	assigned = lazily(`([A-Za-z][A-Za-z0-9_.-]*)("?'?\s*[=:]\s*"?'?)((?:(?i:bearer|basic|token)\s+)?)([^\s"',;&]+)`)
	// word matches a possible secret without a name.
	word = lazily(`[A-Za-z0-9_.+/=~-]{8,}`)
	// link is a URL, whose password and parameters may be secret.
	link = lazily(`[a-z][a-z0-9+.-]*://[^\s"'<>]+`)
	// bearer is a token among words: "Bearer x".
	bearer = lazily(`(?i)\bbearer\s+([^\s"',;]{8,})`)
	// wellKnown are the beginnings that issuers give their tokens, so that they are
	// recognised.
	wellKnown = lazily(`^(?:gh[pousr]_|github_pat_|glpat-|sk-|sk_live_|sk_test_|rk_live_|pk_live_|xox[abeprs]-|xapp-|` +
		`AKIA[0-9A-Z]{12}|ASIA[0-9A-Z]{12}|AIza[0-9A-Za-z_-]{30}|ya29\.|npm_|pypi-|hf_|gsk_|tvly-|ntn_|secret_|lin_api_|dop_v1_|` +
		`SG\.|shpat_|sntrys_|sntryu_|ATATT|figd_|pat[A-Za-z0-9]{14}\.|dckr_pat_|fc-[0-9a-f]{16}|ctx7sk|BSA[A-Za-z0-9_-]{20}|` +
		`eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+|-----BEGIN )[\s\S]{3,}`)
)

// findGenerated masks what strict rules mask besides: everything that looks
// generated, and every value whose name could be a secret's.
func (p *pass) findGenerated(v view) {
	const rule = "generated"
	s := v.text
	for _, at := range link().FindAllStringIndex(s, -1) {
		for _, part := range InURL(s[at[0]:at[1]]) {
			for i := at[0]; ; {
				n := strings.Index(s[i:at[1]], part.Value)
				if n < 0 {
					break
				}
				p.add(v, i+n, i+n+len(part.Value), rule, byGuess)
				i += n + len(part.Value)
			}
		}
	}
	for _, at := range bearer().FindAllStringSubmatchIndex(s, -1) {
		p.add(v, at[2], at[3], rule, byGuess)
	}
	for _, at := range assigned().FindAllStringSubmatchIndex(s, -1) {
		if value := s[at[8]:at[9]]; SecretName(s[at[2]:at[3]]) && !Placeholder(value) && !Harmless(value) {
			p.add(v, at[8], at[9], rule, byGuess)
		}
	}
	for _, at := range word().FindAllStringIndex(s, -1) {
		bare := strings.Trim(s[at[0]:at[1]], ".")
		start := at[0] + strings.Index(s[at[0]:at[1]], bare)
		// A value may follow its name without a space. The name stays.
		name, value, named := strings.Cut(bare, "=")
		switch generated := func(s string) bool { return s != "" && (WellKnown(s) || Random(s)) }; {
		case named && generated(value) && !generated(name):
			p.add(v, start+len(name)+1, start+len(bare), rule, byGuess)
		case named && strings.Trim(value, "=") != "" && SecretName(name): // found above
		case generated(bare):
			p.add(v, start, start+len(bare), rule, byGuess)
		}
	}
}

// Named is a secret with the name that it has in a text.
type Named struct{ Name, Value string }

// Assigned returns the secrets in a text that names them: JSON, the "Password=x" of a
// connection, a header on a command line.
func Assigned(text string) []Named {
	var found []Named
	for _, m := range assigned().FindAllStringSubmatch(text, -1) {
		if SecretName(m[1]) && !Placeholder(m[4]) && !Harmless(m[4]) {
			found = append(found, Named{m[1], m[4]})
		}
	}
	return found
}

// InURL returns the password, the secret parameters and the secret parts of the path
// of a URL, as written there. The address of some servers is itself the key.
func InURL(s string) []Named {
	if !strings.Contains(s, "://") {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil
	}
	var found []Named
	if userinfo, _, ok := strings.Cut(s[strings.Index(s, "://")+3:], "@"); ok && u.User != nil {
		if _, password, ok := strings.Cut(userinfo, ":"); ok && !Placeholder(password) {
			found = append(found, Named{"PASSWORD", password})
		}
	}
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if !Placeholder(part) && (WellKnown(part) || Random(part) || isUUID(part)) {
			found = append(found, Named{"PATH", part})
		}
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(part, "=")
		if !Placeholder(value) && (SecretName(key) && !Harmless(value) || WellKnown(value) || Random(value)) {
			found = append(found, Named{key, value})
		}
	}
	return found
}

// Placeholder reports whether a value is not a secret yet, or is a reference to one.
func Placeholder(s string) bool {
	low := strings.ToLower(s)
	return s == "" || strings.Contains(s, "${") || strings.HasPrefix(s, "<") || strings.HasPrefix(s, "{file:") || strings.HasPrefix(low, "your") ||
		strings.Trim(low, "x*.-") == "" || low == "changeme"
}

// Harmless reports whether a value cannot be a secret, even if its name suggests one.
func Harmless(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "none", "null", "0", "1":
		return true
	}
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "./") ||
		strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") ||
		len(s) < 8 && strings.Trim(s, "0123456789") == ""
}

// SecretName reports whether the name of a setting says that its value is secret. It
// compares whole words: MAX_TOKENS is a number, TOKEN_FILE a path. A setting named
// key or auth counts, unlike a key in a text.
func SecretName(name string) bool {
	if classify(name).kind == password {
		return true
	}
	words := splitWords(name)
	for i, w := range words {
		switch w {
		case "token", "secret", "password", "passwd", "passphrase", "pass", "pwd", "key", "apikey", "pat",
			"authorization", "credential", "credentials", "cookie", "bearer", "auth":
			if i == len(words)-1 {
				return true
			}
			switch words[len(words)-1] {
			case "file", "path", "dir", "url", "uri", "id", "name", "type", "mode", "host", "ttl", "limit":
				return false
			}
			return true
		}
	}
	return false
}

// WellKnown reports whether a text begins as the tokens of an issuer do.
func WellKnown(s string) bool { return wellKnown().MatchString(s) }

// Bearer returns the token after the word Bearer in a text.
func Bearer(text string) (string, bool) {
	m := bearer().FindStringSubmatch(text)
	if m == nil || Placeholder(m[1]) {
		return "", false
	}
	return m[1], true
}

// Random reports whether a text looks generated: one long run of letters and digits
// without a pattern.
func Random(s string) bool {
	if len(s) < 20 || len(s) > 512 {
		return false
	}
	var digits, lower, upper int
	var counts [128]int
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit[c]:
			digits++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		case strings.IndexByte("+/=_-", c) >= 0:
		default:
			return false
		}
		counts[c]++
	}
	// Words, versions and paths have several dashes and slashes.
	if strings.ContainsAny(s[:1], "/-@") || strings.Count(s, "/")+strings.Count(s, "-")+strings.Count(s, "_") > 3 {
		return false
	}
	if digits < 3 || lower+upper < 3 {
		return false
	}
	entropy := 0.0
	for _, n := range counts {
		if n > 0 {
			share := float64(n) / float64(len(s))
			entropy -= share * math.Log2(share)
		}
	}
	if upper == 0 || lower == 0 {
		return len(s) >= 32 && entropy > 3
	}
	return entropy > 3.7
}
