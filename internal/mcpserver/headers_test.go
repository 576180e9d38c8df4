package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// TestParamHeadersAreCompared: for a tool whose schema marks arguments that
// travel as headers too, a modern HTTP client must send them, and they must say
// what the body says, whatever the wire behind us is.
func TestParamHeadersAreCompared(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]map[string]any{
		"modern HTTP":  sibling(t, "-era", "modern", "-param-tool"),
		"legacy HTTP":  sibling(t, "-era", "legacy", "-param-tool"),
		"modern stdio": child(t, "-era", "modern", "-param-tool"),
		"legacy stdio": child(t, "-era", "legacy", "-param-tool"),
	} {
		t.Run(name, func(t *testing.T) {
			h := openHouse(t, servers{"fault": server})
			for _, c := range []struct {
				region string
				header []string
				code   int
			}{
				{`"us-west1"`, []string{"us-west1"}, 0},
				{`"us-west1"`, []string{"=?base64?dXMtd2VzdDE=?="}, 0},
				{`"日本"`, []string{"=?base64?5pel5pys?="}, 0},
				{`""`, []string{""}, 0},
				{`"us-west1"`, nil, -32020},
				{`"us-west1"`, []string{"elsewhere"}, -32020},
				{`"us-west1"`, []string{"us-west1", "us-west1"}, -32020},
				{`"日本"`, []string{"日本"}, -32020},
				{`"us-west1"`, []string{"=?base64?dXMt!?="}, -32020},
				{`null`, []string{"us-west1"}, -32020},
			} {
				r := modernCall("1", "fault__lookup", `{"region":`+c.region+`}`)
				r.header["Mcp-Param-Region"] = c.header
				got := h.send(r)
				if c.code != 0 {
					got.want(t, http.StatusBadRequest, c.code)
					continue
				}
				if quoted, _ := json.Marshal(text(got.last())); string(quoted) != c.region || got.status != http.StatusOK {
					t.Errorf("%s with %q: %d %s", c.region, c.header, got.status, got.body)
				}
			}
		})
	}
}

// TestParamHeadersOfARetry: a client that comes back with an answer for a call
// that waits is held to its headers too; the call goes on waiting for the right
// ones.
func TestParamHeadersOfARetry(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t, "-era", "legacy", "-param-tool")})
	ask := func(header, more string) response {
		r := modern("1", "tools/call", `"name":"fault__ask_about","arguments":{"message":"Who?"}`+more, "")
		r.body = strings.Replace(r.body, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
		r.header.Set("Mcp-Param-Message", header)
		return h.send(r)
	}
	first := ask("Who?", "")
	first.want(t, http.StatusOK, 0)
	retry := `,"inputResponses":{"genkan-1":{"action":"accept","content":{"name":"Ann"}}},"requestState":` +
		member(t, first.last(), "result", "requestState")
	ask("What?", retry).want(t, http.StatusBadRequest, -32020)
	if got := ask("Who?", retry); !strings.Contains(text(got.last()), "Ann") {
		t.Errorf("the retry was answered with %d %s", got.status, got.body)
	}
}

// TestParamHeadersAreMade: a client that does not know of these headers (of the
// legacy era, over stdio, over REST) reaches a tool that wants them all the
// same. What no schema marks is passed on.
func TestParamHeadersAreMade(t *testing.T) {
	t.Parallel()
	record := t.TempDir() + "/record"
	h := openHouse(t, servers{"fault": sibling(t, "-era", "modern", "-param-tool", "-record", record, "-record-headers")})
	for _, region := range []string{"us-west1", " padded ", "日本", "a\nb", ""} {
		quoted, _ := json.Marshal(region)
		params := fmt.Sprintf(`"name":"fault__lookup","arguments":{"region":%s}`, quoted)
		for _, c := range h.callers() {
			if c.name == "HTTP" && c.era == "modern" {
				continue // sends them itself
			}
			if answer := c.call(t, "1", params, ""); text(answer) != region {
				t.Errorf("%s over %s: %q was answered with %s", c.era, c.name, region, answer)
			}
		}
		body := fmt.Sprintf(`{"name":"fault__lookup","parameters":{"region":%s}}`, quoted)
		if r := h.send(request{path: "/v1/tools/call", body: body}); r.status != http.StatusOK || !strings.Contains(string(r.body), `"text":`+string(quoted)) {
			t.Errorf("over REST %q was answered with %d %s", region, r.status, r.body)
		}
	}
	r := modernCall("1", "fault__lookup", `{"region":"x"}`)
	r.header.Set("Mcp-Param-Region", "x")
	r.header.Set("Mcp-Param-Unknown", "kept")
	h.send(r).want(t, http.StatusOK, 0)
	lines := strings.Join(testkit.Lines(t, record), "\n")
	if !strings.Contains(lines, `"Mcp-Param-Unknown":["kept"]`) {
		t.Error("a header that no schema marks was not passed on")
	}
}

// TestNamesInViews: the list of everything caps names, because clients put
// their own prefix before them; a server alone keeps its own, however long.
func TestNamesInViews(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t), "other": child(t)})
	long := strings.Repeat("long_", 20)
	h.send(modernCall("1", "fault__add_tool", `{"name":"`+long+`"}`)).want(t, http.StatusOK, 0)
	list := func(path string) string {
		r := modern("1", "tools/list", "", "")
		r.path = path
		return h.send(r).last()
	}
	lists := func(path, name string) {
		t.Helper()
		testkit.Eventually(t, func() bool { return strings.Contains(list(path), `"name":"`+name) }, "%s lists %s", path, name)
	}
	lists("/mcp/s/fault", long+`"`)
	lists("/mcp", "fault__"+long[:35]+"_") // and a hash
	if strings.Contains(list("/mcp"), long) {
		t.Error("the list of everything has the long name too")
	}
	call := modernCall("1", long, `{"x":1}`)
	call.path = "/mcp/s/fault"
	if got := h.send(call); text(got.last()) != long+` {"x":1}` {
		t.Errorf("the call was answered with %d %s", got.status, got.body)
	}
}
