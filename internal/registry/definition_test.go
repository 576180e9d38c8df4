package registry

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/redact"
)

// A masked definition has no literal secret at any place in a text, and restoring
// it gives the original.
func TestMaskedDefinitions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		registered  bool
		given, want string
	}{
		"of the file": {
			given: `{"env":{"A":"plain","B":"${HOME}","C":"Bearer ${T}","D":"postgres://u:canary@${HOST}/x","E":"${T:-canary}","F":"a${X}b${Y}","G":"$${canary}"}}`,
			want:  `{"env":{"A":"***","B":"${HOME}","C":"Bearer ${T}","D":"***${HOST}***","E":"${T:-***}","F":"***${X}***${Y}","G":"***"}}`,
		},
		"of the registry": {
			registered: true,
			given:      `{"env":{"A":"plain","B":"${HOME:-/root}","C_KEY":"${T:-canary-0123}","D":"${secret:x.D}"},"oauth":{"clientSecret":"canary-0123${X}"}}`,
			want:       `{"env":{"A":"plain","B":"${HOME:-/root}","C_KEY":"${T:-***}","D":"${secret:x.D}"},"oauth":{"clientSecret":"***${X}"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parseDefinition([]byte(c.given))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(d.masked("x", c.registered).json()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			back, err := parseDefinition([]byte(c.want))
			if err != nil {
				t.Fatal(err)
			}
			if err := back.restoreMasked("x", d, c.registered); err != nil {
				t.Fatal(err)
			}
			if got := string(back.json()); got != c.given {
				t.Errorf("restored: %s", got)
			}
		})
	}
}

// A stored definition has no literal secret, also where one stands beside a
// reference or another secret.
func TestLiteralSecretsAreReplaced(t *testing.T) {
	t.Parallel()
	d, err := parseDefinition([]byte(`{"args":["--header","X-Api-Key: canary1","{\"token\": \"canary2\"}"],
		"env":{"DSN":"postgres://u:canary3@${HOST}/?password=canary4","CONN":"Server=x;Password=canary5"},
		"oauth":{"clientSecret":"${X}canary-6789"}}`))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := d.replaceSecrets("x", func(l clients.Literal) (string, error) { n++; return "${secret:" + l.Variable + "}", nil }); err != nil {
		t.Fatal(err)
	}
	if got := string(d.json()); strings.Contains(got, "canary") || n != 6 {
		t.Errorf("%d secrets, and left is %s", n, got)
	}
}

// The output of a server is shown without its secrets, in whatever encoding it
// prints them.
func TestOutputIsRedacted(t *testing.T) {
	t.Parallel()
	const key, pem = "plain words & more", "-----BEGIN KEY-----\nMIIBVQ+abc/def\n-----END KEY-----\n"
	s := config.Server{
		Name: "x", Args: []string{"--x", key, "a=" + key + ";b=second word"},
		Env:        map[string]gateway.Secret{"PEM": pem},
		Definition: `{"args":["--x","${secret:A}","a=${secret:A};b=${secret:B}"],"env":{"PEM":"${secret:PEM}"}}`,
	}
	quoted, err := json.Marshal(map[string]string{"PEM": pem, "x": key})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"x is " + key, "b is second word.", string(quoted), pem, "/?x=plain+words+%26+more", "/plain%20words%20&%20more",
		base64.StdEncoding.EncodeToString([]byte(key)),
	} {
		shown := redactOutput(s, text)
		for _, part := range []string{"words", "second", "MIIBVQ", "cGxhaW4"} {
			if strings.Contains(shown, part) {
				t.Errorf("%s is shown as %s", text, shown)
			}
		}
	}
}

// The values of a configuration's secrets have the names that people know them by.
func TestSecretValuesAreNamed(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Servers: []config.Server{{
		Name: "x", Args: []string{"--dsn=host=h password=the-first"}, URL: "https://x.example/?key=the-second",
		Env:        map[string]gateway.Secret{"API_TOKEN": "ghp_0123456789abcdef", "PLAIN": "nothing"},
		Headers:    map[string]gateway.Secret{"Authorization": "Bearer the-third"},
		Definition: `{"args":["--dsn=host=h password=${secret:DB}"],"headers":{"Authorization":"Bearer ${secret:REMOTE}"}}`,
	}}}
	rules := redact.New(SecretValues(cfg))
	for text, want := range map[string]string{
		"it said the-first.": "it said [redacted:vault:DB].", "it said the-second.": "it said [redacted:vault:x.url].", "it said the-third.": "it said [redacted:vault:REMOTE].",
		"it said ghp_0123456789abcdef.": "it said [redacted:vault:x.API_TOKEN].", "it said nothing.": "it said nothing.",
	} {
		if got, _ := rules.Text(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
}

// The first matching pattern applies, so masking, patching and storing keep the
// order of the patterns.
func TestToolOptionsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const given = `{"command":"x","tools":{"allow":["*"],"options":{"z*":{"retry":1},"*":{"timeout":"2s"},"a<b>":{"retry":2}}}}`
	read := func(raw string) definition {
		t.Helper()
		d, err := parseDefinition([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := read(given)
	if got := string(d.masked("s", true).json()); got != given {
		t.Errorf("shown as %s", got)
	}
	for _, c := range []struct{ patch, want string }{
		{`{"tools":{"options":{"*":{"retry":3}}}}`, `{"z*":{"retry":1},"*":{"retry":3,"timeout":"2s"},"a<b>":{"retry":2}}`},
		{`{"tools":{"options":{"b":{"retry":4},"z*":null,"a":{"retry":5}}}}`, `{"*":{"retry":3,"timeout":"2s"},"a<b>":{"retry":2},"b":{"retry":4},"a":{"retry":5}}`},
		{`{"tools":{"options":null}}`, ``},
		{`{"tools":{"options":{"y":{"retry":null,"timeout":5},"nothing":null,"b":{}}}}`, `{"y":{"timeout":5},"b":{}}`},
		{`{"tools":null}`, ``},
		{`{"tools":{"options":{"q":{},"p":{}}}}`, `{"q":{},"p":{}}`},
	} {
		d.merge(read(c.patch))
		d = read(string(d.json())) // as the database stores it
		if got := string(jsonrpc.Lookup(jsonrpc.Lookup(d.json(), "tools"), "options")); got != c.want {
			t.Errorf("after %s: %s, want %s", c.patch, got, c.want)
		}
	}
	for _, odd := range []string{`{"tools":5}`, `{"tools":{"options":5}}`, `{"tools":{"options":{}}}`, `{"Tools":{"options":{"b":1,"a":2}}}`} {
		if got := string(read(odd).json()); got != odd && odd[2] != 'T' {
			t.Errorf("%s became %s", odd, got)
		}
	}
	if err := read(`{"tools":{"options":{"a":{"timeout":"***"}}}}`).restoreMasked("s", d, true); err == nil || gateway.AsError(err).Field != "tools.options.a.timeout" {
		t.Errorf("a mask that stands for nothing: %v", err)
	}
}
