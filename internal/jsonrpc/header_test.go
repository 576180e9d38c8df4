package jsonrpc_test

import (
	"strings"
	"testing"

	"genkan/internal/jsonrpc"
)

// The examples of the specification, and what else a header cannot carry.
func TestHeaderEncoding(t *testing.T) {
	for text, want := range map[string]string{
		"us-west1":           "us-west1",
		"Hello, 世界":          "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":           "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":       "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"":                   "",
		"in the middle":      "in the middle",
		"a\tb":               "=?base64?YQli?=",
		"=?base64?begun":     "=?base64?begun",
	} {
		encoded := jsonrpc.EncodeHeader(text)
		if encoded != want {
			t.Errorf("%q became %q, want %q", text, encoded, want)
		}
		if back, ok := jsonrpc.DecodeHeader(encoded); !ok || back != text {
			t.Errorf("%q came back as %q, %v", text, back, ok)
		}
	}
	for _, bad := range []string{"世界", "a\x00b", "\x7f", "=?base64?!!?=", "=?base64?eA?="} {
		if text, ok := jsonrpc.DecodeHeader(bad); ok {
			t.Errorf("%q was taken for %q", bad, text)
		}
	}
}

func TestArgument(t *testing.T) {
	const arguments = `{"a":{"b c":{"d":1},"n":null,"s":"x"},"l":[{"d":2}],"n\u0061me":"escaped"}`
	for path, want := range map[string]string{
		"a/b c/d": "1", "a/s": `"x"`, "name": `"escaped"`,
		"a/n": "", "b": "", "a/s/d": "", "l/d": "", "a/n/d": "",
	} {
		got, err := jsonrpc.Argument([]byte(arguments), strings.Split(path, "/"))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
	for _, none := range []string{"", "null"} {
		if got, err := jsonrpc.Argument([]byte(none), []string{"a"}); got != nil || err != nil {
			t.Errorf("%q: %s, %v", none, got, err)
		}
	}
	// Of two, a server may read the other one.
	for _, twice := range []string{`{"a":1,"a":2}`, `{"a":1,"\u0061":null}`} {
		if got, err := jsonrpc.Argument([]byte(twice), []string{"a"}); err == nil {
			t.Errorf("%s: %s", twice, got)
		}
	}
}

func TestHeaderText(t *testing.T) {
	for value, want := range map[string]string{
		`"x\ny"`: "x\ny", `""`: "", "true": "true", "false": "false",
		"42": "42", "-7": "-7", "42.0": "42", "4.2e1": "42", "-0": "0",
		"9007199254740991": "9007199254740991", "-9007199254740991": "-9007199254740991",
	} {
		if got, ok := jsonrpc.HeaderText([]byte(value)); !ok || got != want {
			t.Errorf("%s became %q, %v", value, got, ok)
		}
	}
	for _, bad := range []string{"3.5", "9007199254740992", "1e400", "{}", "[1]", "", "null"} {
		if got, ok := jsonrpc.HeaderText([]byte(bad)); ok {
			t.Errorf("%s became %q", bad, got)
		}
	}
	for _, c := range []struct {
		text, value string
		same        bool
	}{
		{"42", "42", true},
		{"42.0", "42", true},
		{"42", "42.0", true},
		{"4.2e1", "42", true},
		{"42", `"42"`, true},
		{"42.0", `"42"`, false},
		{"0x2A", "42", false},
		{"+42", "42", false},
		{"", "0", false},
		{"43", "42", false},
		{"True", "true", false},
		{"true", "true", true},
		{"", `""`, true},
		{"{}", "{}", false},
	} {
		if got := jsonrpc.HeaderSays(c.text, []byte(c.value)); got != c.same {
			t.Errorf("%q for %s: %v", c.text, c.value, got)
		}
	}
}

func TestWithout(t *testing.T) {
	for object, want := range map[string]string{
		`{"a":1,"x":2,"b":3}`:                  `{"a":1,"b":3}`,
		`{ "x" : {"x":1} , "b" : 3 }`:          `{ "b" : 3 }`,
		`{"a" : 1 , "x" : [2] }`:               `{"a" : 1 }`,
		`{ "x":1 }`:                            `{  }`,
		`{"x":1,"\u0078":2,"a":3,"x":4,"x":5}`: `{"a":3}`,
		`{"a":{"x":1}}`:                        `{"a":{"x":1}}`,
		`{}`:                                   `{}`,
		`["x"]`:                                `["x"]`,
	} {
		if got := string(jsonrpc.Without([]byte(object), "x")); got != want {
			t.Errorf("%s became %s, want %s", object, got, want)
		}
	}
}
