package clients

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"genkan/internal/gateway"
)

// Literal is a secret that is in a file as plain text.
type Literal struct {
	// Where is env, headers, args or url.
	Where string
	// Key is the variable or header; Index is the argument.
	Key   string
	Index int
	// Value is the secret alone: x for "Bearer x".
	Value gateway.Secret
	// Variable is a name for it that is unique within the server.
	Variable string
}

// Refer replaces a literal secret with a reference such as ${GITHUB_TOKEN}.
func (s *Server) Refer(l Literal, reference string) {
	// Replace it everywhere: a password may also be the user's name.
	put := func(text string) string {
		if text == l.Value.Reveal() {
			return reference
		}
		return replaceLiteral(text, l.Value.Reveal(), reference, -1)
	}
	switch l.Where {
	case inEnv:
		s.Env[l.Key] = gateway.Secret(put(s.Env[l.Key].Reveal()))
	case inHeaders:
		s.Headers[l.Key] = gateway.Secret(put(s.Headers[l.Key].Reveal()))
	case inArgs:
		if l.Index < len(s.Args) {
			s.Args[l.Index] = put(s.Args[l.Index])
		}
	case inURL:
		s.URL = replaceLiteral(s.URL, l.Value.Reveal(), reference, 1)
	}
}

// replaceLiteral replaces at most the given number of occurrences, or all.
// References in the text stay, even if the secret is a word of one.
func replaceLiteral(text, part, with string, most int) string {
	var b strings.Builder
	literal := func(text string) {
		n := strings.Count(text, part)
		b.WriteString(strings.Replace(text, part, with, most))
		if most >= 0 {
			most = max(0, most-n)
		}
	}
	end := 0
	for _, at := range reference().FindAllStringIndex(text, -1) {
		literal(text[end:at[0]])
		b.WriteString(text[at[0]:at[1]])
		end = at[1]
	}
	literal(text[end:])
	return b.String()
}

// reference is ${…}, or a $${…} that somebody else may replace.
//
//nolint:gochecknoglobals // compiled once
var reference = lazily(`\$?\$\{[^}]*\}|\$\$\{`)

