package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// faultDefinition is a fault server as a body, with more keys.
func faultDefinition(t *testing.T, more map[string]any, args ...string) string {
	t.Helper()
	command, argv, env := testkit.FaultCommand(t, args...)
	body := map[string]any{"command": command, "args": argv, "env": env}
	for key, value := range more {
		if values, ok := value.(map[string]string); ok && key == "env" {
			for name, text := range values {
				env[name] = text
			}
			continue
		}
		body[key] = value
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// named puts a name into a body.
func named(name, body string) string { return fmt.Sprintf(`{"name":%q,%s`, name, body[1:]) }

func (d door) waitFor(path, part string) {
	d.t.Helper()
	testkit.Eventually(d.t, func() bool { return strings.Contains(d.send("GET", path, "").body, part) }, "%s has %s", path, part)
}

// The life of a server that is added, as a story.
func TestServersAreAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	const two = "/v1/servers/two"
	body := faultDefinition(t, map[string]any{"env": map[string]string{"API_KEY": "canary-5f3a9c1e7b", "REGION": "eu"}})
	d.walk(t, []step{
		{name: "the file's", method: "GET", path: "/v1/servers/fault", status: 200, has: []string{`"source":"file"`, `"editable":true`, `genkan.yaml:1"`, `"definition":{"command":`}},
		{name: "added", method: "POST", path: "/v1/servers", body: named("two", body), status: 201, has: []string{
			`"name":"two"`, `"source":"database"`, `"editable":true`, `"API_KEY":"${secret:two.API_KEY}"`, `"REGION":"eu"`,
		}, hasNot: []string{"canary"}},
		{name: "listed", method: "GET", path: "/v1/servers", status: 200, has: []string{`"name":"two"`, `"source":"database"`}, hasNot: []string{"definition"}},
		{name: "added again", method: "POST", path: "/v1/servers", body: named("two", body), status: 409, has: []string{`"code":"CONFLICT"`, "already", "change or remove"}, hasNot: []string{"/v1/"}},
	})
	d.waitFor(two, `"state":"ready"`)
	d.walk(t, []step{
		{name: "called", method: "POST", path: "/v1/tools/call", body: `{"name":"two__env"}`, status: 200, has: []string{"API_KEY=canary-5f3a9c1e7b", "REGION=eu"}},
		{name: "changed", method: "PATCH", path: two, body: `{"prefix":"zwei","env":{"REGION":"us"}}`, status: 200, has: []string{`"prefix":"zwei"`, `"REGION":"us"`, `"API_KEY":"${secret:two.API_KEY}"`}},
	})
	d.waitFor("/v1/tools?server=two", "zwei__env")
	d.walk(t, []step{
		{name: "with the same secret", method: "POST", path: "/v1/tools/call", body: `{"name":"zwei__env"}`, status: 200, has: []string{"API_KEY=canary-5f3a9c1e7b", "REGION=us"}},
		{name: "a key taken out", method: "PATCH", path: two, body: `{"prefix":null,"env":{"REGION":null}}`, status: 200, hasNot: []string{"REGION", "prefix"}},
		{name: "disabled", method: "PATCH", path: two, body: `{"disabled":true}`, status: 200, has: []string{`"state":"disabled"`, `"disabled":true`}},
		{name: "which cannot be restarted", method: "POST", path: two + "/restart", status: 409, has: []string{"disabled"}},
		{name: "but tested", method: "POST", path: two + "/test", status: 200, has: []string{`"success":true`, `"tools":11`}},
		{name: "replaced", method: "PUT", path: two, body: `{"url":"http://127.0.0.1:1/mcp","headers":{"X-A":"b"}}`, status: 200, has: []string{`"url":"http://127.0.0.1:1/mcp"`}, hasNot: []string{"command", "API_KEY"}},
		{name: "the secret is gone", method: "PUT", path: two, body: `{"command":"x","env":{"A":"${secret:two.API_KEY}"}}`, status: 200, has: []string{`"definition"`}},
	})
	d.waitFor(two, "which is not kept here")
	d.walk(t, []step{
		{name: "removed", method: "DELETE", path: two, status: 200, has: []string{`"success":true`}},
		{name: "gone", method: "GET", path: two, status: 404, has: []string{`"code":"NOT_FOUND"`}},
		{name: "removed twice", method: "DELETE", path: two, status: 404},
		{name: "the other one never left", method: "GET", path: "/v1/servers/fault", status: 200, has: []string{`"state":"ready"`, `"starts":1`}},
	})
}

// Literal secrets, wherever they stand, are in the vault and nowhere else; an
// answer that is sent back changes nothing.
func TestSecretsOfAddedServers(t *testing.T) {
	t.Parallel()
	const canary = "canaryA7f3Kq9Zx2Lm5Tp8"
	d := openDoor(t, nil)
	url := testkit.StartFaultHTTP(t)
	remote := fmt.Sprintf(`{"name":"remote","url":%q,"headers":{"Authorization":"Bearer %s","X-Team":"a"},"oauth":{"clientId":"me","clientSecret":"%s-oauth"}}`,
		url, canary, canary)
	user := fmt.Sprintf(`{"name":"user","url":%q}`, strings.Replace(url, "http://", "http://me:"+canary+"@", 1))
	for name, body := range map[string]string{"remote": remote, "user": user} {
		path := "/v1/servers/" + name
		got := d.send("POST", "/v1/servers", body)
		if got.status != 201 || strings.Contains(got.body, canary) || !strings.Contains(got.body, "${secret:"+name+".Authorization}") {
			t.Fatalf("%s: %d %s", name, got.status, got.body)
		}
		d.waitFor(path, `"state":"ready"`)
		// As it was shown it is sent back, and goes on working.
		var shown struct{ Definition json.RawMessage }
		if err := json.Unmarshal([]byte(d.send("GET", path, "").body), &shown); err != nil {
			t.Fatal(err)
		}
		if got := d.send("PUT", path, string(shown.Definition)); got.status != 200 || !strings.Contains(got.body, "${secret:"+name+".Authorization}") {
			t.Errorf("%d %s", got.status, got.body)
		}
		if got := d.send("GET", path, ""); !strings.Contains(got.body, `"starts":1`) {
			t.Errorf("what changed nothing has restarted it: %s", got.body)
		}
	}
	d.walk(t, []step{
		{name: "another secret", method: "PATCH", path: "/v1/servers/remote", body: `{"headers":{"Authorization":"Bearer ` + canary + `-2"}}`, status: 200, has: []string{"Bearer ${secret:remote.Authorization-2}"}, hasNot: []string{canary}},
		{name: "a mask from nowhere", method: "PATCH", path: "/v1/servers/remote", body: `{"headers":{"Authorization":"Bearer ***"}}`, status: 400, has: []string{`"field":"headers.Authorization"`, "stands for a secret"}},
		{name: "a new mask", method: "POST", path: "/v1/servers", body: `{"name":"m","command":"x","env":{"KEY":"***"}}`, status: 400, has: []string{`"field":"env.KEY"`}},
	})
	twice := `{"name":"twice","command":"x","disabled":true,"env":{"DSN":"postgres://canary:canary@db/x"}}`
	if got := d.send("POST", "/v1/servers", twice); got.status != 201 || !strings.Contains(got.body, "postgres://${secret:twice.DSN}:${secret:twice.DSN}@db/x") {
		t.Errorf("%d %s", got.status, got.body)
	}
	err := filepath.WalkDir(d.data, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(raw), "canary") {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"remote", "user", "twice"} {
		if got := d.send("DELETE", "/v1/servers/"+name, ""); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if left, err := filepath.Glob(filepath.Join(d.data, "vault", "*.age")); err != nil || len(left) != 0 {
		t.Errorf("the vault still has %v, %v", left, err)
	}
}

// A literal secret of the file is shown as a mask, and a test uses the secret
// behind the mask.
func TestMasksOfTheFile(t *testing.T) {
	t.Parallel()
	var server map[string]any
	if err := json.Unmarshal([]byte(faultDefinition(t, map[string]any{"env": map[string]string{"API_KEY": "canary-1a2b3c4d"}})), &server); err != nil {
		t.Fatal(err)
	}
	d := openDoor(t, map[string]any{"mcpServers": map[string]any{"fault": server}})
	got := d.send("GET", "/v1/servers/fault", "")
	var shown struct{ Definition json.RawMessage }
	if err := json.Unmarshal([]byte(got.body), &shown); err != nil || strings.Contains(got.body, "canary") || !strings.Contains(string(shown.Definition), `"API_KEY":"***"`) {
		t.Fatalf("%v: %s", err, got.body)
	}
	d.walk(t, []step{
		{name: "tested as shown", method: "POST", path: "/v1/servers/test", body: named("fault", string(shown.Definition)), status: 200, has: []string{`"success":true`}},
		{name: "not under another name", method: "POST", path: "/v1/servers/test", body: named("other", string(shown.Definition)), status: 400, has: []string{`"field":"env.`}},
	})
}

// Parts of genkan are listed with the servers. None is added under the name of one,
// which it would hide; one that the file has can be changed and removed all the same.
func TestPartsOfGenkanAreNoServers(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"kb": map[string]any{"enabled": true}})
	var steps []step
	for _, c := range []struct{ method, path, body string }{
		{"PUT", "", `{"command":"x"}`},
		{"PATCH", "", `{"disabled":true}`},
		{"DELETE", "", ""},
		{"POST", "/test", ""},
		{"POST", "/restart", ""},
	} {
		steps = append(steps, step{
			name: c.method + c.path, method: c.method, path: "/v1/servers/kb" + c.path, body: c.body,
			status: 409, has: []string{`"code":"CONFLICT"`, "kb is a part of genkan and no server"},
		})
	}
	d.walk(t, append(steps, step{
		name: "a server of that name", method: "POST", path: "/v1/servers", body: named("kb", `{"command":"x","disabled":true}`),
		status: 400, has: []string{`"field":"name"`, "genkan itself has tools under the name kb"},
	}))
	d = openDoor(t, map[string]any{"mcpServers": map[string]any{"kb": map[string]any{"command": "x", "disabled": true}}})
	d.walk(t, []step{
		{name: "changed", method: "PATCH", path: "/v1/servers/kb", body: `{"command":"y"}`, status: 200},
		{name: "removed", method: "DELETE", path: "/v1/servers/kb", status: 200},
	})
}

