package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/logs"
	"genkan/internal/script"
	"genkan/internal/shape"
	"genkan/internal/sqlite/blank"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) {
	script.Main() // does not return in a worker
	if os.Getenv(benchClientEnv) != "" {
		runBenchClient() // does not return
	}
	testkit.Main(m)
}

// testHouse is a whole gateway on loopback with real servers behind it.
type testHouse struct {
	*Process
	t     testing.TB
	dir   string
	base  string // http://127.0.0.1:port
	token string // the admin's
	http  *http.Client
	log   *testkit.Buffer
	level *slog.LevelVar
	// stop asks Serve to end, as SIGTERM does; ended has what it returned.
	stop  context.CancelFunc
	ended chan error
}

// conf is a part of a configuration file.
type conf = map[string]any

// child is a fault server that the gateway starts; sibling one that runs
// already and is called over HTTP.
func child(t testing.TB, args ...string) conf {
	t.Helper()
	command, argv, env := testkit.FaultCommand(t, args...)
	variables := conf{}
	for name, value := range env {
		variables[name] = value
	}
	return conf{"command": command, "args": argv, "env": variables}
}

func sibling(t testing.TB, args ...string) conf {
	t.Helper()
	return conf{"url": testkit.StartFaultHTTP(t, args...)}
}

func with(server conf, more conf) conf {
	server = maps.Clone(server)
	maps.Copy(server, more)
	return server
}

// servers is a configuration with servers and without built-in sources.
func servers(named conf) conf { return conf{"mcpServers": named, "kb": conf{"enabled": false}} }

type houseOption func(*Options)

// hurried gives servers a second to be in the first list, for tests in which one
// of them never is.
func hurried(opt *Options) { opt.FirstListPatience = time.Second }

// openHouse starts a gateway. It does not wait for its servers.
func openHouse(t testing.TB, config conf, options ...houseOption) *testHouse {
	t.Helper()
	return openHouseIn(t, t.TempDir(), config, options...)
}

