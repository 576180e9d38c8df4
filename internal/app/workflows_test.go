package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/testkit"
	"genkan/internal/workflow"
	"genkan/internal/workflow/template"
)

// use saves and enables a workflow with one blocking hook before the call and one
// behind it. An empty script leaves its hook out.
func (h *testHouse) use(id, match, before, after string) {
	h.t.Helper()
	nodes, edges, last := []string{`{"id":"start","type":"start"}`}, []string{}, "start"
	add := func(id, kind, data string) {
		nodes = append(nodes, fmt.Sprintf(`{"id":%q,"type":%q,"data":%s}`, id, kind, data))
		edges = append(edges, fmt.Sprintf(`{"source":%q,"target":%q}`, last, id))
		last = id
	}
	hook := func(id, script string) {
		if script != "" {
			raw, _ := json.Marshal(map[string]any{"hook": map[string]any{"script": script, "blocking": true}})
			add(id, "hook", string(raw))
		}
	}
	hook("before", before)
	add("call", "mcp-call", "{}")
	hook("after", after)
	add("end", "end", "{}")
	raw := fmt.Sprintf(`{"id":%q,"name":%q,"workflowType":"tools/call","match":%s,"nodes":[%s],"edges":[%s]}`, id, id, match, strings.Join(nodes, ","), strings.Join(edges, ","))
	h.enable(raw)
}

// enable saves and enables a workflow.
func (h *testHouse) enable(raw string) {
	h.t.Helper()
	d, err := workflow.Parse([]byte(raw))
	if err != nil {
		h.t.Fatal(err)
	}
	base := 0
	if was, err := h.workflows.library.Workflow(h.t.Context(), d.ID, 0); err == nil {
		base = was.Version
	}
	saved, err := h.workflows.library.Save(h.t.Context(), *d, base)
	if err == nil {
		err = h.workflows.library.Enable(h.t.Context(), d.ID, saved.Version)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// Workflows run around calls of every door, and what they call is a call of the caller.
func TestWorkflowsRunAroundCalls(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t), "two": child(t)}))
	h.waitReady("one", "two")
	h.use("loud", `{"tools":["one__echo"]}`,
		`context.request.params.arguments.text = context.request.params.arguments.text.toUpperCase()`,
		`return {action: "continue", response: mapText(context.response, s => s + "!")}`)
	if got := h.mustCall("one__echo", `{"text":"hello"}`); got != "HELLO!" {
		t.Errorf("got %s", got)
	}
	if got := h.mustCall("two__echo", `{"text":"hello"}`); got != "hello" {
		t.Errorf("another server's tool: %s", got)
	}
	if _, answer := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"rest"}}`, nil); !strings.Contains(answer, "REST!") {
		t.Errorf("over REST: %s", answer)
	}

	h.use("no", `{"tools":["*__pid"]}`, `return {action: "deny", reason: "process ids are private"}`, "")
	if got, err := h.call("one__pid", `{}`); err == nil || !strings.Contains(err.Error(), `workflow "no" refused this call: process ids are private`) {
		t.Errorf("got %s, %v", got, err)
	}
	if status, answer := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__pid"}`, nil); status != http.StatusForbidden || !strings.Contains(answer, "process ids are private") {
		t.Errorf("over REST: %d %s", status, answer)
	}

	h.use("enrich", `{"tools":["two__echo"]}`, `
		const other = await call("one__echo", {text: "inner"});
		context.request.params.arguments.text += " and " + other;`, "")
	if got := h.mustCall("two__echo", `{"text":"outer"}`); got != "outer and INNER!" {
		t.Errorf("got %s", got)
	}
	calls := h.recorded(everything)
	last := calls[len(calls)-1]
	var children int
	for _, c := range calls {
		if c.Parent == last.ID && c.Tool == "one__echo" {
			children++
		}
	}
	if last.Tool != "two__echo" || children != 1 || last.Timing.Hooks == 0 {
		t.Errorf("recorded %+v with %d children", last.Entry, children)
	}
	traces := h.workflows.traces.Of(last.ID)
	if len(traces) != 1 || traces[0].Workflow != "enrich" || traces[0].Outcome != workflow.OutcomeOK || len(traces[0].Steps[0].Patch) != 1 {
		t.Errorf("traces %+v", traces)
	}

	effects := map[string]string{}
	for _, c := range calls {
		effects[c.Tool] = c.Effect
	}
	if effects["one__echo"] != workflow.EffectChanged || effects["one__pid"] != workflow.EffectDenied {
		t.Errorf("the history has the effects %v", effects)
	}

	h.use("broken", `{"tools":["one__raw"]}`, `null.x`, "")
	if got, err := h.call("one__raw", `{}`); err == nil || !strings.Contains(err.Error(), `workflow "broken" failed at its node "Script (before)"`) {
		t.Errorf("got %s, %v", got, err)
	}
	if err := h.workflows.library.Disable(t.Context(), "broken"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.call("one__raw", `{"result_json":"{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}"}`); err != nil {
		t.Error(err)
	}
}

