package app

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/identity"
	"genkan/internal/testkit"
	"genkan/internal/workflow"
)

// waits returns the only approval that is pending.
func (h *testHouse) waits() (one workflow.Approval) {
	h.t.Helper()
	testkit.Eventually(h.t, func() bool {
		if all := h.workflows.desk.List(); len(all) == 1 {
			one = all[0]
		}
		return one.ID != ""
	}, "an approval is pending")
	return one
}

// A call that waits for a person ends when its client may not make it any more, and is not
// sent either if somebody agrees before that is noticed.
func TestAClientLosesItsRightsWhileItsCallWaits(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t), "two": child(t)}))
	h.waitReady("one", "two")
	h.enable(strings.Replace(approving, `"workflowType"`, `"failMode":"open","workflowType"`, 1))
	for how, test := range map[string]struct {
		lose func(name string)
		want string
	}{
		"limited": {func(name string) {
			h.must(http.MethodPut, "/v1/tokens/"+name+"/limit", `{"servers":["two"]}`, http.StatusOK)
		}, "its caller may not make it any more"},
		"revoked": {func(name string) {
			h.must(http.MethodDelete, "/v1/tokens/"+name, "", http.StatusOK)
		}, "the token of this client was revoked, which canceled its calls"},
		// Taking back connections, in the web UI and with genkan undo, does it like this, too.
		"revoked by another process": {func(name string) {
			if err := identity.NewTokens(h.store, "", time.Now).Revoke(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}, "the token of this client was revoked, which canceled its calls"},
	} {
		client := h.client(strings.ReplaceAll(how, " ", "-"))
		answered := make(chan string, 1)
		go func() {
			answered <- client.at("/mcp", "tools/call", "one__echo", `"arguments":{"text":"hello"},`)
		}()
		if one := h.waits(); one.Client != strings.ReplaceAll(how, " ", "-") {
			t.Fatalf("%+v", one)
		}
		test.lose(strings.ReplaceAll(how, " ", "-"))
		if got := <-answered; !strings.Contains(got, test.want) || strings.Contains(got, `"hello"`) {
			t.Errorf("%s: answered %s", how, got)
		}
		if all := h.workflows.desk.List(); len(all) > 0 {
			t.Errorf("%s: it still waits: %+v", how, all)
		}
	}
	// Other changes of workflows, and other clients, disturb no approval.
	client := h.client("undisturbed")
	answered := make(chan string, 1)
	go func() { answered <- client.at("/mcp", "tools/call", "one__echo", `"arguments":{"text":"hello"},`) }()
	one := h.waits()
	h.must(http.MethodPut, "/v1/tokens/undisturbed/limit", `{"servers":["one"]}`, http.StatusOK)
	h.must(http.MethodPost, "/v1/approvals/"+one.ID, `{"decision":"approve"}`, http.StatusOK)
	if got := <-answered; !strings.Contains(got, `"hello"`) {
		t.Errorf("answered %s", got)
	}
}

// An approval ends with its call: a modern client or one over REST cancels by closing the
// connection, a legacy one by ending its session. A legacy call whose connection breaks goes
// on, and its approval says that nobody waits.
func TestApprovalsEndWithTheirCalls(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.waitReady("one")
	h.enable(approving)
	const call = `{"name":"one__echo","arguments":{"text":"hello"}`
	elicits := strings.Replace(modernMeta, `"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}`, 1)
	session := h.legacy("2025-11-25", "{}").session
	for name, c := range map[string]struct {
		path, body string
		header     http.Header
		stays      bool
	}{
		"modern": {
			"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + call + `,"_meta":{` + modernMeta + `}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"one__echo"}},
			false,
		},
		"modern that elicits": {
			"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + call + `,"_meta":{` + elicits + `}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"one__echo"}},
			false,
		},
		"REST":   {"/v1/tools/call", `{"name":"one__echo","parameters":{"text":"hello"}}`, nil, false},
		"legacy": {"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + call + `}}`, http.Header{"Mcp-Session-Id": {session}}, true},
	} {
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.base+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(r.Header, c.header)
		r.Header.Set("Authorization", "Bearer "+h.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if response, err := h.http.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		}()
		one := h.waits()
		if one.Left {
			t.Errorf("%s: it has left already", name)
		}
		leave()
		<-gone
		if c.stays {
			testkit.Eventually(t, func() bool { return h.waits().Left }, "it is known that the caller has left")
			if list := h.must(http.MethodGet, "/v1/approvals", "", http.StatusOK); !strings.Contains(list, `"left":true`) {
				t.Errorf("%s: %s", name, list)
			}
			if status, text := h.request(http.MethodDelete, "/mcp", "", http.Header{"Mcp-Session-Id": {session}}); status != http.StatusNoContent {
				t.Fatalf("%d %s", status, text)
			}
		}
		testkit.Eventually(t, func() bool { return len(h.workflows.desk.List()) == 0 }, "%s: the approval ends", name)
	}
}
