package views

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/search"
)

// editor makes the lists of clients: it leaves out the tools that are hidden from them.
type editor struct {
	hidden map[string][]string
	fails  bool
	runs   int
}

func (e *editor) lists(view gateway.View, _ gateway.Source, tools []gateway.Tool) ([]gateway.Tool, error) {
	e.runs++
	if e.fails {
		return nil, errors.New("it failed")
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t gateway.Tool) bool { return slices.Contains(e.hidden[view.Audience], t.Name) }), nil
}

// editedHouse is a house in which some clients have lists of their own.
func editedHouse(cfg config.Config, e *editor) (*Views, *server) {
	v, a := house(cfg)
	opt := v.opt
	opt.HasLists = func(client string) bool { return e.hidden[client] != nil }
	opt.Lists = e.lists
	return New(opt), a
}

func (v *Views) seenBy(t *testing.T, client string, asked gateway.View) string {
	t.Helper()
	return names(t, v, v.Place(gateway.Identity{ClientID: client}, asked))
}

// TestAClientHasListsOfItsOwn in every view; what is hidden is not found, described or
// suggested in any of them.
func TestAClientHasListsOfItsOwn(t *testing.T) {
	v, _ := editedHouse(config.Config{
		Listing:  config.Listing{Pinned: []string{"a__*"}},
		Profiles: []config.Profile{{Name: "work", Servers: []string{"a"}}},
	}, &editor{hidden: map[string][]string{"mine": {"read", "find_items"}, "yours": {"send"}}})
	only := gateway.View{Servers: gateway.NewServerSet("a")}
	for _, c := range []struct {
		client string
		view   gateway.View
		want   string
	}{
		{"mine", gateway.View{}, "a__write b__send"},
		{"mine", only, "write"},
		{"mine", gateway.View{Profile: "work"}, "a__write"},
		{"mine", gateway.View{Mode: gateway.ModeSearch}, "a__write search_tools"},
		{"yours", gateway.View{}, "a__read a__write find_items"},
		{"other", gateway.View{}, "a__read a__write b__send find_items"},
		{"other", only, "read write"},
	} {
		if got := v.seenBy(t, c.client, c.view); got != c.want {
			t.Errorf("%s sees in %+v %s, want %s", c.client, c.view, got, c.want)
		}
	}
	mine := gateway.View{Audience: "mine"}
	if v.FindTool(mine, "a__read") != nil || v.FindTool(gateway.View{}, "a__read") == nil {
		t.Error("FindTool")
	}
	if _, near := v.Absent(mine, "a__rea"); near != "" {
		t.Errorf("suggests %s", near)
	}
	if near := v.Unknown(gateway.Identity{ClientID: "mine"}, mine, "a__rea").Near; near != "" {
		t.Errorf("suggests %s", near)
	}
	if got := v.SnapshotOf(mine); len(got.Tools()) != 2 {
		t.Errorf("%d tools", len(got.Tools()))
	}
	hits := func(view gateway.View) int {
		return len(v.Search(t.Context(), gateway.Identity{ClientID: "mine"}, view, search.Query{Text: "read", Limit: 5}).Hits)
	}
	if hits(mine) != 0 || hits(gateway.View{}) == 0 {
		t.Errorf("found %d and %d", hits(mine), hits(gateway.View{}))
	}
	if v.Has(gateway.View{Servers: gateway.NewServerSet("c"), Audience: "mine"}) || !v.Has(mine) {
		t.Error("Has")
	}
}

// TestSourcesBeyondALimitAreNotThere: their names are unknown to a client that may not use
// them, also when they list nothing.
func TestSourcesBeyondALimitAreNotThere(t *testing.T) {
	var limited string
	v, a := editedHouse(config.Config{}, &editor{hidden: map[string][]string{"mine": {}}})
	v.opt.MayUse = func(client, source string) bool { return client != limited || source == "kb" }
	a.tools = nil
	v.Refresh(gateway.KindTool, "a")
	mine := gateway.View{Audience: "mine"}
	alone := gateway.View{Audience: "mine", Servers: gateway.NewServerSet("a")}
	said := func() string {
		why, _ := v.Absent(mine, "a__read")
		return fmt.Sprint(v.ServerNames(mine), why.String() != "", v.Has(alone), strings.Contains(v.Describe(mine).Instructions, "use a"))
	}
	if got := said(); got != "[a b kb] true true true" {
		t.Errorf("without a limit: %s", got)
	}
	v.Rewrite(nil, func() { limited = "mine" })
	if got := said(); got != "[kb] false false false" {
		t.Errorf("with a limit: %s", got)
	}
}

