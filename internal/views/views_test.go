package views

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/search"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// source lists tools.
type source struct {
	name  string
	tools []string
}

func (s *source) Name() string { return s.name }

func (s *source) List(kind gateway.Kind) []gateway.Tool {
	var list []gateway.Tool
	for _, name := range s.tools {
		if kind == gateway.KindTool {
			list = append(list, gateway.Tool{Kind: kind, Name: name, Definition: []byte(`{"name":"` + name + `","inputSchema":{"type":"object"}}`)})
		}
	}
	return list
}

func (s *source) Handle(context.Context, *gateway.Call) (*gateway.Result, error) { return nil, nil }

// server is an external source with instructions.
type server struct{ source }

func (s *server) External() {}

func (s *server) About() gateway.About {
	return gateway.About{Instructions: "use " + s.name, Info: []byte(`{"name":"` + s.name + `"}`)}
}

func mount(s gateway.Source, prefix string) catalog.Mount {
	return catalog.Mount{Source: s, Prefix: prefix, Allows: func(string) bool { return true }}
}

// house has two servers and a source of genkan's own.
func house(cfg config.Config) (*Views, *server) {
	cfg.PageSize = 100
	a := &server{source{"a", []string{"read", "write"}}}
	b := &server{source{"b", []string{"send"}}}
	own := &source{"kb", []string{"find_items"}}
	return New(Options{
		Config: &cfg, Log: slog.New(slog.DiscardHandler),
		Mounts: []catalog.Mount{mount(a, "a"), mount(b, "b"), mount(own, "")},
		Guide: func(gateway.View) gateway.Source {
			return &source{"genkan", []string{"search_tools"}}
		},
	}), a
}

