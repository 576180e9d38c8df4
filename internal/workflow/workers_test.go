package workflow

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"genkan/internal/gateway"
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
		"it denies, full stop": {"return {action: 'deny', reason: 'だめです。'}", `denied: workflow "w" refused this call: だめです. It`, ""},
		"it throws":            {"\n  throw new Error('x')", `line 2, column 9: Error: x`, ""},
		"it never ends":        {"while (true) {}", `denied: workflow "w" failed at its node "Script (hook)"`, ""},
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

// Whatever one client's run leaves behind, the next client's run in the same worker sees
// nothing of it: no globals, no prototypes, no answers that came too late, no console, no
// state of another session.
func TestClientsSeeNothingOfEachOther(t *testing.T) {
	t.Parallel()
	pool := script.NewPool(script.Options{Running: 1})
	t.Cleanup(pool.Close)
	env := &Environment{Compile: func(name, source string) (*script.Program, error) {
		return pool.Compile(context.Background(), name, source)
	}}
	late := make(chan struct{})
	b := newBench(t, Options{Runner: pool, Call: gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if call.Name == "github__late" {
			select {
			case <-late: // as late as it may be
			case <-ctx.Done():
			}
		}
		return &gateway.Result{Raw: textAnswer("answer to " + call.Identity.ClientID + " of " + call.Name)}, nil
	})})
	d := flow("w", "start → hook → mcp → end")
	d.Limits.HookMs, d.Limits.TotalMs = 60_000, 120_000
	d.State.Scope = scopeSession
	hook, err := encode(map[string]any{"hook": map[string]any{
		"blocking": true, "script": `
		const args = context.request.params.arguments;
		if (args.evil) {
			call("github__late", {}).then((x) => { globalThis.late = x; console.log("late " + x) });
			call("github__one", {}); fetch("https://example.com"); sleep(1).then(() => console.log("slept"));
			state.set("k", args.evil); Object.prototype.k = args.evil; Array.prototype.k = args.evil; globalThis.k = args.evil;
			try { vars.k = args.evil; vars.list.push(args.evil); params.k = args.evil } catch {}
			try { context.metadata.clientId = "bob" } catch {}
			call = () => args.evil; console.log = () => {}; mapText = () => args.evil;
			Promise.prototype.then = function () { return Promise.resolve(args.evil) };
			console.error(args.evil);
			return;
		}
		console.log("mine");
		args.seen = [await call("github__two", {}), await state.get("k") ?? null, ({}).k ?? null, [].k ?? null, globalThis.k ?? null, globalThis.late ?? null, vars, params, context.metadata.clientId];`,
		"params": map[string]any{"p": 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	d.node("hook").Data = hook
	d.Vars = map[string]json.RawMessage{"list": []byte("[1]")}
	w, problems := Compile(d, env)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	b.Use(NewSet([]*Workflow{w}))
	as := func(client, arguments string) string {
		call := b.newCall("do", arguments)
		call.Identity.ClientID = client
		return said(b.handler.Handle(context.Background(), call))
	}
	for i := range 5 {
		if got := as("alice", `{"evil":"of alice"}`); !strings.Contains(got, "done") {
			t.Fatal(got)
		}
		if i == 3 {
			close(late)
		}
		as("bob", `{}`)
		sent := b.server.sent[len(b.server.sent)-1]
		if want := `{"seen":["answer to bob of github__two",null,null,null,null,null,{"list":[1]},{"p":1},"bob"]}`; sent != want {
			t.Errorf("bob saw %s", sent)
		}
		last := b.traces.all[len(b.traces.all)-1]
		if console := last.Steps[0].Console; len(console) != 1 || console[0].Text != "mine" {
			t.Errorf("bob's console is %v", console)
		}
	}
	if got := pool.Stats(); got.Killed > 0 {
		t.Errorf("%+v", got)
	}
}
