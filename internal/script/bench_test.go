package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
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

// echo is a process that returns each frame as it came.
func echo() {
	runtime.GOMAXPROCS(1)
	in, out := bufio.NewReaderSize(os.Stdin, 64<<10), bufio.NewWriterSize(os.Stdout, 64<<10)
	for {
		f, err := readFrame(in, 1<<30)
		if err != nil || writeFrame(out, f.kind, f.fields[:]...) != nil || out.Flush() != nil {
			return
		}
	}
}

// echoed sends a text to another process and back, as a worker is spoken to: no worker can
// answer sooner.
func echoed(tb testing.TB) func(text []byte) {
	inChild, in, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, outChild, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "script-echo")
	cmd.Stdin, cmd.Stdout = inChild, outChild
	err = cmd.Start()
	_ = errors.Join(inChild.Close(), outChild.Close())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = errors.Join(in.Close(), cmd.Wait(), out.Close())
	})
	w := &worker{writer: bufio.NewWriterSize(in, 64<<10), reader: bufio.NewReaderSize(out, 64<<10)}
	return func(text []byte) {
		err := w.send(frameJob, text)
		if err == nil {
			_, err = readFrame(w.reader, 1<<30)
		}
		if err != nil {
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
		{"tiny beside 100KB", `if (context.request.params.name === "delete") return {action: "deny"}`, result(100 << 10)},
		{"4KB", redaction, result(4 << 10)},
		{"100KB", redaction, result(100 << 10)},
	}
}

// BenchmarkRun runs each script in turns with goja in process and with an echo between two
// processes, so that all see the same machine.
func BenchmarkRun(b *testing.B) {
	for _, bench := range benchmarks() {
		b.Run(bench.name, func(b *testing.B) {
			p := newPool(b, Options{})
			program := compile(b, p, bench.source)
			local, floor := inProcess(b, program), echoed(b)
			subjects := []func(){
				func() { local(bench.context) },
				func() {
					if _, err := p.Run(context.Background(), Job{Program: program, Context: bench.context}); err != nil {
						b.Fatal(err)
					}
				},
				func() { floor(bench.context) },
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
			for i, name := range []string{"in-process", "worker", "echo"} {
				slices.Sort(times[i])
				b.ReportMetric(at(i, 10), name+"-p10-µs")
				b.ReportMetric(at(i, 50), name+"-p50-µs")
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(at(1, 99), "worker-p99-µs")
			b.ReportMetric(at(1, 50)/at(0, 50), "×in-process")
		})
	}
	b.Run("start", func(b *testing.B) {
		file, err := executable()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			w, err := startWorker(file)
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
