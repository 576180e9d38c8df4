package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// fake is a source with a list that tests change.
type fake struct {
	name string
	mu   sync.Mutex
	list []gateway.Tool
}

func source(name string, tools ...string) *fake {
	f := &fake{name: name}
	for _, tool := range tools {
		f.add(tool, definition(tool))
	}
	return f
}

func definition(name string) string {
	quoted, _ := json.Marshal(name)
	return fmt.Sprintf(`{"name":%s,"inputSchema":{"type":"object"}}`, quoted)
}

func (f *fake) add(name, raw string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, gateway.Tool{Name: name, Definition: []byte(raw)})
}

// set replaces the list.
func (f *fake) set(definitions ...string) {
	f.mu.Lock()
	f.list = nil
	f.mu.Unlock()
	for _, raw := range definitions {
		var d struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal([]byte(raw), &d)
		f.add(d.Name, raw)
	}
}

func (f *fake) Name() string { return f.name }

func (f *fake) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]gateway.Tool(nil), f.list...)
}

func (f *fake) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return &gateway.Result{Raw: []byte(`{}`)}, nil
}

func mount(s gateway.Source, prefix string) catalog.Mount {
	return catalog.Mount{Source: s, Prefix: prefix}
}

// refresh reports whether clients see something else now.
func refresh(c *catalog.Catalog, source string, kind gateway.Kind) bool {
	changed, _ := c.Refresh(kind, source)
	return changed
}

func newCatalog(pageSize int, mounts ...catalog.Mount) *catalog.Catalog {
	return catalog.New(mounts, pageSize, slog.New(slog.DiscardHandler))
}

type logBuffer struct{ bytes.Buffer }

func newCatalogWithLog(log *logBuffer, pageSize int, mounts ...catalog.Mount) *catalog.Catalog {
	return catalog.New(mounts, pageSize, slog.New(slog.NewTextHandler(log, nil)))
}

func names(c *catalog.Catalog) string {
	var all []string
	for _, tool := range c.Snapshot().Tools() {
		all = append(all, tool.Exposed)
	}
	return strings.Join(all, " ")
}

// onPage reads the names and the cursor of a page, and checks that both eras
// are told the same.
func onPage(tb testing.TB, p *catalog.Page) (string, string) {
	tb.Helper()
	type list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		NextCursor string `json:"nextCursor"`
		ResultType string `json:"resultType"`
		TTLMs      *int   `json:"ttlMs"`
		CacheScope string `json:"cacheScope"`
	}
	var old, fresh list
	if err := json.Unmarshal(p.Legacy, &old); err != nil {
		tb.Fatalf("%s: %v", p.Legacy, err)
	}
	if err := json.Unmarshal(p.Modern, &fresh); err != nil {
		tb.Fatalf("%s: %v", p.Modern, err)
	}
	if fresh.ResultType != "complete" || fresh.TTLMs == nil || fresh.CacheScope != "private" || old.ResultType != "" || old.TTLMs != nil {
		tb.Errorf("legacy %s\nmodern %s", p.Legacy, p.Modern)
	}
	if fmt.Sprint(old.Tools) != fmt.Sprint(fresh.Tools) || old.NextCursor != fresh.NextCursor {
		tb.Errorf("the eras are told different lists:\n%s\n%s", p.Legacy, p.Modern)
	}
	var all []string
	for _, tool := range fresh.Tools {
		all = append(all, tool.Name)
	}
	return strings.Join(all, " "), fresh.NextCursor
}

func page(tb testing.TB, c *catalog.Catalog, cursor string) (string, string) {
	tb.Helper()
	p, err := c.Page(gateway.KindTool, cursor)
	if err != nil {
		tb.Fatal(err)
	}
	return onPage(tb, p)
}

func TestEmptyCatalog(t *testing.T) {
	for _, size := range []int{0, 1, 10} {
		c := newCatalog(size)
		if got, next := page(t, c, ""); got != "" || next != "" {
			t.Errorf("an empty list is %q, %q", got, next)
		}
		p, _ := c.Page(gateway.KindTool, "")
		if string(p.Legacy) != `{"tools":[]}` {
			t.Errorf("an empty list is %s", p.Legacy)
		}
	}
}

