package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/testkit"
	"genkan/internal/workflow"
)

// hooked is a definition for fault__echo with a blocking hook before the call.
func hooked(id, script string) string {
	hook, _ := json.Marshal(map[string]any{"hook": map[string]any{"script": script, "blocking": true}})
	return fmt.Sprintf(`{"id":%q,"name":"The %s","workflowType":"tools/call","match":{"tools":["fault__echo"]},
		"nodes":[{"id":"start","type":"start"},{"id":"hook","type":"hook","data":%s,"position":{"x":1}},{"id":"call","type":"mcp-call"},{"id":"end","type":"end"}],
		"edges":[{"source":"start","target":"hook"},{"source":"hook","target":"call"},{"source":"call","target":"end"}]}`, id, id, hook)
}

// spoken sends a list of requests: method, path, body, and what the answer must have
// after its status.
type spoken struct {
	method, path, body string
	headers            []string
	status             int
	has, hasNot        []string
}

func (d door) speak(t *testing.T, conversation []spoken) {
	t.Helper()
	for i, s := range conversation {
		got := d.send(s.method, s.path, s.body, s.headers...)
		t.Run(fmt.Sprintf("%d %s %s", i+1, s.method, s.path), func(t *testing.T) {
			t.Helper()
			got.want(t, s.status, s.has, s.hasNot)
		})
	}
}

func echo(text string) spoken {
	return spoken{method: "POST", path: "/v1/tools/call", body: `{"name":"fault__echo","parameters":{"text":"` + text + `"}}`}
}

func (s spoken) answered(status int, has ...string) spoken {
	s.status, s.has = status, has
	return s
}

// A workflow from its first draft to its end.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	deny, upper := hooked("w", `return {action: "deny", reason: "not today"}`), hooked("w", `ctx.request.params.arguments.text += "!"`)
	d.speak(t, []spoken{
		{method: "GET", path: "/v1/workflows", status: 200, has: []string{`{"workflows":[]}`}},
		{method: "GET", path: "/v1/workflows/w", status: 404, has: []string{"there is no workflow \\\"w\\\"; `genkan workflows` lists them"}},
		{method: "PUT", path: "/v1/workflows/w", body: deny, status: 200, has: []string{`"version":1`, `"enabled":false`, `"problems":[]`, `"position":{"x":1}`, `"source":"database"`, `"mode":"enforce"`}},
		echo("a").answered(200),
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200, has: []string{`"enabled":true`, `"runningVersion":1`}},
		echo("a").answered(403, "not today"),
		// A change names what it was made to.
		{method: "PUT", path: "/v1/workflows/w", body: upper, status: 409, has: []string{"exists already, with version 1", "?base=1"}},
		{method: "PUT", path: "/v1/workflows/w?base=7", body: upper, status: 409, has: []string{"its version is 1, and this change was made to version 7"}},
		{method: "PUT", path: "/v1/workflows/w", body: upper, headers: []string{"If-Match", `"x"`}, status: 400, has: []string{"If-Match must be the ETag of an answer, or the number of a version"}},
		{method: "PUT", path: "/v1/workflows/w", body: upper, headers: []string{"If-Match", `"1"`}, status: 200, has: []string{`"version":2`, `"runningVersion":1`, `"newestVersion":2`}},
		{method: "PUT", path: "/v1/workflows/other", body: upper, status: 400, has: []string{`the body is about \"w\", but the path about \"other\"`}},
		echo("a").answered(403),
		{method: "POST", path: "/v1/workflows/w/enable", body: `{"version":9}`, status: 404, has: []string{`workflow \"w\" has no version 9; its newest is 2`}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200, has: []string{`"runningVersion":2`}},
		echo("a").answered(200, `"text":"a!"`),
		{method: "GET", path: "/v1/workflows/w?version=1", status: 200, has: []string{`not today`, `"version":1`, `"newestVersion":2`}},
		{method: "GET", path: "/v1/workflows/w/versions", status: 200, has: []string{`{"versions":[{"version":2,`, `"running":true,"mode":"enforce","enabledAt":"20`, `"running":false,"mode":"enforce","enabledAt":"20`}},
		{method: "GET", path: "/v1/workflows/w/stats", status: 200, has: []string{`{"node":"hook","runs":3,"errors":0,"killed":0,"p50Millis":`}},
		{method: "POST", path: "/v1/workflows/w/rollback", body: `{"version":1}`, status: 200, has: []string{`"runningVersion":3`, `"newestVersion":3`}},
		{method: "POST", path: "/v1/workflows/w/rollback", body: `{}`, status: 400, has: []string{`"field":"version"`}},
		echo("a").answered(403, "not today"),
		{method: "POST", path: "/v1/workflows/w/disable", status: 200, has: []string{`"enabled":false`, `"state":"stopped"`, `"stoppedVersion":3`}, hasNot: []string{"runningVersion"}},
		{method: "POST", path: "/v1/workflows/w/disable", status: 200},
		echo("a").answered(200, `"text":"a"`),
		{method: "DELETE", path: "/v1/workflows/w", status: 200, has: []string{`"success":true`}},
		{method: "DELETE", path: "/v1/workflows/w", status: 404},
		{method: "PUT", path: "/v1/workflows/w", body: upper, headers: []string{"If-Match", `"1"`}, status: 404},
		{method: "POST", path: "/v1/workflows/w/disable", status: 404},
		// What is wrong is said with its node and place, and a draft may be wrong.
		{method: "POST", path: "/v1/workflows/validate", body: deny, status: 200, has: []string{`{"valid":true,"problems":[],"matches":{`}},
		{method: "POST", path: "/v1/workflows/validate", body: hooked("x", "\n  let a = ;"), status: 200, has: []string{`"valid":false`, `{"node":"hook","reason":"`, `"line":2,"column":11}`}},
		{method: "POST", path: "/v1/workflows/validate", body: `[]`, status: 400, has: []string{"this is not a workflow"}},
		{method: "POST", path: "/v1/workflows/validate", body: `null`, status: 400},
		{method: "POST", path: "/v1/workflows/validate", body: `{"id":"a","id":"b"}`, status: 400, has: []string{"stands twice"}},
		{method: "PUT", path: "/v1/workflows/x", body: `{"name":"half"}`, status: 200, has: []string{`"id":"x"`, `"reason":"the workflow has no start node"`}},
		{method: "POST", path: "/v1/workflows/x/enable", body: `{"force":true}`, status: 400, has: []string{"cannot run", "no start node"}},
		{method: "GET", path: "/v1/workflows", status: 200, has: []string{`"problemCount":2`}},
		{method: "PUT", path: "/v1/workflows/a@b", body: `{}`, status: 400, has: []string{"cannot be an id"}},
		{method: "PUT", path: "/v1/workflows/import", body: `{}`, status: 405},
	})
	got := d.send("GET", "/v1/workflows", "", "Authorization", "Bearer "+d.newToken())
	got.want(t, 403, []string{"only an administrator may do this"}, nil)
}

