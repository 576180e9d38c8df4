package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/gateway"
	"genkan/internal/mcpserver"
	"genkan/internal/testkit"
)

// list enables a tools/list workflow for a client, whose script changes tools.
func (h *testHouse) list(id, client, script string) {
	h.t.Helper()
	hook, _ := json.Marshal(map[string]any{"hook": map[string]any{"blocking": true, "script": "const tools = context.response.tools;\n" + script}})
	h.enable(fmt.Sprintf(`{"id":%q,"name":%q,"workflowType":"tools/list","match":{"clients":[%q]},
		"nodes":[{"id":"start","type":"start"},{"id":"list","type":"mcp-call"},{"id":"after","type":"hook","data":%s},{"id":"end","type":"end"}],
		"edges":[{"source":"start","target":"list"},{"source":"list","target":"after"},{"source":"after","target":"end"}]}`, id, id, client, hook))
}

// leaveOut is a script that takes tools out of a list.
func leaveOut(names ...string) string {
	raw, _ := json.Marshal(names)
	return `context.response.tools = tools.filter(t => !` + string(raw) + `.includes(t.name))`
}

// visitor is somebody with a token.
type visitor struct {
	*testHouse
	token string
}

func (h *testHouse) client(name string) visitor {
	h.t.Helper()
	var made struct{ Token string }
	if err := json.Unmarshal([]byte(h.must(http.MethodPost, "/v1/tokens", `{"name":"`+name+`"}`, http.StatusCreated)), &made); err != nil {
		h.t.Fatal(err)
	}
	return visitor{h, made.Token}
}

func (c visitor) rest(method, path, body string) string {
	c.t.Helper()
	_, text := c.request(method, path, body, http.Header{"Authorization": {"Bearer " + c.token}})
	return text
}

