package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"genkan/internal/app"
	"genkan/internal/catalog"
	"genkan/internal/execute"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/lock"
	"genkan/internal/logs"
	"genkan/internal/mcpserver"
	"genkan/internal/record"
	"genkan/internal/upstream"
)

// sizes of the calls.
var sizes = []int{256, 16 << 10}

// BenchmarkScan is the one look that a message gets on its way in.
func BenchmarkScan(b *testing.B) {
	for _, size := range sizes {
		for _, era := range eras {
			body := []byte(target{Era: era, Method: "tools/call", Tool: "fake__echo", Size: size}.body())
			b.Run(era+"/"+sizeLabel(size), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := jsonrpc.Scan(body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCorridor is a call from the edge to a source that has the answer
// ready, and back: what the house itself costs.
func BenchmarkCorridor(b *testing.B) {
	for _, size := range sizes {
		benchmarkCalls(b, inProcess(b, fakeSource(size)), size)
	}
}

// BenchmarkUpstream adds the upstream over HTTP, on a wire that answers at
// once.
func BenchmarkUpstream(b *testing.B) {
	for _, size := range sizes {
		for _, era := range eras {
			e, err := newEcho(era, 0)
			if err != nil {
				b.Fatal(err)
			}
			log := slog.New(slog.DiscardHandler)
			s := upstream.Open(upstream.Settings{Name: "fake", URL: "http://127.0.0.1/mcp", StartupTimeout: 10 * time.Second}, upstream.Deps{
				Lists: noLists{}, Log: log, Publish: func(gateway.Event) {}, Transport: wire{e}, Version: "bench",
			})
			b.Cleanup(s.Close)
			if err := eventually(func() bool { return s.Status().State == upstream.StateReady }); err != nil {
				b.Fatal(err)
			}
			benchmarkEra(b, inProcess(b, s), era, size)
		}
	}
}

// BenchmarkGenkan is the whole handler that genkan serves, with a real child.
func BenchmarkGenkan(b *testing.B) {
	for _, era := range eras {
		dir := b.TempDir()
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		config := fmt.Appendf(nil, `{"mcpServers":{"fake":{"command":%q,"args":[%q,"child",%q,"0"]}}}`, self, roleCommand, era)
		if err := os.WriteFile(filepath.Join(dir, "genkan.yaml"), config, 0o600); err != nil {
			b.Fatal(err)
		}
		p, err := app.Open(b.Context(), app.Options{DataDir: dir, Log: discardLog(b), Version: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = p.Close() })
		token, err := os.ReadFile(app.AdminTokenFile(dir))
		if err != nil {
			b.Fatal(err)
		}
		handler := p.Handler()
		authorized := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header["Authorization"] = []string{"Bearer " + string(bytes.TrimSpace(token))}
			handler.ServeHTTP(w, r)
		})
		try := newExchange(authorized, era, 256)
		if err := eventually(func() bool { return try.do() == nil }); err != nil {
			b.Fatal(err, try.do())
		}
		benchmarkEra(b, authorized, era, 256)
	}
}

// BenchmarkList is tools/list with 500 tools.
func BenchmarkList(b *testing.B) {
	h := inProcess(b, &source{list: toolList(listed - 1)})
	for _, era := range eras {
		x := newExchange(h, era, 0)
		x.body = []byte(target{Era: era, Method: "tools/list"}.body())
		x.request.Header.Set("Mcp-Method", "tools/list")
		x.run(b, era)
	}
}

func benchmarkCalls(b *testing.B, h http.Handler, size int) {
	for _, era := range eras {
		benchmarkEra(b, h, era, size)
	}
}

func benchmarkEra(b *testing.B, h http.Handler, era string, size int) {
	newExchange(h, era, size).run(b, era+"/"+sizeLabel(size))
}

func sizeLabel(size int) string {
	if size >= 1<<10 {
		return fmt.Sprintf("%dKB", size>>10)
	}
	return fmt.Sprintf("%dB", size)
}

// exchange is a request that is made again and again, and an answer that is
// thrown away: what is counted is what the house allocates.
type exchange struct {
	handler http.Handler
	era     string
	request *http.Request
	body    []byte
	reader  bytes.Reader
	header  http.Header
	status  int
	answer  []byte
}

func newExchange(h http.Handler, era string, size int) *exchange {
	x := &exchange{handler: h, era: era, header: http.Header{}}
	x.body = []byte(target{Era: era, Method: "tools/call", Tool: "fake__echo", Size: size}.body())
	x.request = httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", nil)
	head := x.request.Header
	head.Set("Content-Type", "application/json")
	head.Set("Accept", "application/json, text/event-stream")
	head.Set("Authorization", "Bearer bench")
	if era == "modern" {
		head.Set("Mcp-Protocol-Version", modernVersion)
		head.Set("Mcp-Method", "tools/call")
		head.Set("Mcp-Name", "fake__echo")
	} else {
		head.Set("Mcp-Protocol-Version", legacyVersion)
	}
	return x
}

func (x *exchange) Header() http.Header { return x.header }
func (x *exchange) WriteHeader(s int)   { x.status = s }
func (x *exchange) Write(p []byte) (int, error) {
	// The beginning tells whether it is an answer; copying a long list would
	// cost more than making it.
	x.answer = append(x.answer, p[:min(len(p), 512)]...)
	return len(p), nil
}

// do makes the request once.
func (x *exchange) do() error {
	if x.era == "legacy" && x.request.Header.Get("Mcp-Session-Id") == "" {
		call := x.body
		x.body = []byte(target{Era: "legacy", Method: "initialize"}.body())
		if err := x.once(); err != nil {
			return err
		}
		x.body = call
		x.request.Header.Set("Mcp-Session-Id", x.header.Get("Mcp-Session-Id"))
	}
	return x.once()
}

func (x *exchange) once() error {
	x.status, x.answer = 0, x.answer[:0]
	clear(x.header)
	x.reader.Reset(x.body)
	x.request.Body, x.request.ContentLength = io.NopCloser(&x.reader), int64(len(x.body))
	x.handler.ServeHTTP(x, x.request)
	if x.status != http.StatusOK || !bytes.Contains(x.answer, []byte(`"result"`)) {
		return fmt.Errorf("answered with %d %.300s", x.status, x.answer)
	}
	return nil
}

func (x *exchange) run(b *testing.B, name string) {
	b.Helper()
	if err := x.do(); err != nil {
		b.Fatal(err)
	}
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := x.once(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// inProcess is the edge and the corridor before a source, as app puts them
// together, but for what needs a data directory.
func inProcess(b *testing.B, s gateway.Source) http.Handler {
	b.Helper()
	log := discardLog(b)
	c := catalog.New([]catalog.Mount{{Source: s, Prefix: "fake"}}, 0, log)
	corridor := gateway.Chain(execute.New(execute.DefaultLimits()),
		record.New(log, func(_, text string) string { return text }).Middleware, resolve(c), (&catalog.Validator{}).Middleware)
	known := func(context.Context, string) (gateway.Identity, error) {
		return gateway.Identity{ClientID: "bench"}, nil
	}
	edge := mcpserver.New(mcpserver.Options{
		House: func() mcpserver.House { return rooms{corridor, c} },
		Admit: lock.New(known, lock.Rules{}).Admit, Log: log, Version: "bench",
		Budget: gateway.NewShares(1 << 30),
	})
	b.Cleanup(edge.Close)
	return edge
}

// discardLog encodes lines as genkan does, and throws them away.
func discardLog(b *testing.B) *slog.Logger {
	b.Helper()
	sink := logs.NewSink(io.Discard)
	b.Cleanup(sink.Close)
	return logs.New(sink, slog.LevelInfo, false)
}

func resolve(c *catalog.Catalog) gateway.Middleware {
	return func(next gateway.Handler) gateway.Handler {
		return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
			if err := c.Resolve(call); err != nil {
				return nil, err
			}
			return next.Handle(ctx, call)
		})
	}
}

// rooms is a house without upstairs.
type rooms struct {
	gateway.Handler
	catalog *catalog.Catalog
}

func (r rooms) Page(_ context.Context, _ gateway.View, kind gateway.Kind, cursor string) (*catalog.Page, error) {
	return r.catalog.Page(kind, cursor)
}

func (r rooms) Describe(gateway.View) mcpserver.Description     { return mcpserver.Description{} }
func (r rooms) Has(gateway.View) bool                           { return true }
func (r rooms) Count(gateway.Identity) error                    { return nil }
func (r rooms) SetLogLevel(string)                              {}
func (r rooms) Forget(string)                                   {}
func (r rooms) ClientNotified(*gateway.Session, string, []byte) {}
func (r rooms) Tasks(context.Context, *gateway.Call, string) ([]byte, error) {
	return []byte(`{"tasks":[]}`), nil
}

func (r rooms) Subscribe(context.Context, *gateway.Call, func(string)) (func(), error) {
	return func() {}, nil
}

// source has its answer ready.
type source struct {
	list   []byte
	result gateway.Result
}

func fakeSource(size int) *source {
	raw := append([]byte(`{"resultType":"complete","content":[{"type":"text","text":`), jsonrpc.Lookup(arguments(size), "text")...)
	return &source{list: toolList(0), result: gateway.Result{Raw: append(raw, "}]}"...)}}
}

func (s *source) Name() string { return "fake" }

func (s *source) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return nil
	}
	var tools []gateway.Tool
	err := jsonrpc.Elements(s.list, func(definition []byte) bool {
		tools = append(tools, gateway.Tool{Name: jsonrpc.LookupText(definition, "name"), Definition: definition})
		return true
	})
	if err != nil {
		panic(err)
	}
	return tools
}

func (s *source) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	r := s.result
	return &r, nil
}

// wire answers requests without a network.
type wire struct{ server *echo }

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return &http.Response{StatusCode: http.StatusMethodNotAllowed, Body: http.NoBody}, nil
	}
	body, err := readWhole(r.Body, r.ContentLength)
	if err != nil {
		return nil, err
	}
	answer, _, ok := w.server.answer(make([]byte, 0, len(body)+256), body)
	if !ok {
		return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody}, nil
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)),
	}, nil
}

// noLists is a store that remembers nothing.
type noLists struct{}

func (noLists) LoadList(context.Context, string) (upstream.SavedList, bool, error) {
	return upstream.SavedList{}, false, nil
}
func (noLists) SaveList(context.Context, string, upstream.SavedList) error { return nil }

// eventually waits for something that happens by itself.
func eventually(ok func() bool) error {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return nil
		}
	}
	return errors.New("it did not happen in time")
}
