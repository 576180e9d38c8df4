package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// rootsAt answers roots/list with several roots.
func rootsAt(roots ...string) string { return `"result":{"roots":[` + strings.Join(roots, ",") + `]}` }

func root(folder string) string { return `{"uri":"file://` + folder + `","name":"x"}` }

// Whatever the era, the wire and the way in which a server asks for roots, it is
// told only of those that the client may choose.
func TestServersAreNotToldOfRefusedRoots(t *testing.T) {
	t.Parallel()
	allowed := t.TempDir()
	flags := func(era string) []string { return []string{"-everything", "-era", era} }
	h := openHouse(t, servers{
		"oldchild": with(child(t, flags(legacyEra)...), map[string]any{"isolation": "session"}),
		"oldweb":   sibling(t, flags(legacyEra)...),
		"newchild": child(t, flags(modernEra)...),
		"newweb":   sibling(t, flags(modernEra)...),
	}, map[string]any{"folders": []string{allowed}})
	token := h.newToken("agent")
	answer := rootsAt(
		root(h.dir), root(h.dir+"/"), root(filepath.Dir(h.dir)), root(h.dir+"/../"+filepath.Base(h.dir)), root("/"),
		`{"uri":"`+h.dir+`"}`, `{"uri":"~/x"}`, `{"uri":"other://../../..`+h.dir+`"}`, `{"uri":"FILE://localhost`+h.dir+`"}`,
		`{"uri":"file://`+strings.ReplaceAll(h.dir, "/", "%2F")+`"}`, `{"name":"nothing"}`, `"text"`,
		// Parsers differ in which of two keys they take.
		`{"uri":"file://`+allowed+`","uri":"file://`+h.dir+`","URI":"file://`+h.dir+`"}`,
		root("/etc"),
	)
	answer = strings.TrimSuffix(answer, "}") + `,"roots":[` + root(h.dir) + `],"Roots":[` + root(h.dir) + `]}`
	for _, kind := range kinds() {
		for _, server := range []string{"oldchild", "oldweb", "newchild", "newweb"} {
			t.Run(fmt.Sprintf("%s of %s", kind, server), func(t *testing.T) {
				kind.token, kind.capabilities = token, hasRoots
				kind.answer = func(question) string { return answer }
				got := h.connect(t, kind).mustSay(server+"__ask", `{"what":"roots"}`)
				if strings.Contains(got, h.dir) || strings.Contains(got, filepath.Dir(h.dir)+`"`) || strings.Contains(got, `"file:///"`) || strings.Contains(got, "nothing") {
					t.Errorf("the server is told %s", got)
				}
				if kind.wire == overHTTP && strings.Contains(got, "/etc") {
					t.Errorf("the server of a token is told %s", got)
				}
				if kind.era == modernEra && server == "oldchild" {
					return // it is asked by nobody
				}
				if !strings.Contains(got, `"file://`+allowed+`"`) {
					t.Errorf("the server is told %s", got)
				}
				if kind.wire == overStdio && !strings.Contains(got, "/etc") {
					t.Errorf("the server of a local client is told %s", got)
				}
			})
		}
	}
}

// A server that works in its client's folder is never started in genkan's own, or
// where a token may not work. The answer says why.
func TestWhereServersAreStarted(t *testing.T) {
	allowed, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	project := filepath.Join(home, "project")
	for _, dir := range []string{project, filepath.Join(home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	files := with(child(t, "-era", "legacy"), map[string]any{})
	files["env"] = map[string]any{"WORK": "${workspaceFolder}"}
	for name, value := range child(t)["env"].(map[string]string) {
		files["env"].(map[string]any)[name] = value
	}
	h := openHouse(t, servers{"files": files}, map[string]any{"folders": []string{allowed}})
	token := h.newToken("agent")
	link := filepath.Join(project, "link")
	if err := os.Symlink(h.dir, link); err != nil {
		t.Fatal(err)
	}
	workOf := func(said string) string {
		_, rest, _ := strings.Cut(said, "WORK=")
		work, _, _ := strings.Cut(strings.ReplaceAll(rest, `\n`, "\n"), "\n")
		return strings.Trim(work, `"],}`)
	}
	overREST := func(token, folder string) string {
		body, _ := json.Marshal(map[string]any{"name": "files__env", "options": map[string]any{"folder": folder}})
		r := h.send(request{path: "/v1/tools/call", body: string(body), header: headers("Authorization", "Bearer "+token)})
		if r.status == http.StatusOK {
			return workOf(member(t, string(r.body), "result", "content"))
		}
		return member(t, string(r.body), "error")
	}
	overMCP := func(token, folder string) string {
		c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, token: token, capabilities: hasRoots, answer: func(question) string {
			return rootsAt(root(folder))
		}})
		message := c.begin("tools/call", `"name":"files__env","arguments":{}`, "").wait()
		if said := text(message); strings.Contains(said, "WORK=") {
			return workOf(said)
		}
		return message
	}
	for i, test := range []struct{ folder, admin, token string }{
		{project, project, project},
		{allowed, allowed, allowed},
		{h.dir, "own data", "own data"},
		{filepath.Join(h.dir, "run"), "may not work in", "may not work in"},
		{filepath.Dir(h.dir), "own data", "own data"},
		{link, "own data", "own data"},
		{project + "/../project/link/", "own data", "own data"},
		{"/", "root of a file system", "root of a file system"},
		{home, "home directory", "home directory"},
		{filepath.Join(home, ".ssh"), filepath.Join(home, ".ssh"), "hidden"},
		{"/etc", "/etc", "`folders`"},
		{filepath.Join(home, "nothing"), "no such folder", "no such folder"},
	} {
		for j, call := range []func(token, folder string) string{overREST, overMCP} {
			if !testkit.OneIn(2, i, j) {
				continue
			}
			via := []string{"REST", "MCP"}[j]
			if got := call(h.token, test.folder); !strings.Contains(got, test.admin) || filepath.IsAbs(test.admin) && got != test.admin {
				t.Errorf("over %s the admin works in %s: %s, want %s", via, test.folder, got, test.admin)
			}
			if got := call(token, test.folder); !strings.Contains(got, test.token) || filepath.IsAbs(test.token) && got != test.token {
				t.Errorf("over %s a token works in %s: %s, want %s", via, test.folder, got, test.token)
			}
		}
	}
}