// TestPagesJoinToTheList for any number of tools and any size of a page.
func TestPagesJoinToTheList(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		count := rapid.IntRange(0, 30).Draw(r, "tools")
		size := rapid.IntRange(0, 12).Draw(r, "page size")
		s := source("s")
		for i := range count {
			name := fmt.Sprintf("t%d", i)
			s.add(name, definition(name))
		}
		c := newCatalog(size, mount(s, ""))
		var all []string
		pages := 0
		for cursor := ""; ; {
			got, next := page(t, c, cursor)
			if n := len(strings.Fields(got)); size > 0 && (n > size || next != "" && n != size) {
				r.Fatalf("a page has %d tools, want %d", n, size)
			}
			all = append(all, strings.Fields(got)...)
			pages++
			if next == "" {
				break
			}
			cursor = next
		}
		if got := strings.Join(all, " "); got != names(c) {
			r.Fatalf("the pages have %s\nthe list has %s", got, names(c))
		}
		if size == 0 && pages != 1 {
			r.Fatalf("%d pages without a page size", pages)
		}
	})
}

// TestListsThatChangeTogetherAreOneChange: a client that is reading a list goes on, however
// many servers changed at once, and the new list has all of their tools.
func TestListsThatChangeTogetherAreOneChange(t *testing.T) {
	var mounts []catalog.Mount
	var sources []*fake
	var changed, want []string
	for i := range 20 {
		s := source(fmt.Sprint("s", i), "a")
		sources, changed = append(sources, s), append(changed, s.name)
		mounts = append(mounts, mount(s, s.name))
		want = append(want, s.name+"__a", s.name+"__b")
	}
	c := newCatalog(15, mounts...)
	_, cursor := page(t, c, "")
	for _, s := range sources {
		s.add("b", definition("b"))
	}
	if seen, _ := c.Refresh(gateway.KindTool, changed...); !seen {
		t.Error("clients see no change")
	}
	if got := names(c); got != strings.Join(want, " ") {
		t.Errorf("the list is %s", got)
	}
	if got, _ := page(t, c, cursor); got != "s15__a s16__a s17__a s18__a s19__a" {
		t.Errorf("the second page of the list from before is %s", got)
	}
}

// TestCursors: a cursor goes on in the list in which it was given, as long as
// that is remembered, and never in another one.
func TestCursors(t *testing.T) {
	s := source("s", "a", "b", "c", "d", "e")
	c := newCatalog(2, mount(s, ""))
	_, second := page(t, c, "")
	former := []string{second}
	for i := range 6 {
		s.add(fmt.Sprintf("n%d", i), definition(fmt.Sprintf("n%d", i)))
		if !refresh(c, "s", gateway.KindTool) {
			t.Fatal("a new tool was not seen")
		}
		_, cursor := page(t, c, "")
		former = append(former, cursor)
	}
	if got, _ := page(t, c, former[len(former)-1]); got != "c d" {
		t.Errorf("the second page is %s", got)
	}
	if got, next := page(t, c, former[3]); got != "c d" {
		t.Errorf("the second page of a former list is %s", got)
	} else if got, _ := page(t, c, next); got != "e n0" {
		t.Errorf("the third page of a former list is %s", got)
	}
	for _, bad := range []string{former[0], "x", "!!", "AAAA", strings.Repeat("A", 100_000), former[3] + "A", former[3][1:]} {
		_, err := c.Page(gateway.KindTool, bad)
		if err == nil || gateway.AsError(err).Code != gateway.CodeInvalid {
			t.Errorf("cursor %.40q: %v", bad, err)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Error("the message repeats the cursor")
		}
	}
}

