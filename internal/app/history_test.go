package app

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"genkan/internal/events"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/mcpserver"
)

// recorded returns the calls of the history, the oldest first.
func (h *testHouse) recorded(who gateway.Identity) []history.Listed {
	h.t.Helper()
	list, err := h.calls.List(h.t.Context(), who, history.Query{})
	if err != nil {
		h.t.Fatal(err)
	}
	for i, j := 0, len(list.Calls)-1; i < j; i, j = i+1, j-1 {
		list.Calls[i], list.Calls[j] = list.Calls[j], list.Calls[i]
	}
	return list.Calls
}

var everything = gateway.Identity{ClientID: "admin", Admin: true}

// Every call is one entry, whatever way it came and went.
func TestTheHistoryOfCalls(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	h.mustCall("one__echo", `{"text":"hello"}`)
	if _, err := h.call("one__echo", `{}`); err == nil {
		t.Error("it must fail")
	}
	if _, err := h.call("no_such_tool", `{}`); err == nil {
		t.Error("it must fail")
	}
	h.request(http.MethodPost, "/mcp?mode=search", fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"one__echo","arguments":{"text":"through"}},"_meta":{%s}}}`, modernMeta),
		http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"call_tool"}})
	h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"rest"}}`, nil)
	h.talk(mcpserver.StdioOptions{Client: "cursor"},
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Cursor","version":"1.7"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one__echo","arguments":{"text":"stdio"}}}`)

	calls := h.recorded(everything)
	want := []history.Listed{
		{Entry: history.Entry{Caller: "admin", Edge: "http", Era: "modern", Server: "one", Tool: "one__echo", Outcome: "ok"}, Arguments: `{"text":"hello"}`},
		{Entry: history.Entry{Caller: "admin", Edge: "http", Era: "modern", Server: "one", Tool: "one__echo", Outcome: "tool_error", Error: "echo needs a text"}, Arguments: `{}`},
		{Entry: history.Entry{Caller: "admin", Edge: "http", Era: "modern", Tool: "no_such_tool", Outcome: "not_found", Error: "Unknown tool: no_such_tool. tools/list names the tools there are"}, Arguments: `{}`},
		{Entry: history.Entry{Caller: "admin", Edge: "http", Era: "modern", Server: "one", Tool: "one__echo", Outcome: "ok", Through: "call_tool"}, Arguments: `{"text":"through"}`},
		{Entry: history.Entry{Caller: "admin", Edge: "rest", Era: "none", Server: "one", Tool: "one__echo", Outcome: "ok"}, Arguments: `{"text":"rest"}`},
		{Entry: history.Entry{Caller: "local:cursor", Client: "Cursor 1.7", Edge: "stdio", Era: "legacy", Server: "one", Tool: "one__echo", Outcome: "ok"}, Arguments: `{"text":"stdio"}`},
	}
	if len(calls) != len(want) {
		t.Fatalf("%d calls, want %d", len(calls), len(want))
	}
	ids := map[string]bool{}
	for i, got := range calls {
		if got.ID == "" || ids[got.ID] || got.Method != "tools/call" || got.BytesIn == 0 || got.TokensIn == 0 {
			t.Errorf("call %d: %+v", i, got)
		}
		ids[got.ID] = true
		if got.Server != "" && (got.Timing.Server <= 0 || got.Timing.Server > got.Took || got.Attempts != 1 || got.BytesOut == 0) {
			t.Errorf("call %d took %v: %+v", i, got.Took, got)
		}
		facts := history.Listed{Entry: history.Entry{
			Caller: got.Caller, Client: got.Client, Edge: got.Edge, Era: got.Era, Server: got.Server, Tool: got.Tool,
			Outcome: got.Outcome, Error: got.Error, Through: got.Through,
		}, Arguments: got.Arguments}
		if facts != want[i] {
			t.Errorf("call %d:\ngot  %+v\nwant %+v", i, facts, want[i])
		}
	}
	shown, err := h.calls.Show(t.Context(), everything, calls[0].ID)
	if err != nil || !strings.Contains(string(shown.Request), `"arguments":{"text":"hello"}`) || !strings.Contains(string(shown.Response), `"text":"hello"`) {
		t.Errorf("%s %s %v", shown.Request, shown.Response, err)
	}
	if lines := h.logLines("call"); lines[0]["request_id"] != calls[0].ID {
		t.Errorf("the log names the call %v, the history %s", lines[0]["request_id"], calls[0].ID)
	}
}

// A call that fails before a tool is found counts for the server that it was meant for, as
// far as its client may know that server. Only administrators learn that a tool is hidden.
func TestCallsThatReachNoServer(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t), "gone": conf{"command": "/no/such/program"}, "two": child(t, "-everything")}))
	h.waitReady("one", "two")
	alice := h.client("alice")
	h.must(http.MethodPut, "/v1/tokens/alice/limit", `{"servers":["one","gone"]}`, http.StatusOK)
	h.list("hide", "alice", leaveOut("echo"))
	h.must(http.MethodPost, "/v1/tools/one__pid/disable", "", http.StatusOK)
	before := len(h.recorded(everything))
	for _, c := range []struct{ path, tool string }{
		{"/mcp", "one__pid"},
		{"/mcp/s/one", "pid"},
		{"/mcp", "gone__anything"},
		{"/mcp/s/gone", "anything"},
		{"/mcp/s/one", "made_up"},
		{"/mcp", "one__made_up"},
		{"/mcp", "one__echo"},
		{"/mcp", "two__pid"},
		{"/mcp", "nobody__made_up"},
	} {
		alice.callAt(c.path, c.tool, `{}`)
	}
	as := *h
	as.token = alice.token
	session := as.legacy("2025-11-25", `{}`)
	session.ask("resources/read", `{"uri":"made://up"}`) // two would be asked, if it were allowed
	session.ask("prompts/get", `{"name":"two__greet"}`)
	var got []string
	for _, e := range h.recorded(everything)[before:] {
		got = append(got, strings.TrimRight(strings.Join([]string{e.Server, e.Tool, e.Outcome}, " ")+" "+strings.Repeat("unlisted", int(e.Flags&history.Unlisted/history.Unlisted))+strings.Repeat(" hidden", int(e.Flags&history.Hidden/history.Hidden)), " "))
	}
	if want := []string{
		"one one__pid denied", "one pid denied",
		"gone gone__anything unavailable unlisted", "gone anything unavailable unlisted",
		"one made_up not_found unlisted", "one one__made_up not_found unlisted",
		"one one__echo not_found unlisted hidden", " two__pid not_found unlisted hidden", " nobody__made_up not_found unlisted",
		"  not_found", "  not_found  hidden", // an address, and a prompt
	}; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	const toAdmins = "It exists, but the limit of the client's token or a workflow hides it"
	for who, want := range map[string]int{alice.token: 0, h.token: 3} {
		if n := strings.Count(visitor{h, who}.rest(http.MethodGet, "/v1/calls", ""), toAdmins); n != want {
			t.Errorf("%d calls are said to be of hidden tools, want %d", n, want)
		}
	}
	var stats struct {
		Servers, Tools []struct{ Server, Tool string }
	}
	_ = json.Unmarshal([]byte(alice.rest(http.MethodGet, "/v1/calls/stats", "")), &stats)
	for _, sum := range stats.Tools {
		if strings.Contains(sum.Tool, "made_up") || strings.Contains(sum.Tool, "anything") || strings.Contains(sum.Tool, "echo") || sum.Server == "two" {
			t.Errorf("a sum of %+v", sum)
		}
	}
	if len(stats.Servers) != 3 { // one, gone, and none
		t.Errorf("servers %+v", stats.Servers)
	}
	hidden := 0
	for _, line := range h.logLines("call") {
		if line["hidden_from_client"] == true {
			hidden++
		}
	}
	if hidden != 3 {
		t.Errorf("%d lines of the log tell of hidden tools", hidden)
	}
}

// Whose bodies are kept is as the configuration says, and each client sees its own
// calls only.
func TestWhoseBodiesAreKept(t *testing.T) {
	t.Parallel()
	one := child(t)
	h := openHouse(t, with(servers(conf{"one": one}), conf{"record": conf{"bodies": "off"}}))
	h.waitReady("one")
	h.as("ann")
	local := mcpserver.StdioOptions{Client: "cursor"}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one__echo","arguments":{"text":"x"}}}`
	for i, c := range []struct {
		record any
		kept   [3]bool // of ann, of the local client; whether there is an entry
	}{
		{conf{"bodies": "off"}, [3]bool{false, false, true}},
		{conf{"bodies": "local"}, [3]bool{false, true, true}},
		{conf{"bodies": "all"}, [3]bool{true, true, true}},
		{"off", [3]bool{false, false, false}},
	} {
		h.reload(with(servers(conf{"one": one}), conf{"record": c.record}))
		before := len(h.recorded(everything))
		h.mustCall("one__echo", `{"text":"x"}`)
		h.talk(local, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Cursor","version":"1.7"}}}`, call)
		calls := h.recorded(everything)[before:]
		if !c.kept[2] {
			if len(calls) != 0 {
				t.Errorf("%d: %d calls were kept", i, len(calls))
			}
			continue
		}
		if len(calls) != 2 || calls[0].Has(history.HasBodies) != c.kept[0] || calls[1].Has(history.HasBodies) != c.kept[1] {
			t.Errorf("%d: %+v", i, calls)
		}
	}
	h.as("bob")
	h.mustCall("one__echo", `{"text":"y"}`)
	whose := map[string]int{}
	for _, e := range h.recorded(gateway.Identity{ClientID: "ann"}) {
		whose[e.Caller]++
		if _, err := h.calls.Show(t.Context(), gateway.Identity{ClientID: "bob"}, e.ID); err == nil || gateway.AsError(err).Code != gateway.CodeNotFound {
			t.Errorf("bob reads a call of ann: %v", err)
		}
		if e.Has(history.HasBodies) {
			if _, err := h.calls.Show(t.Context(), everything, e.ID); err != nil {
				t.Error(err)
			}
		}
	}
	if len(whose) != 1 || whose["ann"] != 3 {
		t.Errorf("ann sees %v", whose)
	}
	list, err := h.calls.List(t.Context(), everything, history.Query{Text: `"x"`})
	if err != nil || len(list.Calls) == 0 {
		t.Error(list, err)
	}
	for _, c := range list.Calls {
		if shown := c.Arguments != ""; shown != (c.Caller != "ann") {
			t.Errorf("an administrator's list shows %q of %s", c.Arguments, c.Caller)
		}
	}
	if searched := h.logLines("an administrator searched in what other clients sent and received"); len(searched) != 1 || searched[0]["clients"] != "ann" {
		t.Errorf("the log has %v", searched)
	}
	if read := h.logLines("an administrator read what another client sent and received"); len(read) != 1 || read[0]["client"] != "ann" || read[0]["reader"] != "admin" {
		t.Errorf("the log has %v", read)
	}
}

