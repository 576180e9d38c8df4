package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/app"
	"genkan/internal/identity"
	"genkan/internal/sqlite"
	"genkan/internal/sqlite/blank"
	"genkan/internal/testkit"
)

// house is a whole gateway on loopback, with real servers behind it: what the
// edge promises is only worth something when it holds for all of it.
type house struct {
	tb      testing.TB
	process *app.Process
	dir     string
	// base is http://127.0.0.1:port; the endpoint is base + "/mcp".
	base   string
	token  string // the admin's
	client *http.Client
	config map[string]any
	// limits changes what the gateway is opened with; nil for nothing.
	limits func(*app.Options)
	// stop asks the gateway to stop serving, as a signal would.
	stop context.CancelFunc
	// end stops it and waits until nothing is left.
	end func()
}

// servers is the mcpServers part of a configuration.
type servers map[string]map[string]any

// child is a fault server that the gateway starts, sibling one that runs
// already and is called over HTTP.
func child(tb testing.TB, args ...string) map[string]any {
	tb.Helper()
	command, argv, env := testkit.FaultCommand(tb, args...)
	return map[string]any{"command": command, "args": argv, "env": env}
}

func sibling(tb testing.TB, args ...string) map[string]any {
	tb.Helper()
	return map[string]any{"url": testkit.StartFaultHTTP(tb, args...)}
}

// with adds settings to a server.
func with(server map[string]any, settings map[string]any) map[string]any {
	maps.Copy(server, settings)
	return server
}

// openHouse starts a gateway and waits until all its servers are ready. More
// settings than the servers may be given.
func openHouse(tb testing.TB, servers servers, settings ...map[string]any) *house {
	tb.Helper()
	h := startHouse(tb, servers, settings...)
	for name := range servers {
		h.waitForServer(name)
	}
	return h
}

// openLimitedHouse is openHouse with other limits than the usual ones.
func openLimitedHouse(tb testing.TB, servers servers, limits func(*app.Options)) *house {
	tb.Helper()
	h := &house{tb: tb, dir: tb.TempDir(), config: map[string]any{"mcpServers": servers, "kb": map[string]any{"enabled": false}}, limits: limits}
	h.writeConfig()
	h.start()
	for name := range servers {
		h.waitForServer(name)
	}
	return h
}

// startHouse is openHouse without the waiting.
func startHouse(tb testing.TB, servers servers, settings ...map[string]any) *house {
	tb.Helper()
	h := &house{tb: tb, dir: tb.TempDir(), config: map[string]any{"mcpServers": servers, "kb": map[string]any{"enabled": false}}}
	for _, s := range settings {
		maps.Copy(h.config, s)
	}
	h.writeConfig()
	h.start()
	return h
}

// again ends the gateway and starts another one on the same data directory.
func (h *house) again() *house {
	h.tb.Helper()
	h.end()
	next := &house{tb: h.tb, dir: h.dir, config: h.config}
	next.start()
	for name := range h.config["mcpServers"].(servers) {
		next.waitForServer(name)
	}
	return next
}

func (h *house) start() {
	tb := h.tb
	tb.Helper()
	var log syncBuffer
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the gateway's log:\n%s", log.tail())
		}
	})
	options := app.Options{
		DataDir: h.dir, ConfigFile: h.configFile(), Version: "1.2.3-test",
		LookupEnv: func(string) (string, bool) { return "", false },
		Log:       slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if h.limits != nil {
		h.limits(&options)
	}
	if err := blank.Write(filepath.Join(h.dir, "genkan.db")); err != nil {
		tb.Fatal(err)
	}
	p, err := app.Open(context.Background(), options)
	if err != nil {
		tb.Fatal(err)
	}
	h.process = p
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, listener) }()
	h.base = "http://" + listener.Addr().String()
	h.client = &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	h.end = sync.OnceFunc(func() {
		h.client.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			tb.Errorf("serving: %v", err)
		}
		if err := p.Close(); err != nil {
			tb.Errorf("closing: %v", err)
		}
	})
	tb.Cleanup(h.end)
	token, err := os.ReadFile(app.AdminTokenFile(h.dir))
	if err != nil {
		tb.Fatal(err)
	}
	h.token = strings.TrimSpace(string(token))
}

func (h *house) configFile() string { return filepath.Join(h.dir, "test.json") }

func (h *house) writeConfig() {
	h.tb.Helper()
	raw, err := json.Marshal(h.config)
	if err != nil {
		h.tb.Fatal(err)
	}
	if err := os.WriteFile(h.configFile(), raw, 0o600); err != nil {
		h.tb.Fatal(err)
	}
}

// waitForServer waits until a server answers and its tools are listed.
func (h *house) waitForServer(name string) {
	h.tb.Helper()
	testkit.Eventually(h.tb, func() bool {
		var status struct {
			State string `json:"state"`
			Tools int    `json:"tools"`
		}
		h.getJSON("/v1/servers/"+name, &status)
		return status.State == "ready" && status.Tools > 0
	}, "server %s is ready and its tools are listed", name)
}

func (h *house) getJSON(path string, into any) {
	h.tb.Helper()
	r := h.send(request{method: http.MethodGet, path: path})
	if err := json.Unmarshal(r.body, into); err != nil {
		h.tb.Fatalf("GET %s: %d %s: %v", path, r.status, r.body, err)
	}
}

// newToken makes a token for another client, as the command line does.
func (h *house) newToken(name string) string {
	h.tb.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(h.dir, "genkan.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		h.tb.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	_, secret, err := identity.NewTokens(store, "", time.Now).Add(ctx, name, false)
	if err != nil {
		h.tb.Fatal(err)
	}
	return secret.Reveal()
}

// revoke takes a token back, as another process would.
func (h *house) revoke(name string) {
	h.tb.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(h.dir, "genkan.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		h.tb.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := identity.NewTokens(store, "", time.Now).Revoke(ctx, name); err != nil {
		h.tb.Fatal(err)
	}
}

// recordFile is where a fault server writes down what reached it.
func recordFile(tb testing.TB) string { return filepath.Join(tb.TempDir(), "record") }

// calls are the tools/call messages in a record.
func calls(tb testing.TB, record string) []string {
	tb.Helper()
	var found []string
	for _, line := range testkit.Lines(tb, record) {
		if strings.Contains(line, `"method":"tools/call"`) {
			found = append(found, line)
		}
	}
	return found
}

// countLines counts the lines of a record that contain a text.
func countLines(tb testing.TB, record, text string) int {
	tb.Helper()
	n := 0
	for _, line := range testkit.Lines(tb, record) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// syncBuffer keeps a log that several goroutines write.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buf.Len() > 4<<20 { // the malformed frames make a lot of it
		b.buf.Reset()
	}
	return b.buf.Write(p)
}

func (b *syncBuffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.buf.String()
	return text[max(0, len(text)-8<<10):]
}
