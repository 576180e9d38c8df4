package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/api/client"
)

// callsOf returns the calls that a caller sees.
func (d door) callsOf(t *testing.T, token, query string) client.CallList {
	t.Helper()
	got := d.send("GET", "/v1/calls?"+query, "", "Authorization", "Bearer "+token)
	var list client.CallList
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return list
}

// The call history as a story: two clients with tokens see their own calls and
// nothing of each other's through any door; the administrator sees all.
func TestCalls(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"record": map[string]any{"bodies": "all"}})
	one, other := d.newTokenFor("one"), d.newTokenFor("other")
	const call = "/v1/tools/call"
	d.walk(t, []step{
		{name: "nothing yet", method: "GET", path: "/v1/calls", status: 200, has: []string{
			`"calls":[]`, `"history":{"on":true,"bodies":"all","days":7,"dropped":0,"lostBodies":0}`,
		}},
		{name: "no sums yet", method: "GET", path: "/v1/calls/stats", status: 200, has: []string{`"total":{"calls":0,`, `"servers":[],"tools":[]`}},
		{name: "one calls", method: "POST", path: call, body: `{"name":"fault__echo","parameters":{"text":"the word is plum"}}`, token: one, status: 200},
		{name: "other calls", method: "POST", path: call, body: `{"name":"fault__echo","parameters":{"text":"the word is pear"}}`, token: other, status: 200},
		{name: "other calls in vain", method: "POST", path: call, body: `{"name":"nobody__nothing"}`, token: other, status: 404},
	})
	ofOne, ofOther := d.callsOf(t, one, ""), d.callsOf(t, other, "")
	if len(ofOne.Calls) != 1 || len(ofOther.Calls) != 2 || len(d.callsOf(t, d.token, "").Calls) != 3 {
		t.Fatalf("one sees %+v, other %+v", ofOne.Calls, ofOther.Calls)
	}
	mine, failed, theirs := ofOne.Calls[0], ofOther.Calls[0], ofOther.Calls[1]
	if mine.Client != "one" || mine.Server != "fault" || mine.Tool != "fault__echo" || mine.Outcome != "ok" || mine.Via != "rest" || mine.TookMillis <= 0 ||
		mine.Bodies != "kept" || !mine.Replayable || !strings.Contains(mine.Arguments, "plum") {
		t.Errorf("the call is %+v", mine)
	}
	if failed.Outcome != "not_found" || failed.Error == "" || failed.Tool != "nobody__nothing" || failed.Server != "" || failed.Replayable {
		t.Errorf("the failed call is %+v", failed)
	}
	of := func(query string) string { return "/v1/calls?" + query }
	stats := func(query string) string { return "/v1/calls/stats?" + query }
	series := func(query string) string { return "/v1/calls/series?" + query }
	none := []string{`"calls":[]`}
	d.walk(t, []step{
		{name: "my call", method: "GET", path: "/v1/calls/" + mine.ID, token: one, status: 200, has: []string{
			`"request":{"json":{`, `the word is plum`, `"response":{"json":{`, `"redacted":[]`, `"timing":{"serverMillis":`, `"bodies":"kept","replayable":true`,
		}, hasNot: []string{"ownName"}},
		{name: "not theirs", method: "GET", path: "/v1/calls/" + theirs.ID, token: one, status: 404, has: []string{"NOT_FOUND"}, hasNot: []string{"pear"}},
		{name: "not by naming them", method: "GET", path: of("client=other"), token: one, status: 200, has: none},
		{name: "not by its words", method: "GET", path: of("text=pear"), token: one, status: 200, has: none},
		{name: "not by its outcome", method: "GET", path: of("outcome=not_found"), token: one, status: 200, has: none},
		{name: "not beside a place of theirs", method: "GET", path: of("limit=1&after=" + d.callsOf(t, other, "limit=1").Next), token: one, status: 200, has: []string{mine.ID}, hasNot: []string{theirs.ID, "pear"}},
		{name: "not in the sums", method: "GET", path: stats(""), token: one, status: 200, has: []string{`"total":{"calls":1,"errors":0,`}, hasNot: []string{"nobody__nothing"}},
		{name: "nor in theirs by name", method: "GET", path: stats("client=other"), token: one, status: 200, has: []string{`"total":{"calls":0,`}},
		{name: "the admin reads it", method: "GET", path: "/v1/calls/" + theirs.ID, status: 200, has: []string{"the word is pear", `"ownName":"echo"`}},
		{name: "the admin reads the server's own name", method: "GET", path: "/v1/tools/fault__echo", status: 200, has: []string{`"ownName":"echo"`}},
		{name: "others do not", method: "GET", path: "/v1/tools/fault__echo", token: one, status: 200, hasNot: []string{"ownName"}},
		{name: "the admin finds it", method: "GET", path: of("text=PEAR"), status: 200, has: []string{theirs.ID}, hasNot: []string{mine.ID}},
		{name: "all sums", method: "GET", path: stats(""), status: 200, has: []string{`"total":{"calls":3,"errors":1,`, `"servers":[{"server":"fault","calls":2,"errors":0,`, `{"server":"fault","tool":"fault__echo","calls":2,"errors":0,`}},
		{name: "the sums of a time", method: "GET", path: stats("since=1h30m&until=15m"), status: 200, has: []string{`{"seconds":4500,"total":{"calls":0,`}},
		{name: "the sums until a later time", method: "GET", path: stats("since=1h&until=2099-01-01T00:00:00Z"), status: 200, has: []string{`{"seconds":3600,`}},
		{name: "the sums of a later time", method: "GET", path: stats("since=2099-01-01T00:00:00Z"), status: 200, has: []string{`"total":{"calls":0,`}, hasNot: []string{`"seconds"`}},
		{name: "sums of errors", method: "GET", path: stats("outcome=error"), status: 200, has: []string{`"total":{"calls":1,"errors":1,`}},
		{name: "of a client", method: "GET", path: of("client=one"), status: 200, has: []string{mine.ID}, hasNot: []string{theirs.ID}},
		{name: "of a tool", method: "GET", path: of("tool=echo"), status: 200, has: []string{mine.ID, theirs.ID}, hasNot: []string{failed.ID}},
		{name: "errors", method: "GET", path: of("outcome=error"), status: 200, has: []string{failed.ID}, hasNot: []string{theirs.ID}},
		{name: "recent ones", method: "GET", path: of("since=1h"), status: 200, has: []string{mine.ID}},
		{name: "older ones", method: "GET", path: of("until=1h"), status: 200, has: none},
		{name: "slow ones", method: "GET", path: of("slowerMillis=60000"), status: 200, has: none},
		{name: "a page", method: "GET", path: of("limit=1"), status: 200, has: []string{failed.ID, `"next":"`}, hasNot: []string{`"id":"` + mine.ID}},
		{name: "nothing by that name", method: "GET", path: "/v1/calls/AAAAAA-1", status: 404, has: []string{"NOT_FOUND", "genkan calls"}},
		{name: "no call at all", method: "GET", path: "/v1/calls/what", status: 404},
		{name: "an odd outcome", method: "GET", path: of("outcome=bad"), status: 400, has: []string{`"field":"outcome"`, "tool_error"}},
		{name: "an odd time", method: "GET", path: of("since=yesterday"), status: 400, has: []string{`"field":"since"`, "10m, 2h or 7d"}},
		{name: "no time between", method: "GET", path: of("since=1h&until=2h"), status: 400, has: []string{`"field":"until"`}},
		{name: "too many", method: "GET", path: of("limit=1001"), status: 400, has: []string{`"field":"limit"`}},
		{name: "an odd place", method: "GET", path: of("after=here"), status: 400},
		{name: "without a client", method: "GET", path: of("notClient=one&notClient=nobody"), status: 200, has: []string{theirs.ID, failed.ID}, hasNot: []string{mine.ID}},
		{name: "without a tool", method: "GET", path: of("notTool=echo"), status: 200, has: []string{failed.ID}, hasNot: []string{mine.ID}},
		{name: "without a server", method: "GET", path: of("notServer=fault"), status: 200, has: []string{failed.ID}, hasNot: []string{mine.ID}},
		{name: "without errors", method: "GET", path: of("notOutcome=error"), status: 200, has: []string{mine.ID}, hasNot: []string{failed.ID}},
		{name: "sums without a client", method: "GET", path: stats("notClient=one"), status: 200, has: []string{`"total":{"calls":2,"errors":1,`}},
		{name: "without an odd outcome", method: "GET", path: of("notOutcome=bad"), status: 400, has: []string{`"field":"notOutcome"`, "tool_error"}},
		{name: "a series", method: "GET", path: series("since=1s&step=3600"), status: 200, has: []string{`"stepSeconds":3600,"total":[{"calls":`, `"groups":[]`}},
		{name: "of all since the first", method: "GET", path: series("step=86400"), status: 200, has: []string{`"total":[{"calls":3,"errors":1,`}},
		{name: "not theirs in a series", method: "GET", path: series("step=86400"), token: one, status: 200, has: []string{`"total":[{"calls":1,"errors":0,`}},
		{name: "a series by tool", method: "GET", path: series("step=86400&by=tool"), status: 200, has: []string{`"groups":[{"server":"fault","tool":"fault__echo","calls":2,"steps":[{"calls":2,`, `{"calls":1,"steps":[`}, hasNot: []string{"nobody__nothing"}},
		{name: "a series by server", method: "GET", path: series("step=86400&by=server&groups=1"), status: 200, has: []string{`"groups":[{"server":"fault","calls":2,`}},
		{name: "by nothing we know", method: "GET", path: series("by=day"), status: 400, has: []string{`"field":"by"`, "server or tool"}},
		{name: "too many steps", method: "GET", path: series("since=7d&step=1"), status: 400, has: []string{"at least 606 seconds"}},
		{name: "a series has no text", method: "GET", path: series("text=pear"), status: 400},
		{name: "sums have no text", method: "GET", path: stats("text=pear"), status: 400},
		{name: "nobody", method: "GET", path: "/v1/calls", token: "gk_wrong", status: 401},
	})
}

