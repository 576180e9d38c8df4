package lang

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestEverythingIsTranslated compares the tables with the source of the house.
func TestEverythingIsTranslated(t *testing.T) {
	files := shipped(t)
	texts, breaches := listen(files)
	if len(files) < 50 || len(texts) < 100 {
		t.Fatalf("%d files say %d texts: this test would pass without looking at anything", len(files), len(texts))
	}
	for _, breach := range slices.Concat(breaches, compare(texts, japanese)) {
		t.Error(breach)
	}
}

// TestComparisonFindsWhatIsWrong shows on invented source that each mistake is
// found, and that what is right passes.
func TestComparisonFindsWhatIsWrong(t *testing.T) {
	const importing = "package x\nimport \"genkan/internal/gateway\"\n"
	vocabulary := source{"internal/gateway/x.go", `package gateway
		type Error struct { Message string; Values []any }
		func Errorf(code int, format string, values ...any) *Error { return &Error{Message: format, Values: values} }
		type Text struct { Format string; Values []any }
		func Textf(format string, values ...any) Text { return Text{Format: format, Values: values} }`}
	language := source{"internal/lang/x.go", `package lang
		import "genkan/internal/gateway"
		func (l Language) Sprintf(format string, values ...any) string { return l.Text(gateway.Textf(format, values...)) }`}
	table := []map[string]string{{"it is %s": "%s です"}}
	tests := []struct {
		name, path, text string
		table            []map[string]string
		want             string // part of the only complaint; "" for none
	}{
		{"translated", "internal/x/x.go", `var a = gateway.Errorf(1, "it is %s", "a")`, table, ""},
		{"not translated", "internal/x/x.go", `var a = gateway.Errorf(1, "it is %s", "a"); var b = gateway.Errorf(1, "it was")`, table, `x.go:3: "it was" has no translation`},
		{"in an Error", "internal/x/x.go", `var a = &gateway.Error{Message: "it was"}`, nil, `"it was" has no translation`},
		{"in a Text", "internal/x/x.go", `var a = gateway.Textf("it was")`, nil, `"it was" has no translation`},
		{"assigned", "internal/x/x.go", `func f(e *gateway.Error) { e.Message, e.Values = "it was", nil }`, nil, `"it was" has no translation`},
		{"joined constants", "internal/x/x.go", `const was = "was"; var a = gateway.Errorf(1, "it " + was)`, nil, `"it was" has no translation`},
		{"through a function", "internal/x/x.go", `func wrong(s string) error { return gateway.Errorf(1, s) }; var a = wrong("it was")`, nil, `"it was" has no translation`},
		{"through two functions", "internal/x/x.go", `func a(s string) error { return b(2, s) }; func b(n int, s string) error { return gateway.Errorf(n, s) }; var c = a("it was")`, nil, `"it was" has no translation`},
		{"through a method", "internal/x/x.go", `func (r T) refuse(s string) error { return gateway.Errorf(1, s) }; func (r T) f() { r.refuse("it was") }`, nil, `"it was" has no translation`},
		{"through a language", "internal/x/x.go", `func f(l lang.Language) string { return l.Sprintf("it was") }`, nil, `"it was" has no translation`},
		{"the same name elsewhere", "internal/x/x.go", `func f() string { return fmt.Sprintf("it was") }; func g() { Errorf("it was") }`, nil, ""},
		{"not constant", "internal/x/x.go", `func f(e error) error { return gateway.Errorf(1, "it was " + e.Error()) }`, nil, "is not a constant"},
		{"not constant in an Error", "internal/x/x.go", `func f(s func() string) error { return &gateway.Error{Message: s()} }`, nil, "is not a constant"},
		{"passed on", "internal/x/x.go", `func f(e *gateway.Error) error { return &gateway.Error{Message: e.Message, Values: e.Values} }`, nil, ""},
		{"no words", "internal/x/x.go", `var a = gateway.Errorf(1, "%s: %d", "a", 1)`, nil, ""},
		{"never said", "internal/x/x.go", ``, table, `"it is %s" is translated, but nobody says it`},
		{"translated twice", "internal/x/x.go", `var a = gateway.Errorf(1, "it is %s", "a")`, append(table, table...), "is translated twice"},
		{"a value too few", "internal/x/x.go", `var a = gateway.Errorf(1, "it is %s")`, table, "has 1 places for 0 values"},
		{"a value too few in an Error", "internal/x/x.go", `var a = gateway.Error{Message: "it is %s"}`, table, "has 1 places for 0 values"},
		{"a verb missing", "internal/x/x.go", `var a = gateway.Errorf(1, "it is %s", "a")`, []map[string]string{{"it is %s": "です"}}, "the places of the translation"},
		{"another verb", "internal/x/x.go", `var a = gateway.Errorf(1, "it is %s", "a")`, []map[string]string{{"it is %s": "%d です"}}, "the places of the translation"},
		{"the order changed unsaid", "internal/x/x.go", `var a = gateway.Errorf(1, "%s is %d", "a", 1)`, []map[string]string{{"%s is %d": "%d は %s です"}}, "the places of the translation"},
		{"the order changed", "internal/x/x.go", `var a = gateway.Errorf(1, "%s is %d", "a", 1)`, []map[string]string{{"%s is %d": "%[2]d は %[1]s です"}}, ""},
		{"still English", "internal/x/x.go", `var a = gateway.Errorf(1, "it is %s", "a")`, []map[string]string{{"it is %s": "it is %s"}}, "is not Japanese"},
		{"another end", "internal/x/x.go", `var a = gateway.Errorf(1, "it is %s", "a")`, []map[string]string{{"it is %s": "%s です。"}}, "ends with a full stop"},
		{"help past the language", "internal/cli/x.go", `var a = &cobra.Command{Use: "x", Short: "Do it"}`, nil, `"Do it" is shown in English`},
		{"a flag past the language", "internal/cli/x.go", `func f() { cmd.Flags().String("x", "", "does it") }`, nil, `"does it" is shown in English`},
		{"print past the language", "internal/cli/x.go", `func f() { fmt.Fprintf(w, "done: %s", x) }`, nil, `is shown in English`},
		{"print without words", "internal/cli/x.go", `func f() { fmt.Fprintf(w, "genkan: %s\n", x) }`, nil, ""},
		{"does not parse", "internal/x/x.go", `func`, nil, "expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := importing + "import \"fmt\"; import \"genkan/internal/lang\"; import \"github.com/spf13/cobra\";" + tt.text
			texts, got := listen([]source{vocabulary, language, {tt.path, text}})
			if got == nil {
				got = compare(texts, tt.table)
			}
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("complaints %q, want none", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("complaints %q, want one that says %q", got, tt.want)
			}
		})
	}
}