// References returns the variables and stored secrets that a text refers to, such
// as ${HOME} and ${secret:KEY}, without the workspace's folder.
func References(text string) []string {
	var all []string
	for _, r := range reference().FindAllString(text, -1) {
		if !strings.HasPrefix(r, "$$") && r != workspaceFolder && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}

// Literals returns the plain-text secrets of a server, with the names that they are
// stored under.
func Literals(s Server) []Literal {
	s.Secrets = literals(s)
	return named(s, unusedName(nobody))
}

const (
	inEnv     = "env"
	inHeaders = "headers"
	inArgs    = "args"
	inURL     = "url"
)

// literals finds the secrets of a server. It finds too many rather than too few,
// because a harmless value that is stored as a secret still works.
func literals(s Server) []Literal {
	var found []Literal
	taken := map[string]bool{}
	add := func(where, key string, index int, value, name string) {
		name = inputVariable(s.Name + "-" + name)
		free := name
		for i := 2; taken[free]; i++ {
			free = name + "_" + strconv.Itoa(i)
		}
		taken[free] = true
		found = append(found, Literal{Where: where, Key: key, Index: index, Value: gateway.Secret(value), Variable: free})
	}
	for key, value := range sorted(s.Env) {
		if s.private[key] {
			if value != "" {
				add(inEnv, key, 0, value.Reveal(), key)
			}
			continue
		}
		for _, secret := range secretsIn(key, value.Reveal()) {
			add(inEnv, key, 0, secret, key)
		}
	}
	for key, value := range sorted(s.Headers) {
		for _, secret := range secretsIn(key, value.Reveal()) {
			add(inHeaders, key, 0, secret, key)
		}
	}
	for i, arg := range s.Args {
		before := ""
		if i > 0 {
			before = s.Args[i-1]
		}
		for _, meant := range argumentAs(before, arg) {
			found := secretsIn(meant.name, meant.secret)
			if meant.name == "" {
				meant.name = "SECRET"
			}
			for _, secret := range found {
				add(inArgs, "", i, secret, meant.name)
			}
			if len(found) > 0 {
				break
			}
		}
	}
	for _, p := range urlSecrets(s.URL) {
		add(inURL, "", 0, p.secret, p.name)
	}
	return found
}

//nolint:gochecknoglobals // compiled once
var assigned = lazily(`^-*([A-Za-z_][A-Za-z0-9_.-]*)=`)

// argumentAs returns the possible meanings of an argument, given the one before it:
// NAME=value, the value of an option, or a value alone.
func argumentAs(before, arg string) []namedValue {
	var all []namedValue
	if m := assigned().FindStringSubmatch(arg); m != nil {
		all = append(all, namedValue{m[1], arg[len(m[0]):]})
	}
	if strings.HasPrefix(before, "-") && !strings.HasPrefix(arg, "-") && !strings.Contains(before, "=") {
		key, value := strings.TrimLeft(before, "-"), arg
		if header, rest, ok := strings.Cut(arg, ":"); ok && (key == "header" || key == "H") {
			key, value = header, strings.TrimSpace(rest)
		}
		all = append(all, namedValue{key, value})
	}
	if len(all) == 0 {
		all = append(all, namedValue{"", arg})
	}
	return all
}

// secretsIn returns the secret parts of a named value.
func secretsIn(name, value string) []string {
	scheme, bare, hasScheme := strings.Cut(value, " ")
	if !hasScheme || !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "basic") && !strings.EqualFold(scheme, "token") {
		bare = value
	}
	if reference().MatchString(bare) {
		return besideReferences(name, bare)
	}
	if placeholder(bare) {
		return nil
	}
	if found := partsOf(bare); len(found) > 0 {
		return found
	}
	if secretWord(name) && !harmless(bare) || wellKnown().MatchString(bare) || random(bare) {
		return []string{bare}
	}
	// Headers may be inside of JSON, or of a command line.
	if m := bearer().FindStringSubmatch(value); m != nil && !placeholder(m[1]) {
		return []string{m[1]}
	}
	return assignedIn(value)
}

// partsOf returns the secrets of a URL.
func partsOf(text string) []string {
	var found []string
	for _, p := range urlSecrets(text) {
		if !slices.Contains(found, p.secret) {
			found = append(found, p.secret)
		}
	}
	return found
}

// assignedIn returns the secrets in a text that names them: JSON, the "Password=x"
// of a connection, a header on a command line.
func assignedIn(text string) []string {
	var found []string
	for _, p := range assignment().FindAllStringSubmatch(text, -1) {
		if secretWord(p[1]) && !placeholder(p[4]) && !harmless(p[4]) && !slices.Contains(found, p[4]) {
			found = append(found, p[4])
		}
	}
	return found
}

// besideReferences returns the plain-text secrets in a value that also has
// references: the password of postgres://me:s3cret@${HOST}/db.
func besideReferences(name, value string) []string {
	const standIn = "0000000000000000" // valid anywhere in a URL
	text := reference().ReplaceAllString(value, standIn)
	found, inside := partsOf(text), true
	if len(found) == 0 {
		found = assignedIn(text)
	}
	if len(found) == 0 {
		found, inside = []string{text}, secretWord(name)
	}
	var parts []string
	for _, one := range found {
		for part := range strings.SplitSeq(one, standIn) {
			const least = 8 // a shorter one is a word like Bearer
			part = strings.Trim(part, " =:;,")
			whole := part == one && inside
			if !whole && !wellKnown().MatchString(part) && !random(part) && (!inside || len(part) < least || harmless(part)) {
				continue
			}
			if part != "" && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// placeholder reports whether a value is not a secret yet, or is a reference to
// one.
func placeholder(s string) bool {
	low := strings.ToLower(s)
	return s == "" || strings.Contains(s, "${") || strings.HasPrefix(s, "<") || strings.HasPrefix(s, "{file:") || strings.HasPrefix(low, "your") ||
		strings.Trim(low, "x*.-") == "" || low == "changeme"
}

// harmless reports whether a value cannot be a secret, even if its name suggests
// one.
func harmless(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "none", "null", "0", "1":
		return true
	}
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "./") ||
		strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") ||
		len(s) < 8 && strings.Trim(s, "0123456789") == ""
}

// secretWord reports whether a name says that its value is secret. It compares
// whole words: MAX_TOKENS is a number, TOKEN_FILE a path.
func secretWord(name string) bool {
	words := wordsOf(name)
	for i, w := range words {
		last := i == len(words)-1
		switch w {
		case "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD", "KEY", "APIKEY", "PAT",
			"AUTHORIZATION", "CREDENTIAL", "CREDENTIALS", "COOKIE", "BEARER", "AUTH":
			if last {
				return true
			}
			switch words[len(words)-1] {
			case "FILE", "PATH", "DIR", "URL", "URI", "ID", "NAME", "TYPE", "MODE", "HOST", "TTL", "LIMIT":
				return false
			}
			return true
		}
	}
	return false
}

// wordsOf splits a name into words: api_key, api-key and apiKey are API and KEY.
func wordsOf(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToUpper(r))
		before = r
	}
	return strings.Fields(b.String())
}

