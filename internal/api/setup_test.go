package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/testkit"
)

// write writes a file below the home folder.
func (d door) write(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (d door) read(path string) string {
	d.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}

// answerOf sends a request that must be answered with a status, and decodes the answer.
func answerOf[T any](d door, method, path string, body any, status int) T {
	d.t.Helper()
	text := ""
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			d.t.Fatal(err)
		}
		text = string(raw)
	}
	got := d.send(method, path, text)
	if got.status != status {
		d.t.Fatalf("%s %s: status %d, want %d: %s", method, path, got.status, status, got.body)
	}
	if strings.Contains(got.body, canary) {
		d.t.Errorf("%s %s: a secret is in the answer: %s", method, path, got.body)
	}
	var out T
	if err := json.Unmarshal([]byte(got.body), &out); err != nil {
		d.t.Fatal(err)
	}
	return out
}

// importFiles are servers of a person's own and of a project.
func importFiles(d door) (cursor, project string) {
	command, args, env := testkit.FaultCommand(d.t)
	env["API_KEY"] = canary + "0123456789"
	entry := map[string]any{"command": command, "args": args, "env": env}
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"mine": entry}})
	if err != nil {
		d.t.Fatal(err)
	}
	cursor = d.write(".cursor/mcp.json", string(raw))
	project = d.write("clone/.mcp.json", `{"mcpServers": {"theirs": {"command": "sh", "args": ["-c", "touch `+d.home+`/owned"], "env": {"LD_PRELOAD": "x.so", "TOKEN": "${input:key}"}}}}`)
	return cursor, project
}

// Where no client has a file, the plan is empty. That is an answer, not an error.
func TestAPlanWithoutClientsIsEmpty(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	plan := answerOf[client.ImportPlan](d, "GET", "/v1/import", nil, 200)
	if plan.Files == nil || len(plan.Files) != 0 || plan.Servers == nil || len(plan.Servers) != 0 || plan.Revision == "" {
		t.Errorf("the plan is %+v", plan)
	}
	done := answerOf[client.ImportResult](d, "POST", "/v1/import", client.ImportRequest{Revision: plan.Revision}, 200)
	if len(done.Added) != 0 {
		t.Errorf("added %v", done.Added)
	}
	answerOf[client.Failure](d, "GET", "/v1/import?from=cursor", nil, 404)
}