// What the engine of scripts throws is said in the language of the house.
func TestScriptErrorsInJapanese(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{"lang": "ja", "mcpServers": conf{"one": child(t)}})
	h.use("broken", `{"tools":["one__raw"]}`, `context.request.replaceAll("a", "b")`, "")
	got, err := h.mcp("tools/call", "one__raw", `"arguments":{},`)
	if err != nil || !strings.Contains(got, "「replaceAll」というメソッドやプロパティはありません（TypeError）") || strings.Contains(got, "line 1") {
		t.Errorf("got %s, %v", got, err)
	}
}

// What workflows did to a call is kept whole only where what was sent and received is.
func TestTracesOfCallsWithoutBodies(t *testing.T) {
	t.Parallel()
	one := child(t)
	h := openHouse(t, servers(conf{"one": one}))
	h.waitReady("one")
	h.use("loud", `{"tools":["one__echo"]}`,
		`console.log(context.request.params.arguments.text); if (context.request.params.arguments.text === "canary no") throw new Error(context.request.params.arguments.text); context.request.params.arguments.text += "!"`,
		`return {action: "continue", response: mapText(context.response, s => s + "?")}`)
	alice, admin := h.client("alice"), visitor{h, h.token}
	for _, c := range []struct {
		bodies string
		who    visitor
		kept   bool
	}{{"local", alice, false}, {"local", admin, true}, {"off", admin, false}, {"all", alice, true}} {
		h.reload(with(servers(conf{"one": one}), conf{"record": conf{"bodies": c.bodies}}))
		for _, text := range []string{"canary", "canary no"} {
			c.who.callAt("/mcp", "one__echo", `{"text":"`+text+`"}`)
			calls := h.recorded(everything)
			call := calls[len(calls)-1]
			shown := admin.rest(http.MethodGet, "/v1/calls/"+call.ID, "")
			runs := admin.rest(http.MethodGet, "/v1/workflows/loud/runs?limit=1", "")
			for what, answer := range map[string]string{"the call": shown, "the run": runs} {
				if !strings.Contains(answer, `"workflow":"loud"`) || strings.Contains(answer, "canary") != c.kept || strings.Contains(call.Error, "canary") {
					t.Errorf("bodies %s, %q: %s has %s", c.bodies, text, what, answer)
				}
			}
			if text == "canary" && !c.kept && (call.Effect != workflow.EffectChanged || !strings.Contains(shown, "/request/params/arguments")) {
				t.Errorf("bodies %s: nothing says what changed: %+v %s", c.bodies, call, shown)
			}
		}
	}
}