// A server that needs no folder also serves clients that may not use theirs, and
// the answer says that the folder was not used.
func TestAnswersSayThatAFolderWasNotUsed(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": with(child(t, "-era", "legacy"), map[string]any{"isolation": "root"})})
	token := h.newToken("agent")
	body := `{"name":"a__echo","parameters":{"text":"x"},"options":{"folder":"/etc"}}`
	r := h.send(request{path: "/v1/tools/call", body: body, header: headers("Authorization", "Bearer "+token)})
	if notice := member(t, string(r.body), "notice"); r.status != http.StatusOK || !strings.Contains(notice, "/etc") || !strings.Contains(notice, "`folders`") {
		t.Errorf("over REST: %d %s", r.status, r.body)
	}
	c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, token: token, capabilities: hasRoots, answer: func(question) string { return rootsAt(root("/")) }})
	message := c.begin("tools/call", `"name":"a__echo","arguments":{"text":"x"}`, "").wait()
	if notice := member(t, message, "result", "_meta", "genkan/notice"); text(message) != "x" || !strings.Contains(notice, "root of a file system") {
		t.Errorf("over MCP: %s", message)
	}
	// The history keeps the notice with the answer.
	own := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, capabilities: hasRoots, answer: func(question) string { return rootsAt(root("/")) }})
	own.begin("tools/call", `"name":"a__echo","arguments":{"text":"x"}`, "").wait()
	var calls struct{ Calls []struct{ ID string } }
	if err := json.Unmarshal(h.send(request{method: http.MethodGet, path: "/v1/calls?limit=1"}).body, &calls); err != nil || len(calls.Calls) != 1 {
		t.Fatalf("calls: %v %v", calls, err)
	}
	if r := h.send(request{method: http.MethodGet, path: "/v1/calls/" + calls.Calls[0].ID}); !strings.Contains(string(r.body), "root of a file system") {
		t.Errorf("the history has %s", r.body)
	}
	if r := h.send(request{path: "/v1/tools/call", body: `{"name":"a__echo","parameters":{"text":"x"}}`}); strings.Contains(string(r.body), "notice") {
		t.Errorf("without a folder: %s", r.body)
	}
}

// A server that has never asked for a folder would not have used one, so an answer
// of it says nothing about the folder.
func TestAnswersDoNotMentionAFolderThatTheServerDoesNotUse(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"auto", "session"} {
		h := openHouse(t, servers{"a": with(child(t, "-era", "legacy"), map[string]any{"isolation": isolation})})
		r := h.send(request{path: "/v1/tools/call", body: `{"name":"a__echo","parameters":{"text":"x"},"options":{"folder":"/"}}`})
		if r.status != http.StatusOK || strings.Contains(string(r.body), "notice") {
			t.Errorf("isolation %s, over REST: %d %s", isolation, r.status, r.body)
		}
		c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, capabilities: hasRoots, answer: func(question) string { return rootsAt(root("/")) }})
		message := c.begin("tools/call", `"name":"a__echo","arguments":{"text":"x"}`, "").wait()
		if text(message) != "x" || strings.Contains(message, "genkan/notice") {
			t.Errorf("isolation %s, over MCP: %s", isolation, message)
		}
	}
}
