package tasks

import (
	"context"
	"fmt"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A client that makes tasks without end is the one whose tasks are forgotten.
func TestNobodyMakesOthersTasksBeForgotten(t *testing.T) {
	t.Parallel()
	known := New([]byte("secret"))
	add := func(client, id string) {
		known.add(key{client: client, id: id}, 0, gateway.EraLegacy)
	}
	caller := func(client string) *gateway.Call {
		return &gateway.Call{Caller: gateway.Caller{Era: gateway.EraLegacy, Identity: gateway.Identity{ClientID: client}}}
	}
	for i := range 5 {
		add("quiet", fmt.Sprint(i))
	}
	for i := range maxTasks + 100 {
		add("loud", fmt.Sprint(i))
	}
	add("late", "0")
	if len(known.order) != maxTasks || len(known.tasks) != maxTasks {
		t.Errorf("%d and %d are remembered", len(known.order), len(known.tasks))
	}
	for client, want := range map[string]int{"quiet": 5, "late": 1, "loud": pageSize} {
		if names, _ := known.page(caller(client), 0); len(names) != want {
			t.Errorf("%s sees %d tasks, want %d", client, len(names), want)
		}
	}
	for len(known.order) > 0 {
		known.forget(known.order[0])
	}
	if len(known.counts)+len(known.tasks) != 0 {
		t.Errorf("left: %v, %d", known.counts, len(known.tasks))
	}
}

// server is an external source that makes a task of every tool call.
type server struct{ gateway.Source }

func (server) Name() string { return "one" }
func (server) External()    {}

// call has a client call something of the server, in a view.
func call(client string, view gateway.View, kind gateway.Kind, method, raw string) *gateway.Call {
	params, err := jsonrpc.ScanParams([]byte(raw))
	if err != nil {
		panic(err)
	}
	return &gateway.Call{
		Method: method, Kind: kind, Params: params, Tool: &gateway.Tool{Source: server{}},
		Caller: gateway.Caller{Identity: gateway.Identity{ClientID: client}, View: view, Era: gateway.EraModern},
	}
}

// TestAnIDLeadsToATaskForItsClientOnly: a client's id leads to the server's, also
// in another process with the same secret, and for nobody else and in no other view.
func TestAnIDLeadsToATaskForItsClientOnly(t *testing.T) {
	t.Parallel()
	registry := New([]byte("secret"))
	makesTasks := registry.Middleware(gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return &gateway.Result{Raw: []byte(`{"resultType":"task","taskId":"7"}`), Type: gateway.ResultOther}, nil
	}))
	profile := gateway.View{Profile: "work"}
	result, err := makesTasks.Handle(t.Context(), call("mine", profile, gateway.KindTool, "tools/call", `{"name":"slow"}`))
	if err != nil {
		t.Fatal(err)
	}
	id := jsonrpc.LookupText(result.Raw, "taskId")
	if id == "" || id == "7" {
		t.Fatalf("the client gets %s", result.Raw)
	}
	searched := profile
	searched.Mode = gateway.ModeSearch
	for name, c := range map[string]struct {
		secret, client string
		view           gateway.View
		found          bool
	}{
		"its client":             {"secret", "mine", profile, true},
		"through a search tool":  {"secret", "mine", searched, true},
		"another client":         {"secret", "other", profile, false},
		"another view":           {"secret", "mine", gateway.View{}, false},
		"another data directory": {"other", "mine", profile, false},
	} {
		asked := call(c.client, c.view, gateway.KindTask, "tasks/get", `{"taskId":"`+id+`"}`)
		asked.Name = id
		tool := New([]byte(c.secret)).Resolve(asked, func(name string) gateway.Source {
			if name == "one" {
				return server{}
			}
			return nil
		})
		if (tool != nil) != c.found || tool != nil && tool.Name != "7" {
			t.Errorf("%s: %+v", name, tool)
		}
	}
	// The list has it, in the client's own words.
	list, err := registry.List(t.Context(), call("mine", profile, gateway.KindTask, "tasks/list", `{}`), "",
		gateway.HandlerFunc(func(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
			return &gateway.Result{Raw: []byte(`{"taskId":"` + call.Name + `"}`)}, nil
		}))
	if want := `{"tasks":[{"taskId":"` + id + `"}]}`; err != nil || string(list) != want {
		t.Errorf("the list is %s, %v; want %s", list, err, want)
	}
}