// Tests that are kept with a workflow guard it.
func TestWorkflowTests(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	test := `{"name":"it shouts","call":{"params":{"name":"fault__echo","arguments":{"text":"a"}}},"expect":{"outcome":"ok","arguments":{"text":"A"}}}`
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/w", body: hooked("w", ""), status: 200},
		{method: "GET", path: "/v1/workflows/w/tests", status: 200, has: []string{`{"tests":[]}`}},
		{method: "PUT", path: "/v1/workflows/w/tests/shouts", body: test, status: 200, has: []string{`"id":"shouts","name":"it shouts"`}},
		{method: "PUT", path: "/v1/workflows/w/tests/other", body: `{"id":"shouts","call":{"params":{}},"expect":{}}`, status: 400},
		{method: "PUT", path: "/v1/workflows/w/tests/other", body: `{"call":{},"expect":{}}`, status: 400, has: []string{"call.params"}},
		{method: "PUT", path: "/v1/workflows/none/tests/other", body: test, status: 404, has: []string{"there is no workflow"}},
		{method: "POST", path: "/v1/workflows/w/tests", body: `{}`, status: 200, has: []string{`"passed":0,"failed":1`, `{"what":"arguments","want":{"text":"A"},"got":{"text":"a"}}`, `"trace":{`}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 409, has: []string{`workflow \"The w\"`, `version 1 fails the test \"it shouts\";`}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{"force":true}`, status: 200, has: []string{`"enabled":true`}},
		{method: "PUT", path: "/v1/workflows/w?base=1", body: hooked("w", `ctx.request.params.arguments.text = "A"`), status: 200},
		{method: "POST", path: "/v1/workflows/w/tests", body: `{"version":1}`, status: 200, has: []string{`"failed":1`}},
		{method: "POST", path: "/v1/workflows/w/tests", body: `{}`, status: 200, has: []string{`"passed":1,"failed":0`}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200, has: []string{`"runningVersion":2`}},
		{method: "DELETE", path: "/v1/workflows/w/tests/shouts", status: 200},
		{method: "DELETE", path: "/v1/workflows/w/tests/shouts", status: 404},
	})
}

// Exports come back as drafts, once.
func TestWorkflowExchange(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/hook-modules/shared", body: `{"script":"return","params":[]}`, status: 400, has: []string{"must be a JSON Schema, which is an object", `"field":"params"`}},
		{method: "PUT", path: "/v1/hook-modules/a%20b", body: `{"script":"return"}`, status: 400, has: []string{`cannot be an id`, `"field":"id"`}},
		{method: "PUT", path: "/v1/hook-modules/shared", body: `{"script":"ctx.request.params.arguments.text = params.text","description":"says it","params":{"properties":{"text":{"type":"string"}}}}`, status: 200, has: []string{`"version":1`, `"workflows":[]`, `"params":{"properties":`}},
		{method: "PUT", path: "/v1/hook-modules/shared", body: `{"script":"return"}`, status: 409, has: []string{"?base=1", `"field":"id"`, "a hook module of this name exists already"}},
		{method: "PUT", path: "/v1/hook-modules/shared?base=1", body: `{"script":"return\nlet ="}`, status: 400, has: []string{"cannot be compiled", `"field":"script"`, `"params":{"column":6,"line":2},"message":"the script ends where it should not`}},
		{method: "PUT", path: "/v1/hook-modules/shared?base=1", body: `{}`, status: 400, has: []string{`"field":"script"`}},
		{method: "PUT", path: "/v1/workflows/w", body: strings.Replace(hooked("w", ""), `"script":""`, `"module":"shared","params":{"text":"hi"}`, 1), status: 200, has: []string{`"problems":[]`}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200},
		echo("a").answered(200, `"text":"hi"`),
		{method: "GET", path: "/v1/hook-modules", status: 200, has: []string{`"id":"shared"`, `"workflows":["w"]`}, hasNot: []string{`"script"`}},
		{method: "GET", path: "/v1/hook-modules/shared?version=2", status: 404, has: []string{"has no version 2; its newest is 1"}},
		{method: "DELETE", path: "/v1/hook-modules/shared", status: 409, has: []string{"is used by w"}},
		{method: "GET", path: "/v1/workflows/w/export", status: 200, has: []string{`{"id":"w",`, `"enabled":true`, `"version":1`}},
	})
	all := d.send("GET", "/v1/workflows/export", "")
	all.want(t, 200, []string{`"workflows":[{"id":"w"`, `"hookModules":[{"id":"shared"`, `"params":{"properties":{"text":{"type":"string"}}}`}, nil)
	counting := func(number string) string {
		return strings.Replace(hooked("w", "return"), `"blocking":true`, `"blocking":true,"params":{"n":`+number+`}`, 1)
	}
	d.speak(t, []spoken{
		{method: "POST", path: "/v1/workflows/import", body: all.body, status: 200, has: []string{`{"id":"w","version":1,"status":"unchanged","problemCount":0}`, `"hookModules":[{"id":"shared","version":1,"status":"unchanged"`}},
		{method: "DELETE", path: "/v1/workflows/w", status: 200},
		{method: "DELETE", path: "/v1/hook-modules/shared", status: 200},
		{method: "DELETE", path: "/v1/hook-modules/shared", status: 404},
		{method: "POST", path: "/v1/workflows/import", body: all.body, status: 200, has: []string{`{"id":"w","version":1,"status":"added","problemCount":0}`}},
		{method: "GET", path: "/v1/workflows/w", status: 200, has: []string{`"enabled":false`}},
		{method: "POST", path: "/v1/workflows/import", body: hooked("w", "return"), status: 200, has: []string{`{"id":"w","version":2,"status":"changed","problemCount":0}`}},
		// The editor exports where it draws the nodes, too, and keys in its own order.
		{method: "POST", path: "/v1/workflows/import", body: strings.Replace(hooked("w", "return"), `{"id":"start","type":"start"`, `{"position":{"x":8,"y":0},"type":"start","id":"start"`, 1), status: 200, has: []string{`{"id":"w","version":2,"status":"unchanged"`}},
		{method: "POST", path: "/v1/workflows/import", body: counting("9007199254740992"), status: 200, has: []string{`"version":3,"status":"changed"`}},
		{method: "POST", path: "/v1/workflows/import", body: counting("9007199254740992"), status: 200, has: []string{`"version":3,"status":"unchanged"`}},
		{method: "POST", path: "/v1/workflows/import", body: counting("9007199254740993"), status: 200, has: []string{`"version":4,"status":"changed"`}},
		{method: "POST", path: "/v1/workflows/import", body: hooked("import", ""), status: 400, has: []string{`\"import\" cannot be the id of a workflow`}},
		{method: "POST", path: "/v1/workflows/import", body: `{"workflows":[1]}`, status: 400, has: []string{"this is not a workflow: it is a number."}},
		{method: "POST", path: "/v1/workflows/import", body: `[]`, status: 400, has: []string{"this is not a workflow: it is an array."}, hasNot: []string{"workflow.plain"}},
		{method: "POST", path: "/v1/workflows/import", body: `{"id":"x","nodes":true}`, status: 400, has: []string{`"field":"nodes"`, "nodes must be an array, is a boolean"}, hasNot: []string{"Go value"}},
		{method: "POST", path: "/v1/workflows/import", body: `{"name":"My flow","nodes":[{"name":"Webhook","type":"n8n-nodes-base.webhook","typeVersion":2}],"connections":{}}`, status: 400, has: []string{"a workflow of n8n, not of genkan"}},
		{method: "POST", path: "/v1/workflows/import", body: `{"nodes":[]}`, status: 400, has: []string{"needs an id"}},
		// Without edges it is stored with none, and its id is its name.
		{method: "POST", path: "/v1/workflows/import", body: `{"id":"x","nodes":[{"id":"a","type":"nope"}]}`, status: 200, has: []string{`"status":"added","problemCount":4`}},
		{method: "GET", path: "/v1/workflows/x", status: 200, has: []string{`"name":"x"`, `"edges":[]`}},
		{method: "POST", path: "/v1/workflows/import", body: `{"workflows":[],"more":1}`, status: 400},
	})
}

