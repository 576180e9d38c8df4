package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	env := environ("A", "1", "B", "${A}", "EMPTY", "")
	for text, want := range map[string]string{
		"":                   "",
		"plain":              "plain",
		"${A}":               "1",
		"${env:A}":           "1",
		"x${A}y${A}z":        "x1y1z",
		"${B}":               "${A}", // values are not expanded again
		"${EMPTY}":           "",
		"${EMPTY:-d}":        "d",
		"${GONE:-d}":         "d",
		"${GONE:-}":          "",
		"${env:GONE:-d}":     "d",
		"${GONE:-a:-b c/$x}": "a:-b c/$x",
		"${A:-d}":            "1",
		"$A":                 "$A",
		"$":                  "$",
		"$$":                 "$$",
		"a$":                 "a$",
		"$${A}":              "${A}",
		"$$${A}":             "$${A}",
		"$${A}${A}":          "${A}1",
		"{env:A}":            "{env:A}",
		"}":                  "}",
	} {
		if got, errs := expand(text, Sources{Env: env, Secret: noSecrets}); got != want || errs != nil {
			t.Errorf("%s: got %q %v, want %q", text, got, errs, want)
		}
	}
}

// Text without ${ is left as it is, and escaping makes any text so.
func TestExpandLeavesTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("${}:-aA "))).Draw(t, "text")
		if !strings.Contains(text, "${") {
			if got, errs := expand(text, Sources{Env: environ(), Secret: noSecrets}); got != text || errs != nil {
				t.Fatalf("%q became %q, %v", text, got, errs)
			}
		}
		if strings.Contains(text, "$${") {
			return // already escaped
		}
		if got, errs := expand(strings.ReplaceAll(text, "${", "$${"), Sources{Env: environ(), Secret: noSecrets}); got != text || errs != nil {
			t.Fatalf("escaped %q became %q, %v", text, got, errs)
		}
	})
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	d := &decoder{problems: &problems{}}
	var top, server []string
	for _, f := range d.fileFields(&layer{}) {
		top = append(top, f.name)
	}
	for _, f := range d.serverFields(&serverDraft{}) {
		server = append(server, f.name)
	}
	for _, tt := range []struct {
		word  string
		known []string
		want  string
	}{
		{"mcpserver", top, "mcpServers"},
		{"mcp_servers", top, "mcpServers"},
		{"servers", top, "mcpServers"},
		{"loglevel", top, "logLevel"},
		{"log-level", top, "logLevel"},
		{"pagesize", top, "pageSize"},
		{"prot", top, "port"},
		{"ratelimt", top, "rateLimit"},
		{"allowedHost", top, "allowedHosts"},
		{"behind_proxy", top, "behindProxy"},
		{"languages", top, ""},
		{"comand", server, "command"},
		{"commnad", server, "command"},
		{"arg", server, "args"},
		{"environment", server, "env"},
		{"uri", server, "url"},
		{"serverUrl", server, "url"},
		{"httpUrl", server, "url"},
		{"transport", server, "type"},
		{"header", server, "headers"},
		{"enabled", server, "disabled"},
		{"startup_timeout", server, "startupTimeout"},
		{"autoApprove", server, ""},
		{"zebra", server, ""},
		{"", server, ""},
		{strings.Repeat("x", 10000), server, ""},
	} {
		want := "use one of " + strings.Join(tt.known, ", ")
		if tt.want != "" {
			want = `did you mean "` + tt.want + `"?`
		}
		if got := didYouMean(tt.word, tt.known).String(); got != want {
			t.Errorf("%q: %s", tt.word, got)
		}
	}
}