// TestOnlyTheClientsOfAChangedListAreTold, when a server or the workflows change.
func TestOnlyTheClientsOfAChangedListAreTold(t *testing.T) {
	e := &editor{hidden: map[string][]string{"mine": {"read"}}}
	v, a := editedHouse(config.Config{}, e)
	mine, yours := gateway.View{Audience: "mine"}, gateway.View{Audience: "yours"}
	connected := []gateway.View{mine, yours}
	renewed := func() string {
		for _, view := range connected {
			v.Catalog(view)
		}
		return fmt.Sprint(v.Renew(connected)[gateway.KindTool])
	}
	told := func(views ...gateway.View) string { return fmt.Sprint(views) }
	if got := renewed(); got != told() {
		t.Errorf("at first: %s", got)
	}
	runs := e.runs
	a.tools = []string{"write", "delete"} // read was hidden from mine
	if changed := v.Refresh(gateway.KindTool, "a"); len(changed) != 1 || changed[0] != (gateway.View{}) {
		t.Errorf("%+v changed", changed)
	}
	if e.runs != runs {
		t.Error("a server's change waits for workflows")
	}
	if got := renewed(); got != told(mine) {
		t.Errorf("a new tool: %s", got)
	}
	a.tools = []string{"read", "write", "delete"}
	v.Refresh(gateway.KindTool, "a")
	if got := renewed(); got != told() {
		t.Errorf("a hidden tool came back: %s", got)
	}
	use := func(hidden map[string][]string) { v.Rewrite(connected, func() { e.hidden = hidden }) }
	use(map[string][]string{"mine": {"read"}, "yours": {"write"}})
	if got := renewed(); got != told(yours) || v.seenBy(t, "yours", gateway.View{}) != "a__delete a__read b__send find_items" {
		t.Errorf("lists of its own: %s", got)
	}
	use(map[string][]string{"mine": {"read"}, "yours": {"write"}})
	if got := renewed(); got != told() {
		t.Errorf("the same again: %s", got)
	}
	use(map[string][]string{"mine": {"write"}, "yours": {"write"}})
	use(nil) // before anybody was told
	if got := renewed(); got != told(mine, yours) {
		t.Errorf("no lists of their own: %s", got)
	}
	if len(v.others) != 0 {
		t.Errorf("%d views are left", len(v.others))
	}
}

// TestFewAudiencesAreKept: the least recently used go, and are told of changes all the
// same.
func TestFewAudiencesAreKept(t *testing.T) {
	e := &editor{hidden: map[string][]string{}}
	v, a := editedHouse(config.Config{}, e)
	var connected []gateway.View
	for i := range mostAudiences + 20 {
		client := fmt.Sprint("client", i)
		e.hidden[client] = []string{"read"}
		connected = append(connected, gateway.View{Audience: client})
		v.Catalog(connected[0]) // which is in use
		if got := v.seenBy(t, client, gateway.View{}); strings.Contains(got, "read") {
			t.Fatal(got)
		}
	}
	if len(v.others) != mostAudiences || v.others[connected[0]] == nil || v.others[connected[1]] != nil {
		t.Errorf("%d are kept", len(v.others))
	}
	a.tools = append(a.tools, "delete")
	v.Refresh(gateway.KindTool, "a")
	if changed := v.Renew(connected)[gateway.KindTool]; len(changed) != len(connected) {
		t.Errorf("%d of %d are told", len(changed), len(connected))
	}
}

// TestAFailedListHidesTheTools, and the log says so.
func TestAFailedListHidesTheTools(t *testing.T) {
	v, _ := editedHouse(config.Config{}, &editor{hidden: map[string][]string{"mine": {}}, fails: true})
	var log strings.Builder
	v.opt.Log = slog.New(slog.NewTextHandler(&log, nil))
	if got := v.seenBy(t, "mine", gateway.View{}); got != "" {
		t.Errorf("sees %s", got)
	}
	if !strings.Contains(log.String(), "server=a client=mine error=\"it failed\"") {
		t.Error(log.String())
	}
}