// An export holds the tests of a workflow, and an import replaces those with the same ids.
func TestExportsHoldTests(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	test := func(text string) string {
		return `{"call":{"params":{"name":"fault__echo","arguments":{"text":"` + text + `"}}},"expect":{"outcome":"ok"}}`
	}
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/w", body: hooked("w", ""), status: 200},
		{method: "PUT", path: "/v1/workflows/w/tests/one", body: test("a"), status: 200},
		{method: "PUT", path: "/v1/workflows/w/tests/two", body: test("b"), status: 200},
		{method: "GET", path: "/v1/workflows/w", status: 200, hasNot: []string{`"tests"`}},
	})
	one, all := d.send("GET", "/v1/workflows/w/export", ""), d.send("GET", "/v1/workflows/export", "")
	one.want(t, 200, []string{`"tests":[{"id":"one"`, `{"id":"two"`}, nil)
	all.want(t, 200, []string{`"tests":[{"id":"one"`, `{"id":"two"`}, nil)
	both := []string{`{"tests":[{"id":"one"`, `"text":"a"`, `{"id":"two"`}
	list := spoken{method: "GET", path: "/v1/workflows/w/tests"}
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/w/tests/one", body: test("mine"), status: 200},
		{method: "DELETE", path: "/v1/workflows/w/tests/two", status: 200},
		{method: "POST", path: "/v1/workflows/import", body: one.body, status: 200, has: []string{`"version":1,"status":"changed"`}},
		list.answered(200, both...),
		{method: "POST", path: "/v1/workflows/import", body: one.body, status: 200, has: []string{`"version":1,"status":"unchanged"`}},
		{method: "PUT", path: "/v1/workflows/w/tests/three", body: test("c"), status: 200},
		{method: "POST", path: "/v1/workflows/import", body: one.body, status: 200, has: []string{`"version":1,"status":"unchanged"`}},
		list.answered(200, `{"id":"three"`),
	})
	for _, again := range []spoken{
		{method: "POST", path: "/v1/workflows/import", body: one.body},
		{method: "POST", path: "/v1/workflows/import", body: all.body},
		{method: "PUT", path: "/v1/workflows/w", body: one.body},
	} {
		d.speak(t, []spoken{
			{method: "DELETE", path: "/v1/workflows/w", status: 200},
			again.answered(200),
			list.answered(200, both...),
			{method: "GET", path: "/v1/workflows/w", status: 200, hasNot: []string{`"tests"`}},
		})
	}
	wrong := func(tests, has string) spoken {
		body := strings.Replace(hooked("x", ""), `{"id":"x"`, `{"tests":`+tests+`,"id":"x"`, 1)
		return spoken{method: "POST", path: "/v1/workflows/import", body: body}.answered(400, has)
	}
	d.speak(t, []spoken{
		wrong(`1`, "its tests cannot be read"),
		wrong(`[{"id":"a/b"}]`, "cannot be an id"),
		{method: "GET", path: "/v1/workflows/x", status: 404},
	})
	// A definition is not stored without its tests, and an import not by half.
	var many []string
	for i := range workflow.MostTests - 1 {
		many = append(many, fmt.Sprintf(`{"id":"t%d"}`, i))
	}
	more := strings.Replace(hooked("w", ""), `{"id":"w"`, `{"tests":[`+strings.Join(many, ",")+`],"version":1,"id":"w"`, 1)
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/w", body: more, status: 400, has: []string{"would have 201 tests"}},
		{method: "POST", path: "/v1/workflows/import", body: `{"hookModules":[{"id":"m","script":""}],"workflows":[` + hooked("x", "") + `,` + more + `]}`, status: 400, has: []string{"would have 201 tests"}},
		{method: "GET", path: "/v1/workflows/w", status: 200, has: []string{`"newestVersion":1`}},
		{method: "GET", path: "/v1/workflows/x", status: 404},
		{method: "GET", path: "/v1/hook-modules/m", status: 404},
		list.answered(200, both...),
	})
}

