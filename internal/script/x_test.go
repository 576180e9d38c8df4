package script

import (
	"context"
	"testing"
	"fmt"
)

func TestX(t *testing.T) {
	p := newPool(t, Options{})
	for _, src := range []string{
		"const a = null;\nconst b = 1;\n   a.b.c = 3",
		"const a = {};\n\n  return a.foo.bar",
		"const f = (x) => {\n  return x.y.z;\n};\nconst s = '日本語'; f({})",
		"undefinedThing()",
		"let x = 1; undefinedThing()",
		"await sleep(1);\n undefinedThing()",
		"throw 'text'",
		"throw {a: 1}",
		"JSON.parse('{')",
		"await call('x')",
		"const x = /a/.test(5n + 1)",
		`let s='['.repeat(1e6); JSON.parse(s)`,
		`let s='['.repeat(1e5); JSON.parse(s)`,
		`let s = "1"; for (let i = 0; i < 1e5; i++) s = "(" + s + ")"; eval(s)`,
		`return 10n`,
		`const a = {}; a.a = a; return a`,
		`return () => 1`,
		`return Symbol.iterator`,
		`context.self = context`,
		"function f(a, {",
		"let x = {\n  a: 1,\n  b 2\n}",
		"let 日本 = ; ",
		"return 1 }",
		"import x from 'y'",
		`return /(?<y>\d{4})-(?=\d)\p{L}?/u.exec("2020-12").groups.y`,
	} {
		prog, err := p.Compile(context.Background(), "my hook (1): a", src)
		if err != nil {
			fmt.Printf("%.60q => COMPILE %T %v\n", src, err, err)
			continue
		}
		res, err := p.Run(context.Background(), Job{Program: prog, Context: []byte(`{"n":1}`)})
		if err != nil {
			fmt.Printf("%.60q => %s %v\n", src, err.(*Error).Kind, err)
		} else {
		fmt.Printf("%.60q => %s %s\n", src, res.Returned, res.Context)
		}
	}
}
