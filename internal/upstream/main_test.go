package upstream

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/launch"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(scriptEnv) != "":
		os.Exit(runScript(os.Getenv(scriptEnv), os.Getenv(scriptRecordEnv)))
	case len(os.Args) == 2 && os.Args[1] == guardArgument:
		launch.RunGuard(os.Stdin)
		os.Exit(0)
	}
	// Most tests wait for a process, so more run at once than there are cores.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	testkit.Main(m)
}

// guardArgument makes this test binary the guard process. Guards get no
// environment, so it cannot be a variable.
const guardArgument = "be-the-guard"

// lists is the store of last known lists.
type lists struct {
	mu    sync.Mutex
	saved map[string]SavedList
}

func (l *lists) LoadList(_ context.Context, server string) (SavedList, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, ok := l.saved[server]
	return list, ok, nil
}

func (l *lists) SaveList(_ context.Context, server string, list SavedList) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.saved == nil {
		l.saved = map[string]SavedList{}
	}
	l.saved[server] = list
	return nil
}

// upstreamTest is one server under test and what the house around it notices.
type upstreamTest struct {
	*Server
	t      testing.TB
	log    *testkit.Buffer
	lists  *lists
	mu     sync.Mutex
	events []gateway.Event
}

type option func(*Settings, *Deps)

func withLists(l *lists) option  { return func(_ *Settings, d *Deps) { d.Lists = l } }
func withLimits(l limits) option { return func(_ *Settings, d *Deps) { d.limits = l } }
func withLauncher(l *launch.Launcher) option {
	return func(_ *Settings, d *Deps) { d.Launcher = l }
}

func withStartup(d time.Duration) option {
	return func(s *Settings, _ *Deps) { s.StartupTimeout = d }
}

func withHeader(name, value string) option {
	return func(s *Settings, _ *Deps) { s.Headers = map[string]gateway.Secret{name: gateway.Secret(value)} }
}

func withEnv(name, value string) option {
	return func(s *Settings, _ *Deps) { s.Env[name] = gateway.Secret(value) }
}

// open opens a server without waiting for it. It is closed with the test.
func open(t testing.TB, set Settings, options ...option) *upstreamTest {
	t.Helper()
	u := &upstreamTest{t: t, log: &testkit.Buffer{}, lists: &lists{}}
	if set.Name == "" {
		set.Name = "srv"
	}
	set.StartupTimeout = 60 * time.Second
	set.Fingerprint = "one"
	deps := Deps{
		Folder: func(_ gateway.Identity, named string) (string, gateway.Text) { return named, gateway.Text{} },
		Lists:  u.lists, Version: "1.2.3",
		Log: slog.New(slog.NewTextHandler(u.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Publish: func(e gateway.Event) {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.events = append(u.events, e)
		},
	}
	for _, o := range options {
		o(&set, &deps)
	}
	u.Server = Open(set, deps)
	t.Cleanup(func() {
		u.Close()
		if t.Failed() {
			t.Logf("log of %s:\n%s", set.Name, u.log)
		}
	})
	return u
}

// faultChild is a fault server as a child.
func faultChild(t testing.TB, args ...string) Settings {
	t.Helper()
	command, argv, env := testkit.FaultCommand(t, args...)
	return commandOf(command, argv, env)
}

func commandOf(command string, argv []string, env map[string]string) Settings {
	set := Settings{Command: command, Args: argv, Env: map[string]gateway.Secret{}}
	for name, value := range env {
		set.Env[name] = gateway.Secret(value)
	}
	return set
}

// openReady opens a server and waits until it is ready.
func openReady(t testing.TB, set Settings, options ...option) *upstreamTest {
	t.Helper()
	u := open(t, set, options...)
	u.waitReady()
	return u
}

func (u *upstreamTest) waitReady() Status {
	u.t.Helper()
	testkit.Eventually(u.t, func() bool { return u.Status().State == StateReady }, "the server is ready")
	return u.Status()
}

// waitStart waits until the server is ready for the nth time.
func (u *upstreamTest) waitStart(n int) {
	u.t.Helper()
	testkit.Eventually(u.t, func() bool {
		st := u.Status()
		return st.State == StateReady && st.Starts == n
	}, "the server is ready for the %d. time", n)
}

func (u *upstreamTest) published() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.events)
}

func (u *upstreamTest) toolNames() []string {
	var names []string
	for _, t := range u.List(gateway.KindTool) {
		names = append(names, t.Name)
	}
	return names
}