// TestCursorsOfAnotherPageSize: after a reload with another page size the same
// number means another place. A client must be sent back to the beginning
// rather than skip tools.
func TestCursorsOfAnotherPageSize(t *testing.T) {
	s := source("s", "a", "b", "c", "d", "e", "f", "g")
	_, cursor := page(t, newCatalog(2, mount(s, "")), "")
	if got, _ := page(t, newCatalog(2, mount(s, "")), cursor); got != "c d" {
		t.Errorf("another replica goes on with %s", got)
	}
	if p, err := newCatalog(3, mount(s, "")).Page(gateway.KindTool, cursor); err == nil {
		got, _ := onPage(t, p)
		if !strings.HasPrefix(got, "c") {
			t.Errorf("after a b the client is given %s", got)
		}
	}
}

// TestRefresh tells whether clients see something else.
func TestRefresh(t *testing.T) {
	s, other := source("s", "a", "b"), source("other", "x")
	c := newCatalog(0, mount(s, "p"), mount(other, "q"))
	if refresh(c, "s", gateway.KindTool) || refresh(c, "other", gateway.KindTool) || refresh(c, "nobody", gateway.KindTool) {
		t.Error("nothing changed, and it was said to")
	}
	before := c.Snapshot()
	for _, step := range []struct {
		what    string
		list    []string
		changed bool
	}{
		{"the same", []string{definition("a"), definition("b")}, false},
		{"another order", []string{definition("b"), definition("a")}, true},
		{"one more", []string{definition("b"), definition("a"), definition("c")}, true},
		{"one less", []string{definition("b"), definition("c")}, true},
		{"another description", []string{`{"name":"b","description":"x"}`, definition("c")}, true},
		{"another spelling of the same", []string{`{"name":"b", "description":"x"}`, definition("c")}, true},
		{"none", nil, true},
		{"none again", nil, false},
	} {
		s.set(step.list...)
		if got := refresh(c, "s", gateway.KindTool); got != step.changed {
			t.Errorf("%s: changed is %t, want %t", step.what, got, step.changed)
		}
	}
	if got := names(c); got != "q__x" {
		t.Errorf("the tools are %s", got)
	}
	if len(before.Tools()) != 3 {
		t.Error("a snapshot changed")
	}
}

// TestRefreshTakesHintsOver: what clients do not see counts for calls.
func TestRefreshTakesHintsOver(t *testing.T) {
	s := source("s", "a")
	c := newCatalog(0, mount(s, ""))
	s.mu.Lock()
	s.list[0].ReadOnly = true
	s.mu.Unlock()
	if refresh(c, "s", gateway.KindTool) {
		t.Error("clients see nothing new")
	}
	if tool, _ := c.Snapshot().Tool("a"); !tool.ReadOnly || !tool.RetrySafe() {
		t.Error("the hint did not arrive")
	}
}

func TestFilterAndSettings(t *testing.T) {
	s := source("s", "get", "set", "drop")
	m := catalog.Mount{
		Source: s, Prefix: "p", Validate: true, Timeout: time.Minute,
		Allows: func(name string) bool { return name != "drop" }, // by the source's own name
	}
	c := newCatalog(0, m)
	if got := names(c); got != "p__get p__set" {
		t.Errorf("the tools are %s", got)
	}
	tool, ok := c.Snapshot().Tool("p__get")
	if !ok || tool.Name != "get" || tool.Source != gateway.Source(s) || !tool.Validate || tool.Timeout != time.Minute {
		t.Errorf("the tool is %+v", tool)
	}
}

// TestResolve is the only way from a name to a tool.
func TestResolve(t *testing.T) {
	s := source("s", "get", "hidden")
	c := newCatalog(0, catalog.Mount{Source: s, Prefix: "p", Allows: func(name string) bool { return name == "get" }})
	call := &gateway.Call{Method: "tools/call", Name: "p__get"}
	if err := c.Resolve(call); err != nil || call.Tool.Name != "get" {
		t.Errorf("p__get: %v", err)
	}
	for _, name := range []string{"get", "p__hidden", "p__GET", "p__get ", "", strings.Repeat("x", 10_000), "\x00\xff"} {
		call := &gateway.Call{Method: "tools/call", Name: name}
		err := c.Resolve(call)
		if err == nil || gateway.AsError(err).Code != gateway.CodeNotFound || call.Tool != nil {
			t.Errorf("%.20q: %v", name, err)
		}
		if err != nil && len(err.Error()) > 500 {
			t.Error("the message repeats a long name")
		}
	}
}

