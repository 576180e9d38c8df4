package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"genkan/internal/api/client"
)

func TestTokensAreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	var made client.MadeToken
	got := d.send("POST", "/v1/tokens", `{"name":"editor"}`)
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != 201 || !strings.HasPrefix(made.Token, "gk_") {
		t.Fatalf("a new token: %d %s", got.status, got.body)
	}
	as := []string{"Authorization", "Bearer " + made.Token}
	if got := d.send("GET", "/v1/tools", "", as...); got.status != 200 {
		t.Errorf("the new token: %d %s", got.status, got.body)
	}
	if got := d.send("GET", "/v1/tokens", "", as...); got.status != 403 {
		t.Errorf("a client lists tokens: %d %s", got.status, got.body)
	}
	if got := d.send("POST", "/v1/tokens", `{"name":"editor"}`); got.status != 409 || !strings.Contains(got.body, "CONFLICT") {
		t.Errorf("the same name again: %d %s", got.status, got.body)
	}
	for _, body := range []string{`{}`, `{"name":""}`, `{"name":"Not A Name"}`, `{"name":"admin"}`, `{"name":"x","admin":true}`} {
		if got := d.send("POST", "/v1/tokens", body); got.status != 400 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	list := d.send("GET", "/v1/tokens", "")
	if list.status != 200 || !strings.Contains(list.body, `{"name":"editor","admin":false,"createdAt":"20`) || strings.Contains(list.body, "gk_") {
		t.Errorf("the list: %d %s", list.status, list.body)
	}
	if got := d.send("DELETE", "/v1/tokens/editor", ""); got.status != 200 {
		t.Errorf("revoking: %d %s", got.status, got.body)
	}
	if got := d.send("GET", "/v1/tools", "", as...); got.status != 401 {
		t.Errorf("a revoked token: %d %s", got.status, got.body)
	}
	if got := d.send("DELETE", "/v1/tokens/editor", ""); got.status != 404 {
		t.Errorf("revoking again: %d %s", got.status, got.body)
	}
	if got := d.send("DELETE", "/v1/tokens/admin", ""); got.status != 400 || !strings.Contains(got.body, "a file in the data directory") {
		t.Errorf("revoking the admin token: %d %s", got.status, got.body)
	}
}