// modernMeta is what a modern client's request carries.
const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"tester","version":"9"},"io.modelcontextprotocol/clientCapabilities":{}`

// newCall is a call as an edge hands it on: name, arguments, and members of
// _meta (none for an absent _meta).
func (u *upstreamTest) newCall(era gateway.Era, tool, arguments, meta string) *gateway.Call {
	u.t.Helper()
	if era == gateway.EraModern {
		meta = strings.TrimSuffix(modernMeta+","+meta, ",")
	}
	raw := fmt.Sprintf(`{"name":%q,"arguments":%s`, tool, arguments)
	if meta != "" {
		raw += `,"_meta":{` + meta + `}`
	}
	params, err := jsonrpc.ScanParams([]byte(raw + "}"))
	if err != nil {
		u.t.Fatal(err)
	}
	call := &gateway.Call{Method: "tools/call", Params: params, Name: tool, Caller: gateway.Caller{Era: era}}
	call.Tool = &gateway.Tool{Name: tool, Exposed: tool, Source: u.Server}
	for _, t := range u.List(gateway.KindTool) {
		if t.Name == tool {
			call.Tool.ReadOnly, call.Tool.Idempotent = t.ReadOnly, t.Idempotent
		}
	}
	return call
}

// callText calls a tool as a legacy client and returns its text.
func (u *upstreamTest) callText(tool, arguments string) (string, error) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	result, err := u.Handle(ctx, u.newCall(gateway.EraLegacy, tool, arguments, ""))
	if err != nil {
		return "", err
	}
	return textOf(u.t, result), nil
}

func textOf(t testing.TB, result *gateway.Result) string {
	t.Helper()
	fields, err := result.Fields()
	if err != nil {
		t.Fatal(err)
	}
	content, _ := fields["content"].([]any)
	if len(content) == 0 {
		t.Fatalf("no content in %s", result.Raw)
	}
	item, _ := content[0].(map[string]any)
	text, _ := item["text"].(string)
	return text
}

func (u *upstreamTest) mustEcho(text string) {
	u.t.Helper()
	quoted := string(jsonrpc.AppendQuoted(nil, text))
	got, err := u.callText("echo", `{"text":`+quoted+`}`)
	if err != nil || got != text {
		u.t.Fatalf("echo %q: got %q, %v", text, got, err)
	}
}

// wantError checks an error's code and that its message says all of the words.
// It returns a copy, which is no error to be checked.
func wantError(t testing.TB, err error, code gateway.Code, words ...string) gateway.Error {
	t.Helper()
	var e *gateway.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *gateway.Error", err)
	}
	if e.Code != code {
		t.Fatalf("got %s (%v), want %s", e.Code, err, code)
	}
	for _, word := range words {
		if !strings.Contains(e.Text(), word) {
			t.Errorf("the message does not say %q: %s", word, e.Text())
		}
	}
	return *e
}

// peer is the client's end of a call.
type peer struct {
	mu    sync.Mutex
	notes []string
	// reply answers what the server asks; nil for a client that fails.
	reply func(method string, params []byte) ([]byte, error)
}

func (p *peer) Ask(_ context.Context, method string, params []byte) ([]byte, error) {
	p.mu.Lock()
	p.notes = append(p.notes, method+" "+string(params))
	reply := p.reply
	p.mu.Unlock()
	if reply == nil {
		return nil, gateway.Errorf(gateway.CodeUnavailable, "nobody is there")
	}
	return reply(method, params)
}

func (p *peer) Notify(method string, params []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, method+" "+string(params))
}

func (p *peer) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.notes...)
}

// recorded waits for a line of a fault server's record that contains all of
// the words, and returns it.
func recorded(t testing.TB, file string, words ...string) string {
	t.Helper()
	var found string
	testkit.Eventually(t, func() bool {
		found = lineWith(t, file, words...)
		return found != ""
	}, "the server has seen %q", words)
	return found
}

func lineWith(t testing.TB, file string, words ...string) string {
	t.Helper()
	for _, line := range testkit.Lines(t, file) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			return line
		}
	}
	return ""
}

func countLines(t testing.TB, file string, words ...string) int {
	t.Helper()
	n := 0
	for _, line := range testkit.Lines(t, file) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			n++
		}
	}
	return n
}

var bothEras = []gateway.Era{gateway.EraLegacy, gateway.EraModern}