// An argument that a workflow fills in is not asked for: arguments are checked as they are
// sent.
func TestFilledInArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": with(child(t), conf{"validate": true})}))
	h.waitReady("one")
	const missing = "Required parameter missing: text"
	rest := func() string {
		_, answer := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{}}`, nil)
		return answer
	}
	if _, err := h.call("one__echo", `{}`); err == nil || !strings.Contains(err.Error(), "text") || !strings.Contains(rest(), missing) {
		t.Fatalf("%v, %s", err, rest())
	}
	fill := func(value string) {
		t.Helper()
		made, err := template.Use("fill-in", json.RawMessage(`{"argument":"text","value":`+value+`}`), template.Options{Match: workflow.Match{Servers: []string{"one"}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range made {
			raw, err := json.Marshal(made[i])
			if err != nil {
				t.Fatal(err)
			}
			h.enable(string(raw))
		}
	}
	fill(`"filled in"`)
	if got := h.mustCall("one__echo", `{}`); got != "filled in" || !strings.Contains(rest(), got) {
		t.Errorf("got %s, %s", got, rest())
	}
	fill(`7`)
	if _, err := h.call("one__echo", `{"text":"x"}`); err == nil {
		t.Error("what is filled in is not checked")
	}
	list, err := h.mcp("tools/list", "", "")
	if err != nil || !strings.Contains(list, `"one__echo"`) || strings.Contains(list, `"required":["text"]`) {
		t.Errorf("%v: %s", err, list)
	}
}

const approving = `{"id":"ask","name":"ask","workflowType":"tools/call","match":{"tools":["one__echo"]},
	"nodes":[{"id":"start","type":"start"},{"id":"person","type":"approve","data":{"message":"May it?"}},{"id":"call","type":"mcp-call"},{"id":"end","type":"end"}],
	"edges":[{"source":"start","target":"person"},{"source":"person","target":"call"},{"source":"call","target":"end"}]}`

// A person is asked through a client that can ask, and else by a pending approval.
func TestAPersonDecides(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	h.enable(approving)
	secret := `{"text":"hello","password":"hunter2-and-more"}`

	for _, allow := range []bool{true, false} {
		decided := make(chan string, 1)
		go func() {
			text, err := h.call("one__echo", secret)
			decided <- fmt.Sprint(text, err)
		}()
		var pending workflow.Approval
		testkit.Eventually(t, func() bool {
			if all := h.workflows.desk.List(); len(all) == 1 {
				pending = all[0]
			}
			return pending.ID != ""
		}, "an approval is pending")
		if pending.Tool != "one__echo" || pending.Message != "May it?" || pending.Client != "admin" || pending.Arguments != secret || pending.Masked {
			t.Errorf("asked %+v", pending)
		}
		if err := h.workflows.desk.Decide(t.Context(), pending.ID, workflow.Decision{Granted: allow, By: "admin"}); err != nil {
			t.Fatal(err)
		}
		if got := <-decided; strings.HasPrefix(got, "hello") != allow || strings.Contains(got, `a person whom workflow "ask" asked refused this call`) == allow {
			t.Errorf("allowed %v: %s", allow, got)
		}
	}

	// A client with a token is asked if the workflow says so.
	h.enable(strings.Replace(approving, `"May it?"`, `"May it?","askClient":true`, 1))
	for _, answer := range []string{"accept", "decline", "accept without"} {
		asked := ""
		client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked = r.Params.Message
				action, _, without := strings.Cut(answer, " ")
				return &mcp.ElicitResult{Action: action, Content: map[string]any{"allow": !without}}, nil
			},
		})
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.base + "/mcp", HTTPClient: &http.Client{Transport: withToken{h.token, h.http.Transport}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one__echo", Arguments: json.RawMessage(secret)})
		if failed := failureOf(result, err); (failed == nil) != (answer == "accept") || !strings.Contains(asked, "May it?\none__echo {") || !strings.Contains(asked, "hunter2") {
			t.Errorf("%s: asked %q: %v", answer, asked, failed)
		}
		_ = session.Close()
	}
}

// A client with a token is not asked whether its own call may be made: an administrator
// decides, whatever the client announces.
func TestAClientDoesNotApproveItsOwnCall(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	h.enable(approving)
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(h.must(http.MethodPost, "/v1/tokens", `{"name":"agent"}`, http.StatusCreated)), &made); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked.Add(1)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}, nil
		},
	}).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.base + "/mcp", HTTPClient: &http.Client{Transport: withToken{made.Token, h.http.Transport}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	decided := make(chan error, 1)
	go func() {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one__echo", Arguments: json.RawMessage(`{"text":"hello"}`)})
		decided <- failureOf(result, err)
	}()
	var pending workflow.Approval
	testkit.Eventually(t, func() bool {
		if all := h.workflows.desk.List(); len(all) == 1 {
			pending = all[0]
		}
		return pending.ID != ""
	}, "an approval is pending")
	if pending.InClient || pending.Client != "agent" {
		t.Errorf("asked %+v", pending)
	}
	h.must(http.MethodPost, "/v1/approvals/"+pending.ID, `{"decision":"deny"}`, http.StatusOK)
	if err := <-decided; err == nil || asked.Load() > 0 {
		t.Errorf("it passed: %v, asked %d times", err, asked.Load())
	}
	_ = session.Close()
}

// withToken sends a token with every request.
type withToken struct {
	token string
	next  http.RoundTripper
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return w.next.RoundTrip(r)
}

// A call is not refused for being disabled if a workflow around it calls a disabled tool: the
// error names the workflow, also to administrators.
func TestAWorkflowCallsADisabledTool(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t), "two": child(t)}))
	h.waitReady("one", "two")
	h.enable(`{"id":"w","name":"My workflow","workflowType":"tools/call","match":{"tools":["one__echo"]},
		"nodes":[{"id":"start","type":"start"},{"id":"ask","type":"tool","data":{"tool":"two__echo","arguments":{"text":{"value":"x"}}}},{"id":"call","type":"mcp-call"},{"id":"end","type":"end"}],
		"edges":[{"source":"start","target":"ask"},{"source":"ask","target":"call"},{"source":"call","target":"end"}]}`)
	h.must(http.MethodPost, "/v1/tools/two__echo/disable", "", http.StatusOK)
	got := h.must(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"hello"}}`, http.StatusForbidden)
	if !strings.Contains(got, `workflow \"My workflow\" failed at its node \"Another tool (ask)\"`) || !strings.Contains(got, "Tool is disabled: two__echo") || strings.Contains(got, "TOOL_DISABLED") {
		t.Errorf("answered %s", got)
	}
	if got, err := h.call("one__echo", `{"text":"hello"}`); err == nil && strings.Contains(got, `"disabled"`) {
		t.Errorf("answered %s", got)
	}
}
