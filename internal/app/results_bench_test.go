//go:build unix

package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/logs"
)

// BenchmarkWithinBudget is what a budget adds to whole calls whose answers pass it. A
// client in a process of its own calls a tool over loopback HTTP. Each round makes the
// same number of calls of a gateway with a budget and of two without one, in turns. The
// second one without a budget shows the noise. Processor time and allocations are those
// of the gateways. What is added is the median of the differences in the rounds, beside
// its quartiles.
//
//	go test ./internal/app -run '^$' -bench WithinBudget -benchtime 400x
func BenchmarkWithinBudget(b *testing.B) {
	source := &readySource{}
	instead := func(next gateway.Handler) gateway.Handler {
		return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			tool := *call.Tool
			tool.Source = source
			call.Tool = &tool
			return next.Handle(ctx, call)
		})
	}
	client := startBenchClient(b)
	var houses []benchTarget
	for _, budget := range []any{"off", "off", 25_000} {
		config := servers(conf{"one": child(b)})
		config["budget"] = budget
		h := openHouse(b, config, func(o *Options) {
			o.Inspect = []gateway.Middleware{instead}
			o.Log = slog.New(logs.NewJSONHandler(io.Discard, nil))
		})
		h.waitReady("one")
		houses = append(houses, benchTarget{Address: strings.TrimPrefix(h.base, "http://"), Token: h.token, Calls: 100, Callers: 4})
	}
	prose := "The corridor keeps each call whole, and \"the answer\" passes as the bytes that came.\n"
	row := `{"id": 48213, "sku": "QX-7719-b", "qty": 12, "at": "2026-11-15T09:41:07Z"},`
	// 80 kB of prose have about 20,000 tokens, and the rows 24,500.
	for _, answer := range []struct {
		name, text string
		size       int
	}{{"256B", prose, 256}, {"16kB", prose, 16 << 10}, {"80kB", prose, 80_000}, {"nearlyFull", row, 42750}} {
		b.Run(answer.name, func(b *testing.B) {
			text := strings.Repeat(answer.text, 1+answer.size/len(answer.text))[:answer.size]
			raw := append(jsonrpc.AppendQuoted([]byte(`{"content":[{"type":"text","text":`), text), `}]}`...)
			source.answer.Store(&gateway.Result{Raw: raw})
			samples := make([][]benchSample, len(houses))
			for _, h := range houses {
				client.call(b, h)
			}
			for round := 0; b.Loop(); round++ {
				for i := range houses {
					n := (i + round) % len(houses)
					samples[n] = append(samples[n], client.call(b, houses[n]))
				}
			}
			cpu := func(s benchSample) float64 { return s.cpu }
			allocs := func(s benchSample) float64 { return s.allocs }
			without, with := quartiles(samples[0], nil, cpu), quartiles(samples[2], nil, cpu)
			added, noise := quartiles(samples[2], samples[0], cpu), quartiles(samples[1], samples[0], cpu)
			percent := func(µs float64) float64 { return 100 * µs / without[1] }
			b.ReportMetric(without[1], "µs/call-without")
			b.ReportMetric(with[1], "µs/call-with")
			b.ReportMetric(quartiles(samples[0], nil, allocs)[1], "allocs/call-without")
			b.ReportMetric(quartiles(samples[2], nil, allocs)[1], "allocs/call-with")
			b.ReportMetric(0, "ns/op") // of a round
			b.ReportMetric(percent(added[1]), "%-added")
			b.Logf("%d bytes: %.1f µs without a budget, %.1f with; added %.1f %% (%.1f to %.1f), noise %.1f %% (%.1f to %.1f)",
				len(raw), without[1], with[1], percent(added[1]), percent(added[0]), percent(added[2]), percent(noise[1]), percent(noise[0]), percent(noise[2]))
		})
	}
}

// readySource is a source that has its answer ready.
type readySource struct {
	answer atomic.Pointer[gateway.Result]
}

func (*readySource) Name() string                     { return "one" }
func (*readySource) List(gateway.Kind) []gateway.Tool { return nil }

func (s *readySource) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	result := *s.answer.Load()
	return &result, nil
}

// benchSample is what one call cost the gateway.
type benchSample struct {
	cpu    float64 // µs
	allocs float64
}

// quartiles returns the quartiles and the median of a figure, or of its difference to that
// of another series in the same round.
func quartiles(series, floor []benchSample, figure func(benchSample) float64) [3]float64 {
	all := make([]float64, len(series))
	for i := range series {
		all[i] = figure(series[i])
		if floor != nil {
			all[i] -= figure(floor[i])
		}
	}
	slices.Sort(all)
	return [3]float64{all[len(all)/4], all[len(all)/2], all[len(all)*3/4]}
}

// benchTarget is a gateway that the client calls.
type benchTarget struct {
	Address, Token string
	Calls, Callers int
}

// benchClientEnv makes the test binary the client.
const benchClientEnv = "GENKAN_BENCH_CLIENT"

// benchClient is the client's process.
type benchClient struct {
	in  *json.Encoder
	out *bufio.Reader
}

func startBenchClient(b *testing.B) *benchClient {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), benchClientEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &benchClient{json.NewEncoder(in), bufio.NewReader(out)}
}

// call makes the calls of a target and returns what one of them cost this process.
func (c *benchClient) call(b *testing.B, t benchTarget) benchSample {
	b.Helper()
	runtime.GC() // each batch begins with the same heap
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processorTime(b)
	if err := c.in.Encode(t); err != nil {
		b.Fatal(err)
	}
	if line, err := c.out.ReadString('\n'); line != "done\n" {
		b.Fatalf("the client says %q: %v", line, err)
	}
	used := processorTime(b) - began
	runtime.ReadMemStats(&after)
	calls := float64(t.Calls)
	return benchSample{cpu: float64(used.Nanoseconds()) / 1e3 / calls, allocs: float64(after.Mallocs-before.Mallocs) / calls}
}

// processorTime returns the user and system time of this process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runBenchClient calls the targets that stdin names.
func runBenchClient() {
	connections := map[string]net.Conn{}
	var mu sync.Mutex
	requests := json.NewDecoder(os.Stdin)
	for {
		var t benchTarget
		if requests.Decode(&t) != nil {
			os.Exit(0)
		}
		failures := make(chan error, t.Callers)
		for caller := range t.Callers {
			go func() {
				key := fmt.Sprint(t.Address, caller)
				mu.Lock()
				c := connections[key]
				mu.Unlock()
				if c == nil {
					var err error
					if c, err = net.Dial("tcp", t.Address); err != nil {
						failures <- err
						return
					}
					mu.Lock()
					connections[key] = c
					mu.Unlock()
				}
				failures <- t.call(c, t.Calls/t.Callers)
			}()
		}
		for range t.Callers {
			if err := <-failures; err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
		fmt.Println("done")
	}
}

// call makes calls over one connection.
func (t *benchTarget) call(c net.Conn, calls int) error {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__echo","arguments":{"text":"hi"},"_meta":{%s}}}`, modernMeta)
	request := fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: one__echo\r\nContent-Length: %d\r\n\r\n%s",
		t.Address, t.Token, len(body), body)
	r := bufio.NewReaderSize(c, 128<<10)
	for range calls {
		if _, err := c.Write(request); err != nil {
			return err
		}
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s, %w", response.Status, err)
		}
	}
	return nil
}
