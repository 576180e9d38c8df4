package script

import (
	"strings"
	"testing"
)

func TestCheckSaysWhereTheMistakeIs(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                          "",
		"return await $input.all()": "",
		"for await (const x of y) { x?.z ?? 010 }\nreturn []":               "",
		"const items = $('A').all();\nreturn items.map((i) => ({json: i}))": "",
		"// a comment at the end":                                           "",
		"retrun 1;":                                                         `line 1, column 8: Expected ";" but found "1"`,
		"const a = 1;\nconst 日本 = ;":                                        `line 2, column 12: Unexpected ";"`,
		"if (x) {":                                                          "line 1, column 9: Unexpected end of file",
		"return [":                                                          "line 1, column 9: Unexpected end of file",
		"f(\n  a":                                                           `line 2, column 4: Expected ")" but found end of file`,
		"a()\nreturn `b":                                                    "line 2, column 10: Unterminated string literal",
		"import fs from 'fs'":                                               `line 1, column 8: Unexpected "fs"`,
		"let b; let b;\nlet c; let c":                                       `line 1, column 12: The symbol "b" has already been declared; line 2, column 12: The symbol "c" has already been declared`,
	} {
		got := ""
		if err := Check(source); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s", source, got)
		}
	}
}

// What would cost the parser its stack is left alone.
func TestCheckLeavesHostileCodeAlone(t *testing.T) {
	t.Parallel()
	for _, source := range []string{strings.Repeat("(", 1<<20), strings.Repeat("[", 1_000), strings.Repeat("!", 1<<20)} {
		if err := Check(source); err != nil {
			t.Errorf("%.10s: %v", source, err)
		}
	}
}