// Params of a hook module are checked with the workflow, by the names of their fields.
func TestParamsOfHookModules(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	with := func(params string) string {
		return strings.Replace(hooked("w", ""), `"script":""`, `"module":"m","params":`+params, 1)
	}
	wrong := func(params string, has ...string) spoken {
		return spoken{method: "POST", path: "/v1/workflows/validate", body: with(params), status: 200, has: append(has, `"node":"hook"`, `"valid":false`)}
	}
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/hook-modules/m", body: `{"script":"return","params":{"type":"object","required":["word"],"additionalProperties":false,"properties":{"word":{"type":"string"},"n":{"type":"integer","minimum":1}}}}`, status: 200},
		wrong(`{"n":0}`, `"params.word is required"`, `"params.n must be at least 1, is 0"`),
		wrong(`{"word":"x","n":"abc"}`, `"params.n must be an integer, is a string"`),
		wrong(`{"word":"x","wodr":1}`, `"params.wodr is unknown; did you mean word?"`),
		wrong(`[]`, `"params must be an object, is an array"`),
		{method: "PUT", path: "/v1/workflows/w", body: with(`{}`), status: 200, has: []string{"params.word is required"}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{"force":true}`, status: 400, has: []string{"params.word is required"}},
		{method: "PUT", path: "/v1/workflows/w?base=1", body: with(`{"word":"x","n":1}`), status: 200, has: []string{`"problems":[]`}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200},
		{method: "PUT", path: "/v1/hook-modules/m?base=1", body: `{"script":"return","params":{"required":["more"]}}`, status: 400, has: []string{"params.more is required"}},
	})
}

// A workflow for a server that does not exist says so, whether it runs or not.
func TestWorkflowsWithoutServers(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	with := func(match string) string {
		return strings.Replace(hooked("w", ""), `"match":{`, `"match":{`+match, 1)
	}
	d.speak(t, []spoken{
		{method: "POST", path: "/v1/workflows/validate", body: with(`"servers":["nope","fau*"],`), status: 200, hasNot: []string{"noServers"}},
		{method: "POST", path: "/v1/workflows/validate", body: strings.Replace(with(""), "fault__echo", "nope__echo", 1), status: 200, has: []string{`"noServers":["nope__echo"]`}},
		{method: "PUT", path: "/v1/workflows/w", body: with(`"servers":["nope"],`), status: 200, has: []string{`"noServers":["nope"]`, `"match":{"servers":["nope"],`}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200, has: []string{`"noServers":["nope"]`}},
		{method: "PUT", path: "/v1/workflows/w?base=1", body: with(""), status: 200},
		{method: "GET", path: "/v1/workflows", status: 200, has: []string{`"noServers":["nope"]`}}, // version 1 runs
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200, hasNot: []string{"noServers"}},
		echo("a").answered(200, `"text":"a"`),
		{method: "GET", path: "/v1/workflows", status: 200, has: []string{`"runs":{"runs":1,`}, hasNot: []string{"noServers"}},
	})
}

// A workflow is tried on calls of the history, and nothing is sent.
func TestReplayAndBacktest(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	for _, text := range []string{"one", "two", "secret", strings.Repeat("long", 20_000)} {
		d.send("POST", "/v1/tools/call", `{"name":"fault__echo","parameters":{"text":"`+text+`"}}`)
	}
	d.send("POST", "/v1/tools/call", `{"name":"fault__pid"}`)
	d.send("POST", "/v1/tools/call", `{"name":"fault__nothing"}`)
	var list client.CallList
	if err := json.Unmarshal([]byte(d.send("GET", "/v1/calls", "").body), &list); err != nil || len(list.Calls) != 6 {
		t.Fatalf("%v, %d calls", err, len(list.Calls))
	}
	if cut := list.Calls[2].Cut; !cut || list.Calls[1].Cut {
		t.Errorf("the long call is cut: %v, and another: %v", cut, list.Calls[1].Cut)
	}
	nothing, pid, long, secret, two := list.Calls[0].ID, list.Calls[1].ID, list.Calls[2].ID, list.Calls[3].ID, list.Calls[4].ID
	script := `
		const args = ctx.request.params.arguments;
		console.log("saw " + args.text);
		if (args.text === "secret") return {action: "deny", reason: "it is secret"};
		if (args.text === "two") args.text = "2";`
	replay := func(call, rest string) spoken {
		return spoken{method: "POST", path: "/v1/workflows/w/replay", body: `{"call":"` + call + `"` + rest + `}`}
	}
	draft := `,"definition":` + hooked("w", `ctx.request.params.arguments.text = "draft"`)
	d.speak(t, []spoken{
		replay(two, "").answered(404, "there is no workflow"),
		replay(two, draft).answered(200, `"value":"draft"`, `"given":{"params":{`, `"text":"two"}`, `"answer":{`),
		replay(two, `,"definition":`+hooked("w", `await fetch("https://example.com/")`)).answered(200, `"incomplete":true`, `"outcome":"failed"`),
		{method: "PUT", path: "/v1/workflows/w", body: hooked("w", script), status: 200},
		replay(two, "").answered(200, `"matched":true`, `"outcome":"ok","changed":true,"sent":true`, `"patch":[{"op":"replace","path":"/request/params/arguments/text","value":"2"}]`, `{"level":"log","text":"saw two"}`, `"result":{`),
		replay(secret, "").answered(200, `"outcome":"denied"`, `"sent":false`, "refused this call: it is secret"),
		replay(pid, "").answered(200, `"matched":false`),
		replay(long, "").answered(409, "it is too long, and only its beginning is kept"),
		replay(nothing, "").answered(409, "it did not reach a server"),
		replay("AAAAAA-1", "").answered(404, "there is no call AAAAAA-1"),
		replay("", "").answered(400, `"field":"call"`),
		replay(two, `,"version":1,"definition":{}`).answered(400, "either definition or version"),
		replay(two, `,"version":-1`).answered(400, `"field":"version"`),
		replay(two, `,"definition":{"id":"w"}`).answered(400, "no start node"),
		replay(two, `,"definition":{"id":"w","workflowType":"tools/list"}`).answered(400, "mode shadow"),
		{method: "POST", path: "/v1/workflows/w/backtest", body: `{}`, status: 200, has: []string{
			`"calls":3,"denied":1,"changed":1,"failed":0,"incomplete":0,"unchanged":1,"asked":0,"unmatched":1,"skipped":2,"cut":1,"tooLarge":0,`,
			`"examples":[{"call":"` + secret + `","outcome":"denied"},{"call":"` + two + `","outcome":"changed"}]`,
			`"matched":["`, two + `"`,
		}},
		// A workflow whose hooks take less than the call that is too long to be kept would fail on it.
		{method: "POST", path: "/v1/workflows/w/backtest", body: `{"definition":` + strings.Replace(hooked("w", script), `{"id"`, `{"limits":{"payloadKB":64},"id"`, 1) + `}`, status: 200, has: []string{`"cut":1,"tooLarge":1,`}},
		{method: "POST", path: "/v1/workflows/w/backtest", body: `{"last":4` + draft + `}`, status: 200, has: []string{`"calls":1,"denied":0,"changed":1,`}},
		{method: "POST", path: "/v1/workflows/w/backtest", body: `{"definition":` + hooked("w", `throw 1`) + `}`, status: 200, has: []string{`"failed":3`}},
		{method: "POST", path: "/v1/workflows/w/backtest", body: `{"definition":` + hooked("w", `await call("fault__pid", {})`) + `}`, status: 200, has: []string{`"failed":0,"incomplete":3`}},
		{method: "POST", path: "/v1/workflows/w/backtest", body: `{"since":"0s"}`, status: 200, has: []string{`"calls":0`}},
		{method: "POST", path: "/v1/workflows/w/backtest", body: `{"last":100001}`, status: 400, has: []string{`"field":"last"`}},
		{method: "POST", path: "/v1/workflows/w/backtest", body: `{"since":"yesterday"}`, status: 400, has: []string{`"field":"since"`}},
		// Nothing was sent, and no figures were counted.
		{method: "GET", path: "/v1/workflows/w/stats", status: 200, has: []string{`{"nodes":[]}`}},
	})
	if err := json.Unmarshal([]byte(d.send("GET", "/v1/calls", "").body), &list); err != nil || len(list.Calls) != 6 {
		t.Errorf("%v, %d calls", err, len(list.Calls))
	}
}

// A call shows what workflows did to it, to administrators.
func TestTracesOfACall(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"record": map[string]any{"bodies": "all"}})
	token := d.newToken()
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/w", body: hooked("w", `console.log("hello"); ctx.request.params.arguments.text = "b"`), status: 200},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200},
		{method: "POST", path: "/v1/tools/call", body: `{"name":"fault__echo","parameters":{"text":"a"}}`, headers: []string{"Authorization", "Bearer " + token}, status: 200, has: []string{`"text":"b"`}},
	})
	var list client.CallList
	if err := json.Unmarshal([]byte(d.send("GET", "/v1/calls", "").body), &list); err != nil || len(list.Calls) != 1 {
		t.Fatalf("%v, %d calls", err, len(list.Calls))
	}
	if effect := list.Calls[0].Effect; effect != "changed" {
		t.Errorf("the effect is %q", effect)
	}
	d.send("GET", "/v1/calls", "", "Authorization", "Bearer "+token).want(t, 200, nil, []string{"effect"})
	path := "/v1/calls/" + list.Calls[0].ID
	d.send("GET", path, "").want(t, 200, []string{`"workflows":[{"workflow":"w","name":"The w","version":1,"mode":"enforce"`, `"text":"hello"`, `"value":"b"`}, nil)
	d.send("GET", path, "", "Authorization", "Bearer "+token).want(t, 200, nil, []string{"workflows"})
}

// A person decides about a call that waits.
func TestApprovals(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.speak(t, []spoken{
		{method: "PUT", path: "/v1/workflows/w", body: asking("w"), status: 200, has: []string{`"problems":[]`}},
		{method: "POST", path: "/v1/workflows/w/enable", body: `{}`, status: 200},
		{method: "GET", path: "/v1/approvals", status: 200, has: []string{`{"approvals":[]}`}},
		{method: "GET", path: "/v1/approvals/none", status: 404, has: []string{"no approval \\\"none\\\" is pending"}},
		{method: "POST", path: "/v1/approvals/none", body: `{"decision":"approve"}`, status: 404, has: []string{"no approval \\\"none\\\" is pending"}},
		{method: "POST", path: "/v1/approvals/none", body: `{"decision":"maybe"}`, status: 400, has: []string{"approve or deny"}},
		{method: "POST", path: "/v1/approvals/none", body: `{"decision":"approve","reason":"x"}`, status: 400, has: []string{"reason goes with deny"}},
		{method: "POST", path: "/v1/approvals/none", body: `{"decision":"deny","reason":"` + strings.Repeat("理", 301) + `"}`, status: 400, has: []string{"at most 300 characters, has 301"}},
		{method: "POST", path: "/v1/approvals/none", body: `{"decision":"deny","reason":"` + strings.Repeat("理", 300) + `"}`, status: 404},
	})
	body := map[string]string{"approve": `{"decision":"approve"}`, "deny": `{"decision":"deny","reason":" not that\u001b[31m\nrepository. "}`}
	for decision, want := range map[string]spoken{
		"approve": echo("").answered(200, `"text":"please"`),
		"deny":    echo("").answered(403, `not that\\x1b[31m repository. It was not sent. Do not repeat it`),
	} {
		answered := make(chan answer, 1)
		note := strings.Repeat("x", 100_000)
		go func() {
			answered <- d.send("POST", "/v1/tools/call", strings.Replace(echo("please").body, `{"text"`, `{"note":"`+note+`","text"`, 1))
		}()
		var list client.ApprovalList
		testkit.Eventually(t, func() bool {
			return json.Unmarshal([]byte(d.send("GET", "/v1/approvals", "").body), &list) == nil && len(list.Approvals) == 1
		}, "nobody is asked")
		one := list.Approvals[0]
		if one.Workflow != "w" || one.Node != "hook" || one.Tool != "fault__echo" || one.Server != "fault" || one.Client != "admin" ||
			one.Message != "May it?" || one.NotShown < 90_000 || !strings.HasSuffix(one.Arguments, ` bytes are not shown]","text":"please"}`) || one.Hash == "" || !one.ExpiresAt.After(one.AskedAt) {
			t.Errorf("%+v", one)
		}
		d.send("GET", "/v1/approvals/"+one.ID, "").want(t, 200, []string{note + `\",\"text\":\"please\"`}, []string{"notShown"})
		d.send("POST", "/v1/approvals/"+one.ID, body[decision]).want(t, 200, nil, nil)
		(<-answered).want(t, want.status, want.has, nil)
	}
}

// What is secret is neither in a replay, nor in a trace, nor in an approval.
func TestWorkflowsShowNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sup3r-canary-value-9471"
	d := openDoor(t, nil)
	d.send("PUT", "/v1/secrets/KEY", `{"value":"`+secret+`"}`).want(t, 200, nil, nil)
	d.waitReady()
	script := `const args = ctx.request.params.arguments; console.log("it is " + args.text); args.text = args.text + "!"; args.password = "open-sesame-1";`
	throws := script + ` throw new Error("with " + args.text)`
	leaks := []string{secret, "open-sesame-1"}
	see := func(what string, got answer, has ...string) {
		t.Helper()
		t.Run(what, func(t *testing.T) {
			t.Helper()
			got.want(t, 200, has, leaks)
		})
	}
	d.send("POST", "/v1/tools/call", echo(secret).body).want(t, 200, nil, nil)
	last := func() string {
		var list client.CallList
		if err := json.Unmarshal([]byte(d.send("GET", "/v1/calls", "").body), &list); err != nil || len(list.Calls) == 0 {
			t.Fatalf("%v, %d calls", err, len(list.Calls))
		}
		return list.Calls[0].ID
	}
	call := last()
	for name, text := range map[string]string{"that throws": throws, "that does not": script} {
		see("replay of a hook "+name, d.send("POST", "/v1/workflows/w/replay", `{"call":"`+call+`","definition":`+hooked("w", text)+`}`), `"matched":true`, "redacted")
	}
	see("replay that tells what it masks", d.send("POST", "/v1/workflows/w/replay", `{"call":"`+call+`","definition":`+hooked("w", script)+`}`), `"redacted":["`)
	d.send("PUT", "/v1/workflows/w", hooked("w", throws)).want(t, 200, nil, nil)
	d.send("POST", "/v1/workflows/w/enable", `{}`).want(t, 200, nil, nil)
	d.send("POST", "/v1/tools/call", echo(secret).body).want(t, 403, nil, nil)
	see("trace", d.send("GET", "/v1/calls/"+last(), ""), `"workflows":[`, "redacted")
	d.send("DELETE", "/v1/workflows/w", "").want(t, 200, nil, nil)

	d.send("PUT", "/v1/workflows/ask", asking("ask")).want(t, 200, nil, nil)
	d.send("POST", "/v1/workflows/ask/enable", `{}`).want(t, 200, nil, nil)
	answered := make(chan answer, 1)
	go func() { answered <- d.send("POST", "/v1/tools/call", echo(secret).body) }()
	var list client.ApprovalList
	testkit.Eventually(t, func() bool {
		return json.Unmarshal([]byte(d.send("GET", "/v1/approvals", "").body), &list) == nil && len(list.Approvals) == 1
	}, "nobody is asked")
	see("approvals", d.send("GET", "/v1/approvals", ""), "redacted", `"masked":true`)
	see("approval", d.send("GET", "/v1/approvals/"+list.Approvals[0].ID, ""), "redacted", `"masked":true`)
	d.send("POST", "/v1/approvals/"+list.Approvals[0].ID, `{"decision":"deny"}`).want(t, 200, nil, nil)
	(<-answered).want(t, 403, nil, leaks)
}

// asking is hooked with a person in place of the script.
func asking(id string) string {
	ask := strings.Replace(hooked(id, ""), `"type":"hook"`, `"type":"approve"`, 1)
	return strings.Replace(ask, `{"hook":{"blocking":true,"script":""}}`, `{"message":"May it?"}`, 1)
}