//nolint:gochecknoglobals // compiled once
var bearer = lazily(`(?i)\bbearer\s+([^\s"']{8,})`)

// wellKnown are the beginnings that issuers give their tokens, so that they
// are recognised.
//
//nolint:gochecknoglobals // compiled once
var wellKnown = lazily(`^(?:gh[pousr]_|github_pat_|glpat-|sk-|sk_live_|sk_test_|rk_live_|pk_live_|xox[abeprs]-|xapp-|` +
	`AKIA[0-9A-Z]{12}|ASIA[0-9A-Z]{12}|AIza[0-9A-Za-z_-]{30}|ya29\.|npm_|pypi-|hf_|gsk_|tvly-|ntn_|secret_|lin_api_|dop_v1_|` +
	`SG\.|shpat_|sntrys_|sntryu_|ATATT|figd_|pat[A-Za-z0-9]{14}\.|dckr_pat_|fc-[0-9a-f]{16}|ctx7sk|BSA[A-Za-z0-9_-]{20}|` +
	`eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+|-----BEGIN )[\s\S]{3,}`)

// random reports whether a text looks generated: one long run of letters and digits
// without a pattern.
func random(s string) bool {
	if len(s) < 20 || len(s) > 512 {
		return false
	}
	var digits, lower, upper int
	counts := map[rune]int{}
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z':
			lower++
		case r >= 'A' && r <= 'Z':
			upper++
		case strings.ContainsRune("+/=_-", r):
		default:
			return false
		}
		counts[r]++
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
		p := float64(n) / float64(len(s))
		entropy -= p * math.Log2(p)
	}
	if upper == 0 || lower == 0 {
		return len(s) >= 32 && entropy > 3
	}
	return entropy > 3.7
}

// namedValue is a possible secret with its name.
type namedValue struct{ name, secret string }

//nolint:gochecknoglobals // compiled once
var uuid = lazily(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// urlSecrets returns the password, the secret parameters and the secret parts of
// the path of a URL, as written there. The address of some servers is itself the
// key.
func urlSecrets(s string) []namedValue {
	if !strings.Contains(s, "://") {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil
	}
	var found []namedValue
	if userinfo, _, ok := strings.Cut(s[strings.Index(s, "://")+3:], "@"); ok && u.User != nil {
		if _, password, ok := strings.Cut(userinfo, ":"); ok && !placeholder(password) {
			found = append(found, namedValue{"PASSWORD", password})
		}
	}
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if !placeholder(part) && (wellKnown().MatchString(part) || random(part) || uuid().MatchString(part)) {
			found = append(found, namedValue{"PATH", part})
		}
	}
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(part, "=")
		if !placeholder(value) && (secretWord(key) && !harmless(value) || wellKnown().MatchString(value) || random(value)) {
			found = append(found, namedValue{key, value})
		}
	}
	return found
}