// A call without bodies says why.
func TestCallsWithoutBodies(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	user := d.newToken()
	body := `{"name":"fault__echo","parameters":{"text":"plum"}}`
	d.walk(t, []step{
		{name: "with a token", method: "POST", path: "/v1/tools/call", body: body, token: user, status: 200},
		{name: "as the admin", method: "POST", path: "/v1/tools/call", body: body, status: 200},
	})
	all := d.callsOf(t, d.token, "").Calls
	d.walk(t, []step{
		{name: "the admin's", method: "GET", path: "/v1/calls/" + all[0].ID, status: 200, has: []string{`"bodies":"kept"`, "plum"}, hasNot: []string{`"note"`}},
		{name: "the client's", method: "GET", path: "/v1/calls/" + all[1].ID, token: user, status: 200, has: []string{`"bodies":"local"`, `"note":"What was sent`}, hasNot: []string{"plum", `"request"`}},
	})
	d.record(t, `{"bodies":"off"}`)
	d.walk(t, []step{{name: "without bodies", method: "POST", path: "/v1/tools/call", body: body, status: 200}})
	d.walk(t, []step{
		{name: "switched off", method: "GET", path: "/v1/calls/" + d.callsOf(t, d.token, "limit=1").Calls[0].ID, status: 200, has: []string{`"bodies":"off"`, `"note":"What was sent`}},
	})
	d.record(t, `"off"`)
	d.walk(t, []step{
		{name: "off, a call", method: "POST", path: "/v1/tools/call", body: body, status: 200},
		{name: "off, the list", method: "GET", path: "/v1/calls", status: 200, has: []string{`"calls":[]`, `"on":false`}},
		{name: "off, the sums", method: "GET", path: "/v1/calls/stats", status: 200, has: []string{`"total":{"calls":0,`, `"on":false`}},
		{name: "off, a series", method: "GET", path: "/v1/calls/series", status: 200, has: []string{`"total":[]`, `"on":false`}},
		{name: "off, a mistake", method: "GET", path: "/v1/calls?limit=0", status: 400},
		{name: "off, one call", method: "GET", path: "/v1/calls/" + all[0].ID, status: 404, has: []string{"is off"}},
	})
	d.record(t, `"on"`)
	if again := d.callsOf(t, d.token, "").Calls; len(again) != 3 {
		t.Errorf("switched on again, there are %+v", again)
	}
}