func openHouseIn(t testing.TB, dir string, config conf, options ...houseOption) *testHouse {
	t.Helper()
	h := &testHouse{t: t, dir: dir, log: &testkit.Buffer{}, level: new(slog.LevelVar), ended: make(chan error, 1)}
	h.write(config)
	opt := Options{
		DataDir: dir, Version: "1.2.3-test", Level: h.level,
		LookupEnv: func(string) (string, bool) { return "", false },
		Log:       slog.New(logs.NewJSONHandler(h.log, &slog.HandlerOptions{Level: h.level})),
	}
	for _, o := range options {
		o(&opt)
	}
	if err := blank.Write(databaseFile(dir)); err != nil {
		t.Fatal(err)
	}
	p, err := Open(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	h.Process = p
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.base = "http://" + listener.Addr().String()
	h.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	go func() { h.ended <- p.Serve(ctx, listener) }()
	t.Cleanup(func() {
		h.http.CloseIdleConnections()
		stop()
		if err := <-h.ended; err != nil {
			t.Errorf("serving: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if t.Failed() {
			t.Logf("the log:\n%s", tail(h.log.String()))
		}
	})
	token, err := os.ReadFile(AdminTokenFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	h.token = strings.TrimSpace(string(token))
	return h
}

func tail(log string) string { return log[max(len(log)-8000, 0):] }

func (h *testHouse) file() string { return filepath.Join(h.dir, "genkan.yaml") }

// write replaces the configuration file, in one step, as editors do. JSON is
// YAML.
func (h *testHouse) write(config conf) {
	h.t.Helper()
	raw, err := json.Marshal(config)
	if err != nil {
		h.t.Fatal(err)
	}
	h.writeText(string(raw))
}

func (h *testHouse) writeText(text string) {
	h.t.Helper()
	temp := filepath.Join(h.t.TempDir(), "genkan.yaml")
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(temp, h.file()); err != nil {
		h.t.Fatal(err)
	}
}

// reload writes a configuration and takes it into force.
func (h *testHouse) reload(config conf) {
	h.t.Helper()
	h.write(config)
	if err := h.Reload(); err != nil {
		h.t.Fatal(err)
	}
}

// request sends an HTTP request with the admin's token.
func (h *testHouse) request(method, path, body string, header http.Header) (int, string) {
	h.t.Helper()
	status, text, err := h.tryRequest(method, path, body, header)
	if err != nil {
		h.t.Fatal(err)
	}
	return status, text
}

func (h *testHouse) tryRequest(method, path, body string, header http.Header) (int, string, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, h.base+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, values := range header {
		r.Header[name] = values
	}
	resp, err := h.http.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

// mcp sends a modern request and returns the whole answer.
func (h *testHouse) mcp(method, name, params string) (string, error) {
	header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
	if name != "" {
		header["Mcp-Name"] = []string{name}
		params = fmt.Sprintf(`"name":%q,%s`, name, params)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{%s}}}`, method, params, modernMeta)
	_, text, err := h.tryRequest(http.MethodPost, "/mcp", body, header)
	return strings.TrimPrefix(text, "event: message\ndata: "), err
}

// call calls a tool as a modern client and returns the text of its result.
func (h *testHouse) call(tool, arguments string) (string, error) {
	answer, err := h.mcp("tools/call", tool, `"arguments":`+arguments+`,`)
	if err != nil {
		return "", err
	}
	var m struct {
		Error  *struct{ Message string }
		Result struct {
			Content []struct{ Text string }
			IsError bool
			Meta    struct {
				Failure *struct{ Code string } `json:"genkan/error"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		return "", fmt.Errorf("%w: %s", err, answer)
	}
	switch {
	case m.Error != nil:
		return "", errors.New(m.Error.Message)
	case len(m.Result.Content) == 0:
		return "", fmt.Errorf("no content: %s", answer)
	case m.Result.Meta.Failure != nil:
		return "", errors.New(m.Result.Content[0].Text)
	case m.Result.IsError:
		return "", errors.New("tool error: " + m.Result.Content[0].Text)
	default:
		return m.Result.Content[0].Text, nil
	}
}

func (h *testHouse) mustCall(tool, arguments string) string {
	h.t.Helper()
	text, err := h.call(tool, arguments)
	if err != nil {
		h.t.Fatalf("%s: %v", tool, err)
	}
	return text
}

// serverStatus is what /v1/servers says of one.
type serverStatus struct {
	ListProblems []client.ListProblem `json:"listProblems"`

	Name, State, Problem string
	ProcessID, Tools     int
	Starts               int
	NextTry              *time.Time
	SignIn               string
	SignInExpires        *time.Time
}

func (h *testHouse) server(name string) serverStatus {
	h.t.Helper()
	var st serverStatus
	status, text := h.request(http.MethodGet, "/v1/servers/"+name, "", nil)
	if status != http.StatusOK {
		return serverStatus{State: text}
	}
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		h.t.Fatal(err)
	}
	return st
}

func (h *testHouse) waitReady(names ...string) {
	h.t.Helper()
	for _, name := range names {
		testkit.Eventually(h.t, func() bool { return h.server(name).State == "ready" }, "%s is ready", name)
	}
}

// tools are the names that clients see.
func (h *testHouse) tools() []string {
	h.t.Helper()
	answer, err := h.mcp("tools/list", "", "")
	if err != nil {
		h.t.Fatal(err)
	}
	var m struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		h.t.Fatal(err)
	}
	names := make([]string, 0, len(m.Result.Tools))
	for _, t := range m.Result.Tools {
		if t.Name != shape.ToolName { // which every list has
			names = append(names, t.Name)
		}
	}
	return names
}

func (h *testHouse) lists(tool string) bool {
	h.t.Helper()
	for _, name := range h.tools() {
		if name == tool {
			return true
		}
	}
	return false
}

// logLines are the lines of the log with a message.
func (h *testHouse) logLines(message string) []map[string]any {
	h.t.Helper()
	var found []map[string]any
	for line := range strings.Lines(h.log.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}
