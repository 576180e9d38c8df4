package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// attacks are scripts that end the engine's own process, or that it cannot interrupt,
// or that would change what a later run sees.
var attacks = []struct {
	name, source string
	kinds        string // one of these
}{
	{"loop", `while (true) {}`, "timeout"},
	{"loop after await", `await 0; while (true) {}`, "timeout"},
	{"loop of microtasks", `for (;;) await 0`, "timeout oom"}, // its garbage may come first
	{"loop in a promise", `new Promise(() => { for (;;); })`, "timeout"},
	{"loop that catches", `for (;;) { try { for (;;); } catch {} finally { continue } }`, "timeout"},
	{"loop in toJSON", `return {toJSON() { for (;;); }}`, "timeout"},
	{"loop in a thrown message", `throw {get message() { for (;;); }, toString() { for (;;); }}`, "timeout"},
	{"loop of sleeps", `for (;;) { await sleep(0); let i = 0; while (i < 1e5) i++ }`, "timeout"},
	{"lookahead regex", `/^(?=.)(a+)+$/.test("a".repeat(40) + "!")`, "timeout"},
	{"nested quantifier regex", `/^(?:(?=a)a+)+$/.test("a".repeat(40) + "!")`, "timeout"},
	{"backreference regex", `/^(a+)+\1$/.test("a".repeat(40) + "!")`, "timeout"},
	{"large string", `'x'.repeat(1 << 30)`, "oom timeout"},
	{"growing string", `let s = "x"; for (;;) s += s`, "oom timeout error crashed"},
	{"large array", `Array(2e8).fill(0)`, "oom timeout"},
	{"large sort", `const a = []; for (let i = 0; i < 2e7; i++) a[i] = i ^ 0x55555; a.sort()`, "oom timeout"},
	{"uninterruptible sort", `const a = new Uint32Array(1e7); for (let i = 0; i < 1e4; i++) a[i] = i; for (;;) a.sort()`, "oom timeout"},
	{"large buffer", `new ArrayBuffer(2 ** 40)`, "oom timeout error"},
	{"many buffers", `const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))`, "oom timeout"},
	{"nested eval", `const f = () => eval("f()"); f()`, "oom timeout crashed error"},
	{"nested eval text", `let s = "1"; for (;;) { s = "eval(" + JSON.stringify(s) + ")"; eval(s) }`, "oom timeout crashed error"},
	{"deep eval", `eval("[".repeat(1e6))`, "oom timeout crashed error"},
	{"nested new Function", `const f = () => new Function("f", "return f()")(f); f()`, "oom timeout crashed error"},
	{"deep new Function", `new Function("return " + "(".repeat(1e6))`, "oom timeout crashed error"},
	{"deep JSON.parse", `JSON.parse("[".repeat(1e7))`, "oom timeout crashed error"},
	{"deep JSON.stringify", `let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a`, "oom timeout crashed error"},
	{"JSON.parse without end", `const big = JSON.stringify(Array(5e4).fill("text")); for (;;) JSON.parse(big)`, "timeout oom"},
	{"recursion", `const f = () => 1 + f(); f()`, "error"},
	{"recursion through natives", `const f = () => [1].map(f); f()`, "error crashed"},
	{"recursion of toString", `const a = []; const o = {toString: () => "" + o}; "" + o`, "error crashed"},
	{"recursion of proxies", `let p = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.x`, "oom timeout crashed error"},
	{"promise that never settles", `await new Promise(() => {})`, "error"},
	{"million sleeps", `for (;;) sleep(1e6)`, "oom timeout"},
	{"endless console", `for (;;) console.log("x".repeat(1e5))`, "timeout oom"},
	{"large result", `return "x".repeat(2e6)`, "refused timeout"},
	{"large context", `context.x = "x".repeat(2e6)`, "refused timeout"},
	{"deep result", `let a = []; for (let i = 0; i < 300; i++) a = [a]; return a`, "refused"},
}

