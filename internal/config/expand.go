package config

import (
	"strings"
)

// expand replaces ${VAR}, ${VAR:-default} and ${env:VAR}; $${ stands for a
// plain ${, and any other $ for itself. As in a shell, an empty variable takes
// the default too. The errors name variables, never a value or a default:
// either may be a secret.
func expand(s string, env func(string) (string, bool)) (string, []error) {
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
		v, err := variable(inner, env)
		if err != nil {
			errs = append(errs, err)
		}
		b.WriteString(v)
		s = rest
	}
}

func variable(inner string, env func(string) (string, bool)) (string, error) {
	name, fallback, hasDefault := strings.Cut(inner, ":-")
	if strings.Contains(fallback, "${") {
		return "", flawf("has a variable inside the default of another, which is not read here")
	}
	bare := strings.TrimPrefix(name, "env:")
	switch {
	case strings.HasPrefix(name, "input:"):
		return "", flawf("uses ${input:…}, which is not available yet; use an environment variable: ${NAME}")
	case !legalVariable(bare):
		return "", flawf("has a ${…} that is not ${NAME}, ${NAME:-default} or ${env:NAME}; write $${ for the two characters themselves")
	case inner == "workspaceFolder":
		return WorkspaceFolder, nil
	}
	v, ok := env(bare)
	if hasDefault && v == "" {
		return fallback, nil
	}
	if !ok {
		return "", flawf("uses the variable %s, which is not set; set it, or give a default: ${%s:-default}", bare, bare)
	}
	return v, nil
}

func legalVariable(s string) bool {
	if s == "" || len(s) > 255 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}
