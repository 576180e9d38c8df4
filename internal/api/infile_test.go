package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/api/client"
)

// A server that was imported is switched off, changed and removed like any other.
// The file keeps its comments, and secrets stay in the vault.
func TestServersOfTheFileAreChangedOverREST(t *testing.T) {
	t.Parallel()
	d := openDoor(t, nil)
	file := filepath.Join(d.data, "genkan.yaml")
	by := faultDefinition(t, nil)
	if err := os.WriteFile(file, []byte("# mine\nkb: {enabled: false}\nmcpServers:\n  # the first\n  fault: "+by+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.walk(t, []step{{name: "written by hand", method: "POST", path: "/v1/reload", status: 200}})
	d.waitReady()
	whole := answerOf[client.Server](d, "GET", "/v1/servers/fault", nil, 200)
	for query, want := range map[string]string{"": "", "?details=true": whole.DeclaredIn} {
		list := answerOf[client.ServerList](d, "GET", "/v1/servers"+query, nil, 200)
		if got := list.Servers[0]; got.DeclaredIn != want || (got.Definition != nil) != (want != "") || !strings.HasSuffix(whole.DeclaredIn, ":5") {
			t.Errorf("%s: %+v, want it declared in %q", query, got, want)
		}
	}
	before := d.read(file)
	d.write(".cursor/mcp.json", `{"mcpServers":{"jira":{"command":"false","env":{"JIRA_TOKEN":"canary-5f3a9c1e7b"}}}}`)
	plan := answerOf[client.ImportPlan](d, "GET", "/v1/import", nil, 200)
	answerOf[client.ImportResult](d, "POST", "/v1/import", client.ImportRequest{Revision: plan.Revision, Servers: []string{"jira"}}, 200)
	imported := d.read(file)
	const jira = "/v1/servers/jira"
	d.walk(t, []step{
		{name: "it can be changed", method: "GET", path: jira, status: 200, has: []string{`"source":"file"`, `"editable":true`, "genkan.yaml:"}, hasNot: []string{"canary", `"fixed"`}},
		{name: "added again", method: "POST", path: "/v1/servers", body: `{"name":"jira","command":"x"}`, status: 409, has: []string{"there is a server jira already"}},
		{name: "switched off", method: "PATCH", path: jira, body: `{"disabled":true}`, status: 200, has: []string{`"state":"disabled"`, `"source":"file"`}},
		{name: "off", method: "POST", path: jira + "/restart", status: 409, has: []string{"switched off"}},
	})
	if got := d.read(file); got == imported || !strings.Contains(got, "${secret:jira.JIRA_TOKEN}") || strings.Contains(got, "canary") {
		t.Errorf("switched off: %s", got)
	}
	d.walk(t, []step{{name: "switched on", method: "PATCH", path: jira, body: `{"disabled":null}`, status: 200, hasNot: []string{`"state":"disabled"`}}})
	if got := d.read(file); got != imported {
		t.Errorf("switched on:\n%s\nwant\n%s", got, imported)
	}
	// An import is undone exactly, or not at all once its server was changed.
	d.walk(t, []step{{name: "changed", method: "PATCH", path: jira, body: `{"prefix":"j"}`, status: 200, has: []string{`"prefix":"j"`}}})
	changed := d.read(file)
	undone := answerOf[client.UndoResult](d, "DELETE", "/v1/connections/genkan", nil, 200)
	if len(undone.Files) != 1 || undone.Files[0].State != "failed" || !strings.Contains(undone.Files[0].Problem.Error, "was changed after") || d.read(file) != changed {
		t.Errorf("undone: %+v\n%s", undone, d.read(file))
	}
	d.walk(t, []step{
		{name: "a mask that was not shown", method: "PUT", path: jira, body: `{"command":"true","env":{"JIRA_TOKEN":"***"}}`, status: 400, has: []string{"env.JIRA_TOKEN"}},
		{name: "changed with the reference", method: "PUT", path: jira, body: `{"command":"true","env":{"JIRA_TOKEN":"${secret:jira.JIRA_TOKEN}"}}`, status: 200, has: []string{`"command":"true"`}},
		{name: "not by a stranger", method: "DELETE", path: jira, token: "gk_wrong", status: 401},
		{name: "removed", method: "DELETE", path: jira, status: 200, has: []string{`"success":true`}},
		{name: "gone", method: "GET", path: jira, status: 404},
		{name: "the other one never left", method: "GET", path: "/v1/servers/fault", status: 200, has: []string{`"starts":1`}},
	})
	if got := d.read(file); got != before {
		t.Errorf("removed:\n%s\nwant\n%s", got, before)
	}
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	d.walk(t, []step{
		{name: "read-only", method: "DELETE", path: "/v1/servers/fault", status: 409, has: []string{"genkan.yaml:", "read-only"}},
		{name: "which is shown", method: "GET", path: "/v1/servers/fault", status: 200, has: []string{`"editable":false`, `"fixed":"that file is read-only`}},
	})
}