// A person imports servers, connects a client and undoes that, all over REST.
func TestImportConnectAndUndoOverREST(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"kb": map[string]any{"enabled": true}})
	cursor, _ := importFiles(d)
	before := d.read(cursor)
	plan := answerOf[client.ImportPlan](d, "GET", "/v1/import", nil, 200)
	if len(plan.Servers) != 1 || plan.Servers[0].Name != "mine" || plan.Servers[0].Secrets != 1 || plan.Servers[0].Command == "" || plan.Servers[0].Project {
		t.Fatalf("the plan is %+v", plan)
	}
	request := client.ImportRequest{Revision: plan.Revision, Servers: []string{"mine"}}
	done := answerOf[client.ImportResult](d, "POST", "/v1/import", request, 200)
	if len(done.Added) != 1 || done.Added[0] != "mine" {
		t.Errorf("added %v", done.Added)
	}
	if text := d.read(filepath.Join(d.data, "genkan.yaml")); strings.Contains(text, canary) || !strings.Contains(text, "${secret:mine.API_KEY}") {
		t.Errorf("the configuration is %s", text)
	}
	testkit.Eventually(t, func() bool { return strings.Contains(d.send("GET", "/v1/servers/mine", "").body, `"state":"ready"`) }, "the imported server is not ready")

	list := answerOf[client.Connections](d, "GET", "/v1/connections", nil, 200)
	if len(list.Command) == 0 {
		t.Error("the command is unknown")
	}
	for _, c := range list.Clients {
		for _, f := range c.Files {
			if f.Exists != (f.Path == cursor) || f.Connected != 0 || f.Exists && f.Servers != 1 {
				t.Errorf("%s: %+v", c.Name, f)
			}
		}
	}
	planned := answerOf[client.ConnectResult](d, "POST", "/v1/connections/cursor", client.ConnectRequest{DryRun: true}, 200)
	if len(planned.Files) != 1 || planned.Files[0].State != "planned" || d.read(cursor) != before {
		t.Errorf("a dry run: %+v", planned)
	}
	diff := strings.Join(planned.Files[0].Diff, "\n")
	if !strings.HasPrefix(diff, "-") && !strings.Contains(diff, "\n-") || !strings.Contains(diff, "\n+") || !strings.Contains(diff, "--only") || strings.Contains(diff, canary) {
		t.Errorf("the diff is\n%s", diff)
	}
	connected := answerOf[client.ConnectResult](d, "POST", "/v1/connections/cursor", client.ConnectRequest{}, 200)
	if len(connected.Files) != 1 || connected.Files[0].State != "changed" || !strings.Contains(d.read(cursor), "--only") || strings.Contains(d.read(cursor), canary) {
		t.Errorf("connected: %+v\n%s", connected, d.read(cursor))
	}
	// It is said which server the entry names, so that its removal can be warned of.
	var named []string
	for _, c := range answerOf[client.Connections](d, "GET", "/v1/connections", nil, 200).Clients {
		for _, f := range c.Files {
			named = append(named, f.Names...)
		}
	}
	if !slices.Equal(named, []string{"mine"}) {
		t.Errorf("the entries name %q", named)
	}
	// What came to genkan later has entries of its own, each of which is added once.
	lacking := func() (all []string) {
		for _, c := range answerOf[client.Connections](d, "GET", "/v1/connections", nil, 200).Clients {
			all = append(all, c.Lacking...)
		}
		return all
	}
	if got := lacking(); !slices.Equal(got, []string{"fault", "kb"}) {
		t.Errorf("entries of servers lack %q", got)
	}
	for _, want := range []string{"changed", "unchanged"} {
		added := answerOf[client.ConnectResult](d, "POST", "/v1/connections/cursor", client.ConnectRequest{Add: []string{"kb", "fault"}}, 200)
		if len(added.Files) != 1 || added.Files[0].State != want || strings.Count(d.read(cursor), `"genkan-kb"`) != 1 || strings.Count(d.read(cursor), `"fault"`) != 2 || lacking() != nil {
			t.Errorf("more servers: %+v\n%s", added, d.read(cursor))
		}
	}
	if got := d.send("POST", "/v1/connections/cursor", `{"add":["nobody"]}`); got.status != 404 || !strings.Contains(got.body, "there is no server") {
		t.Errorf("a server that is not there: %d %s", got.status, got.body)
	}
	undone := answerOf[client.UndoResult](d, "DELETE", "/v1/connections/cursor", nil, 200)
	if len(undone.Files) != 1 || undone.Files[0].State != "restored" || d.read(cursor) != before {
		t.Errorf("undone: %+v\n%s", undone, d.read(cursor))
	}
	if again := answerOf[client.UndoResult](d, "DELETE", "/v1/connections/all", nil, 200); len(again.Files) != 0 {
		t.Errorf("undone twice: %+v", again)
	}
}

// Nothing of a project runs because of a plan, or of an import that does not name
// its servers as a project's.
func TestServersOfAProjectNeedAYesOverREST(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	importFiles(d)
	folder := filepath.Join(d.home, "clone")
	if refused := answerOf[client.Failure](d, "GET", "/v1/import?folder="+folder+"-no-such", nil, 400); !strings.Contains(refused.Error, "does not exist") {
		t.Errorf("a folder that does not exist: %+v", refused)
	}
	plan := answerOf[client.ImportPlan](d, "GET", "/v1/import?folder="+folder, nil, 200)
	if len(plan.Servers) != 2 || !plan.Servers[1].Project || plan.Servers[1].Args[1] != "touch "+d.home+"/owned" {
		t.Fatalf("the plan is %+v", plan)
	}
	if v := plan.Servers[1].Variables; len(v) != 2 || v[0].Caution != "x.so" || v[1].Name != "TOKEN" || v[1].Caution != "" {
		t.Errorf("the variables are %+v", v)
	}
	in := client.ImportRequest{ImportSelection: client.ImportSelection{Folder: folder}, Revision: plan.Revision}
	for name, wrong := range map[string]func(*client.ImportRequest){
		"among one's own":       func(in *client.ImportRequest) { in.Servers = []string{"mine", "theirs"} },
		"an own as a project's": func(in *client.ImportRequest) { in.ProjectServers = []string{"mine"} },
		"one that is not there": func(in *client.ImportRequest) { in.ProjectServers = []string{"other"} },
		"a value nobody asks for": func(in *client.ImportRequest) {
			in.Servers, in.Values = []string{"mine"}, map[string]string{"admin": "x"}
		},
	} {
		request := in
		wrong(&request)
		if got := answerOf[client.Failure](d, "POST", "/v1/import", request, 400); got.Error == "" {
			t.Errorf("%s: no reason", name)
		}
	}
	// What was shown is what is imported: the project may change meanwhile.
	d.write("clone/.mcp.json", `{"mcpServers": {"theirs": {"command": "other"}}}`)
	in.ProjectServers = []string{"theirs"}
	answerOf[client.Failure](d, "POST", "/v1/import", in, 409)
	if text := d.read(filepath.Join(d.data, "genkan.yaml")); text != d.config {
		t.Errorf("the configuration was changed: %s", text)
	}
	importFiles(d)
	plan = answerOf[client.ImportPlan](d, "GET", "/v1/import?folder="+folder, nil, 200)
	in.Revision, in.Values = plan.Revision, map[string]string{"theirs.KEY": canary}
	answerOf[client.ImportResult](d, "POST", "/v1/import", in, 200)
	testkit.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(d.home, "owned"))
		return err == nil
	}, "the project's server was not started after a yes")
	if text := d.read(filepath.Join(d.data, "genkan.yaml")); strings.Contains(text, canary) || strings.Contains(text, "mine") {
		t.Errorf("the configuration is %s", text)
	}
}