// Everything that can be asked wrongly.
func TestServersRefuse(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"profiles": map[string]any{"small": map[string]any{"servers": []string{"fault"}}}})
	user := d.newToken()
	file := filepath.Join(d.data, "genkan.yaml")
	add := func(name, body string, status int, has ...string) step {
		return step{name: name, method: "POST", path: "/v1/servers", body: body, status: status, has: has, hasNot: []string{"canary"}}
	}
	invalid := func(name, body, field string, has ...string) step {
		if field != "" {
			has = append(has, fmt.Sprintf(`"field":%q`, field))
		}
		return add(name, body, 400, append(has, `"code":"VALIDATION_ERROR"`)...)
	}
	steps := []step{
		invalid("no name", `{"command":"x"}`, "name", "name is required"),
		invalid("an empty name", `{"name":"","command":"x"}`, "name"),
		invalid("a number for a name", `{"name":1,"command":"x"}`, "name"),
		invalid("an odd name", `{"name":"My Server","command":"x"}`, "name", "how about"),
		invalid("neither command nor url", `{"name":"n"}`, "", "needs a command"),
		invalid("both", `{"name":"n","command":"x","url":"https://x"}`, "url"),
		invalid("an unknown field", `{"name":"n","command":"x","colour":"red"}`, "colour", "unknown key"),
		invalid("a wrong type", `{"name":"n","command":"x","args":"-y"}`, "args", "must be a list"),
		invalid("a wrong type inside", `{"name":"n","command":"x","env":{"A":1}}`, "env.A", "must be text"),
		invalid("several at once", `{"name":"n","command":7,"timeout":"soon","env":{"A":"${"}}`, "command", "n.timeout", "n.env.A"),
		invalid("several with the name", `{"name":"My Server","command":7,"disabled":"no"}`, "name",
			"how about", `"details":[{"field":"name",`, `{"field":"command",`, `{"field":"disabled",`),
		invalid("several without a name", `{"comand":"x"}`, "name", "name is required", `{"field":"comand",`),
		invalid("a bad reference", `{"name":"n","command":"x","env":{"A":"${secret:canary canary}"}}`, "env.A"),
		invalid("a bad URL", `{"name":"n","url":"ftp://canary"}`, "url"),
		invalid("twice", `{"name":"n","command":"x","command":"y"}`, "", "stands twice"),
		invalid("twice inside", `{"name":"n","command":"x","env":{"A":"1","A":"2"}}`, "", "stands twice"),
		invalid("another case", `{"name":"n","Command":"x"}`, "", "only in case"),
		invalid("bad JSON", `{"name":`, "", "not valid JSON"),
		invalid("a list", `[]`, ""),
		invalid("nothing", `null`, ""),
		invalid("a number", `7`, ""),
		add("2 MB", `{"name":"n","command":"`+strings.Repeat("x", 2<<20)+`"}`, 413, `"code":"VALIDATION_ERROR"`),
		{name: "plain text", method: "POST", path: "/v1/servers", body: `{}`, contentType: "text/plain", status: 415},
		add("a name of the file", `{"name":"fault","command":"x"}`, 409, `"code":"CONFLICT"`, "there is a server fault already"),
		add("a prefix that is taken", `{"name":"n","command":"x","prefix":"fault"}`, 409, `"field":"prefix"`),
		{name: "the file's that a profile names", method: "DELETE", path: "/v1/servers/fault", status: 409, has: []string{file}},
		{name: "another name in the body", method: "PUT", path: "/v1/servers/fault", body: `{"name":"other","command":"x"}`, status: 400, has: []string{`"field":"name"`}},
		{name: "too many lines", method: "GET", path: "/v1/servers/fault/log?lines=1001", status: 400, has: []string{`"field":"lines"`}},
		{name: "lines in words", method: "GET", path: "/v1/servers/fault/log?lines=all", status: 400, has: []string{`"field":"lines"`}},
		{name: "a sign of life", method: "GET", path: "/v1/servers/fault/ping", status: 200, has: []string{`"responded":true`, `"millis":`}},
		{name: "a ping that takes too long", method: "GET", path: "/v1/servers/fault/ping?timeoutMillis=30001", status: 400, has: []string{`"field":"timeoutMillis"`}},
		{name: "a test of nothing", method: "POST", path: "/v1/servers/test", body: `{}`, status: 400, has: []string{"needs a command"}},
		{name: "a test of an unknown key", method: "POST", path: "/v1/servers/test", body: `{"comand":"x"}`, status: 400, has: []string{`"field":"comand"`}},
		{name: "a text of a client", method: "POST", path: "/v1/servers/read", body: `{"text":"\"n\": {\"command\": \"x\"}"}`, status: 200, has: []string{`{"name":"n","definition":{"command":"x"}}`}},
		{name: "names of a text that are no names", method: "POST", path: "/v1/servers/read", body: `{"text":"{\"ファイル\": {\"command\": \"fault\"}, \"画像\": {\"command\": \"fault\", \"args\": [\"b\"]}}"}`, status: 200, has: []string{`"name":"fault-2"`, `"name":"fault-3"`}},
		{name: "a text with an entry that is left out", method: "POST", path: "/v1/servers/read", body: `{"text":"{\"mcpServers\": {\"x\": {\"comand\": \"npx\"}, \"y\": {\"command\": \"y\"}}}"}`, status: 200, has: []string{`"notes":[{"server":"x","text":"this entry has neither`}},
		{name: "a text without servers", method: "POST", path: "/v1/servers/read", body: `{"text":"{}"}`, status: 400, has: []string{"mcpServers"}},
		{name: "a text that is no JSON", method: "POST", path: "/v1/servers/read", body: `{"text":"hello"}`, status: 400, has: []string{"not JSON: line 1, column 1"}},
		{name: "a sign-in to a process", method: "POST", path: "/v1/servers/fault/sign-in", status: 400, has: []string{"process on this machine"}},
		{name: "a sign-in to nothing", method: "POST", path: "/v1/servers/nobody/sign-in", status: 404},
		{name: "nothing was added", method: "GET", path: "/v1/servers", status: 200, has: []string{`"name":"fault"`}, hasNot: []string{`"name":"n"`}},
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/servers", `{"name":"n","command":"x"}`},
		{"PUT", "/v1/servers/%s", `{"command":"x"}`},
		{"PATCH", "/v1/servers/%s", `{"disabled":true}`},
		{"DELETE", "/v1/servers/%s", ""},
		{"POST", "/v1/servers/test", `{"command":"x"}`},
		{"POST", "/v1/servers/read", `{"text":"{}"}`},
		{"POST", "/v1/servers/%s/sign-in", ""},
		{"POST", "/v1/servers/%s/test", ""},
		{"POST", "/v1/servers/%s/restart", ""},
		{"GET", "/v1/servers/%s/log", ""},
		{"GET", "/v1/servers/%s/ping", ""},
	} {
		path := strings.ReplaceAll(c.path, "%s", "fault")
		steps = append(steps,
			step{name: "a user's " + c.method + path, method: c.method, path: path, body: c.body, token: user, status: 403, has: []string{`"code":"AUTHORIZATION_ERROR"`}},
			step{name: "nobody's " + c.method + path, method: c.method, path: path, body: c.body, token: "gk_wrong", status: 401, has: []string{`"code":"AUTHENTICATION_ERROR"`}})
		if strings.Contains(c.path, "%s") {
			steps = append(steps, step{
				name: "unknown " + c.method + c.path, method: c.method, path: strings.ReplaceAll(c.path, "%s", "nobody"), body: c.body,
				status: 404, has: []string{`"code":"NOT_FOUND"`, "nobody"},
			})
		}
	}
	d.walk(t, steps)
	if got := d.send("GET", "/v1/servers/fault", "", "Authorization", "Bearer "+user); got.status != 200 || strings.Contains(got.body, "definition") {
		t.Errorf("a user is shown %d %s", got.status, got.body)
	}
}

