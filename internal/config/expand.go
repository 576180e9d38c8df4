package config

import (
	"strings"

	"genkan/internal/gateway"
)

// expand replaces ${VAR}, ${VAR:-default}, ${env:VAR} and ${secret:NAME}; $${
// stands for a plain ${, and any other $ for itself. As in a shell, an empty
// variable takes the default too. The errors name variables, never a value or a
// default: either may be a secret.
func expand(s string, from Sources) (string, []error) {
	var b strings.Builder
	var errs []error
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			b.WriteString(s)
			return b.String(), errs
		}
		b.WriteString(s[:i])
		s = s[i:]
		if strings.HasPrefix(s, "$${") {
			b.WriteString("${")
			s = s[3:]
			continue
		}
		if !strings.HasPrefix(s, "${") {
			b.WriteByte('$')
			s = s[1:]
			continue
		}
		inner, rest, closed := strings.Cut(s[2:], "}")
		if !closed {
			return "", append(errs, flawf("has a ${ without its }; write $${ for the two characters themselves"))
		}
		v, err := variable(inner, from)
		if err != nil {
			errs = append(errs, err)
		}
		b.WriteString(v)
		s = rest
	}
}

// absence is a variable or secret that the file rightly refers to, and that is
// not there: no mistake in the file, and no reason to refuse all of it.
type absence struct {
	flaw
	what Missing
}

func absent(what Missing, format string, values ...any) error {
	return absence{flaw(gateway.Textf(format, values...)), what}
}

func variable(inner string, from Sources) (string, error) {
	// VS Code asks its person for inputs, and keeps them as we keep secrets.
	for _, kind := range []string{"secret:", "input:"} {
		if name, ok := strings.CutPrefix(inner, kind); ok {
			return secret(name, from)
		}
	}
	name, fallback, hasDefault := strings.Cut(inner, ":-")
	if strings.Contains(fallback, "${") {
		return "", flawf("has a variable inside the default of another, which is not read here")
	}
	bare := strings.TrimPrefix(name, "env:")
	switch {
	case !legalVariable(bare):
		return "", flawf("has a ${…} that is not ${NAME}, ${NAME:-default}, ${env:NAME} or ${secret:NAME}; write $${ for the two characters themselves")
	case inner == "workspaceFolder":
		return WorkspaceFolder, nil
	}
	v, ok := from.Env(bare)
	if !ok {
		// Editors have variables that genkan was not started with; then what is
		// kept under that name is as good.
		if kept, found, err := from.Secret(bare); err == nil && found {
			v, ok = kept.Reveal(), true
		}
	}
	if hasDefault && v == "" {
		return fallback, nil
	}
	if !ok {
		return "", absent(Missing{Name: bare}, "uses the variable %s, which is not set; set it, run `genkan secrets set %s`, or give a default: ${%s:-default}", bare, bare, bare)
	}
	return v, nil
}

func secret(name string, from Sources) (string, error) {
	if !LegalSecret(name) {
		return "", flawf("refers to a secret whose name is not letters, digits, '.', '_' and '-', at most %d", MaxSecretName)
	}
	v, found, err := from.Secret(name)
	switch {
	case err != nil:
		return "", absent(Missing{name, true}, "uses the secret %s, which cannot be read: %s", name, gateway.AsError(err))
	case !found:
		return "", absent(Missing{name, true}, "uses the secret %s, which is not kept here; run `genkan secrets set %s`", name, name)
	}
	return v.Reveal(), nil
}

// MaxSecretName bounds the name of a secret, in bytes.
const MaxSecretName = 128

// LegalSecret reports whether a secret can have this name. The names "." and ".."
// cannot stand in the path of a URL.
func LegalSecret(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > MaxSecretName {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
}

func legalVariable(s string) bool {
	if s == "" || len(s) > 255 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}