// record changes what the history keeps, as an editor would.
func (d door) record(t *testing.T, setting string) {
	t.Helper()
	text := strings.Replace(d.config, "{", `{"record":`+setting+`,`, 1)
	if err := os.WriteFile(filepath.Join(d.data, "genkan.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.send("POST", "/v1/reload", ""); got.status != 200 {
		t.Fatalf("reload: %s", got.body)
	}
}

// Parameters are checked without a call: a refusal is the one that the call would get, and
// nothing of it is in the history.
func TestParametersAreCheckedWithoutACall(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"kb": map[string]any{"enabled": true}})
	check := func(tool string) string { return "/v1/tools/" + tool + "/validate" }
	d.walk(t, []step{
		{name: "they fit", method: "POST", path: check("fault__echo"), body: `{"parameters":{"text":"hi"}}`, status: 200, has: []string{`"success":true`}},
		{name: "a wrong type", method: "POST", path: check("fault__echo"), body: `{"parameters":{"text":7}}`, status: 400, has: []string{
			`"code":"VALIDATION_ERROR"`, `"field":"text"`, `"instancePath":"/text"`,
		}},
		{name: "a missing one", method: "POST", path: check("fault__echo"), body: `{}`, status: 400, has: []string{"Required parameter missing: text"}},
		{name: "no object", method: "POST", path: check("fault__echo"), body: `{"parameters":[]}`, status: 400},
		{name: "the knowledge base", method: "POST", path: check("create_item"), body: `{"parameters":{"type":"note","title":"","content":"x"}}`, status: 400, has: []string{
			`"code":"VALIDATION_ERROR"`, `"field":"title"`,
		}},
		{name: "an item that fits", method: "POST", path: check("create_item"), body: `{"parameters":{"type":"note","title":"x","content":"x"}}`, status: 200},
		{name: "is not made", method: "GET", path: "/v1/items", status: 200, has: []string{`"total":0`}},
		{name: "no such tool", method: "POST", path: check("nothing"), body: `{}`, status: 404, has: []string{`"code":"TOOL_NOT_FOUND"`}},
		{name: "off", method: "POST", path: "/v1/tools/fault__pid/disable", status: 200},
		{name: "a disabled tool", method: "POST", path: check("fault__pid"), body: `{}`, status: 403, has: []string{`"code":"TOOL_DISABLED"`}},
	})
	for _, c := range d.callsOf(t, d.token, "").Calls {
		if c.Tool != "get_items" {
			t.Errorf("the history has %+v", c)
		}
	}
}