// A test says what a server is, or why it does not work.
func TestServerTests(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	test := func(name, body string, has ...string) step {
		return step{name: name, method: "POST", path: "/v1/servers/test", body: body, status: 200, has: has, hasNot: []string{"canary"}}
	}
	d.walk(t, []step{
		test("a command that is no server", `{"command":"echo","args":["こんにちは"]}`, `"success":false`, "ended (exit status 0) before it answered as an MCP server; check the command", `"output":["こんにちは"]`),
		test("a process", faultDefinition(t, nil), `"success":true`, `"name":"test"`, `"era":"modern"`, `"transport":"stdio"`, `"serverInfo":{`, `"tools":11`, `"tookMs":`),
		test("a legacy one", named("old", faultDefinition(t, nil, "-era", "legacy")), `"success":true`, `"name":"old"`, `"era":"legacy"`),
		test("an endpoint", fmt.Sprintf(`{"url":%q}`, testkit.StartFaultHTTP(t)), `"success":true`, `"transport":"http"`),
		test("everything", faultDefinition(t, nil, "-everything"), `"success":true`, `"prompts":`, `"resources":`),
		test("a command that does not exist", `{"command":"no-such-command-anywhere"}`, `"success":false`, "no-such-command-anywhere"),
		test("one that ends", `{"command":"/bin/sh","args":["-c","echo first >&2; echo API_KEY=canary-a9d8f7 >&2; echo it is broken >&2; exit 3"]}`,
			`"success":false`, `"first"`, `"it is broken"`, `API_KEY=***`, "exit status 3"),
		test("one that never answers", `{"command":"/bin/sh","args":["-c","exec sleep 600"],"startupTimeout":"300ms"}`, `"success":false`, "300ms", "initialize"),
		test("one that never lists", faultDefinition(t, map[string]any{"startupTimeout": "1s"}, "-mode", "hang-list"), `"success":false`, "within 1s (startupTimeout)"),
		test("nobody there", `{"url":"http://127.0.0.1:1/mcp"}`, `"success":false`),
		test("a secret that is not kept", `{"command":"x","env":{"A":"${secret:nothing}"}}`, `"success":false`, "genkan secrets set nothing"),
		{name: "the configured one", method: "POST", path: "/v1/servers/fault/test", status: 200, has: []string{`"success":true`, `"name":"fault"`, `"tools":11`}},
		{name: "which went on", method: "GET", path: "/v1/servers/fault", status: 200, has: []string{`"state":"ready"`, `"starts":1`}},
		{name: "nothing is left", method: "GET", path: "/v1/servers", status: 200, hasNot: []string{`"test"`, `"old"`}},
	})
}

