package config

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

const canary = "sk-Canary/5+ecret"

// leaks looks for the canary as it is and as encodings would hide it.
func leaks(s string) bool {
	for _, form := range []string{canary, "Canary", url.QueryEscape(canary), base64.StdEncoding.EncodeToString([]byte(canary)), fmt.Sprintf("%x", canary)} {
		if strings.Contains(s, form) {
			return true
		}
	}
	return false
}

// However a configuration is printed, its secrets are not.
func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
mcpServers:
  a:
    command: npx
    args: [--api-key, "${KEY}", "--key=${KEY}"]
    env: {TOKEN: "${KEY}", OTHER: "${GONE:-`+canary+`}"}
  b:
    url: https://b.example.com/s/${KEY}/mcp?key=${KEY}#${KEY}
    headers: {Authorization: "Bearer ${env:KEY}"}
`, environ("KEY", canary), Flags{})
	if c.Servers[0].Env["TOKEN"].Reveal() != canary || c.Servers[0].Env["OTHER"].Reveal() != canary || !strings.Contains(c.Servers[1].URL, canary) {
		t.Fatal("the canary is not where it should be")
	}
	check := func(how, text string) {
		t.Helper()
		if leaks(text) {
			t.Errorf("%s shows a secret: %s", how, text)
		}
	}
	for _, v := range []any{c, *c, c.Servers, c.Servers[0], &c.Servers[1], []any{c.Servers[0]}, map[string]Server{"a": c.Servers[0]}, Diff(nil, c)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10v", "%t", "%T"} {
			check(verb, fmt.Sprintf(verb, v))
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		check("JSON", string(b))
		for _, handler := range []func(*bytes.Buffer) slog.Handler{
			func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var log bytes.Buffer
			slog.New(handler(&log)).Info("configuration", "value", v)
			check("slog", log.String())
		}
	}
	for _, s := range c.Servers {
		check("fingerprint", s.Fingerprint())
	}
	if got := fmt.Sprintf("%+v", c.Servers[1]); !strings.Contains(got, "URL:https://b.example.com/***") {
		t.Errorf("the host should be shown: %s", got)
	}
}

// Whatever is wrong with a file, the error does not quote its values.
func TestSecretsAreNotInErrors(t *testing.T) {
	t.Parallel()
	const q = `"` + canary + `"`
	env := environ("KEY", canary, "LINE", canary+"\n", "NUL", canary+"\x00")
	for _, text := range []string{
		"mcpServers: {a: {command: x, env: {A: [" + q + "]}}}",
		"mcpServers: {a: {command: x, env: [" + q + "]}}",
		"mcpServers: {a: {command: x, env: " + q + "}}",
		"mcpServers: {a: {command: x, env: {" + q + "}}}",
		"mcpServers: {a: {command: x, env: {'A=" + canary + "': x}}}",
		"mcpServers: {a: {command: x, args: " + q + "}}",
		"mcpServers: {a: {command: x, args: [{" + q + ": 1}]}}",
		"mcpServers: {a: {command: x, args: ['${" + canary + "']}}",
		"mcpServers: {a: {command: x, args: ['${" + canary + "}']}}",
		"mcpServers: {a: {command: x, args: ['${A:-" + canary + "${B}}']}}",
		"mcpServers: {a: {command: x, args: ['${NUL}']}}",
		"mcpServers: {a: {command: x, url: 'https://x/${KEY}'}}",
		"mcpServers: {a: {url: " + q + "}}",
		"mcpServers: {a: {url: '${KEY}'}}",
		"mcpServers: {a: {url: 'https://u:${KEY}@x'}}",
		"mcpServers: {a: {url: 'https://x:${KEY}'}}",
		"mcpServers: {a: {url: 'https://%zz${KEY}'}}",
		"mcpServers: {a: {url: 'https://x', headers: {A: '${LINE}'}}}",
		"mcpServers: {a: {url: 'https://x', headers: {'Bearer " + canary + "'}}}",
		"mcpServers: {a: {url: 'https://x', headers: {'Bearer " + canary + "': x}}}",
		"mcpServers: {a: {command: x, timeout: " + q + "}}",
		"mcpServers: {a: {command: x, prefix: " + q + "}}",
		"mcpServers: {a: {command: x, tools: {allow: ['[" + canary + "']}}}",
		"listen: " + q, "host: 'x " + canary + "'", "port: " + q, "tls: " + q, "cors: {origin: " + q + "}", "allowedHosts: [" + q + "]", "folders: [" + q + "]", "workflows: " + q, "approvals: {webhook: " + q + "}", "approvals: {link: '${KEY}'}",
		// Syntax errors near a secret.
		"a: " + canary + "\n  b: " + canary + "\n",
		"a: \"" + canary, "a: '" + canary, "a: {b: " + canary, "a: [" + canary, "a: b: " + canary,
		"a: *" + canary, "a: &" + canary + " x", "a: !" + canary + " x", "a: @" + canary, "a: `" + canary, "a: %" + canary, "%" + canary,
		"a:\n\t" + canary, "a: |\n  " + canary + "\n b: x", "a: >" + canary + "\n", "a: |" + canary + "\n", "a: |2" + canary + "\n x", "a: \"\\" + canary, "a: \"\\u" + canary, "a: !<" + canary, "- " + canary + "\na: b", "? " + canary + "\n? [x]: y",
		canary, q, "[" + q + "]", "{" + q + ": ", "{" + q + " " + q + "}", `{"a": "` + canary + `}`, `{"a": "\` + canary + `"}`, `{"a": ` + canary + "}",
	} {
		if got := refused(t, text, env, Flags{}); leaks(got) {
			t.Errorf("%s\nshows a secret: %s", text, got)
		}
	}
	for _, text := range []string{
		"mcpServers: {a: {command: x, args: ['${GONE} " + canary + "']}}",
		"mcpServers: {a: {command: x, args: ['${GONE}${KEY}']}}",
		"mcpServers: {a: {command: x, env: {A: '${secret:GONE}${KEY}'}}}",
	} {
		if got := mustLoad(t, text, env, Flags{}).Servers[0].Unresolved.String(); got == "" || leaks(got) {
			t.Errorf("%s\nshows a secret: %s", text, got)
		}
	}
	slipped := environ("PORT", canary, "HOST", canary+" ", "LOG_LEVEL", canary, "CORS_ENABLED", canary, "CORS_ORIGIN", canary)
	if got := refused(t, "", slipped, Flags{}); leaks(got) {
		t.Errorf("the environment shows a secret: %s", got)
	}
}