func TestATokenIsLimited(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{
		"kb":         map[string]any{"enabled": true},
		"mcpServers": map[string]any{"broken": map[string]any{"command": "not-there"}},
	})
	add := func(body string) []string {
		t.Helper()
		var made client.MadeToken
		got := d.send("POST", "/v1/tokens", body)
		if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != 201 {
			t.Fatalf("a new token: %d %s", got.status, got.body)
		}
		return []string{"Authorization", "Bearer " + made.Token}
	}
	expect := func(what string, got answer, status int, has string) {
		t.Helper()
		if got.status != status || !strings.Contains(got.body, has) {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	const call, item = `{"name":"fault__echo","parameters":{"text":"a"}}`, `{"type":"notes","title":"a"}`
	notes := add(`{"name":"notes","limit":{"servers":["kb"]}}`)
	expect("a tool of another server", d.send("POST", "/v1/tools/call", call, notes...), 404, "Tool not found: fault__echo")
	expect("its own server", d.send("POST", "/v1/items", item, notes...), 201, `"title":"a"`)
	if got := d.send("GET", "/v1/tools", "", notes...); strings.Contains(got.body, "fault__") {
		t.Errorf("the list has tools of another server: %s", got.body)
	}
	if got := d.send("GET", "/v1/servers", "", notes...); !strings.Contains(got.body, `"kb"`) || strings.Contains(got.body, "fault") || strings.Contains(got.body, "broken") {
		t.Errorf("the servers of a limited token: %s", got.body)
	}
	expect("a server that is hidden from it", d.send("GET", "/v1/servers/fault", "", notes...), 404, "there is no server")
	expect("a server that is down and hidden from it", d.send("GET", "/v1/servers/broken", "", notes...), 404, "there is no server")
	expect("the list", d.send("GET", "/v1/tokens", ""), 200, `"limit":{"servers":["kb"]}`)
	expect("another client", d.send("POST", "/v1/tools/call", call, add(`{"name":"free"}`)...), 200, `"a"`)

	expect("a change", d.send("PUT", "/v1/tokens/notes/limit", `{"readOnly":true}`), 200, `{"name":"notes","limit":{"readOnly":true}}`)
	expect("a tool that says that it only reads", d.send("POST", "/v1/tools/call", call, notes...), 200, `"a"`)
	expect("a tool that does not say so", d.send("POST", "/v1/tools/call", `{"name":"fault__remove_tool","parameters":{"name":"x"}}`, notes...), 404, "Tool not found: fault__remove_tool")
	expect("a tool that writes", d.send("POST", "/v1/items", item, notes...), 403, "this token may only read")
	expect("a tool that reads", d.send("GET", "/v1/items", "", notes...), 200, `"total":1`)

	expect("its workflow says whose limit it is", d.send("GET", "/v1/workflows", ""), 200, `"limitOf":"notes"`)
	for _, change := range [][3]string{
		{"POST", "/disable", ""},
		{"POST", "/enable", `{"mode":"shadow"}`},
		{"POST", "/rollback", `{"version":1}`},
		{"DELETE", "", ""},
		{"PUT", "?base=1", `{"id":"limit-writes-notes","nodes":[],"edges":[]}`},
	} {
		expect("a limit is not lifted by halves", d.send(change[0], "/v1/workflows/limit-writes-notes"+change[1], change[2]), 409, "PUT /v1/tokens/notes/limit")
	}
	const plain = `{"id":"limit-writes-notes","nodes":[{"id":"s","type":"start"},{"id":"e","type":"end"}],"edges":[{"id":"x","source":"s","target":"e"}]}`
	expect("nor by an import", d.send("POST", "/v1/workflows/import", plain), 400, "cannot be the id of a workflow")
	expect("nor by a template", d.send("POST", "/v1/workflow-templates", `{"template":"redact","id":"limit-writes-notes"}`), 400, "cannot be the id of a workflow")
	expect("nor is that of a future token", d.send("PUT", "/v1/workflows/limit-servers-later", strings.ReplaceAll(plain, "limit-writes-notes", "limit-servers-later")), 400, "cannot be the id of a workflow")
	expect("the export is without limits", d.send("GET", "/v1/workflows/export", ""), 200, `"workflows":[]`)
	expect("a tool that writes, still", d.send("POST", "/v1/items", item, notes...), 403, "this token may only read")
	expect("a server that is not there", d.send("PUT", "/v1/tokens/notes/limit", `{"servers":["nobody"]}`), 400, "there is no server")
	expect("a token that is not there", d.send("PUT", "/v1/tokens/none/limit", `{}`), 404, "there is no token named")
	expect("a client lifts its limit", d.send("PUT", "/v1/tokens/notes/limit", `{}`, notes...), 403, "admin")
	expect("no limit", d.send("PUT", "/v1/tokens/notes/limit", `{}`), 200, `{"name":"notes"}`)
	expect("after it is lifted", d.send("POST", "/v1/tools/call", call, notes...), 200, `"a"`)

	expect("another limit", d.send("PUT", "/v1/tokens/notes/limit", `{"servers":["kb"]}`), 200, `"kb"`)
	expect("turning workflows off", d.send("PUT", "/v1/workflows/switch", `{"on":false}`), 200, "")
	expect("a tool of another server while workflows are off", d.send("POST", "/v1/tools/call", call, notes...), 404, "Tool not found: fault__echo")
	expect("the list while workflows are off", d.send("GET", "/v1/tokens", ""), 200, `"limit":{"servers":["kb"]}`)
	expect("revoking", d.send("DELETE", "/v1/tokens/notes", ""), 200, "")
	expect("the workflows of a revoked token", d.send("GET", "/v1/workflows", ""), 200, `{"workflows":[]`)
}

// A limit counts for streams that are open already.
func TestALimitReachesOpenStreams(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"kb": map[string]any{"enabled": true}})
	var made client.MadeToken
	if got := d.send("POST", "/v1/tokens", `{"name":"notes"}`); json.Unmarshal([]byte(got.body), &made) != nil {
		t.Fatalf("a new token: %d %s", got.status, got.body)
	}
	follow := func(token string) *bufio.Reader {
		ctx, leave := context.WithTimeout(context.Background(), time.Minute)
		t.Cleanup(leave)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/v1/events?topics=servers,tools,calls", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := d.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return bufio.NewReader(resp.Body)
	}
	// until reads a stream up to an event with these parts, and returns all that it read.
	until := func(from *bufio.Reader, parts ...string) (read string) {
		t.Helper()
		for {
			line, err := from.ReadString('\n')
			if err != nil {
				t.Fatalf("no event with %q: %v; others were %s", parts, err, read)
			}
			read += line
			if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
				return read
			}
		}
	}
	admin, notes := follow(d.token), follow(made.Token)
	restart := func() {
		t.Helper()
		if got := d.send("POST", "/v1/servers/fault/restart", ""); got.status >= 300 {
			t.Fatalf("a restart: %d %s", got.status, got.body)
		}
		until(admin, `"name":"server.state"`, `"fault"`, `"starting"`)
		until(admin, `"name":"server.state"`, `"fault"`, `"ready"`)
	}
	// called makes a call and returns what the client is told up to its end. All that
	// happened before stands before that.
	called := func() string {
		t.Helper()
		if got := d.send("POST", "/v1/items", `{"type":"notes","title":"a"}`, "Authorization", "Bearer "+made.Token); got.status != 201 {
			t.Fatalf("an item: %d %s", got.status, got.body)
		}
		return until(notes, `"name":"call.ended"`)
	}
	restart()
	if read := called(); !strings.Contains(read, `"fault"`) {
		t.Errorf("without a limit: %s", read)
	}
	if got := d.send("PUT", "/v1/tokens/notes/limit", `{"servers":["kb"]}`); got.status != 200 {
		t.Fatalf("a limit: %d %s", got.status, got.body)
	}
	called() // before this, events from before the limit may come
	restart()
	if read := called(); strings.Contains(read, "fault") {
		t.Errorf("events of a server that the token may no longer use: %s", read)
	}
}
