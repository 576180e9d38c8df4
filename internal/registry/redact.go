package registry

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// Redact masks what may be secret in a text that a server of a configuration has
// sent: the server's own secrets, and what looks like one. The server may be none.
func Redact(cfg *config.Config, server, text string) string {
	for _, s := range cfg.Servers {
		if s.Name == server {
			return redact(s, text)
		}
	}
	return clients.Mask(text)
}

// redact masks the secrets of a server in a text that the server has printed.
func redact(s config.Server, text string) string {
	for _, value := range secretValues(s) {
		text = strings.ReplaceAll(text, value, mask)
	}
	return clients.Mask(text)
}

// secretValues returns the secrets of a server in every spelling, the longest
// first: the values of its references to secrets, and what looks like a secret.
func secretValues(s config.Server) []string {
	var values []string
	add := func(value string) {
		for _, form := range spellings(value) {
			const minLength = 6 // masking shorter values would make any text unreadable
			if len(value) >= minLength && len(form) >= minLength {
				values = append(values, form)
			}
		}
	}
	add(s.OAuth.ClientSecret.Reveal())
	for _, l := range clients.Literals(clients.Server{Name: s.Name, Args: s.Args, URL: s.URL, Env: s.Env, Headers: s.Headers}) {
		add(l.Value.Reveal())
	}
	written, err := parseDefinition([]byte(s.Definition.Reveal()))
	if err != nil {
		written = definition{}
	}
	for key, expanded := range map[string]map[string]gateway.Secret{"env": s.Env, "headers": s.Headers} {
		for name, text := range written.texts(key) {
			for _, value := range expandedSecrets(text.Reveal(), expanded[name].Reveal()) {
				add(value)
			}
		}
	}
	for i, text := range written.clientServer(s.Name).Args {
		if i < len(s.Args) {
			for _, value := range expandedSecrets(text, s.Args[i]) {
				add(value)
			}
		}
	}
	for _, value := range expandedSecrets(written.text("url"), s.URL) {
		add(value)
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(values)
}

// expandedSecrets returns the values of the secrets that a text refers to, given
// the text with its references expanded: the parts between the literal text. The
// whole expanded text is always among them, because the parts may be ambiguous.
func expandedSecrets(text, expanded string) []string {
	isSecret := func(ref string) bool {
		return strings.HasPrefix(ref, "${secret:") || strings.HasPrefix(ref, "${input:")
	}
	refs := reference.FindAllStringIndex(text, -1)
	if !slices.ContainsFunc(refs, func(at []int) bool { return isSecret(text[at[0]:at[1]]) }) {
		return nil
	}
	values := []string{expanded}
	rest, ok := strings.CutPrefix(expanded, text[:refs[0][0]])
	for i, at := range refs {
		var value string
		if i == len(refs)-1 {
			value = strings.TrimSuffix(rest, text[at[1]:])
		} else {
			value, rest, ok = strings.Cut(rest, text[at[1]:refs[i+1][0]])
		}
		if !ok {
			break
		}
		if isSecret(text[at[0]:at[1]]) {
			values = append(values, value)
		}
	}
	return values
}

// spellings returns the encodings in which programs print a value.
func spellings(value string) []string {
	forms := []string{
		value, url.QueryEscape(value), url.PathEscape(value),
		base64.RawStdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
	if quoted, err := json.Marshal(value); err == nil {
		forms = append(forms, strings.Trim(string(quoted), `"`))
	}
	for line := range strings.Lines(value) {
		forms = append(forms, strings.TrimSpace(line))
	}
	return forms
}
