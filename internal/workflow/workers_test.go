package workflow

import (
	"context"
	"strings"
	"testing"

	"genkan/internal/script"
)

// The engine with the workers that scripts really run in.
func TestWorkers(t *testing.T) {
	t.Parallel()
	pool := script.NewPool(script.Options{})
	t.Cleanup(pool.Close)
	env := &Environment{Compile: func(name, source string) (*script.Program, error) {
		return pool.Compile(context.Background(), name, source)
	}}
	for name, c := range map[string]struct {
		script, want, sent string
	}{
		"it changes arguments": {"context.request.params.arguments.q = vars.q ?? await Promise.resolve('b')", `{"content"`, `{"id":1234567890123456789,"q":"b"}`},
		"it denies":            {"return {action: 'deny', reason: 'no'}", `denied: workflow "w" refused this call: no.`, ""},
		"it throws":            {"\n  throw new Error('x')", `line 2, column 9: Error: x`, ""},
		"it never ends":        {"while (true) {}", `denied: workflow "w" failed at its node "hook"`, ""},
		"it calls":             {"await call('github__other', {a: 1})", `{"content"`, `{"a":1} {"id":1234567890123456789}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{Runner: pool})
			d := flow("w", "start → hook → mcp → end")
			d.Limits.HookMs = 500
			d.Match.Tools = []string{"*__do"}
			hook, err := encode(map[string]any{"hook": map[string]any{"script": c.script, "blocking": true}})
			if err != nil {
				t.Fatal(err)
			}
			d.node("hook").Data = hook
			w, problems := Compile(d, env)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			b.Use(NewSet([]*Workflow{w}))
			if got := b.call("do", `{"id":1234567890123456789}`); !strings.Contains(got, c.want) || strings.Join(b.server.sent, " ") != c.sent {
				t.Errorf("%s, sent %v", got, b.server.sent)
			}
		})
	}
	d := flow("w", "start → hook → mcp → end\nhook: let x = ;")
	if problems := Validate(d, env); len(problems) != 1 || problems[0].Line != 1 || problems[0].Column != 9 {
		t.Errorf("%v", problems)
	}
}
