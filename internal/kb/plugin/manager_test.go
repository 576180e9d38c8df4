package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/kb"
	"genkan/internal/kb/plugin"
	"genkan/internal/kb/plugin/example"
	"genkan/internal/sqlite"
	"genkan/internal/testkit"
)

// house is a knowledge base with a manager.
type house struct {
	*plugin.Manager
	base  *kb.Base
	store *sqlite.Knowledge
	log   *testkit.Buffer
}

func newHouse(t *testing.T) *house {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "genkan.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &house{base: kb.New(s.Knowledge(), kb.Options{}), store: s.Knowledge(), log: &testkit.Buffer{}}
	h.manage(t)
	return h
}

// manage begins anew on the same database, as after a restart.
func (h *house) manage(t *testing.T) {
	h.Manager = plugin.New(plugin.Options{
		Base: h.base, Store: h.store, Tools: kb.NewTools(h.base, kb.Languages{}), Storage: h.store,
		Log: slog.New(slog.NewTextHandler(h.log, nil)),
	})
	t.Cleanup(func() { _ = h.Close(context.Background()) })
}

// call makes a call and returns the structured answer.
func (h *house) call(ctx context.Context, t *testing.T, tool, arguments string) (string, error) {
	t.Helper()
	params, err := jsonrpc.ScanParams([]byte(`{"name":"` + tool + `","arguments":` + arguments + `}`))
	if err != nil {
		t.Fatal(err)
	}
	result, err := h.Handle(ctx, &gateway.Call{
		Method: "tools/call",
		Params: params,
		Name:   tool,
		Tool:   &gateway.Tool{Name: tool},
		Caller: gateway.Caller{Identity: gateway.Identity{ClientID: "tester"}},
	})
	if err != nil {
		return "", err
	}
	var answer struct {
		Raw     json.RawMessage `json:"structuredContent"`
		IsError bool            `json:"isError"`
	}
	if err := json.Unmarshal(result.Raw, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.IsError != strings.HasPrefix(string(answer.Raw), `{"code":`) {
		t.Errorf("isError is %v for %s", answer.IsError, answer.Raw)
	}
	return string(answer.Raw), nil
}

func (h *house) answers(t *testing.T, tool, arguments string, parts ...string) {
	t.Helper()
	got, err := h.call(t.Context(), t, tool, arguments)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s %s: %s lacks %s", tool, arguments, got, part)
		}
	}
}

func (h *house) tools() (names []string) {
	for _, tool := range h.List(gateway.KindTool) {
		names = append(names, tool.Name)
	}
	return names
}