// at sends a modern request to a path.
func (c visitor) at(path, method, name, params string) string {
	c.t.Helper()
	header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}, "Authorization": {"Bearer " + c.token}}
	if name != "" {
		header["Mcp-Name"] = []string{name}
		params = fmt.Sprintf(`"name":%q,%s`, name, params)
	}
	_, text := c.request(http.MethodPost, path, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{%s}}}`, method, params, modernMeta), header)
	return text
}

func (c visitor) callAt(path, tool, arguments string) string {
	c.t.Helper()
	return c.at(path, "tools/call", tool, `"arguments":`+arguments+`,`)
}

// connect opens a session. changed receives a value for each notification that the list
// of tools changed.
func (c visitor) connect() (session *mcp.ClientSession, changed chan struct{}) {
	c.t.Helper()
	changed = make(chan struct{}, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	session, err := client.Connect(c.t.Context(), &mcp.StreamableClientTransport{Endpoint: c.base + "/mcp", HTTPClient: &http.Client{Transport: withToken{c.token, c.http.Transport}}}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = session.Close() })
	return session, changed
}

func toolNames(t *testing.T, session *mcp.ClientSession) string {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, tool := range list.Tools {
		all = append(all, tool.Name)
	}
	return " " + strings.Join(all, " ") + " "
}

func audienceHouse(t *testing.T) *testHouse {
	t.Helper()
	h := openHouse(t, conf{
		"mcpServers": conf{"one": child(t), "two": child(t)},
		"profiles":   conf{"both": conf{"servers": []string{"one", "two"}}},
		"pinned":     []string{"one__pid", "one__echo"},
	})
	h.waitReady("one", "two")
	return h
}

// What a workflow takes out of the lists of a client is unknown to it, whichever way it
// takes. Others have it.
func TestWhatIsHiddenFromAClientIsOutOfItsReach(t *testing.T) {
	t.Parallel()
	h := audienceHouse(t)
	alice, bob := h.client("alice"), h.client("bob")
	h.list("hide", "alice", leaveOut("pid", "get_items", "get_item_detail"))

	type door struct{ path, tool string }
	for _, d := range []door{
		{"/mcp", "one__pid"},
		{"/mcp/s/one", "pid"},
		{"/mcp/p/both", "one__pid"},
		{"/mcp/p/both?mode=all", "one__pid"},
		{"/mcp?mode=search", "one__pid"}, // where it is pinned
		{"/mcp/s/one?mode=search", "pid"},
	} {
		listed := func(c visitor) string { return c.at(d.path, "tools/list", "", "") }
		if got := listed(alice); strings.Contains(got, `pid"`) || !strings.Contains(got, `"read_result"`) {
			t.Errorf("%s lists %.600s", d.path, got)
		}
		if got := listed(bob); !strings.Contains(got, `pid"`) && d.path != "/mcp/s/one?mode=search" {
			t.Errorf("%s lists for bob %.600s", d.path, got)
		}
		if got := alice.callAt(d.path, d.tool, `{}`); !strings.Contains(got, "Unknown tool: "+d.tool) || strings.Contains(got, "Did you mean") {
			t.Errorf("%s: %s", d.path, got)
		}
		misspelt := d.tool[:len(d.tool)-1]
		if got := alice.callAt(d.path, misspelt, `{}`); !strings.Contains(got, "Unknown tool: ") || strings.Contains(got, d.tool) {
			t.Errorf("%s suggests %s", d.path, got)
		}
		if d.path != "/mcp/s/one?mode=search" {
			if got := bob.callAt(d.path, d.tool, `{}`); strings.Contains(got, "Unknown tool") {
				t.Errorf("%s for bob: %s", d.path, got)
			}
		}
	}

	// Legacy clients, which have sessions.
	for name, c := range map[string]visitor{"alice": alice, "bob": bob} {
		as := *h
		as.token = c.token
		session := as.legacy("2025-11-25", `{}`)
		listed, called := session.ask("tools/list", `{}`), session.call("one__pid", `{}`)
		if hidden := name == "alice"; strings.Contains(listed, `"one__pid"`) == hidden || strings.Contains(called, "Unknown tool: one__pid") != hidden {
			t.Errorf("%s: listed %.300s, called %s", name, listed, called)
		}
	}

	guided := "/mcp?mode=search"
	for tool, arguments := range map[string]string{
		"call_tool": `{"name":"one__pid","arguments":{}}`, "call_read_tool": `{"name":"one__pid","arguments":{}}`, "describe_tool": `{"name":"one__pid"}`,
	} {
		if got := alice.callAt(guided, tool, arguments); !strings.Contains(got, "Unknown tool: one__pid") {
			t.Errorf("%s: %s", tool, got)
		}
		if got := bob.callAt(guided, tool, arguments); strings.Contains(got, "Unknown tool") {
			t.Errorf("%s for bob: %s", tool, got)
		}
	}
	const query = `{"query":"process id pid"}`
	if got := alice.callAt(guided, "search_tools", query); strings.Contains(got, "__pid") {
		t.Errorf("search_tools finds %s", got)
	}
	if got := bob.callAt(guided, "search_tools", query); !strings.Contains(got, "__pid") {
		t.Errorf("search_tools finds for bob %s", got)
	}

	for _, r := range []struct{ method, path, body string }{
		{"GET", "/v1/tools?limit=100", ""},
		{"POST", "/v1/tools/search", `{"query":"process id pid"}`},
		{"GET", "/v1/tools/one__pid", ""},
		{"GET", "/v1/tools/one__pi", ""},
		{"POST", "/v1/tools/call", `{"name":"one__pid"}`},
		{"POST", "/v1/tools/call", `{"name":"one__pi"}`},
	} {
		got := alice.rest(r.method, r.path, r.body)
		if strings.Contains(strings.ReplaceAll(got, "Tool not found: one__pid", ""), "one__pid") || strings.Contains(r.body+r.path, "one__pid") && !strings.Contains(got, "TOOL_NOT_FOUND") {
			t.Errorf("alice: %s %s: %s", r.path, r.body, got)
		}
		for _, other := range []visitor{bob, {h, h.token}} {
			if got := other.rest(r.method, r.path, r.body); strings.Contains(r.body+r.path, "one__pid") && strings.Contains(got, "TOOL_NOT_FOUND") ||
				strings.Contains(r.body+r.path, "one__pi\"") && !strings.Contains(got, "Did you mean one__pid") {
				t.Errorf("another: %s %s: %s", r.path, r.body, got)
			}
		}
	}
	for _, path := range []string{"/v1/items", "/v1/items/export"} {
		if got := alice.rest("GET", path, ""); !strings.Contains(got, "TOOL_NOT_FOUND") {
			t.Errorf("%s: %s", path, got)
		}
		if got := bob.rest("GET", path, ""); strings.Contains(got, "TOOL_NOT_FOUND") {
			t.Errorf("%s for bob: %s", path, got)
		}
	}
	if got := alice.at("/mcp", "completion/complete", "", `"ref":{"type":"ref/tool","name":"one__pid"},"argument":{"name":"x","value":""},`); !strings.Contains(got, `"error"`) {
		t.Errorf("completed %s", got)
	}

	// Whatever view a call says, its caller is its audience.
	for _, audience := range []string{"", "bob"} {
		call := &gateway.Call{Kind: gateway.KindTool, Name: "one__pid", Caller: gateway.Caller{
			Identity: gateway.Identity{ClientID: "alice"}, View: gateway.View{Audience: audience},
		}}
		if err := h.house.Load().find(call); err == nil {
			t.Errorf("found in the view of %q", audience)
		}
	}

	// A call that a workflow makes has the rights of its caller.
	h.use("outer", `{"tools":["one__echo"]}`, `await call("one__pid", {})`, "")
	if got := alice.callAt("/mcp", "one__echo", `{"text":"x"}`); !strings.Contains(got, "one__pid") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("through a workflow: %s", got)
	}
	if got := bob.callAt("/mcp", "one__echo", `{"text":"x"}`); strings.Contains(got, `"isError":true`) {
		t.Errorf("through a workflow for bob: %s", got)
	}
}