// A restart starts a new process, and the log continues.
func TestRestartAndLog(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	d.walk(t, []step{
		{name: "added", method: "POST", path: "/v1/servers", status: 201, body: `{"name":"chatty","command":"/bin/sh","args":["-c","echo $KEY >&2; echo line two >&2; echo line three >&2; exec sleep 600"],"env":{"KEY":"canary-1a2b3c4d"}}`},
	})
	d.waitFor("/v1/servers/chatty/log", "line three")
	d.walk(t, []step{
		{name: "all of it", method: "GET", path: "/v1/servers/chatty/log", status: 200, has: []string{`"lines":["--- started `, ` ---","***","line two","line three"]`}},
		{name: "the last line", method: "GET", path: "/v1/servers/chatty/log?lines=1", status: 200, has: []string{`"lines":["line three"]`}},
		{name: "nothing said", method: "GET", path: "/v1/servers/fault/log", status: 200, has: []string{`"lines":[]`}},
		{name: "no secret elsewhere", method: "GET", path: "/v1/servers/chatty", status: 200, has: []string{"line three"}, hasNot: []string{"canary"}},
		{name: "restarted while it starts", method: "POST", path: "/v1/servers/chatty/restart", status: 202, has: []string{`"name":"chatty"`}},
		{name: "restarted", method: "POST", path: "/v1/servers/fault/restart", status: 202, has: []string{`"name":"fault"`}},
	})
	d.waitFor("/v1/servers/chatty", `"starts":2`)
	d.waitFor("/v1/servers/fault", `"starts":2`)
	d.waitFor("/v1/servers/fault", `"state":"ready"`)
}

// The options of a server's tools are part of the shown definition, so that a
// client that sends the definition back keeps them.
func TestOptionsOfToolsAreShown(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	options := map[string]any{"tools": map[string]any{"options": map[string]any{"echo*": map[string]any{"timeout": "5s", "retry": 2}}}}
	d.walk(t, []step{
		{name: "added", method: "POST", path: "/v1/servers", body: named("more", faultDefinition(t, options)), status: 201, has: []string{`"echo*":`}},
	})
	got := d.send("GET", "/v1/servers/more", "")
	var shown struct{ Definition json.RawMessage }
	if err := json.Unmarshal([]byte(got.body), &shown); err != nil {
		t.Fatal(err)
	}
	d.walk(t, []step{
		{name: "given back", method: "PUT", path: "/v1/servers/more", body: string(shown.Definition), status: 200, has: []string{`"retry":2`, `"timeout":"5s"`}},
		{name: "refused", method: "PATCH", path: "/v1/servers/more", body: `{"tools":{"options":{"echo*":{"retry":11}}}}`, status: 400, has: []string{`"code":"VALIDATION_ERROR"`}},
	})
}