// shipped reads the source of the binary.
func shipped(t *testing.T) []source {
	t.Helper()
	root := os.DirFS(filepath.Join("..", ".."))
	support := regexp.MustCompile(`^internal/(archtest|bench|storetest|testkit)$`)
	var files []source
	for _, top := range []string{"cmd", "internal"} {
		err := fs.WalkDir(root, top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && support.MatchString(name):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			text, err := fs.ReadFile(root, name)
			files = append(files, source{name, string(text)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// compare returns what is wrong between the texts that are said and the tables.
func compare(texts []said, tables []map[string]string) []string {
	var wrong []string
	complain := func(format string, values ...any) { wrong = append(wrong, fmt.Sprintf(format, values...)) }

	translations := map[string]string{}
	for _, table := range tables {
		for format, translation := range table {
			if _, again := translations[format]; again {
				complain("%q is translated twice", format)
			}
			translations[format] = translation
		}
	}
	heard := map[string]bool{}
	for _, s := range texts {
		if places := len(verbs(s.format)); s.values != unknown && s.values != places {
			complain("%s: %q has %d places for %d values", s.where, s.format, places, s.values)
		}
		if _, ok := translations[s.format]; !ok && !heard[s.format] && hasWords(s.format) {
			complain("%s: %q has no translation; add one to a table in internal/lang", s.where, s.format)
		}
		heard[s.format] = true
	}
	for format, translation := range translations {
		if !heard[format] {
			complain("%q is translated, but nobody says it", format)
		}
		if in, out := verbs(format), verbs(translation); !slices.Equal(in, out) {
			complain("the places of the translation of %q are %q, not %q", format, out, in)
		}
		if hasWords(format) && !strings.ContainsFunc(translation, isJapanese) {
			complain("the translation of %q is not Japanese: %q", format, translation)
		}
		if hasWords(format) && strings.HasSuffix(translation, "。") != strings.HasSuffix(format, ".") {
			complain("only one of %q and %q ends with a full stop; others may put it inside a sentence", format, translation)
		}
	}
	return wrong
}

var verb = regexp.MustCompile(`%([-+# 0]*\d*(?:\.\d+)?)(?:\[(\d+)\])?([a-zA-Z%])`)

// verbs are the places of a format, each with the number of its value, sorted.
func verbs(format string) []string {
	var found []string
	next := 1
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[3] == "%" {
			continue
		}
		if m[2] != "" {
			_, _ = fmt.Sscan(m[2], &next)
		}
		found = append(found, fmt.Sprintf("%d:%s%s", next, m[1], m[3]))
		next++
	}
	slices.Sort(found)
	return found
}

// international matches what Japanese writes as English does.
var international = regexp.MustCompile(`(?i)^(p\d\d )?ms$`)

// hasWords reports whether there is anything to translate.
func hasWords(format string) bool {
	rest := strings.TrimSpace(verb.ReplaceAllString(format, ""))
	return !international.MatchString(rest) && strings.ContainsFunc(rest, unicode.IsLetter)
}

func isJapanese(r rune) bool {
	return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han)
}
