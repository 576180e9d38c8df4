package registry

import (
	"slices"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/redact"
)

// Redact masks what may be secret in a text that a server of a configuration has
// sent: the server's own secrets, and what looks like one. The server may be none.
func Redact(cfg *config.Config, server, text string) string {
	for _, s := range cfg.Servers {
		if s.Name == server {
			return redactOutput(s, text)
		}
	}
	return clients.Mask(text)
}

// redactOutput masks the secrets of a server in a text that the server has printed.
func redactOutput(s config.Server, text string) string {
	text, _ = redact.New(secretValues(s), redact.Strict).Text(text)
	return text
}

// SecretValues returns the secrets of all servers of a configuration, each under the
// name that its reference or its variable has.
func SecretValues(cfg *config.Config) []redact.Known {
	var values []redact.Known
	for _, s := range cfg.Servers {
		for _, v := range secretValues(s) {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	return values
}

// secretValues returns the secrets of a server: the values of its references to
// secrets, and what looks like a secret.
func secretValues(s config.Server) []redact.Known {
	var values []redact.Known
	add := func(name string, value gateway.Secret) {
		values = append(values, redact.Known{Name: name, Value: value})
		for line := range strings.Lines(value.Reveal()) { // a server prints line by line
			if line = strings.TrimSpace(line); line != value.Reveal() {
				values = append(values, redact.Known{Name: name, Value: gateway.Secret(line)})
			}
		}
	}
	written, err := parseDefinition([]byte(s.Definition.Reveal()))
	if err != nil {
		written = definition{}
	}
	expand := func(name, text string, expanded gateway.Secret) {
		for _, v := range expandedSecrets(name, text, expanded.Reveal()) {
			add(v.Name, v.Value)
		}
	}
	for key, expanded := range map[string]map[string]gateway.Secret{"env": s.Env, "headers": s.Headers} {
		for name, text := range written.texts(key) {
			expand(name, text.Reveal(), expanded[name])
		}
	}
	for i, text := range written.clientServer(s.Name).Args {
		if i < len(s.Args) {
			expand(s.Name+".args", text, gateway.Secret(s.Args[i]))
		}
	}
	expand(s.Name+".url", written.text("url"), gateway.Secret(s.URL))
	for _, l := range clients.Literals(clients.Server{Name: s.Name, Args: s.Args, URL: s.URL, Env: s.Env, Headers: s.Headers}) {
		add(l.Variable, l.Value)
	}
	add(s.Name+".clientSecret", s.OAuth.ClientSecret)
	return values
}

// expandedSecrets returns the values of the secrets that a text refers to, given
// the text with its references expanded: the parts between the literal text. The
// whole expanded text is always among them, under the given name, because the parts
// may be ambiguous.
func expandedSecrets(name, text, expanded string) []redact.Known {
	secretName := func(ref string) (string, bool) {
		for _, start := range []string{"${secret:", "${input:"} {
			if name, ok := strings.CutPrefix(ref, start); ok {
				name, _, _ = strings.Cut(strings.TrimSuffix(name, "}"), ":-")
				return name, true
			}
		}
		return "", false
	}
	refs := reference.FindAllStringIndex(text, -1)
	var values []redact.Known
	rest, ok, refers := expanded, true, false
	for i, at := range refs {
		if i == 0 {
			rest, ok = strings.CutPrefix(rest, text[:at[0]])
		}
		var value string
		if i == len(refs)-1 {
			value = strings.TrimSuffix(rest, text[at[1]:])
		} else if ok {
			value, rest, ok = strings.Cut(rest, text[at[1]:refs[i+1][0]])
		}
		secret, isSecret := secretName(text[at[0]:at[1]])
		refers = refers || isSecret
		if isSecret && ok {
			values = append(values, redact.Known{Name: secret, Value: gateway.Secret(value)})
		}
	}
	if refers {
		values = append(values, redact.Known{Name: name, Value: gateway.Secret(expanded)})
	}
	return values
}
