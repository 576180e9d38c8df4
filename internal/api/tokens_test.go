package api_test

import (
	"encoding/json"
	"strings"
	"testing"

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
	d := openDoor(t, map[string]any{"kb": map[string]any{"enabled": true}})
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
	if got := d.send("GET", "/v1/servers", "", notes...); !strings.Contains(got.body, `"kb"`) || strings.Contains(got.body, "fault") {
		t.Errorf("the servers of a limited token: %s", got.body)
	}
	expect("a server that is hidden from it", d.send("GET", "/v1/servers/fault", "", notes...), 404, "there is no server")
	expect("the list", d.send("GET", "/v1/tokens", ""), 200, `"limit":{"servers":["kb"]}`)
	expect("another client", d.send("POST", "/v1/tools/call", call, add(`{"name":"free"}`)...), 200, `"a"`)

	expect("a change", d.send("PUT", "/v1/tokens/notes/limit", `{"readOnly":true}`), 200, `{"name":"notes","limit":{"readOnly":true}}`)
	expect("a tool that says that it only reads", d.send("POST", "/v1/tools/call", call, notes...), 200, `"a"`)
	expect("a tool that does not say so", d.send("POST", "/v1/tools/call", `{"name":"fault__remove_tool","parameters":{"name":"x"}}`, notes...), 404, "Tool not found: fault__remove_tool")
	expect("a tool that writes", d.send("POST", "/v1/items", item, notes...), 404, "Tool not found: create_item")
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
