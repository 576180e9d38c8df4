package app

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

// hidden are the values of a server that nobody should see, the longest first:
// what its references to secrets became, and what looks like a secret.
func hidden(s config.Server) []string {
	var values []string
	add := func(value string) {
		for _, form := range formsOf(value) {
			const least = 6 // shorter ones would hide half of every text
			if len(value) >= least && len(form) >= least {
				values = append(values, form)
			}
		}
	}
	add(s.OAuth.ClientSecret.Reveal())
	for _, l := range clients.Literals(clients.Server{Name: s.Name, Args: s.Args, URL: s.URL, Env: s.Env, Headers: s.Headers}) {
		add(l.Value.Reveal())
	}
	said, err := readDefinition([]byte(s.Definition.Reveal()))
	if err != nil {
		said = definition{}
	}
	for key, expanded := range map[string]map[string]gateway.Secret{"env": s.Env, "headers": s.Headers} {
		for name, text := range said.texts(key) {
			for _, value := range referredTo(text.Reveal(), expanded[name].Reveal()) {
				add(value)
			}
		}
	}
	for i, text := range said.server(s.Name).Args {
		if i < len(s.Args) {
			for _, value := range referredTo(text, s.Args[i]) {
				add(value)
			}
		}
	}
	for _, value := range referredTo(said.text("url"), s.URL) {
		add(value)
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(values)
}

// referredTo is what the secrets became that a text refers to: what stands between
// the rest of it. The whole is one of them, in case that cannot be told.
func referredTo(text, expanded string) []string {
	isSecret := func(ref string) bool {
		return strings.HasPrefix(ref, "${secret:") || strings.HasPrefix(ref, "${input:")
	}
	refs := written.FindAllStringIndex(text, -1)
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

// formsOf are the ways in which programs print a value.
func formsOf(value string) []string {
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

// hide takes out of a text of a server what nobody should see.
func hide(s config.Server, text string) string {
	for _, value := range hidden(s) {
		text = strings.ReplaceAll(text, value, mask)
	}
	return clients.Mask(text)
}