// TestExample: a plugin is one folder. Its tool stands beside the sixteen, reads
// items, keeps what is its own, and refuses as the others do.
func TestExample(t *testing.T) {
	h := newHouse(t)
	if err := h.Add(t.Context(), &example.Plugin{}, example.Config{Least: 3}); err != nil {
		t.Fatal(err)
	}
	if names := h.tools(); len(names) != 17 || names[0] != "create_item" || names[16] != "count_words" {
		t.Errorf("the tools are %v", names)
	}
	last := h.List(gateway.KindTool)[16]
	const definition = `{"name":"count_words","title":"Count words","description":"Count the words of all items of a type.",` +
		`"inputSchema":{"type":"object","properties":{"type":{"type":"string","description":"Type of the items"}},"required":["type"]},` +
		`"annotations":{"title":"Count words","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`
	if string(last.Definition) != definition || !last.ReadOnly || !last.Idempotent {
		t.Errorf("it is shown as %s", last.Definition)
	}
	if h.Name() != kb.SourceName || h.List(gateway.KindPrompt) != nil {
		t.Error("it is another source")
	}
	h.answers(t, "create_item", `{"type":"docs","title":"One is a word","content":"two three"}`, `"id":1`)
	h.answers(t, "create_item", `{"type":"notes","title":"Another"}`, `"id":2`)
	h.answers(t, "count_words", `{"type":"docs"}`, `{"items":1,"words":4,"asked":1}`)
	h.answers(t, "count_words", `{}`, `"code":1002`, `"field":"type"`, "Type is required")
	h.answers(t, "count_words", `{"type":"docs","tpye":"x"}`, `"code":1002`, "did you mean type?")
	h.answers(t, "count_words", `{"type":7}`, `"code":1002`, "Must be a string")
	h.answers(t, "count_words", `{"type":"everything"}`, `"code":1002`, "Must be the type of some items", `"timestamp":"20`)
	if _, err := h.call(t.Context(), t, "count_wrods", `{}`); gateway.AsError(err).Code != gateway.CodeNotFound {
		t.Errorf("of nobody's tool: %v", err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.call(t.Context(), t, "count_words", `{"type":"docs"}`); gateway.AsError(err).Code != gateway.CodeUnavailable {
		t.Errorf("after the end: %v", err)
	}
	h.answers(t, "get_tags", `{}`, `"tags":[]`) // which is no plugin's

	h.manage(t)
	if err := h.Add(t.Context(), &example.Plugin{}, nil); err != nil {
		t.Fatal(err)
	}
	h.answers(t, "count_words", `{"type":"docs"}`, `{"items":1,"words":6,"asked":2}`)
}

// made is a plugin of functions.
type made struct {
	name    string
	tools   []plugin.Tool
	init    func(context.Context, plugin.Context) error
	call    func(context.Context, plugin.Call) (any, error)
	cleanup func(context.Context) error
}

func (m *made) Name() string         { return m.name }
func (m *made) Version() string      { return "1" }
func (m *made) Description() string  { return "Made for a test" }
func (m *made) Tools() []plugin.Tool { return m.tools }

func (m *made) Initialize(ctx context.Context, c plugin.Context) error {
	if m.init == nil {
		return nil
	}
	return m.init(ctx, c)
}

func (m *made) Call(ctx context.Context, c plugin.Call) (any, error) { return m.call(ctx, c) }

func (m *made) Cleanup(ctx context.Context) error {
	if m.cleanup == nil {
		return nil
	}
	return m.cleanup(ctx)
}

func tools(names ...string) (all []plugin.Tool) {
	for _, name := range names {
		all = append(all, plugin.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return all
}

// TestRefused: one that cannot be used is left out, with the reason where people
// look, and all others go on.
func TestRefused(t *testing.T) {
	h := newHouse(t)
	if err := h.Add(t.Context(), &made{name: "first", tools: tools("hello")}, nil); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plugin *made
		words  string
	}{
		"no name":            {&made{}, `"" is no name`},
		"a strange name":     {&made{name: "Über"}, "small letters"},
		"a second one":       {&made{name: "first"}, "another plugin of this name"},
		"one of the sixteen": {&made{name: "x", tools: tools("search_items")}, "its tool search_items has the name of one of the knowledge base; give it another name"},
		"another's tool":     {&made{name: "x", tools: tools("hello")}, "its tool hello has the name of one of plugin first"},
		"its own tool":       {&made{name: "x", tools: tools("a", "a")}, "one of its own"},
		"no name of a tool":  {&made{name: "x", tools: tools("a b")}, `"a b" is no name for a tool`},
		"no schema":          {&made{name: "x", tools: []plugin.Tool{{Name: "a"}}}, "input schema of its tool a"},
		"no object":          {&made{name: "x", tools: []plugin.Tool{{Name: "a", InputSchema: json.RawMessage(`{"type":"array"}`)}}}, "input schema"},
		"it says why": {&made{name: "x", tools: tools("a"), init: func(context.Context, plugin.Context) error {
			return gateway.Errorf(gateway.CodeInvalid, "%s must be a number from 0 to 1", "x.y")
		}}, "plugin x could not be made ready and is left out: x.y must be"},
		"it fails":  {&made{name: "x", tools: tools("a"), init: func(context.Context, plugin.Context) error { return errors.New("secret words") }}, "x could not be made ready"},
		"it panics": {&made{name: "x", tools: tools("a"), init: func(context.Context, plugin.Context) error { panic("oh") }}, "x could not be made ready"},
	} {
		t.Run(name, func(t *testing.T) {
			err := h.Add(t.Context(), c.plugin, nil)
			if err == nil || !strings.Contains(gateway.AsError(err).Text(), c.words) {
				t.Fatalf("got %v, want %q", err, c.words)
			}
			if strings.Contains(gateway.AsError(err).Text(), "secret words") {
				t.Errorf("words that nobody has checked are shown: %v", err)
			}
			all := h.Plugins()
			status := all[len(all)-1]
			if status.Err == nil || !strings.HasPrefix(status.Description, "Made for a test (not in use: ") {
				t.Errorf("it is told as %+v", status)
			}
		})
	}
	if log := h.log.String(); strings.Count(log, "left out") < 12 || !strings.Contains(log, "secret words") {
		t.Errorf("the log says %s", log)
	}
	if names := h.tools(); len(names) != 17 || names[16] != "hello" {
		t.Errorf("the tools are %v", names)
	}
	// One that was left out may come back mended.
	if err := h.Add(t.Context(), &made{name: "x", tools: tools("a")}, nil); err != nil {
		t.Error(err)
	}
}

// TestCalls: what a plugin does wrong is its own call's.
func TestCalls(t *testing.T) {
	h := newHouse(t)
	begun := make(chan struct{})
	err := h.Add(t.Context(), &made{name: "x", tools: tools("panic", "fail", "database", "wait", "strange"), call: func(ctx context.Context, c plugin.Call) (any, error) {
		switch c.Tool {
		case "panic":
			panic("oh")
		case "fail":
			return nil, errors.New("secret words")
		case "database":
			return nil, gateway.Errorf(gateway.CodeUnavailable, "%s", "the disk is full")
		case "strange":
			return func() {}, nil
		}
		if c.Caller.ClientID != "tester" {
			t.Errorf("%s calls", c.Caller.ClientID)
		}
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.call(t.Context(), t, "panic", `{}`); gateway.AsError(err).Code != gateway.CodeInternal {
		t.Errorf("a panic is %v", err)
	}
	if !strings.Contains(h.log.String(), "manager_test.go") {
		t.Error("the log does not say where it was")
	}
	h.answers(t, "fail", `{}`, `"code":1003`, "its log has the details")
	h.answers(t, "database", `{}`, `"code":1003`, "the disk is full")
	if _, err := h.call(t.Context(), t, "strange", `{}`); err == nil {
		t.Error("an answer that is none")
	}
	// A call under way is canceled by the end, which waits for it.
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := h.call(t.Context(), t, "wait", `{}`); gateway.AsError(err).Code != gateway.CodeCanceled {
			t.Errorf("it ends with %v", err)
		}
	})
	<-begun
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if err := h.Add(t.Context(), &made{name: "late"}, nil); gateway.AsError(err).Code != gateway.CodeUnavailable {
		t.Errorf("after the end: %v", err)
	}
}

// TestEnd: plugins end in the reverse order, each of them, whatever another does.
func TestEnd(t *testing.T) {
	h := newHouse(t)
	var ended []string
	for _, name := range []string{"a", "b", "c", "d"} {
		err := h.Add(t.Context(), &made{
			name: name,
			init: func(_ context.Context, c plugin.Context) error {
				if name == "c" {
					return errors.New("no")
				}
				c.Logger.Info("hello")
				return c.Database.Save(context.Background(), "k", []byte(name))
			},
			cleanup: func(context.Context) error {
				ended = append(ended, name)
				if name == "b" {
					panic("oh")
				}
				return nil
			},
		}, nil)
		if (err != nil) != (name == "c") {
			t.Fatal(err)
		}
	}
	if !strings.Contains(h.log.String(), "msg=hello plugin=d") {
		t.Errorf("the log does not say who: %s", h.log)
	}
	if err := h.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "plugin b: panic: oh") {
		t.Errorf("the end is %v", err)
	}
	if !slices.Equal(ended, []string{"d", "b", "a"}) {
		t.Errorf("they end as %v", ended)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Errorf("the second end is %v", err)
	}
}

// TestStorage: values have bounds, and are each plugin's own.
func TestStorage(t *testing.T) {
	h := newHouse(t)
	err := h.Add(t.Context(), &made{name: "x", init: func(ctx context.Context, c plugin.Context) error {
		for key, value := range map[string][]byte{"": nil, strings.Repeat("k", 201): nil, "k": make([]byte, 1<<20+1)} {
			if err := c.Database.Save(ctx, key, value); gateway.AsError(err) == nil || gateway.AsError(err).Code != gateway.CodeInvalid {
				t.Errorf("a key of %d and a value of %d bytes: %v", len(key), len(value), err)
			}
		}
		if err := c.Database.Save(ctx, "k", []byte("v")); err != nil {
			return err
		}
		keys, err := c.Database.Keys(ctx)
		if !slices.Equal(keys, []string{"k"}) {
			t.Errorf("the keys are %v", keys)
		}
		return err
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := h.store.PluginValue(t.Context(), "y", "k"); ok || err != nil {
		t.Errorf("another's: %v, %v", ok, err)
	}
}