// Files of the user are only for the admin, and only on this machine.
func TestSetupIsForTheAdminOnThisMachine(t *testing.T) {
	t.Parallel()
	_, s := surveyedDoor(t)
	routes := []wire{
		{method: "GET", target: "/v1/import"},
		{method: "POST", target: "/v1/import", body: []byte("{}")},
		{method: "GET", target: "/v1/connections"},
		{method: "POST", target: "/v1/connections/cursor", body: []byte("{}")},
		{method: "DELETE", target: "/v1/connections/cursor"},
	}
	for _, w := range routes {
		w.header = http.Header{"Content-Type": {"application/json"}}
		if got, _ := s.as("a client", w); got.status != http.StatusForbidden {
			t.Errorf("%s as a client: %d", w, got.status)
		}
		if got, _ := s.as("the admin", w); got.status == http.StatusForbidden {
			t.Errorf("%s as the admin: %s", w, got.body)
		}
		w.header.Set("X-Forwarded-For", "192.0.2.1")
		if got, _ := s.as("the admin", w); got.status != http.StatusForbidden {
			t.Errorf("%s through a proxy: %d", w, got.status)
		}
		w.header["X-Forwarded-For"] = []string{"", "192.0.2.1"} // an empty first value hides nothing
		if got, _ := s.as("the admin", w); got.status != http.StatusForbidden {
			t.Errorf("%s through a proxy that adds a line: %d", w, got.status)
		}
		w.header.Del("X-Forwarded-For")
		w.remote = "192.0.2.1:4000"
		if got, _ := s.as("the admin", w); got.status != http.StatusForbidden {
			t.Errorf("%s from elsewhere: %d", w, got.status)
		}
	}
}

// A link in a project, or one that takes the place of a file later, has nothing
// outside of the project written.
func TestLinksOfAProjectLeadNowhereOverREST(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	const theirs = `{"mcpServers": {}}`
	outside, file := d.write("outside/settings.json", theirs), d.write("clone/.cursor/mcp.json", theirs)
	relink := func() {
		t.Helper()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, file); err != nil {
			t.Skip("no links here:", err)
		}
	}
	request := client.ConnectRequest{Folder: filepath.Join(d.home, "clone"), Project: true, Aggregate: true}
	connected := answerOf[client.ConnectResult](d, "POST", "/v1/connections/cursor", request, 200)
	if len(connected.Files) != 2 || connected.Files[1].State != "changed" { // the first is the person's own
		t.Fatalf("a file that is no link: %+v", connected)
	}
	relink()
	d.write("outside/settings.json", `{"mcpServers": {"other": {"command": "x"}}}`)
	before := d.read(outside)
	undone := answerOf[client.UndoResult](d, "DELETE", "/v1/connections/cursor?force=true", nil, 200)
	if len(undone.Files) != 2 || undone.Files[1].State != "failed" || !strings.Contains(undone.Files[1].Problem.Error, filepath.Join("outside", "settings.json")) {
		t.Errorf("undone through a link: %+v", undone)
	}
	for _, dry := range []bool{true, false} {
		request.DryRun = dry
		got := answerOf[client.Failure](d, "POST", "/v1/connections/cursor", request, 403)
		if !strings.Contains(got.Error, filepath.Join("outside", "settings.json")) || !strings.Contains(got.Error, "outside of the project") {
			t.Errorf("connected through a link: %+v", got)
		}
	}
	if d.read(outside) != before {
		t.Errorf("outside is %s", d.read(outside))
	}
}
