package script

import (
	"context"
	"testing"
)

func compile(tb testing.TB, p *Pool, source string) *Program {
	tb.Helper()
	program, err := p.Compile(context.Background(), "test.js", source)
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

func newPool(tb testing.TB, opts Options) *Pool {
	p := NewPool(opts)
	tb.Cleanup(p.Close)
	return p
}

func TestSmoke(t *testing.T) {
	p := newPool(t, Options{})
	for _, src := range []string{
		`context.x = 1; console.log("hi", {a:1}); return {action: "東京😀"}`,
		`await sleep(5); ctx = {y: 2}`,
		"let a = 1;\nlet b = 2; throw new Error('boo ' + (a+b))",
		`null.x`,
		`while(true){}`,
		`await 0; for(;;) await 0`,
		`'x'.repeat(1<<30)`,
		`await new Promise(() => {})`,
		`const f = n => f(n+1); f(0)`,
		`let s='['.repeat(1e6); JSON.parse(s)`,
		`const x: number = 3; return x`,
		`async function* g(){yield 1; yield 2}; let s=0; for await (const x of g()) s+=x; return s`,
	} {
		prog := compile(t, p, src)
		res, err := p.Run(context.Background(), Job{Program: prog, Context: []byte(`{"n":1}`)})
		t.Logf("%s\n  %s %s %v %v", src, res.Returned, res.Context, res.Stats, err)
		if err != nil { t.Logf("   %+v", err) }
	}
}
