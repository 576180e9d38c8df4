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
)

// inProcess runs a program as a worker does, in this process.
func inProcess(tb testing.TB, program *Program) func(text []byte) {
	s := newWorkerState(strings.NewReader(""), io.Discard)
	s.memory = DefaultMemory // set for a worker only
	tb.Cleanup(func() { s.clock.timer.Stop() })
	limits := Limits{}.orDefaults()
	code := program.Code
	return func(text []byte) {
		f := frame{fields: [maxFields][]byte{[]byte(program.ID), code, text, nil, nil, limits.encode()}}
		code = nil
		if err := s.run(&f); err != nil {
			tb.Fatal(err)
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
		{"4KB", redaction, result(4 << 10)},
		{"100KB", redaction, result(100 << 10)},
	}
}

func BenchmarkRun(b *testing.B) {
	for _, bench := range benchmarks() {
		p := newPool(b, Options{})
		program := compile(b, p, bench.source)
		local := inProcess(b, program)
		measure := func(b *testing.B, run func()) time.Duration {
			var times []time.Duration
			for range 50 {
				run()
			}
			for b.Loop() {
				begin := time.Now()
				run()
				times = append(times, time.Since(begin))
			}
			slices.Sort(times)
			p50 := times[len(times)/2]
			b.ReportMetric(float64(p50.Nanoseconds())/1000, "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1000, "p99-µs")
			return p50
		}
		var inside time.Duration
		b.Run(bench.name+"/in-process", func(b *testing.B) {
			b.SetBytes(int64(len(bench.context)))
			inside = measure(b, func() { local(bench.context) })
		})
		b.Run(bench.name+"/worker", func(b *testing.B) {
			b.SetBytes(int64(len(bench.context)))
			b.ReportAllocs()
			p50 := measure(b, func() {
				if _, err := p.Run(context.Background(), Job{Program: program, Context: bench.context}); err != nil {
					b.Fatal(err)
				}
			})
			if inside > 0 {
				b.ReportMetric(float64(p50)/float64(inside), "×in-process")
			}
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
