package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/testkit"
)

// lastCall returns the id of the newest call.
func (d door) lastCall(t *testing.T) string {
	t.Helper()
	var list client.CallList
	if err := json.Unmarshal([]byte(d.send("GET", "/v1/calls", "").body), &list); err != nil || len(list.Calls) == 0 {
		t.Fatalf("%v, %d calls", err, len(list.Calls))
	}
	return list.Calls[0].ID
}

// What an editor asks about workflows: which apply, what they are for, what they did.
func TestWorkflowsForEditors(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.waitReady()
	mine := strings.Replace(hooked("mine", `if (ctx.request.params.arguments.text == "no") return {action: "deny"}`), `"match":{`, `"order":-1,"match":{"clients":["admin"],"when":"true",`, 1)
	draft := hooked("new", `ctx.request.params.arguments.text = "draft"`)
	test := `{"id":"t","call":{"params":{"name":"fault__echo","arguments":{"text":"a"}}},"expect":{"changed":true,"arguments":{"text":"draft"}}}`
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/all", body: strings.Replace(hooked("all", ""), `"match":{"tools":["fault__echo"]},`, "", 1), status: 200},
		{method: "PUT", path: "/v1/workflows/mine", body: mine, status: 200},
		{method: "GET", path: "/v1/workflows?tool=fault__echo", status: 200, has: []string{`{"workflows":[]}`}}, // none is enabled
		{method: "POST", path: "/v1/workflows/all/enable", body: `{"mode":"shadow"}`, status: 200, has: []string{`"mode":"shadow"`, `"runningVersion":2`}},
		// The mode is that of the version that runs, whatever the draft says.
		{method: "PUT", path: "/v1/workflows/all?base=2", body: strings.Replace(hooked("all", ""), `"match":{"tools":["fault__echo"]},`, "", 1), status: 200, has: []string{`"mode":"shadow"`, `"runningVersion":2`, `"newestVersion":3`}},
		{method: "GET", path: "/v1/workflows/all/versions", status: 200, has: []string{`"running":false,"mode":"enforce"},{"version":2,`, `"running":true,"mode":"shadow","enabledAt":"20`}},
		{method: "POST", path: "/v1/workflows/mine/enable", body: `{"mode":"enforce"}`, status: 200, has: []string{`"mode":"enforce"`, `"runningVersion":1`}},
		{method: "POST", path: "/v1/workflows/mine/enable", body: `{"mode":"on"}`, status: 400, has: []string{"mode must be enforce or shadow"}},
		{method: "GET", path: "/v1/workflows?tool=fault__echo&client=admin", status: 200, has: []string{`{"workflows":[{"id":"mine"`, `"conditional":true,"match":{"tools":["fault__echo"],"clients":["admin"]}},{"id":"all"`}},
		{method: "GET", path: "/v1/workflows?tool=fault__echo&client=bob", status: 200, has: []string{`{"workflows":[{"id":"all"`}, hasNot: []string{`"id":"mine"`}},
		{method: "GET", path: "/v1/workflows?tool=fault__pid", status: 200, has: []string{`{"workflows":[{"id":"all"`}, hasNot: []string{`"id":"mine"`}},
		{method: "GET", path: "/v1/workflows?tool=fault__nothing", status: 404, has: []string{`there is no tool \"fault__nothing\"`}},
		// What a definition is for.
		{method: "POST", path: "/v1/workflows/validate", body: mine, status: 200, has: []string{`"matches":{"servers":1,"tools":1,"names":["fault__echo"],"conditional":true}`}},
		{method: "POST", path: "/v1/workflows/validate", body: `{"workflowType":"tools/call","match":{"tools":["fault__echo*","fault__pid"]}}`, status: 200, has: []string{`"valid":false`, `"servers":1,"tools":`, `"fault__pid"`}},
		{method: "POST", path: "/v1/workflows/validate", body: `{"workflowType":"tools/call","match":{"servers":["results"]}}`, status: 200, has: []string{`"servers":0,"builtIn":["results"],"tools":1,"names":["results__read_result"]`}},
		{method: "POST", path: "/v1/workflows/validate", body: `{"workflowType":"tools/call"}`, status: 200, has: []string{`"fault__pid"`}, hasNot: []string{"read_result"}},
		{method: "GET", path: "/v1/workflow-templates", status: 200, has: []string{`"hook":{"label":"Redact","workflowTypes":["tools/call","resources/read","prompts/get"],"blocking":true,"behind":true,"callOnError":"continue","settings":{"limits":{"hookMs":30000,"totalMs":60000}}`}},
		{method: "POST", path: "/v1/workflows/validate", body: `{"workflowType":"tools/call","match":{"servers":["other"]}}`, status: 200, has: []string{`"servers":0,"tools":0,"names":[]`}},
		// An editor that saves while somebody draws makes one version, until it is enabled.
		{method: "PUT", path: "/v1/workflows/drawn?draft=a", body: hooked("drawn", "1"), status: 200, has: []string{`"version":1`}},
		{method: "PUT", path: "/v1/workflows/drawn?base=1&draft=a", body: hooked("drawn", "2"), status: 200, has: []string{`"version":1`, `"newestVersion":1`}},
		{method: "PUT", path: "/v1/workflows/drawn?draft=a", body: hooked("drawn", "3"), headers: []string{"If-Match", `"1-1"`}, status: 409, has: []string{`workflow \"drawn\" was changed meanwhile: its version 1 was saved again`}},
		{method: "PUT", path: "/v1/workflows/drawn", body: `{"id":"drawn","version":1,"updatedAt":1}`, status: 409, has: []string{"was saved again"}},
		{method: "PUT", path: "/v1/workflows/drawn", body: hooked("drawn", "3"), headers: []string{"If-Match", `"1-x"`}, status: 400, has: []string{"If-Match must be the ETag of an answer"}},
		{method: "POST", path: "/v1/workflows/drawn/enable", body: `{}`, headers: []string{"If-Match", `"1-1"`}, status: 409, has: []string{"was saved again"}},
		{method: "POST", path: "/v1/workflows/drawn/enable", body: `{"version":1}`, headers: []string{"If-Match", `"1"`}, status: 200},
		{method: "PUT", path: "/v1/workflows/drawn?base=1&draft=a", body: hooked("drawn", "3"), status: 200, has: []string{`"version":2`, `"runningVersion":1`}},
		{method: "PUT", path: "/v1/workflows/drawn?base=2", body: hooked("drawn", "4"), status: 200},
		{method: "GET", path: "/v1/workflows/drawn/versions", status: 200, has: []string{`"version":3`, `"version":2`, `"version":1,`}},
		// A draft that is again what runs is none; where its nodes are drawn does not matter.
		{method: "GET", path: "/v1/workflows/drawn", status: 200, has: []string{`"newestVersion":3`, `"drafted":true`}},
		{method: "PUT", path: "/v1/workflows/drawn?base=3", body: strings.Replace(hooked("drawn", "2"), `{"id":"start"`, `{"position":{"x":5,"y":5},"id":"start"`, 1), status: 200},
		{method: "GET", path: "/v1/workflows/drawn", status: 200, has: []string{`"runningVersion":1,"newestVersion":4`}, hasNot: []string{"drafted"}},
		{method: "DELETE", path: "/v1/workflows/drawn", status: 200},
		// A template is checked before it is used, and changes what it has made.
		{method: "POST", path: "/v1/workflows/validate", body: `{"template":"redact","match":{"tools":["fault__echo"]},"params":{"kinds":["keys"]}}`, status: 200, has: []string{`{"valid":true,"problems":[],"matches":{"servers":1,"tools":1`}},
		{method: "POST", path: "/v1/workflows/validate", body: `{"template":"redact","params":{"kinds":["names"]}}`, status: 400, has: []string{"kinds"}},
		{method: "POST", path: "/v1/workflows/validate", body: `{"template":"none"}`, status: 404, has: []string{`there is no template \"none\"`}},
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"fields","id":"f","match":{"tools":["fault__pid"]},"params":{"keep":["a"]}}`, status: 200, has: []string{`"id":"f"`, `"id":"f-list"`}},
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"fields","id":"f","match":{"tools":["fault__pid"]},"params":{"keep":["b"]}}`, status: 409, has: []string{"exists already, with version 1", "?base=1"}},
		{method: "POST", path: "/v1/workflow-templates?base=2", body: `{"template":"fields","id":"f","match":{"tools":["fault__pid"]},"params":{"keep":["b"]}}`, status: 409, has: []string{"its version is 1, and this change was made to version 2"}},
		{method: "POST", path: "/v1/workflow-templates?base=1", body: `{"template":"fields","id":"f","match":{"tools":["fault__pid"]},"params":{"keep":["b"]}}`, status: 200, has: []string{`"newestVersion":2`}, hasNot: []string{`"newestVersion":1`}},
		// Used again without an id, it makes others, even if only a part of them is taken.
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"redact"}`, status: 200, has: []string{`"id":"redact"`, `"id":"redact-prompts"`}, hasNot: []string{"warnings"}},
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"redact"}`, status: 200, has: []string{`"id":"redact-2"`, `"id":"redact-2-resources"`, `"id":"redact-2-prompts"`}},
		{method: "GET", path: "/v1/workflows/redact-2-prompts", status: 200, has: []string{`"template":"redact","set":"redact/redact-2"`}},
		{method: "GET", path: "/v1/workflows/redact-2", status: 200, has: []string{`"set":"redact/redact-2"`}},
		{method: "DELETE", path: "/v1/workflows/redact", status: 200},
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"redact"}`, status: 200, has: []string{`"id":"redact-3"`}},
		{method: "POST", path: "/v1/workflow-templates?base=1", body: `{"template":"redact"}`, status: 200, has: []string{`"id":"redact"`, `"newestVersion":2`}},
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"redact","id":"redact"}`, status: 409, has: []string{"exists already"}},
		// What cannot work is refused at its field; what may work later is said.
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"redact","match":{"tools":["ecko"],"when":"((" }}`, status: 400, has: []string{`"field":"match.tools.0"`, `"field":"match.when"`}},
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"deny-destructive","id":"typo","match":{"servers":["fualt"]}}`, status: 200, has: []string{`"warnings":["No server is called fualt now; did you mean fault?"]`}},
		{method: "GET", path: "/v1/workflows?tool=fault__echo&drafts=true", status: 200, has: []string{`"id":"redact"`}, hasNot: []string{`"id":"typo"`, `"id":"redact-prompts"`}},
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"redact","id":"later","match":{"tools":["fault__ecko","other__*","fault__*"]}}`, status: 200, has: []string{`"warnings":["No tool matches fault__ecko now; did you mean fault__echo?","No tool matches other__* now"]`}},
		{method: "POST", path: "/v1/workflow-templates", body: `{"template":"ask-first","match":{"tools":["echo","!pid"]}}`, status: 200, hasNot: []string{"warnings"}},
		{method: "GET", path: "/v1/workflows/ask-first", status: 200, has: []string{`"tools":["fault__echo","!fault__pid"]`}},
		// What it did.
		echo("a").answered(200), echo("no").answered(403),
		{method: "GET", path: "/v1/workflows/mine/runs", status: 200, has: []string{`{"runs":[{"workflow":"mine","name":"The mine","version":1,"mode":"enforce","call":"`, `"client":"admin","tool":"`, `"outcome":"denied"`, `"outcome":"ok"`}},
		{method: "GET", path: "/v1/workflows/mine/runs?outcome=denied", status: 200, has: []string{`"outcome":"denied"`}, hasNot: []string{`"outcome":"ok"`}},
		{method: "GET", path: "/v1/workflows/mine/runs?limit=1", status: 200, has: []string{`"outcome":"denied"`}, hasNot: []string{`"outcome":"ok"`}},
		{method: "GET", path: "/v1/workflows/mine/runs?outcome=odd", status: 400, has: []string{"must be one of"}},
		{method: "GET", path: "/v1/workflows/none/runs", status: 404},
		{method: "GET", path: "/v1/workflows/mine/stats", status: 200, has: []string{`{"enforce":{"runs":2,"changed":0,"denied":1,"failed":0,"passed":0,`, `"nodes":[{"node":"hook","runs":2`}},
		{method: "GET", path: "/v1/workflows/mine/runs?outcome=denied", status: 200, has: []string{`"outcome":"denied"`, `"effect":"denied"`}},
		// A draft and tests that are not stored.
		{method: "POST", path: "/v1/workflows/new/tests", body: `{"definition":` + draft + `}`, status: 200, has: []string{`{"passed":0,"failed":0,"tests":[]}`}},
		{method: "POST", path: "/v1/workflows/new/tests", body: `{"definition":` + draft + `,"tests":[` + test + `]}`, status: 200, has: []string{`"passed":1,"failed":0`}},
		{method: "POST", path: "/v1/workflows/mine/tests", body: `{"tests":[` + test + `]}`, status: 200, has: []string{`{"what":"changed","want":true,"got":false}`}},
		{method: "POST", path: "/v1/workflows/new/tests", body: `{}`, status: 404},
		{method: "POST", path: "/v1/workflows/mine/tests", body: `{"tests":[{"id":"a b","call":{"params":{}}}]}`, status: 400, has: []string{"cannot be an id"}},
		{method: "POST", path: "/v1/workflows/mine/tests", body: `{"version":1,"definition":{}}`, status: 400, has: []string{"either definition or version"}},
		{method: "GET", path: "/v1/workflow-nodes", status: 200, has: []string{`{"nodes":[{"type":"start","title":"Start"`, `"settings":{`, `"handles":["out","denied","error"]`}},
		{method: "GET", path: "/v1/workflow-nodes/genkan.d.ts", status: 200, has: []string{"declare function mapText"}},
	})
}

// The runs of a workflow that only watches say what it would have done.
func TestRunsInShadow(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.waitReady()
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/watch", body: hooked("watch", `return {action: "deny"}`), status: 200},
		{method: "POST", path: "/v1/workflows/watch/enable", body: `{"mode":"shadow"}`, status: 200},
		echo("a").answered(200),
	})
	testkit.Eventually(t, func() bool {
		return strings.Contains(d.send("GET", "/v1/workflows/watch/runs?outcome=denied", "").body, `"effect":"would_deny"`)
	}, "the run says what would have been done")
}

// A call of the history becomes a test, without what is secret in it.
func TestARecordedCallBecomesATest(t *testing.T) {
	t.Parallel()
	const secret = "sup3r-canary-value-9471"
	d := openDoor(t, nil)
	d.send("PUT", "/v1/secrets/KEY", `{"value":"`+secret+`"}`).want(t, 200, nil, nil)
	d.waitReady()
	script := `const a = ctx.request.params.arguments; console.log("` + secret + `"); if (a.text.startsWith("no")) return {action: "deny", reason: "` + secret + `"}; a.text += "!"`
	d.send("POST", "/v1/tools/call", echo("a "+secret).body).want(t, 200, nil, nil)
	call := d.lastCall(t)
	d.send("POST", "/v1/tools/call", `{"name":"fault__nothing"}`)
	unsent := d.lastCall(t)
	put := func(name, body string) spoken {
		return spoken{method: "PUT", path: "/v1/workflows/w/tests/" + name, body: body}
	}
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/w", body: hooked("w", script), status: 200},
		put("now", `{"from":"`+call+`"}`).answered(200, `"server":"fault","tool":"echo"`, `"client":"admin"`, `"expect":{"outcome":"ok","changed":true,"arguments":{`, `"response":{`),
		put("now", `{"from":"`+call+`"}`).answered(200, `"id":"now"`),
		put("denied", `{"from":"`+call+`","expect":{"outcome":"denied"}}`).answered(200, `"id":"denied"`),
		put("x", `{"from":"`+call+`","call":{"params":{}}}`).answered(400, "either from, or call and answer"),
		put("x", `{"from":"`+unsent+`"}`).answered(409, "did not reach a server"),
		put("x", `{"from":"AAAAAA-1"}`).answered(404, "there is no call"),
		put("x", `{}`).answered(400, "call.params"),
	})
	d.send("GET", "/v1/workflows/w/tests", "").want(t, 200, []string{"redacted"}, []string{secret})
	d.send("POST", "/v1/workflows/w/tests", `{}`).want(t, 200, []string{`"passed":1,"failed":1`, `"want":"denied","got":"ok"`, "redacted"}, []string{secret})
	denies := `{"tests":[{"id":"t","call":{"params":{"name":"fault__echo","arguments":{"text":"no"}}},"expect":{"outcome":"ok"}}]}`
	d.send("POST", "/v1/workflows/w/tests", denies).want(t, 200, []string{`"outcome":"denied"`, `"reason":`}, []string{secret})
}

// What is made of the time or of secrets is no part of a test.
func TestWhatVariesIsNotKeptInTests(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.waitReady()
	d.send("PUT", "/v1/secrets/PIN", `{"value":"4711"}`).want(t, 200, nil, nil)
	d.send("POST", "/v1/tools/call", echo("a").body).want(t, 200, nil, nil)
	call := d.lastCall(t)
	secret := strings.Replace(hooked("secret", `ctx.request.params.arguments.text = vars.pin`), `"nodes"`, `"vars":{"pin":"${secret:PIN}"},"nodes"`, 1)
	for id, definition := range map[string]string{"secret": secret, "time": hooked("time", `ctx.request.params.arguments.text = new Date().toISOString().slice(0, 10)`)} {
		d.send("PUT", "/v1/workflows/"+id, definition).want(t, 200, []string{`"problems":[]`}, nil)
		d.send("PUT", "/v1/workflows/"+id+"/tests/now", `{"from":"`+call+`"}`).want(t, 200, []string{`"expect":{"outcome":"ok","changed":true}`}, []string{"4711"})
	}
}

// A call of a tool that a workflow has renamed is found again.
func TestReplayOfARenamedTool(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"record": map[string]any{"bodies": "all"}})
	d.waitReady()
	token := d.newToken()
	rename := strings.NewReplacer(`"workflowType":"tools/call"`, `"workflowType":"tools/list"`,
		`{"source":"start","target":"hook"},{"source":"hook","target":"call"},{"source":"call","target":"end"}`,
		`{"source":"start","target":"call"},{"source":"call","target":"hook"},{"source":"hook","target":"end"}`).
		Replace(hooked("rename", `for (const t of ctx.response.tools) { t.name = "say"; t.annotations = {readOnlyHint: false} }`))
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/rename", body: rename, status: 200, has: []string{`"problems":[]`}},
		{method: "POST", path: "/v1/workflows/rename/enable", body: `{}`, status: 200},
		{method: "POST", path: "/v1/tools/call", body: `{"name":"fault__say","parameters":{"text":"a"}}`, headers: []string{"Authorization", "Bearer " + token}, status: 200},
	})
	guard := strings.Replace(hooked("guard", `return {action: "deny", reason: "found"}`), `"match":{`, `"match":{"annotations":{"readOnlyHint":true},`, 1)
	body := fmt.Sprintf(`{"call":%q,"definition":%s}`, d.lastCall(t), guard)
	d.send("POST", "/v1/workflows/guard/replay", body).want(t, 200, []string{`"matched":true`, "found"}, nil)
	d.send("GET", "/v1/workflows/rename/runs", "").want(t, 200, []string{`"workflow":"rename"`, `"outcome":"ok"`}, []string{`"call":`})
}

// All workflows stop at once, and who did it is known.
func TestAllWorkflowsAreTurnedOff(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.speak(t, []spoken{
		{method: "GET", path: "/v1/workflows/switch", status: 200, has: []string{`{"on":true}`}},
		{method: "PUT", path: "/v1/workflows/w", body: hooked("w", `return {action: "deny"}`), status: 200},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200},
		echo("a").answered(403),
		{method: "PUT", path: "/v1/workflows/switch", body: `{}`, status: 400, has: []string{`"field":"on"`}},
		{method: "PUT", path: "/v1/workflows/switch", body: `{"on":false}`, status: 200, has: []string{`{"on":false,"changedBy":"admin","changedAt":"`}},
		echo("a").answered(200),
		{method: "GET", path: "/v1/workflows", status: 200, has: []string{`"enabled":true`, `"off":true`}},
		{method: "GET", path: "/v1/workflows?tool=fault__echo", status: 200, has: []string{`"workflows":[]`, `"off":true`}},
		{method: "PUT", path: "/v1/workflows/switch", body: `{"on":true}`, status: 200, has: []string{`{"on":true,"changedBy":"admin"`}},
		echo("a").answered(403),
		{method: "POST", path: "/v1/workflows/import", body: hooked("switch", ""), status: 400, has: []string{`\"switch\" cannot be the id of a workflow`}},
	})
	d.send("PUT", "/v1/workflows/switch", `{"on":false}`, "Authorization", "Bearer "+d.newToken()).want(t, 403, nil, nil)
}

// A request may be as large as a definition may be.
func TestLargeDefinitions(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	sized := func(n int) string {
		return strings.Replace(hooked("w", ""), `"name":`, `"description":"`+strings.Repeat("x", n)+`","name":`, 1)
	}
	large := sized(3 << 20)
	d.send("PUT", "/v1/workflows/w", large).want(t, 200, []string{`"problems":[]`}, nil)
	d.send("POST", "/v1/workflows/w/tests", `{"definition":`+large+`}`).want(t, 200, nil, nil)
	d.send("PUT", "/v1/workflows/w?base=1", sized(5<<20)).want(t, 400, []string{"larger than 4 MB"}, nil)
	d.send("PUT", "/v1/workflows/w?base=1", sized(17<<20)).want(t, 413, []string{"larger than 16 MiB"}, nil)
	d.send("POST", "/v1/tools/search", `{"query":"`+strings.Repeat("x", 2<<20)+`"}`).want(t, 413, []string{"larger than 1 MiB"}, nil)
}

// The kinds of nodes are written down for the tests of the pages.
func TestKindsOfNodes(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	var got struct{ Kinds json.RawMessage }
	if err := json.Unmarshal([]byte(d.send("GET", "/v1/workflow-nodes", "").body), &got); err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got.Kinds, "", "  "); err != nil {
		t.Fatal(err)
	}
	testkit.GoldenFile(t, "testdata/kinds.json", pretty.Bytes())
}