// The attacks run in real workers, beside innocent scripts. Each ends in its time, its
// worker stays small, and whoever comes next is served.
func TestAttacks(t *testing.T) {
	p := newPool(t, Options{})
	innocent := compile(t, p, `context.n++; return mapText({a: "x"}, s => s + context.n)`)
	programs := make([]*Program, len(attacks))
	for i, attack := range attacks {
		programs[i] = compile(t, p, attack.source)
	}

	ctx, stop := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	var served atomic.Int64
	// Usually they leave most of the processor to the attacks.
	rest := time.Duration(testkit.Count(10, 0)) * time.Millisecond
	for range 2 {
		beside.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				r, err := p.Run(context.Background(), Job{Program: innocent, Context: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Limits: patient})
				if want := fmt.Sprintf(`{"a":"x%d"}`, n+1); err != nil || string(r.Returned) != want {
					t.Errorf("an innocent run failed: %s, want %s, %v", r.Returned, want, err)
					return
				}
				served.Add(1)
				time.Sleep(rest)
			}
		})
	}
	var most atomic.Int64
	beside.Go(func() { // measures the workers
		for ctx.Err() == nil {
			p.mu.Lock()
			for r := range p.active {
				own, _ := r.worker.memory.read()
				most.Store(max(most.Load(), int64(own)))
			}
			p.mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	})
	defer beside.Wait()
	defer stop()

	for i, attack := range attacks {
		most.Store(0)
		limits := Limits{Time: 300 * time.Millisecond}
		if attack.kinds == "timeout" { // and does nothing else in a longer time
			limits.Time = time.Duration(testkit.Count(100, 300)) * time.Millisecond
		}
		begin := time.Now()
		_, err := p.Run(context.Background(), Job{Program: programs[i], Limits: limits})
		took := time.Since(begin)
		failure := failureOf(t, err)
		if failure == nil || !strings.Contains(attack.kinds, string(failure.Kind)) {
			t.Errorf("%s: %v, want %s", attack.name, err, attack.kinds)
			continue
		}
		if took > time.Minute {
			t.Errorf("%s took %v", attack.name, took)
		}
		memory := int(most.Load())
		// Memory is read now and then, more seldom on a busy machine, and a script goes on meanwhile.
		if memory > DefaultMemory*2 && !testkit.RaceDetector() {
			t.Errorf("%s took %d MB", attack.name, memory>>20)
		}
		t.Logf("%-28s %-8s %4d ms, %3d MB  %.90s", attack.name, failure.Kind, took.Milliseconds(), memory>>20, failure)
		// The next run works.
		if r, err := p.Run(context.Background(), Job{Program: innocent, Context: json.RawMessage(`{"n":1}`), Limits: patient}); err != nil || string(r.Context) != `{"n":2}` {
			t.Fatalf("after %s: %s, %v", attack.name, r.Context, err)
		}
	}
	t.Logf("%d innocent runs beside them; %+v", served.Load(), p.Stats())
}

// Payloads of servers are attacks, too. They are refused before a worker sees them.
func TestPayloadsAreCheckedBefore(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	program := &Program{ID: "never sent"}
	deep := json.RawMessage(strings.Repeat("[", 1e5))
	for _, job := range []Job{
		{Context: deep},
		{Vars: deep},
		{Params: json.RawMessage(strings.Repeat(`{"a":`, 201) + "1" + strings.Repeat("}", 201))},
		{Context: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)},
	} {
		job.Program = program
		_, err := p.Run(context.Background(), job)
		if failure := failureOf(t, err); failure == nil || failure.Kind != Refused {
			t.Errorf("%v", err)
		}
	}
	if s := p.Stats(); s.Started != 0 {
		t.Errorf("%+v", s)
	}
	program = compile(t, p, `return 1`)
	if _, err := p.Run(context.Background(), Job{Program: program, Context: json.RawMessage(strings.Repeat("[", 200) + strings.Repeat("]", 200)), Limits: patient}); err != nil {
		t.Error(err)
	}
	// What is not JSON fails, and the worker lives.
	for _, text := range []string{"{", "[]]", `{"a":1}x`, "nul", "\x00", `{"a":"\xff"}`, `{"__proto__":{"x":1}}`} {
		_, err := p.Run(context.Background(), Job{Program: program, Context: json.RawMessage(text), Limits: patient})
		if failure := failureOf(t, err); failure != nil && failure.Kind != Threw {
			t.Errorf("%q: %v", text, err)
		}
	}
	if s := p.Stats(); s.Killed != 0 || s.Started != 1 {
		t.Errorf("%+v", s)
	}
}

// Nothing that a run does is seen by the next one in the same worker.
func TestRunsSeeNothingOfEachOther(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Running: 1})
	pollute := compile(t, p, `
		globalThis.leak = 1; leaked = 2; var hoisted = 3;
		Object.prototype.polluted = "yes"; Array.prototype.map = () => "evil"; JSON.parse = () => ({evil: 1}); JSON.stringify = () => "evil";
		Promise.prototype.then = function () { return this }; String.prototype.replace = () => "evil"; console.log = () => {};
		mapText.evil = 1; Object.defineProperty(Object.getPrototypeOf(globalThis), "planted", {value: 1});`)
	look := compile(t, p, `
		console.log("here");
		return [typeof leak, typeof leaked, typeof hoisted, typeof planted, ({}).polluted, [1].map(x => x + 1), JSON.parse("[1]"), "a".replace("a", "b"), mapText.evil, await Promise.resolve(1).then(x => x + 1)]`)
	for range 3 {
		_, _ = p.Run(context.Background(), Job{Program: pollute, Limits: patient})
		r, err := p.Run(context.Background(), Job{Program: look, Limits: patient})
		if want := `["undefined","undefined","undefined","undefined",null,[2],[1],"b",null,2]`; err != nil || string(r.Returned) != want || len(r.Console) != 1 {
			t.Errorf("%s %v %v", r.Returned, r.Console, err)
		}
	}
	if s := p.Stats(); s.Started != 1 {
		t.Errorf("not the same worker: %+v", s)
	}
}
