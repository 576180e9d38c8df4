package tasks

import (
	"context"
	"fmt"
	"strings"
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

// silent is the client's side of a call that hears nothing and answers nothing.
type silent struct{ gateway.Peer }

func (silent) Notify(string, []byte) {}

// TestAServerThatDoesNotAnswerHasItsTasksListed: the list has the state that the
// server last reported, by whichever way it came.
func TestAServerThatDoesNotAnswerHasItsTasksListed(t *testing.T) {
	t.Parallel()
	registry := New([]byte("secret"))
	about := func(method, raw string, answer *gateway.Result, notified string) []byte {
		t.Helper()
		kind := gateway.KindTask
		if method == "tools/call" {
			kind = gateway.KindTool
		}
		c := call("mine", gateway.View{}, kind, method, raw)
		c.Era, c.Peer = gateway.EraLegacy, silent{}
		c.Tool.Name, c.Tool.Exposed = "7", jsonrpc.LookupText([]byte(raw), "taskId")
		result, err := registry.Middleware(gateway.HandlerFunc(func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
			if notified != "" {
				c.Peer.Notify("notifications/tasks/status", []byte(notified))
			}
			return answer, nil
		})).Handle(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return result.Raw
	}
	state := func(id, status string) string { return `{"taskId":"` + id + `","status":"` + status + `"}` }
	raw := func(text string) *gateway.Result { return &gateway.Result{Raw: []byte(text)} }
	made := about("tools/call", `{"name":"slow","task":{}}`, raw(`{"task":`+state("7", "working")+`}`), "")
	id := jsonrpc.LookupText(jsonrpc.Lookup(made, "task"), "taskId")
	if id == "" || id == "7" {
		t.Fatalf("the client gets %s", made)
	}
	listed := func(why error) string {
		t.Helper()
		caller := call("mine", gateway.View{}, gateway.KindTask, "tasks/list", `{}`)
		caller.Era = gateway.EraLegacy
		list, err := registry.List(t.Context(), caller, "", gateway.HandlerFunc(func(context.Context, *gateway.Call) (*gateway.Result, error) {
			return nil, why
		}))
		if err != nil {
			t.Fatal(err)
		}
		return string(jsonrpc.Lookup(list, "tasks"))
	}
	want := func(status string, why error) {
		t.Helper()
		if got := listed(why); got != "["+state(id, status)+"]" {
			t.Errorf("after %v the list is %s, want %s", why, got, status)
		}
	}
	down := gateway.Errorf(gateway.CodeUnavailable, "down")
	want("working", down)
	want("working", context.DeadlineExceeded)
	want("working", gateway.Errorf(gateway.CodeLimited, "busy"))
	about("tasks/result", `{"taskId":"`+id+`"}`, raw(`{"content":[]}`), state("7", "input_required"))
	want("input_required", down)
	about("tasks/get", `{"taskId":"`+id+`"}`, raw(state("7", "completed")), "")
	want("completed", down)
	about("tasks/cancel", `{"taskId":"`+id+`"}`, raw(state("7", "cancelled")), "")
	want("cancelled", down)
	if got := listed(gateway.Errorf(gateway.CodeNotFound, "no such server")); got != "[]" {
		t.Errorf("a task of a server that was removed is listed: %s", got)
	}
	want("cancelled", down) // it was not forgotten
	about("tasks/get", `{"taskId":"`+id+`"}`, raw(state("7", strings.Repeat("x", maxState))), "")
	if got := listed(down); got != "[]" {
		t.Errorf("a state of %d bytes is kept", len(got))
	}
}