func names(t *testing.T, v *Views, view gateway.View) string {
	t.Helper()
	c, ok := v.Catalog(view)
	if !ok {
		return "missing"
	}
	var all []string
	for _, tool := range c.Snapshot().Tools() {
		all = append(all, tool.Exposed)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestWhatAViewShows: one server alone keeps its names, a profile filters, and search
// mode leaves the tools for searching and what is pinned.
func TestWhatAViewShows(t *testing.T) {
	v, _ := house(config.Config{
		Listing: config.Listing{Pinned: []string{"a__r*"}},
		Profiles: []config.Profile{
			{Name: "work", Servers: []string{"a"}},
			{Name: "pinned", Listing: config.Listing{Pinned: []string{"b__*"}}},
		},
	})
	only := func(names ...string) gateway.ServerSet { return gateway.NewServerSet(names...) }
	for _, c := range []struct {
		view gateway.View
		want string
	}{
		{gateway.View{}, "a__read a__write b__send find_items"},
		{gateway.View{Servers: only("a")}, "read write"},
		{gateway.View{Servers: only("kb")}, "find_items"},
		{gateway.View{Servers: only("a", "b")}, "a__read a__write b__send"},
		{gateway.View{Servers: only("c")}, "missing"},
		{gateway.View{Servers: only("a", "c")}, "missing"},
		{gateway.View{Profile: "work"}, "a__read a__write"},
		{gateway.View{Profile: "play"}, "missing"},
		{gateway.View{Mode: gateway.ModeSearch}, "a__read search_tools"},
		{gateway.View{Profile: "pinned", Mode: gateway.ModeSearch}, "b__send search_tools"},
		{gateway.View{Mode: "other"}, "missing"},
	} {
		if got := names(t, v, c.view); got != c.want {
			t.Errorf("%+v shows %s, want %s", c.view, got, c.want)
		}
		if v.Has(c.view) != (c.want != "missing") {
			t.Errorf("%+v: Has is wrong", c.view)
		}
	}
}

// TestWhatIsAlwaysShown: some tools are in every view, without changing the names of the
// others, and no search finds them.
func TestWhatIsAlwaysShown(t *testing.T) {
	v, _ := house(config.Config{Profiles: []config.Profile{{Name: "work", Servers: []string{"a"}}}})
	opt := v.opt
	opt.Always = []gateway.Source{&source{"results", []string{"read_result"}}}
	v = New(opt)
	for view, want := range map[gateway.View]string{
		{}:                                   "a__read a__write b__send find_items read_result",
		{Servers: gateway.NewServerSet("a")}: "read read_result write",
		{Profile: "work"}:                    "a__read a__write read_result",
		{Mode: gateway.ModeSearch}:           "read_result search_tools",
	} {
		if got := names(t, v, view); got != want {
			t.Errorf("%+v shows %s, want %s", view, got, want)
		}
	}
	if v.Has(gateway.View{Servers: gateway.NewServerSet("results")}) {
		t.Error("what is always shown has a view of its own")
	}
	if servers := v.ServerNames(gateway.View{}); slices.Contains(servers, "results") {
		t.Error(servers)
	}
	for _, hit := range v.Search(t.Context(), gateway.Identity{}, gateway.View{}, search.Query{Text: "read_result", Limit: 10}).Hits {
		if hit.Server == "results" {
			t.Error("read_result was found")
		}
	}
}

// TestPlace: what the configuration says of a client and a profile counts where the
// client does not say it.
func TestPlace(t *testing.T) {
	v, _ := house(config.Config{
		Profiles: []config.Profile{{Name: "work", Listing: config.Listing{Mode: gateway.ModeSearch}}},
		Clients:  []config.Client{{Name: "mine", Profile: "work", Listing: config.Listing{Mode: gateway.ModeAll}}},
	})
	v.opt.HasLists = func(string) bool { return false }
	for _, c := range []struct {
		client string
		asked  gateway.View
		want   gateway.View
	}{
		{"other", gateway.View{}, gateway.View{}},
		{"mine", gateway.View{}, gateway.View{Profile: "work"}},
		{"other", gateway.View{Profile: "work"}, gateway.View{Profile: "work", Mode: gateway.ModeSearch}},
		{"other", gateway.View{Profile: "work", Mode: gateway.ModeAll}, gateway.View{Profile: "work"}},
		{"mine", gateway.View{Mode: gateway.ModeSearch}, gateway.View{Mode: gateway.ModeSearch}},
	} {
		c.want.Audience, c.asked.Audience = c.client, "somebody else"
		if got := v.Place(gateway.Identity{ClientID: c.client}, c.asked); got != c.want {
			t.Errorf("%s asks for %+v and gets %+v, want %+v", c.client, c.asked, got, c.want)
		}
	}
}

// TestAChangedListChangesItsViewsOnly, and what searches find in them.
func TestAChangedListChangesItsViewsOnly(t *testing.T) {
	v, a := house(config.Config{})
	for _, server := range []string{"a", "b"} {
		names(t, v, gateway.View{Servers: gateway.NewServerSet(server)})
	}
	found := func() int {
		return len(v.Search(t.Context(), gateway.Identity{}, gateway.View{}, search.Query{Text: "delete", Limit: 5}).Hits)
	}
	if found() != 0 {
		t.Fatal("a tool is found that is not there")
	}
	a.tools = append(a.tools, "delete")
	changed := v.Refresh(gateway.KindTool, "a")
	slices.SortFunc(changed, func(x, y gateway.View) int { return strings.Compare(x.String(), y.String()) })
	if want := []gateway.View{{}, {Servers: gateway.NewServerSet("a")}}; !slices.Equal(changed, want) {
		t.Errorf("%+v changed, want %+v", changed, want)
	}
	if found() != 1 {
		t.Error("the new tool is not found")
	}
}

// TestDescribe: a server that is alone speaks for itself; of several, each is
// named.
func TestDescribe(t *testing.T) {
	v, _ := house(config.Config{})
	alone := v.Describe(gateway.View{Servers: gateway.NewServerSet("a")})
	if string(alone.Info) != `{"name":"a"}` || alone.Instructions != "use a" {
		t.Errorf("alone: %+v", alone)
	}
	all := v.Describe(gateway.View{})
	if all.Info != nil || !strings.Contains(all.Instructions, "# a\n> use a\n\n# b\n> use b") {
		t.Errorf("all: %s %s", all.Info, all.Instructions)
	}
	for view, several := range map[gateway.View]bool{
		{}: true, {Servers: gateway.NewServerSet("a")}: false, {Servers: gateway.NewServerSet("a", "kb")}: false, {Servers: gateway.NewServerSet("a", "b")}: true,
	} {
		if v.HasSeveralServers(view) != several {
			t.Errorf("%+v: several servers is not %v", view, several)
		}
	}
}

// downServer has never been up.
type downServer struct{ source }

func (s *downServer) External()            {}
func (s *downServer) About() gateway.About { return gateway.About{} }
func (s *downServer) Health() gateway.Health {
	return gateway.Health{Down: true, Problem: gateway.Textf("%s is not there", gateway.Private{Full: gateway.Textf("a private place"), Public: gateway.Textf("its file")})}
}

func TestAServerThatIsDownIsDescribed(t *testing.T) {
	v, _ := house(config.Config{})
	v.opt.Mounts = append(v.opt.Mounts, mount(&downServer{source{name: "c"}}, "c"))
	const want = "Server c is down and has not listed any tools yet: its file is not there. `genkan servers c` says more"
	if got := v.Describe(gateway.View{Servers: gateway.NewServerSet("c")}); got.Instructions != want || got.Info != nil {
		t.Errorf("got %+v", got)
	}
}

func TestManyServersShareTheBytesForInstructions(t *testing.T) {
	var all []instructions
	for range 200 {
		all = append(all, instructions{"server", strings.Repeat("word ", 10_000)})
	}
	if n := len(joinInstructions(all, nil)); n > maxJoined+200*100 {
		t.Errorf("%d bytes", n)
	}
}

func TestMissingSaysWhatIsMissing(t *testing.T) {
	for want, view := range map[string]gateway.View{
		`no server "a,b"`:                      {Servers: gateway.NewServerSet("b", "a")},
		`no profile "work"; `:                  {Profile: "work"},
		`no profile "work" with the server "a`: {Profile: "work", Servers: gateway.NewServerSet("a")},
		`no mode "fast"`:                       {Servers: gateway.NewServerSet("a"), Mode: "fast"},
	} {
		if err := Missing(view); !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", view, err)
		}
	}
}
