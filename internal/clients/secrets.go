package clients

import (
	"slices"
	"strconv"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/redact"
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
	for _, p := range redact.InURL(s.URL) {
		add(inURL, "", 0, p.Value, p.Name)
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
	if redact.Placeholder(bare) {
		return nil
	}
	if found := partsOf(bare); len(found) > 0 {
		return found
	}
	if redact.SecretName(name) && !redact.Harmless(bare) || redact.WellKnown(bare) || redact.Random(bare) {
		return []string{bare}
	}
	// Headers may be inside of JSON, or of a command line.
	if token, ok := redact.Bearer(value); ok {
		return []string{token}
	}
	return assignedIn(value)
}

// partsOf returns the secrets of a URL.
func partsOf(text string) []string { return valuesOf(redact.InURL(text)) }

// valuesOf returns each value once.
func valuesOf(all []redact.Named) []string {
	var values []string
	for _, one := range all {
		if !slices.Contains(values, one.Value) {
			values = append(values, one.Value)
		}
	}
	return values
}

// assignedIn returns the secrets in a text that names them: JSON, the "Password=x"
// of a connection, a header on a command line.
func assignedIn(text string) []string { return valuesOf(redact.Assigned(text)) }

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
		found, inside = []string{text}, redact.SecretName(name)
	}
	var parts []string
	for _, one := range found {
		for part := range strings.SplitSeq(one, standIn) {
			const least = 8 // a shorter one is a word like Bearer
			part = strings.Trim(part, " =:;,")
			whole := part == one && inside
			if !whole && !redact.WellKnown(part) && !redact.Random(part) && (!inside || len(part) < least || redact.Harmless(part)) {
				continue
			}
			if part != "" && !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// namedValue is a possible secret with its name.
type namedValue struct{ name, secret string }