// TestRefreshUnderLoad: lists and calls go on while the catalog changes.
func TestRefreshUnderLoad(t *testing.T) {
	s := source("s", "a", "b", "c")
	c := newCatalog(2, mount(s, "p"))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				p, err := c.Page(gateway.KindTool, "")
				if err != nil || !json.Valid(p.Modern) {
					t.Errorf("%v", err)
					return
				}
				if _, ok := c.Snapshot().Tool("p__a"); !ok {
					t.Error("a tool that was always there is not")
					return
				}
			}
		})
	}
	for i := range 200 {
		s.set(definition("a"), definition("b"), definition("c"), definition(fmt.Sprint("n", i)))
		refresh(c, "s", gateway.KindTool)
	}
	close(stop)
	wg.Wait()
}

// TestWhatIsHiddenIsTold: a filter's tools and a taken name can be asked for.
func TestWhatIsHiddenIsTold(t *testing.T) {
	first, second := source("first", "get", "put"), source("second", "get", "drop")
	c := newCatalog(0, catalog.Mount{Source: first},
		catalog.Mount{Source: second, Allows: func(name string) bool { return name != "drop" }})
	s := c.Snapshot()
	if got := s.Filtered("second"); len(got) != 1 || got[0] != "drop" || len(s.Filtered("first")) != 0 {
		t.Errorf("filtered: %v", got)
	}
	if found := s.Findings(); len(found) != 1 || found[0].Name != "get" || found[0].Server != "second" || found[0].TakenBy != "first" || !found[0].LeftOut {
		t.Errorf("findings: %+v", found)
	}
	// A filter's list goes with the source's.
	second.set(definition("get"))
	refresh(c, "second", gateway.KindTool)
	if got := c.Snapshot().Filtered("second"); len(got) != 0 {
		t.Errorf("filtered: %v", got)
	}
}

// troubled is a source that never came up.
type troubled struct {
	*fake
	down bool
}

func (s troubled) Health() gateway.Health {
	return gateway.Health{Down: s.down, Problem: gateway.Textf("it cannot be reached")}
}

// TestUnknownToolsAreExplained: a name that is near another one, or of a server
// that is not there, is answered with what helps. Hidden tools are not named.
func TestUnknownToolsAreExplained(t *testing.T) {
	c := newCatalog(0,
		catalog.Mount{Source: source("s", "get_issue", "drop_database"), Prefix: "s", Allows: func(name string) bool { return name == "get_issue" }},
		mount(troubled{source("down"), true}, "down"), mount(troubled{source("new"), false}, "new"))
	for name, want := range map[string]string{
		"s__get_isue":     "Unknown tool: s__get_isue. Did you mean s__get_issue? tools/list names the tools there are",
		"S-get-issue":     "Unknown tool: S-get-issue. Did you mean s__get_issue? tools/list names the tools there are",
		"s__drop_databas": "Unknown tool: s__drop_databas. tools/list names the tools there are",
		"weather__today":  "Unknown tool: weather__today. tools/list names the tools there are",
		"down__get_issue": "Server down is down and has not listed any tools yet: it cannot be reached. `genkan servers down` says more",
		"new__get_issue":  "Server new is starting and has not listed any tools yet; try again in a moment. `genkan servers new` shows what it waits for",
	} {
		err := c.Resolve(&gateway.Call{Method: "tools/call", Name: name})
		if err == nil || gateway.AsError(err).Text() != want {
			t.Errorf("%s: %v", name, err)
		}
		// A tool whose server has listed nothing may exist.
		code := gateway.CodeNotFound
		if strings.Contains(want, "has not listed") {
			code = gateway.CodeUnavailable
		}
		if got := gateway.AsError(err).Code; got != code || errors.Is(err, catalog.ErrNotListed) != (code == gateway.CodeUnavailable) {
			t.Errorf("%s: the code is %s", name, got)
		}
	}
}