// Servers beyond the limit of a token are unknown to it, also those that are down or list
// nothing. Others know them.
func TestServersBeyondALimitAreUnknown(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{
		"mcpServers": conf{"giraffe": child(t), "zebra": conf{"command": "not-there"}},
		"profiles":   conf{"animals": conf{"servers": []string{"giraffe", "zebra"}}},
		"kb":         conf{"enabled": true},
	})
	h.waitReady("giraffe")
	testkit.Eventually(t, func() bool { return h.server("zebra").State == "down" }, "zebra is down")
	bob, alice := h.client("bob"), h.client("alice")
	if got := bob.callAt("/mcp", "giraffe__echo", `{"text":"x"}`); !strings.Contains(got, `"x"`) { // for the metrics
		t.Fatal(got)
	}
	const guided = "/mcp?mode=search"
	// asks returns what a client is told, by what it asks. The names that it says itself
	// are taken out.
	asks := func(c visitor) map[string]string {
		answers := map[string]string{
			"tools":               c.at("/mcp", "tools/list", "", ""),
			"prompts":             c.at("/mcp", "prompts/list", "", ""),
			"resources":           c.at("/mcp", "resources/list", "", ""),
			"instructions":        c.at("/mcp", "server/discover", "", ""),
			"a tool":              c.callAt("/mcp", "zebra__x", `{}`),
			"the tools to search": c.at(guided, "tools/list", "", ""),
			"a search":            c.callAt(guided, "search_tools", `{"query":"qqqq"}`),
			"a search of one":     c.callAt(guided, "search_tools", `{"query":"echo","server":"zebra"}`),
			"a description":       c.callAt(guided, "describe_tool", `{"name":"zebra__x"}`),
			"a call of a found":   c.callAt(guided, "call_tool", `{"name":"zebra__x"}`),
			"a profile":           c.callAt("/mcp/p/animals", "zebra__x", `{}`),
			"a server alone":      c.at("/mcp/s/zebra", "tools/list", "", ""),
			"one over REST":       c.rest("GET", "/v1/servers/zebra", ""),
			"servers over REST":   c.rest("GET", "/v1/servers", ""),
			"a tool over REST":    c.rest("GET", "/v1/tools/zebra__x", ""),
			"a call over REST":    c.rest("POST", "/v1/tools/call", `{"name":"zebra__x"}`),
			"a check over REST":   c.rest("POST", "/v1/tools/zebra__x/validate", `{}`),
			"a search over REST":  c.rest("POST", "/v1/tools/search", `{"query":"echo","filters":{"server":"giraffe"}}`),
			"metrics":             c.rest("GET", "/metrics", ""),
		}
		for what, answer := range answers {
			answers[what] = strings.NewReplacer("zebra__x", "", `there is no server \"zebra\" here`, "", `there is no server \"zebra\"; `, "").Replace(answer)
		}
		return answers
	}
	names := func(answer string) bool {
		return strings.Contains(answer, "zebra") || strings.Contains(answer, "giraffe")
	}
	before := asks(alice)
	for _, what := range []string{"tools", "a tool", "the tools to search", "a search", "a search of one", "a description", "a call of a found", "a profile", "servers over REST", "a call over REST", "metrics"} {
		if !names(before[what]) {
			t.Errorf("without a limit, %s: %s", what, before[what])
		}
	}
	h.must("PUT", "/v1/tokens/alice/limit", `{"servers":["kb"]}`, http.StatusOK)
	for what, answer := range asks(alice) {
		if names(answer) || answer == "" {
			t.Errorf("%s: %s", what, answer)
		}
	}
	if got := alice.callAt("/mcp", "zebra__x", `{}`); !strings.Contains(got, "Unknown tool: zebra__x. tools/list names the tools there are") {
		t.Errorf("called %s", got)
	}
	if got := alice.rest("POST", "/v1/tools/call", `{"name":"zebra__x"}`); !strings.Contains(got, `"Tool not found: zebra__x"`) {
		t.Errorf("called over REST %s", got)
	}
	alone := alice.at("/mcp/s/zebra", "tools/list", "", "")
	if none := alice.at("/mcp/s/nobody", "tools/list", "", ""); alone != none {
		t.Errorf("a hidden server says %s, one that is not there %s", alone, none)
	}
	for what, answer := range asks(bob) {
		if names(answer) != names(before[what]) {
			t.Errorf("%s for bob: %s", what, answer)
		}
	}
	h.must("PUT", "/v1/tokens/alice/limit", `{}`, http.StatusOK)
	for what, answer := range asks(alice) {
		if names(answer) != names(before[what]) {
			t.Errorf("after the limit, %s: %s", what, answer)
		}
	}
}

