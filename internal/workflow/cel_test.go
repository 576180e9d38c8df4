package workflow

import "testing"

// The messages of CEL that people meet most have words of their own.
func TestMessagesOfCEL(t *testing.T) {
	env, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	const seen = "; an expression sees request, response, metadata, vars and args"
	for source, want := range map[string]string{
		"foo":                      "there is no variable or function foo" + seen,
		"args.x.endswith('.md')":   "there is no variable or function endswith; did you mean endsWith?",
		"args.foo(1)":              "there is no variable or function foo" + seen,
		"1 + 'a'":                  "+ cannot be used with values of the types int, string",
		"'a' in 1":                 "in cannot be used with values of the types string, int",
		"size(1)":                  "size cannot be used with values of the types int",
		"true && 1":                "a value of type bool is needed here, and this is of type int",
		"args.x ==":                "syntax error: the expression ends too early",
		"args.x == 1 or args.y":    "syntax error: or is not expected here",
		"args.x = 1":               "syntax error: = is not expected here; == compares",
		"request.params['x'":       "syntax error: ] is missing",
		"has(args)":                "invalid argument to has() macro",
		"args.x == 1 || (args.y +": "syntax error: the expression ends too early",
	} {
		_, issues := env.Compile(source)
		if issues.Err() == nil {
			t.Errorf("%s compiles", source)
			continue
		}
		if got := celText(issues.Errors()[0].Message).String(); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	for _, said := range []string{"no such key: sql", "no such overload", "division by zero", "type conversion error from 'string' to 'int'", "error parsing regexp: missing closing ]: `[a`", "error parsing regexp: invalid escape sequence: `\\q`"} {
		if got := celText(said).String(); got != said {
			t.Errorf("%q became %q", said, got)
		}
	}
}
