package app

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// What is shown of a definition has no literal secret, wherever it stands in a
// text; what is shown can be given back.
func TestMaskedDefinitions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept        bool
		given, want string
	}{
		"a file's": {
			given: `{"env":{"A":"plain","B":"${HOME}","C":"Bearer ${T}","D":"postgres://u:canary@${HOST}/x","E":"${T:-canary}","F":"a${X}b${Y}","G":"$${canary}"}}`,
			want:  `{"env":{"A":"***","B":"${HOME}","C":"Bearer ${T}","D":"***${HOST}***","E":"${T:-***}","F":"***${X}***${Y}","G":"***"}}`,
		},
		"a kept one's": {
			kept:  true,
			given: `{"env":{"A":"plain","B":"${HOME:-/root}","C_KEY":"${T:-canary-0123}","D":"${secret:x.D}"},"oauth":{"clientSecret":"canary-0123${X}"}}`,
			want:  `{"env":{"A":"plain","B":"${HOME:-/root}","C_KEY":"${T:-***}","D":"${secret:x.D}"},"oauth":{"clientSecret":"***${X}"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := readDefinition([]byte(c.given))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(d.masked("x", c.kept).json()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			back, err := readDefinition([]byte(c.want))
			if err != nil {
				t.Fatal(err)
			}
			if err := back.unmask("x", d, c.kept); err != nil {
				t.Fatal(err)
			}
			if got := string(back.json()); got != c.given {
				t.Errorf("given back it is %s", got)
			}
		})
	}
}

// What goes into the database has no literal secret, also where it stands beside a
// reference or another one.
func TestReferredSecrets(t *testing.T) {
	t.Parallel()
	d, err := readDefinition([]byte(`{"args":["--header","X-Api-Key: canary1","{\"token\": \"canary2\"}"],
		"env":{"DSN":"postgres://u:canary3@${HOST}/?password=canary4","CONN":"Server=x;Password=canary5"},
		"oauth":{"clientSecret":"${X}canary-6789"}}`))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := d.refer("x", func(l clients.Literal) (string, error) { n++; return "${secret:" + l.Variable + "}", nil }); err != nil {
		t.Fatal(err)
	}
	if got := string(d.json()); strings.Contains(got, "canary") || n != 6 {
		t.Errorf("%d secrets, and left is %s", n, got)
	}
}

// A server's output shows its secrets in none of the forms that programs print.
func TestHiddenOutput(t *testing.T) {
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
		shown := hide(s, text)
		for _, part := range []string{"words", "second", "MIIBVQ", "cGxhaW4"} {
			if strings.Contains(shown, part) {
				t.Errorf("%s is shown as %s", text, shown)
			}
		}
	}
}

// Of several patterns the first counts, so they stay in the order that they were
// written in, whatever is done with the definition.
func TestOptionsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const given = `{"command":"x","tools":{"allow":["*"],"options":{"z*":{"retry":1},"*":{"timeout":"2s"},"a<b>":{"retry":2}}}}`
	read := func(raw string) definition {
		t.Helper()
		d, err := readDefinition([]byte(raw))
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
		d = read(string(d.json())) // as the database keeps it
		if got := string(jsonrpc.Lookup(jsonrpc.Lookup(d.json(), "tools"), "options")); got != c.want {
			t.Errorf("after %s: %s, want %s", c.patch, got, c.want)
		}
	}
	for _, odd := range []string{`{"tools":5}`, `{"tools":{"options":5}}`, `{"tools":{"options":{}}}`, `{"Tools":{"options":{"b":1,"a":2}}}`} {
		if got := string(read(odd).json()); got != odd && odd[2] != 'T' {
			t.Errorf("%s became %s", odd, got)
		}
	}
	if err := read(`{"tools":{"options":{"a":{"timeout":"***"}}}}`).unmask("s", d, true); err == nil || gateway.AsError(err).Field != "tools.options.a.timeout" {
		t.Errorf("a mask that hides nothing: %v", err)
	}
}