// A client has no tasks at servers beyond its limit, also not those that it made before.
func TestTasksBeyondALimitAreUnknown(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t), "two": child(t, "-era", "legacy", "-everything", "-tasks")}))
	h.waitReady("one", "two")
	as := *h
	as.token = h.client("alice").token
	alice := as.legacy("2025-11-25", `{}`)
	made := alice.ask("tools/call", `{"name":"two__work","arguments":{"gate":"`+h.dir+`","text":"of two"},"task":{"ttl":60000}}`)
	_, id, _ := strings.Cut(made, `"taskId":"`)
	id, _, found := strings.Cut(id, `"`)
	if !found {
		t.Fatal(made)
	}
	for _, test := range []struct {
		limit string
		knows bool
	}{{`{"servers":["two"]}`, true}, {`{"servers":["one"]}`, false}, {`{}`, true}} {
		h.must("PUT", "/v1/tokens/alice/limit", test.limit, http.StatusOK)
		for _, method := range []string{"tasks/get", "tasks/result"} {
			if got := alice.ask(method, `{"taskId":"`+id+`"}`); strings.Contains(got, "Task not found") == test.knows {
				t.Errorf("limited to %s, %s: %s", test.limit, method, got)
			}
		}
	}
}

// A limit ends the subscriptions of its client at other servers, and lifting it brings them
// back.
func TestALimitEndsSubscriptions(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h := openHouse(t, servers(conf{"one": child(t), "two": child(t, "-era", "legacy", "-everything", "-record", record)}))
	h.waitReady("one", "two")
	as := *h
	as.token = h.client("alice").token
	if got := as.legacy("2025-06-18", `{}`).ask("resources/subscribe", `{"uri":"fault://text"}`); strings.Contains(got, "error") {
		t.Fatal(got)
	}
	listening, listen := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(listening, http.MethodPost, h.base+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["fault://blob"]},"_meta":{`+modernMeta+`}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + as.token}, "Content-Type": {"application/json"}, "Accept": {"text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}
	modern, err := h.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { listen(); _ = modern.Body.Close() }()

	// asked counts the requests for both resources that the server received.
	asked := func(method string) func(times int) {
		return func(times int) {
			t.Helper()
			testkit.Eventually(t, func() bool {
				seen := map[string]int{}
				for _, line := range testkit.Lines(t, record) {
					for _, uri := range []string{"fault://text", "fault://blob"} {
						if strings.Contains(line, `"method":"`+method+`"`) && strings.Contains(line, uri) {
							seen[uri]++
						}
					}
				}
				return seen["fault://text"] == times && seen["fault://blob"] == times
			}, "%d times %s of each resource", times, method)
		}
	}
	subscribed, unsubscribed := asked("resources/subscribe"), asked("resources/unsubscribe")
	subscribed(1)
	h.must("PUT", "/v1/tokens/alice/limit", `{"servers":["one"]}`, http.StatusOK)
	unsubscribed(1)
	h.must("PUT", "/v1/tokens/alice/limit", `{}`, http.StatusOK)
	subscribed(2)
}

