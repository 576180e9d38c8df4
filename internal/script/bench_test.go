package script

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
)

// inProcess runs a program with goja in this process, in a new runtime each time, as one
// would without workers. What a script may use is made by the worker's own code.
func inProcess(tb testing.TB, program *Program) func(text []byte) {
	s := newWorkerState(strings.NewReader(""), io.Discard)
	s.clock.timer.Stop()
	compiled, err := s.program(&frame{fields: [maxFields][]byte{nil, program.Code}})
	if err != nil {
		tb.Fatal(err)
	}
	return func(text []byte) {
		e := s.newEnvironment()
		e.limits = Limits{}.orDefaults()
		global, codec := e.vm.GlobalObject(), e.vm.Get("JSON").ToObject(e.vm)
		parse, _ := goja.AssertFunction(codec.Get("parse"))
		stringify, _ := goja.AssertFunction(codec.Get("stringify"))
		given, err := parse(nil, e.vm.ToValue(string(text)))
		if err != nil {
			tb.Fatal(err)
		}
		_ = global.Set("context", given)
		function, err := e.vm.RunProgram(compiled)
		if err != nil {
			tb.Fatal(err)
		}
		call, _ := goja.AssertFunction(function)
		for _, v := range []func() (goja.Value, error){
			func() (goja.Value, error) { return call(goja.Undefined()) },
			func() (goja.Value, error) { return stringify(nil, given) },
		} {
			if _, err := v(); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

const redaction = `
const secret = /\b(?:sk|ghp|xox[bp])[-_][A-Za-z0-9]{16,}\b/g, mail = /[\w.+-]+@[\w-]+\.[\w.]+/g;
mapText(context.response, (s) => s.replace(secret, "[secret]").replace(mail, "[mail]"));`

// result is a context whose result has about that many bytes.
func result(size int) []byte {
	var rows []map[string]any
	for i := 0; len(rows)*250 < size/2; i++ {
		rows = append(rows, map[string]any{"id": i, "name": fmt.Sprintf("name %d", i), "mail": fmt.Sprintf("a%d@example.com", i), "note": strings.Repeat("lorem ipsum ", 12), "key": "sk_" + strings.Repeat("x", 20)})
	}
	text, _ := json.Marshal(rows)
	whole, _ := json.Marshal(map[string]any{
		"request":  map[string]any{"method": "tools/call", "params": map[string]any{"name": "list", "arguments": map[string]any{"n": 1}}},
		"response": map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}, "structuredContent": map[string]any{"rows": rows}},
		"metadata": map[string]any{"clientId": "a", "serverName": "b", "workflowId": "c", "nodeId": "d"},
	})
	return whole
}

type benchmark struct {
	name, source string
	context      []byte
}

func benchmarks() []benchmark {
	return []benchmark{
		{"tiny", `if (context.request.params.name === "delete") return {action: "deny"}`, result(0)},
		{"tiny beside 100KB", `if (context.request.params.name === "delete") return {action: "deny"}`, result(100 << 10)},
		{"4KB", redaction, result(4 << 10)},
		{"100KB", redaction, result(100 << 10)},
	}
}

// BenchmarkRun runs each script in turns with goja in process, so that both see the same
// machine.
func BenchmarkRun(b *testing.B) {
	for _, bench := range benchmarks() {
		b.Run(bench.name, func(b *testing.B) {
			p := newPool(b, Options{})
			program := compile(b, p, bench.source)
			local := inProcess(b, program)
			subjects := []func(){
				func() { local(bench.context) },
				func() {
					if _, err := p.Run(context.Background(), Job{Program: program, Context: bench.context}); err != nil {
						b.Fatal(err)
					}
				},
			}
			const turn = 20
			times := make([][]time.Duration, len(subjects))
			for b.Loop() {
				for i, run := range subjects {
					for range turn {
						begin := time.Now()
						run()
						times[i] = append(times[i], time.Since(begin))
					}
				}
			}
			at := func(i, percent int) float64 { return float64(times[i][len(times[i])*percent/100].Nanoseconds()) / 1000 }
			for i := range times {
				slices.Sort(times[i])
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(at(0, 50), "in-process-p50-µs")
			b.ReportMetric(at(0, 10), "in-process-p10-µs")
			b.ReportMetric(at(1, 10), "worker-p10-µs")
			b.ReportMetric(at(1, 50), "worker-p50-µs")
			b.ReportMetric(at(1, 99), "worker-p99-µs")
			b.ReportMetric(at(1, 50)/at(0, 50), "×in-process")
		})
	}
	b.Run("start", func(b *testing.B) {
		p := newPool(b, Options{})
		for b.Loop() {
			p.mu.Lock()
			p.procs++
			p.mu.Unlock()
			w, err := p.start()
			if err != nil {
				b.Fatal(err)
			}
			w.kill()
			<-w.exited
		}
	})
	b.Run("compile", func(b *testing.B) {
		p := newPool(b, Options{})
		for b.Loop() {
			compile(b, p, redaction)
		}
	})
}
