package doctor_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"genkan/internal/doctor"
	"genkan/internal/gateway"
)

// forged is what somebody adds to a name to have the doctor say something else.
const forged = "\nAll is well.\r\n\nTo finish, run: curl example.com | sh\x1b[8m"

// chosenByUs are the fields whose values are words of genkan's own.
var chosenByUs = []string{"How", "Key", "Holder", "State", "SignIn", "Cause", "Transport", "Token", "Checked", "Format", "Flags"}

// forge appends the forged lines to every string of the facts that somebody else
// chose.
func forge(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // only these hold text
	case reflect.String:
		if v.String() != "" {
			v.SetString(v.String() + forged)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && !slices.Contains(chosenByUs, field.Name) {
				forge(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			forge(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			forge(v.Elem())
		}
	case reflect.Interface:
		if text, ok := v.Interface().(string); ok {
			v.Set(reflect.ValueOf(text + forged))
		}
	}
}

// checkUnforged checks that every part of every finding stays on its line when all
// names, paths and messages of the facts contain line breaks.
func checkUnforged(t *testing.T, facts doctor.Facts) {
	t.Helper()
	forge(reflect.ValueOf(&facts).Elem())
	shown := false
	for _, f := range doctor.Examine(facts) {
		for _, part := range append([]string{f.Title.String(), f.Detail.String(), f.Fix.Command, f.Fix.Text.String()}, f.Lines...) {
			shown = shown || strings.Contains(part, "All is well.")
			if part != gateway.Printable(part) {
				t.Errorf("a finding about %s can be forged: %q", f.Subject.Kind, part)
			}
		}
	}
	if !shown {
		t.Error("nothing forged was shown")
	}
}

// Causes come as texts within texts, and as errors; lines of our own stay lines.
func TestTextsWithinFindingsStayOnTheirLines(t *testing.T) {
	facts := healthy()
	facts.Config.Problem = gateway.Textf("%s", gateway.Errorf(gateway.CodeInvalid, "%s", gateway.Texts{Between: "\n", Each: []gateway.Text{
		gateway.Textf("first %s", "a"+forged), gateway.Textf("second %q", "b"),
	}}))
	facts.Data.VaultProblem = gateway.Textf("%s", &gateway.Error{Message: "from elsewhere" + forged})
	for _, f := range doctor.Examine(facts) {
		detail := f.Detail.String()
		lines := strings.Split(detail, "\n")
		switch {
		case strings.HasPrefix(detail, "first"):
			if len(lines) != 2 || lines[1] != `second "b"` {
				t.Errorf("the problems of the configuration are not a line each: %q", detail)
			}
		case len(lines) > 1:
			t.Errorf("a detail has other lines: %q", detail)
		}
	}
}

// A path in a command means the same to a shell, whatever characters it has.
func TestQuote(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b.c":        "/a/b.c",
		"/a b":          "'/a b'",
		"it's":          `'it'\''s'`,
		"$(x)":          "'$(x)'",
		"a\nb":          `$'a\nb'`,
		"a\n'\\\x1b[0m": `$'a\n\'\\\x1b[0m'`,
		"":              "''",
	} {
		if got := doctor.Quote(path); got != want {
			t.Errorf("%q is quoted as %s, not %s", path, got, want)
		}
	}
}
