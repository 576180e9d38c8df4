package api_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// Lost calls are sent again as often as the caller says, or the configuration
// for the tool, and only where that can do no harm. The server breaks the
// connection in the middle of each answer; what arrived there is what counts.
func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, tool, options string
		configured          map[string]any
		arrived             int
	}{
		{"nobody said so", "echo", `{}`, nil, 1},
		{"the caller of a read", "echo", `{"retry":2,"retryDelay":1}`, nil, 3},
		{"the caller of a write", "count", `{"retry":2,"retryDelay":1}`, nil, 1},
		{"the tool", "echo", `{}`, map[string]any{"retry": 1, "retryDelay": 1}, 2},
		{"the tool, at the caller's pace", "echo", `{"retryDelay":1}`, map[string]any{"retry": 3, "retryDelay": "1m"}, 4},
		{"the tool, for a write", "count", `{}`, map[string]any{"retry": 3, "retryDelay": 1}, 1},
		{"the caller, more than the tool", "echo", `{"retry":2}`, map[string]any{"retry": 1, "retryDelay": 1}, 3},
		{"the caller, not at all", "echo", `{"retry":0}`, map[string]any{"retry": 3, "retryDelay": 1}, 1},
	}
	servers := map[string]any{}
	records := make([]string, len(cases))
	for i, c := range cases { // a server for each: a breaker counts all of one
		records[i] = filepath.Join(t.TempDir(), "record")
		one := map[string]any{"url": testkit.StartFaultHTTP(t, "-mode", "reset", "-record", records[i]), "type": "http"}
		if c.configured != nil {
			one["tools"] = map[string]any{"options": map[string]any{c.tool[:2] + "*": c.configured}}
		}
		servers[fmt.Sprint("s", i)] = one
	}
	d := openDoor(t, map[string]any{"mcpServers": servers})
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tool := fmt.Sprintf("s%d__%s", i, c.tool)
			testkit.Eventually(t, func() bool { return d.send("GET", "/v1/tools/"+tool, "").status == 200 }, "%s is not there", tool)
			got := d.send("POST", "/v1/tools/call", fmt.Sprintf(`{"name":%q,"parameters":{"text":"x"},"options":%s}`, tool, c.options))
			if got.status != 503 || !strings.Contains(got.body, `"code":"UPSTREAM_UNAVAILABLE"`) {
				t.Errorf("status %d: %s", got.status, got.body)
			}
			if n := calls(t, records[i], c.tool); n != c.arrived {
				t.Errorf("arrived %d times, want %d", n, c.arrived)
			}
		})
	}
}

// A child that ends during a write has it once, whatever was wished for.
func TestAWriteThatEndsItsServerIsSentOnce(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	d := openDoor(t, map[string]any{"fault-tools": map[string]any{"options": map[string]any{"crash": map[string]any{"retry": 5, "retryDelay": 1}}}}, "-record", record)
	got := d.send("POST", "/v1/tools/call", `{"name":"fault__crash","options":{"retry":3,"retryDelay":1}}`)
	if got.status != 503 || !strings.Contains(got.body, `"code":"UPSTREAM_UNAVAILABLE"`) {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	d.waitReady()
	if got := d.send("POST", "/v1/tools/call", `{"name":"fault__echo","parameters":{"text":"back"}}`); got.status != 200 {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
	if n := calls(t, record, "crash"); n != 1 {
		t.Errorf("arrived %d times", n)
	}
}

// How long a tool may be silent is its own affair, unless the caller says so.
func TestTimeoutsOfATool(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"fault-tools": map[string]any{"options": map[string]any{"sl*": map[string]any{"timeout": 40}}}})
	call := func(parameters, options string, status int, has ...string) ask {
		return ask{method: "POST", path: "/v1/tools/call", body: fmt.Sprintf(`{"name":"fault__sleep","parameters":%s,"options":%s}`, parameters, options), status: status, has: has}
	}
	d.ask(t, map[string]ask{
		"the tool's":           call(`{"ms":600000}`, `{}`, 408, `"code":"TIMEOUT"`, "after 40ms"),
		"the caller's":         call(`{"ms":600000}`, `{"timeout":30}`, 408, "after 30ms"),
		"the caller's, longer": call(`{"ms":80}`, `{"timeout":60000}`, 200),
		"over the ceilings":    call(`{"ms":1}`, `{"timeout":600001,"retry":11,"retryDelay":60001}`, 200),
		"far over them":        call(`{"ms":1}`, `{"timeout":9223372036854775807,"retry":9223372036854775807,"retryDelay":9223372036854775807}`, 200),
		"more than numbers":    call(`{"ms":1}`, `{"timeout":9223372036854775808}`, 400, `"field":"options.timeout"`),
		"half a retry":         call(`{"ms":1}`, `{"retry":1.5}`, 400, `"field":"options.retry"`),
		"a retry of words":     call(`{"ms":1}`, `{"retry":"two"}`, 400, "options.retry must be an integer, is a string"),
		"fewer than none":      call(`{"ms":1}`, `{"retry":-1}`, 400, "options.retry must be at least 0, is -1"),
		"a negative delay":     call(`{"ms":1}`, `{"retryDelay":-1}`, 400, "options.retryDelay must be at least 0, is -1"),
		"an unknown option":    call(`{"ms":1}`, `{"retries":1}`, 400, "options.retries is unknown; there are timeout, retry, retryDelay, budget, folder, cwd, query"),
		"another case":         call(`{"ms":1}`, `{"Retry":1}`, 400, "only in case"),
		"an option twice":      call(`{"ms":1}`, `{"retry":1,"retry":2}`, 400, "stands twice"),
		"options of null":      {method: "POST", path: "/v1/tools/call", body: `{"name":"fault__pid","options":null}`, status: 200},
		"options in a list":    call(`{"ms":1}`, `[]`, 400, `"field":"options"`),
	})
}

// calls counts the calls of a tool that arrived at a server.
func calls(t *testing.T, record, tool string) (n int) {
	t.Helper()
	for _, line := range testkit.Lines(t, record) {
		if strings.Contains(line, `"tools/call"`) && strings.Contains(line, `"name":"`+tool+`"`) {
			n++
		}
	}
	return n
}