// A call that has not ended is shown with what is known of it, to those who will see it in
// the history.
func TestACallThatRuns(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"record": map[string]any{"bodies": "all"}})
	one, other := d.newTokenFor("one"), d.newTokenFor("other")
	const call = "/v1/tools/call"
	d.walk(t, []step{{name: "first", method: "POST", path: call, body: `{"name":"fault__pid"}`, token: one, status: 200}})
	run, _, _ := strings.Cut(d.callsOf(t, one, "").Calls[0].ID, "-")
	path := "/v1/calls/" + run + "-2"
	ended := make(chan int, 1)
	go func() {
		ended <- d.send("POST", call, `{"name":"fault__sleep","parameters":{"ms":60000},"options":{"timeout":5000}}`, "Authorization", "Bearer "+one).status
	}()
	var got client.CallDetails
	for got.ID == "" {
		answer := d.send("GET", path, "", "Authorization", "Bearer "+one)
		if answer.status == http.StatusOK {
			if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got.Outcome != client.OutcomeRunning || got.Tool != "fault__sleep" || got.Client != "one" || got.Timing != (client.CallTiming{}) || got.Response != nil ||
		got.Request == nil || !strings.Contains(string(got.Request.JSON), "60000") {
		t.Errorf("while it runs: %+v", got)
	}
	d.walk(t, []step{
		{name: "an admin", method: "GET", path: path, status: 200, has: []string{`"outcome":"running"`}},
		{name: "somebody else", method: "GET", path: path, token: other, status: 404},
		{name: "the list", method: "GET", path: "/v1/calls", token: one, status: 200, has: []string{`"running":[{"id":"` + run + `-2"`}},
		{name: "the list of somebody else", method: "GET", path: "/v1/calls", token: other, status: 200, hasNot: []string{run + "-2"}},
	})
	if status := <-ended; status != http.StatusRequestTimeout {
		t.Errorf("it ended with %d", status)
	}
	d.walk(t, []step{{name: "ended", method: "GET", path: path, token: one, status: 200, has: []string{`"outcome":"timeout"`}}})
}
