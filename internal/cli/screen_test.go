package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// Characters that steer a terminal or that nobody sees are shown as escapes; what
// people write in any language stays.
func TestScreenShowsHiddenCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text\n\tand more\n":          "plain text\n\tand more\n",
		"玄関　の設計 café naïve":                 "玄関　の設計 café naïve",
		"\x1b[31mred\x1b[0m":                `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\x07":                  `\x1b]0;title\x07`,
		"one\rtwo\b\x00":                    `one\rtwo\x08\x00`,
		"Windows\r\nlines\r\n":              "Windows\nlines\n",
		"del\x7f c1\u009b31m nel\u0085":     `del\u007f c1\u009b31m nel\u0085`,
		"\u202egpj.exe\u202c \u2066a\u2069": `\u202egpj.exe\u202c \u2066a\u2069`,
		"mark\u200e\u200f\u061c":            `mark\u200e\u200f\u061c`,
		"hi\U000e0041\U000e007f":            `hi\U000e0041\U000e007f`,
		"pay\u200bpal pay\u200dpal \ufeff":  `pay\u200bpal pay\u200dpal \ufeff`,
		"family 👨‍👩‍👧 heart ❤️":             "family 👨‍👩‍👧 heart ❤️",
		"می‌خواهم 葛\U000e0100":              "می‌خواهم 葛\U000e0100", //nolint:staticcheck // what people write
		"😀\ufe01\ufe02\ufe03":               "😀\ufe01" + `\ufe02\ufe03`,
		"filler\u3164\u115f soft\u00adhy":   `filler\u3164\u115f soft\u00adhy`,
		"line\u2028para\u2029":              `line\u2028para\u2029`,
		"bad\xff\xfeutf \xe3\x81 end":       `bad\xff\xfeutf \xe3\x81 end`,
		"\ufffd is a character":             "\ufffd is a character",
	} {
		var out bytes.Buffer
		if n, err := fmt.Fprint(&screen{out: &out, form: gateway.AppendEscape}, text); err != nil || n != len(text) || out.String() != want {
			t.Errorf("%q is shown as %q, %d, %v; want %q", text, out.String(), n, err, want)
		}
	}
	if got, want := gateway.Printable("a\nb\tc\r\n"), `a\nb\tc\r\n`; got != want {
		t.Errorf("on one line: %q, want %q", got, want)
	}
}

// JSON keeps its meaning, and has nothing that a terminal obeys.
func TestJSONHasNoHiddenCharacters(t *testing.T) {
	t.Parallel()
	const text = "a\x1b\x7f\u009b\u202e\U000e0041\u200b\n\t玄関"
	var out bytes.Buffer
	c := &command{std: Streams{Out: &screen{out: &out, form: gateway.AppendEscape}}}
	if err := c.json(map[string]string{"text": text}); err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["text"] != text {
		t.Errorf("%s reads as %q, %v", out.String(), back["text"], err)
	}
	checkShown(t, out.String())
	out.Reset()
	if err := c.json(json.RawMessage("\"bad\xffbyte\"")); err != nil || !utf8.Valid(out.Bytes()) || !json.Valid(out.Bytes()) {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// A writer that cuts characters in two does not make them unreadable.
func TestScreenPutsSplitCharactersTogether(t *testing.T) {
	t.Parallel()
	const text = "玄関 😀 \xe3\x81x end\n"
	var out bytes.Buffer
	if _, err := io.Copy(&screen{out: &out, form: gateway.AppendEscape}, struct{ io.Reader }{iotest.OneByteReader(strings.NewReader(text))}); err != nil {
		t.Fatal(err)
	}
	if want := "玄関 😀 " + `\xe3\x81` + "x end\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// checkShown fails if a text has a character that a terminal obeys or does not show.
func checkShown(t interface {
	Helper()
	Errorf(string, ...any)
}, text string,
) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%q is not UTF-8", text)
	}
	for _, r := range text {
		if r == '\n' || r == '\t' {
			continue
		}
		const bidi, tagged = "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff", 0xe0000
		if unicode.IsControl(r) || strings.ContainsRune(bidi, r) || r >= tagged && r <= tagged+0x7f {
			t.Errorf("%q has %U", text, r)
		}
	}
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("\x1b[31m\u202e\xff\U000e0041 👨‍👩‍👧 玄関\r\n"), 3)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		if cut < 0 || cut > len(text) {
			cut = len(text) / 2
		}
		var out bytes.Buffer
		s := &screen{out: &out, form: gateway.AppendEscape}
		for _, part := range [][]byte{text[:cut], text[cut:], []byte("\n")} {
			if n, err := s.Write(part); n != len(part) || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		checkShown(t, out.String())
		if again := gateway.Escape(out.String(), true, gateway.AppendEscape); again != out.String() {
			t.Errorf("%q is shown as %q the second time", out.String(), again)
		}
		if line := gateway.Printable(string(text)); strings.ContainsAny(line, "\n\t") {
			t.Errorf("%q is not on one line", line)
		}
		out.Reset()
		quoted, err := json.Marshal(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&screen{out: &out, form: forPrograms}).Write(quoted); err != nil {
			t.Fatal(err)
		}
		checkShown(t, out.String())
		var first, second string
		if json.Unmarshal(quoted, &first) != nil || json.Unmarshal(out.Bytes(), &second) != nil || first != second {
			t.Errorf("%s became %s", quoted, out.String())
		}
	})
}