// The dependencies that an administrator gives to a tool name no tool that a client does
// not see.
func TestDependenciesBeyondALimitAreUnknown(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"giraffe": child(t), "zebra": child(t)}))
	h.waitReady("giraffe", "zebra")
	h.must("PATCH", "/v1/tools/giraffe__echo", `{"dependencies":["zebra__pid","giraffe__pid","later__x"]}`, http.StatusOK)
	alice := h.client("alice")
	h.must("PUT", "/v1/tokens/alice/limit", `{"servers":["giraffe"]}`, http.StatusOK)
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/v1/tools/giraffe__echo", ""},
		{"GET", "/v1/tools?limit=100", ""},
		{"POST", "/v1/tools/search", `{"query":"echo"}`},
	} {
		if got := alice.rest(r.method, r.path, r.body); !strings.Contains(got, `"dependencies":["giraffe__pid"]`) || strings.Contains(got, "zebra") {
			t.Errorf("%s: %s", r.path, got)
		}
		// An administrator sees what was written, and changes it.
		if got := h.must(r.method, r.path, r.body, http.StatusOK); !strings.Contains(got, `"dependencies":["zebra__pid","giraffe__pid","later__x"]`) {
			t.Errorf("%s for the administrator: %s", r.path, got)
		}
	}
}

// A renamed tool is called by its new name only, with the arguments of the server's tool.
func TestAToolIsRenamedForAClient(t *testing.T) {
	t.Parallel()
	h := audienceHouse(t)
	alice := h.client("alice")
	h.list("rename", "alice", `for (const t of tools) if (t.name === "echo") {
		t.name = "say"; t.description = "Speaks Klingon."; t.inputSchema = {type: "object", properties: {volume: {type: "string"}}};
	}`)
	list := alice.at("/mcp", "tools/list", "", "")
	if !strings.Contains(list, `"one__say"`) || !strings.Contains(list, "Speaks Klingon.") || strings.Contains(list, `"one__echo"`) {
		t.Errorf("listed %.900s", list)
	}
	for path, name := range map[string]string{"/mcp": "one__say", "/mcp/s/one": "say"} {
		if got := alice.callAt(path, name, `{"text":"hello"}`); !strings.Contains(got, `"hello"`) {
			t.Errorf("%s: %s", path, got)
		}
		former := strings.Replace(name, "say", "echo", 1)
		if got := alice.callAt(path, former, `{"text":"hello"}`); !strings.Contains(got, "Unknown tool: "+former) {
			t.Errorf("%s by its former name: %s", path, got)
		}
	}
	if got := alice.rest("POST", "/v1/tools/call", `{"name":"one__say","parameters":{"volume":"loud"}}`); !strings.Contains(got, "Required parameter missing: text") {
		t.Errorf("checked as %s", got)
	}
	found := alice.callAt("/mcp?mode=search", "search_tools", `{"query":"speak klingon","detail":"full"}`)
	if !strings.Contains(found, `one__say(volume?: string)`) || strings.Contains(found, `"echo"`) || strings.Contains(found, "echo(") {
		t.Errorf("found %s", found)
	}
	if got := alice.rest("POST", "/v1/tools/search", `{"query":"speak klingon"}`); !strings.Contains(got, `"name":"one__say"`) || strings.Contains(got, "echo\"") {
		t.Errorf("found over REST %s", got)
	}
	// An administrator looks after the server's tools.
	if got := h.must("GET", "/v1/tools/one__echo", "", http.StatusOK); strings.Contains(got, "Klingon") {
		t.Errorf("the administrator sees %s", got)
	}
	h.must("POST", "/v1/tools/one__echo/disable", "", http.StatusOK)
	if got := alice.callAt("/mcp", "one__say", `{"text":"hello"}`); !strings.Contains(got, "Tool is disabled") {
		t.Errorf("disabled: %s", got)
	}
}

