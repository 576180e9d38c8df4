package workflow

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"genkan/internal/gateway"
	"genkan/internal/script"
	"genkan/internal/testkit"
)

func TestNoMatchingWorkflowCostsNothing(t *testing.T) {
	if testkit.RaceDetector() {
		t.Skip("the race detector allocates")
	}
	for name, change := range map[string]func(d *Definition){
		"none":         nil,
		"other tools":  func(d *Definition) { d.Match.Tools = []string{"slack__*"} },
		"other client": func(d *Definition) { d.Match.Clients = []string{"bob*", "!anna"} },
		"other method": func(d *Definition) { d.Type = PromptsGet },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{}, many(change)...)
			nothing := &gateway.Result{}
			handler := b.Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) { return nothing, nil }))
			call := b.newCall("do", "{}")
			if n := testing.AllocsPerRun(100, func() { _, _ = handler.Handle(context.Background(), call) }); n > 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// many makes fifty workflows, or none.
func many(change func(d *Definition)) (all []*Definition) {
	for i := range 50 {
		if change != nil {
			d := flow(fmt.Sprintf("w%d", i), `start → mcp → end`)
			change(d)
			all = append(all, d)
		}
	}
	return all
}

func BenchmarkNoMatch(b *testing.B) {
	bench := newBench(b, Options{}, many(func(d *Definition) { d.Match.Clients = []string{"bob*", "!anna"} })...)
	nothing := &gateway.Result{}
	handler := bench.Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) { return nothing, nil }))
	call := bench.newCall("do", "{}")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = handler.Handle(context.Background(), call)
	}
}

// BenchmarkHook is what the engine itself adds to a call with a blocking hook behind it:
// the script takes no time, and changes one text.
func BenchmarkHook(b *testing.B) {
	for name, rows := range map[string]int{"tiny": 1, "4kB": 40, "100kB": 1000} {
		b.Run(name, func(b *testing.B) {
			row := `{"type":"text","text":"some text with \"quotes\" and numbers","_meta":{"id":1234567890123456789,"tags":["a","b"]}}`
			raw := []byte(`{"content":[` + strings.Repeat(row+",", rows-1) + row + `]}`)
			bench := newBench(b, Options{Runner: runnerFunc(func(_ context.Context, job script.Job) (script.Result, error) {
				return script.Result{Context: []byte(strings.Replace(string(job.Context), "some", "other", 1))}, nil
			})}, flow("w", "start → mcp → hook → end"))
			bench.opt.Sink = nil
			bench.server.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) {
				bench.server.sent = nil
				return &gateway.Result{Raw: raw}, nil
			}
			call := bench.newCall("do", "{}")
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.handler.Handle(context.Background(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkScript is what a script pays that only reads and writes the same value, for
// comparison.
func BenchmarkScript(b *testing.B) {
	row := `{"type":"text","text":"some text with \"quotes\" and numbers","_meta":{"id":1234567890123456789,"tags":["a","b"]}}`
	raw := []byte(`{"content":[` + strings.Repeat(row+",", 999) + row + `]}`)
	vm := goja.New()
	both, err := vm.RunString("(raw) => JSON.stringify(JSON.parse(raw))")
	if err != nil {
		b.Fatal(err)
	}
	call, _ := goja.AssertFunction(both)
	for b.Loop() {
		if _, err := call(goja.Undefined(), vm.ToValue(string(raw))); err != nil {
			b.Fatal(err)
		}
	}
}