// Without replay nothing is kept that only a replay needs.
func TestRecordWithoutReplay(t *testing.T) {
	t.Parallel()
	h := openHouse(t, with(servers(conf{"one": child(t)}), conf{"record": conf{"replay": "off"}}))
	h.waitReady("one")
	h.mustCall("one__echo", `{"text":"x"}`)
	call := h.recorded(everything)[0]
	_, bodies, err := h.calls.Reader.Bodies(t.Context(), call.ID, "")
	if err != nil || call.Has(history.Replayable) || bodies.Sent != nil || bodies.Answered != nil || bodies.Request == nil {
		t.Errorf("%+v %s %v", call, bodies, err)
	}
}

// Secrets pass through arguments, results, headers and errors, in the spellings that
// programs use, and are readable in no file of the history and in nothing that it
// shows, also after they were replaced.
func TestNoSecretIsInTheHistory(t *testing.T) {
	t.Parallel()
	const canaries = 20
	secret := func(n int) string { return fmt.Sprintf("cAn4ry/+&=%02dxyz%02d", n, n) }
	env := conf{}
	for n := range canaries {
		env[fmt.Sprintf("API_KEY_%d", n)] = secret(n)
	}
	one := child(t)
	one["env"] = with(one["env"].(conf), env)
	web := with(sibling(t), conf{"headers": conf{"X-Api-Key": secret(0)}})
	h := openHouse(t, servers(conf{"one": one, "web": web}))
	h.waitReady("one", "web")
	live := h.live.Subscribe(everything, []events.Topic{events.Calls}, "")
	for n := range canaries {
		for _, form := range []string{
			secret(n), base64.StdEncoding.EncodeToString([]byte("user:" + secret(n))), url.QueryEscape(secret(n)),
			`{"nested":"` + secret(n) + `"}`,
		} {
			text, err := json.Marshal(map[string]string{"text": form})
			if err != nil {
				t.Fatal(err)
			}
			h.mustCall([]string{"one__echo", "web__echo"}[n%2], string(text)) // in arguments and result
		}
		failing, err := json.Marshal(map[string]any{"error_json": map[string]any{"code": -32001, "message": "bad key " + secret(n)}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = h.call("one__raw", string(failing))
		_, _ = h.call("no_such_"+secret(n), `{}`)
	}
	if env := h.mustCall("one__env", `{}`); !strings.Contains(env, secret(7)) {
		t.Fatal("the server does not have the secrets")
	}
	shown := func() string {
		var all strings.Builder
		list, err := h.calls.List(t.Context(), everything, history.Query{Limit: history.MaxLimit})
		if err != nil || len(list.Calls) != 6*canaries+1 {
			t.Fatalf("%d calls, %v", len(list.Calls), err)
		}
		for _, c := range list.Calls {
			call, err := h.calls.Show(t.Context(), everything, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%+v %s %s %s\n", c, call.Request, call.Response, call.Redacted)
		}
		found, err := h.calls.List(t.Context(), everything, history.Query{Text: secret(3)})
		if err != nil || len(found.Calls) != 0 {
			t.Errorf("searching for a secret finds %d calls, %v", len(found.Calls), err)
		}
		return all.String()
	}
	seen := map[string]string{"what is shown": shown()}
	for _, m := range live.Next(1 << 20) {
		seen["the events"] += string(m.Data) + "\n"
	}
	if strings.Count(seen["the events"], `"call.ended"`) != 6*canaries+1 {
		t.Errorf("the events are %.300s", seen["the events"])
	}
	if !strings.Contains(seen["what is shown"], "[redacted:") {
		t.Error("nothing was taken out: nothing is proved")
	}
	h.reload(servers(conf{"one": child(t)}))
	seen["what is shown after the secrets have gone"] = shown()
	files, err := filepath.Glob(filepath.Join(h.dir, "calls", "*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		seen[f] = string(text)
	}
	for n := range canaries {
		for place, text := range seen {
			for _, d := range disguises(secret(n)) {
				if i := strings.Index(text, d); i >= 0 {
					t.Errorf("%s has %q: …%s…", place, secret(n), text[max(i-200, 0):min(i+100, len(text))])
					break
				}
			}
		}
	}
}