// Two clients have different lists. Sessions stay when lists change, and exactly the
// clients whose list changed are told.
func TestClientsAreToldOfTheirOwnLists(t *testing.T) {
	t.Parallel()
	h := audienceHouse(t)
	alice, toldAlice := h.client("alice").connect()
	bob, toldBob := h.client("bob").connect()
	carol, toldCarol := h.client("carol").connect()
	all := toolNames(t, bob)
	if all != toolNames(t, alice) || !strings.Contains(all, " one__pid ") {
		t.Fatal(all)
	}
	expect := func(told chan struct{}, session *mcp.ClientSession, want string) {
		t.Helper()
		<-told
		if got := toolNames(t, session); got != want {
			t.Errorf("listed%s, want%s", got, want)
		}
	}
	without := func(names ...string) string {
		left := all
		for _, name := range names {
			left = strings.Replace(left, " "+name+" ", " ", 1)
		}
		return left
	}
	h.list("first", "alice", leaveOut("pid"))
	expect(toldAlice, alice, without("one__pid", "two__pid"))
	h.list("second", "bob", leaveOut("echo"))
	expect(toldBob, bob, without("one__echo", "two__echo"))
	if result, err := alice.CallTool(t.Context(), &mcp.CallToolParams{Name: "one__pid"}); failureOf(result, err) == nil {
		t.Error("a session from before reaches what is hidden")
	}

	h.list("first", "alice", leaveOut("env", "pid"))
	expect(toldAlice, alice, without("one__pid", "two__pid", "one__env", "two__env"))
	// The list of a server changes: what is hidden from bob does not concern him.
	h.must("POST", "/v1/tools/one__echo/disable", "", http.StatusOK)
	expect(toldAlice, alice, without("one__pid", "two__pid", "one__env", "two__env", "one__echo"))
	expect(toldCarol, carol, without("one__echo"))

	if err := h.workflows.library.Disable(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	expect(toldAlice, alice, without("one__echo"))
	if err := h.workflows.library.Disable(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	expect(toldBob, bob, without("one__echo"))
	if len(toldAlice)+len(toldBob)+len(toldCarol) != 0 {
		t.Errorf("told again: alice %d, bob %d, carol %d", len(toldAlice), len(toldBob), len(toldCarol))
	}
}

// A client over stdio keeps its connection, and to its lists.
func TestALocalClientHasListsOfItsOwn(t *testing.T) {
	t.Parallel()
	h := audienceHouse(t)
	h.list("hide", "local:cursor", leaveOut("pid"))
	const list, call = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"one__pid","arguments":{}}}`
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Cursor","version":"1.7"}}}`
	for name, hidden := range map[string]bool{"cursor": true, "zed": false, "": false} {
		got := h.talk(mcpserver.StdioOptions{Client: name}, hello, list, call)
		if strings.Contains(got[1], `"one__pid"`) == hidden || strings.Contains(got[2], "Unknown tool") != hidden {
			t.Errorf("%q: %.300s %s", name, got[1], got[2])
		}
	}
}

// If a workflow fails, the last list stands, and without one nothing of the server is
// listed. It is said once in the log.
func TestAListWorkflowFails(t *testing.T) {
	t.Parallel()
	h := audienceHouse(t)
	alice, bob := h.client("alice"), h.client("bob")
	h.list("hide", "alice", leaveOut("pid"))
	listed := func(c visitor) string { return c.at("/mcp", "tools/list", "", "") }
	before := listed(alice)
	h.list("hide", "alice", `null.x`)
	h.list("other", "bob", `null.x`)
	for range 3 {
		if got := listed(alice); got != before || !strings.Contains(got, `"one__echo"`) {
			t.Errorf("the last list does not stand: %.600s", got)
		}
		if got := listed(bob); strings.Contains(got, `"one__`) || !strings.Contains(got, `"read_result"`) {
			t.Errorf("without a last list: %.600s", got)
		}
		if got := bob.callAt("/mcp", "one__echo", `{"text":"x"}`); !strings.Contains(got, "Unknown tool: one__echo") {
			t.Errorf("called: %s", got)
		}
		h.house.Load().Refresh(0, "one")
	}
	lines := map[string]int{}
	for _, line := range h.logLines("the tools of a server could not be listed for a client") {
		lines[fmt.Sprint(line["client"], line["server"])]++
	}
	if lines["aliceone"] != 1 || lines["bobone"] != 1 {
		t.Errorf("logged %v", lines)
	}
}

// A workflow that makes a list may call tools.
func TestAListWorkflowCallsATool(t *testing.T) {
	t.Parallel()
	h := audienceHouse(t)
	alice := h.client("alice")
	h.list("ask", "alice", `if (await call("two__echo", {text: "hide"}) === "hide") `+leaveOut("pid"))
	testkit.Eventually(t, func() bool {
		got := alice.at("/mcp", "tools/list", "", "")
		return strings.Contains(got, `"one__echo"`) && !strings.Contains(got, `"one__pid"`)
	}, "the list is what the tool says")
}
