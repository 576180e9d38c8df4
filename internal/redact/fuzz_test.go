package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// Whatever is around it, a known value does not stay, JSON stays valid, and what was
// redacted is not redacted again.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"password":"hunter2","a":[1,2.5e3,true,null],"text":"GITHUB_TOKEN=abc"}`, `{"text":"{\"a\":\"b\",\"token\":\"x1x2x3\"}"}`, `"x"`, `[`, `{"a":"\u00e9\ud83d\ude00\/\\"}`,
		"Authorization: Bearer abcdef123456\nCookie: a=b", "postgres://me:pw@host/x?password=y%20z&amp;k", `{"name":"TOKEN","value":"x"}`,
		"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "[redacted:key:password] [redacted:vault:KEY]", "password=a[redacted:key:token]b",
	} {
		f.Add(seed, "the-known value+1", uint16(3))
		f.Add(seed, `with "quotes" \ and é`, uint16(9))
	}
	f.Fuzz(func(t *testing.T, text, value string, at uint16) {
		rules := New([]Known{{"KEY", gateway.Secret(value)}, {"OTHER", "another-known-value"}})
		check := func(body string) string {
			t.Helper()
			out, names := rules.JSON([]byte(body))
			if json.Valid([]byte(body)) && !json.Valid(out) {
				t.Fatalf("%q became %q", body, out)
			}
			if names == nil && string(out) != body {
				t.Fatalf("%q became %q by no rule", body, out)
			}
			if again, names := rules.JSON(out); string(again) != string(out) {
				t.Fatalf("%q became %q and then %q by %v", body, out, again, names)
			}
			return string(out)
		}
		check(text)
		once, _ := rules.Text(text)
		if twice, names := rules.Text(once); twice != once {
			t.Fatalf("%q became %q and then %q by %v", text, once, twice, names)
		}
		// The value must not be a part of a mark, and must differ from what is around it.
		if len(value) < 8 || len(rules.known.names) < 2 || !utf8.ValidString(value) || strings.Contains("[redacted:vault:KEY] [redacted:vault:OTHER]", value) || strings.ContainsAny(value, "[]%") || strings.TrimSpace(value) != value {
			return
		}
		i := min(int(at), len(text))
		for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte("x" + value)), url.QueryEscape(value), url.PathEscape(value)} {
			secret := form
			if form != value {
				secret = " " + form + " "
			}
			got, _ := rules.Text(text[:i] + secret + text[i:])
			if n := strings.Count(got, form); n > strings.Count(text, form) {
				t.Fatalf("%q stays in %q", form, got)
			}
			quoted, err := json.Marshal(map[string]any{"x": secret, "y": []string{text}})
			if err != nil {
				t.Fatal(err)
			}
			written, _ := json.Marshal(form)
			if out := check(string(quoted)); strings.Contains(out, `"x":"`+strings.Trim(string(written), `"`)) || strings.Contains(out, `"x":" `+strings.Trim(string(written), `"`)) {
				t.Fatalf("%q stays in %s", form, out)
			}
		}
	})
}
