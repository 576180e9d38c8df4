package app

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit/n8nfake"
)

// The instances of n8n are sources, each under its name. Their tools are listed whether
// n8n answers or not.
func TestN8NInstancesAreSources(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.Add(t, `{"id":"c1","name":"Child","nodes":[],"connections":{}}`)
	h := openHouse(t, conf{"n8n": []any{
		conf{"url": fake.URL + "/api/v1", "apiKey": n8nfake.Key},
		conf{"name": "staging", "url": "http://127.0.0.1:1", "apiKey": "k"},
	}})
	for _, tool := range []string{"n8n__list_workflows", "staging__list_workflows", "create_item"} {
		if !h.lists(tool) {
			t.Errorf("%s is not listed: %v", tool, h.tools())
		}
	}
	if got := h.mustCall("n8n__list_workflows", `{}`); !strings.Contains(got, `Child`) {
		t.Error(got)
	}
	_, alone := h.request(http.MethodPost, "/mcp/s/n8n", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+modernMeta+`}}}`,
		http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}})
	if !strings.Contains(alone, `"list_workflows"`) || strings.Contains(alone, "create_item") {
		t.Errorf("alone it lists %s", alone)
	}
	_, down := h.request(http.MethodPost, "/mcp/s/staging",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_workflows","arguments":{},"_meta":{`+modernMeta+`}}}`,
		http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"list_workflows"}})
	if !strings.Contains(down, `"isError":true`) || !strings.Contains(down, "http://127.0.0.1:1 cannot be reached") {
		t.Errorf("an instance that is down: %s", down)
	}
	if lines := h.logLines("n8n call failed"); len(lines) != 1 || lines[0]["level"] != "WARN" {
		t.Errorf("logged: %v", lines)
	}
}

// A server of the user that is called n8n keeps its name.
func TestAServerCalledN8NHidesTheInstance(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{
		"mcpServers": conf{"n8n": child(t)},
		"n8n":        conf{"url": "http://127.0.0.1:1", "apiKey": "k"},
	})
	h.waitReady("n8n")
	if !h.lists("n8n__echo") || h.lists("n8n__list_workflows") {
		t.Errorf("%v", h.tools())
	}
}

// GET /v1/servers and the doctor show what state an instance is in, and what to check.
func TestTheStateOfN8NInstances(t *testing.T) {
	t.Parallel()
	fake, other := n8nfake.New(t), n8nfake.New(t)
	other.OfferMCP()
	h := openHouse(t, conf{
		"mcpServers": conf{"mine": child(t)},
		"n8n": []any{
			conf{"url": fake.URL, "apiKey": n8nfake.Key},
			conf{"name": "other", "url": other.URL, "apiKey": n8nfake.Key},
			conf{"name": "wrong", "url": fake.URL, "apiKey": "wrong-canary-key"},
			conf{"name": "down", "url": "http://127.0.0.1:1", "apiKey": "down-canary-key"},
			conf{"name": "lacking", "url": fake.URL, "apiKey": "${secret:n8n.gone}"},
			conf{"name": "odd", "url": fake.URL, "apiKey": "odd canary"},
			conf{"name": "mine", "url": fake.URL, "apiKey": n8nfake.Key},
		},
	})
	states := map[string][2]string{}
	_, list := h.request(http.MethodGet, "/v1/servers", "", nil)
	var servers struct {
		Servers []struct{ Name, State, Source, Problem string }
	}
	if err := json.Unmarshal([]byte(list), &servers); err != nil {
		t.Fatal(err)
	}
	for _, s := range servers.Servers {
		if s.Source == "built-in" {
			states[s.Name] = [2]string{s.State, s.Problem}
		}
	}
	var report struct {
		Findings []struct{ Subject, Severity, Title string }
	}
	_, text := h.request(http.MethodGet, "/v1/doctor?server=n8n&server=other&server=wrong&server=down&server=lacking&server=odd&server=mine", "", nil)
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for name, want := range map[string]struct{ state, problem, severity string }{
		"n8n":     {"ready", "", "ok"},
		"other":   {"ready", "", "ok"},
		"wrong":   {"down", "n8n does not accept the API key of wrong", "problem"},
		"down":    {"down", "n8n at http://127.0.0.1:1 cannot be reached. Check that it is running", "problem"},
		"lacking": {"down", "n8n.gone", "problem"},
		"odd":     {"down", "has a space or a character that no key has", "problem"},
		"mine":    {"", "", "warning"},
	} {
		if got := states[name]; got[0] != want.state || !strings.Contains(got[1], want.problem) || want.problem == "" && got[1] != "" {
			t.Errorf("%s is %q", name, got)
		}
		found := false
		for _, f := range report.Findings {
			found = found || f.Subject == "server/"+name && f.Severity == want.severity && strings.Contains(f.Title, want.problem)
		}
		if !found {
			t.Errorf("the doctor does not say that %s has a %s: %s", name, want.severity, text)
		}
	}
	if offer := "genkan servers add other-mcp --url " + other.URL + "/mcp-server/http"; !strings.Contains(text, offer) || strings.Contains(text, "n8n-mcp") {
		t.Errorf("the doctor does not offer %s: %s", offer, text)
	}
	if _, one := h.request(http.MethodGet, "/v1/servers/down", "", nil); !strings.Contains(one, `"state":"down"`) {
		t.Error(one)
	}
	if got, _ := h.mcp("tools/call", "lacking__list_workflows", `"arguments":{},`); !strings.Contains(got, "genkan secrets set n8n.gone") {
		t.Error(got)
	}
	if all := list + text + h.log.String(); strings.Contains(all, "canary") || strings.Contains(all, n8nfake.Key) {
		t.Error("a key is shown")
	}
}

// An instance that goes away and comes back is shown so.
func TestTheStateOfAnN8NInstanceIsAsked(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.Fail(n8nfake.Fault{Status: 503, Body: n8nfake.HTML500})
	h := openHouse(t, conf{"n8n": conf{"url": fake.URL, "apiKey": n8nfake.Key}})
	if _, got := h.request(http.MethodGet, "/v1/servers/n8n", "", nil); !strings.Contains(got, `"state":"down"`) || !strings.Contains(got, "answered with a page instead of JSON") {
		t.Error(got)
	}
	h.mustCall("n8n__list_workflows", `{}`)
	if _, got := h.request(http.MethodGet, "/v1/servers/n8n", "", nil); !strings.Contains(got, `"state":"ready"`) {
		t.Error(got)
	}
	// A list does not ask again at once.
	asked := len(fake.Requests())
	h.request(http.MethodGet, "/v1/servers", "", nil)
	if again := len(fake.Requests()); again != asked {
		t.Errorf("%d requests", again-asked)
	}
}

// JavaScript with a mistake is not saved. Expressions and Python are left alone.
func TestJavaScriptIsCheckedBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	h := openHouse(t, conf{"n8n": conf{"url": fake.URL, "apiKey": n8nfake.Key}})
	create := func(parameters string) string {
		got, err := h.mcp("tools/call", "n8n__create_workflow", `"arguments":{"name":"W","nodes":[{"name":"Sum","type":"n8n-nodes-base.code","typeVersion":2,"parameters":`+parameters+`}],"connections":{}},`)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := `The code of node 'Sum' is not valid JavaScript: line 2, column 8: Expected \\\";\\\" but found \\\"1\\\". Nothing was saved`
	if got := create(`{"jsCode":"const a = 1;\nretrun 1;"}`); !strings.Contains(got, want) || len(fake.Requests()) != 0 {
		t.Error(got, fake.Requests())
	}
	for _, parameters := range []string{
		`{"jsCode":"return await $input.all();"}`, `{"jsCode":"={{ $json.code }}"}`,
		`{"language":"pythonNative","pythonCode":"return [1] if x else []","jsCode":"old code"}`,
	} {
		if got := create(parameters); !strings.Contains(got, "Workflow created") {
			t.Error(got)
		}
	}
}

// rooted is a client that answers roots/list.
type rooted string

func (rooted) Notify(string, []byte) {}

func (r rooted) Ask(context.Context, string, []byte) ([]byte, error) { return []byte(r), nil }

// The folder of filePath is the first root of the client, if callers may work there.
func TestTheFolderOfFilesIsTheClientsRoot(t *testing.T) {
	t.Parallel()
	h := openHouse(t, conf{})
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	roots := rooted(`{"roots":[{"uri":"https://example.com"},{"uri":"file://` + dir + `"},{"uri":"file:///other"}]}`)
	call := &gateway.Call{Caller: gateway.Caller{
		Peer:     roots,
		Identity: gateway.LocalIdentity(""), Era: gateway.EraLegacy,
		Session: &gateway.Session{Capabilities: []byte(`{"roots":{}}`), Dir: "/elsewhere"},
	}}
	if got, err := h.folderOf(t.Context(), call); err != nil || got != dir {
		t.Errorf("got %q, %v", got, err)
	}
	call.Peer = rooted(`{"roots":[{"uri":"file://` + h.dir + `"}]}`)
	if got, err := h.folderOf(t.Context(), call); err == nil || got != "" {
		t.Errorf("the data directory: got %q", got)
	}
}

// A caller without a folder names files by absolute paths, in folders that it may choose.
func TestFilesOfACallerWithoutAFolder(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	allowed, other := t.TempDir(), t.TempDir()
	h := openHouse(t, conf{"n8n": conf{"url": fake.URL, "apiKey": n8nfake.Key}, "folders": []any{allowed}})
	for _, dir := range []string{allowed, other} {
		if err := os.WriteFile(filepath.Join(dir, "w.json"), []byte(`{"name":"W","nodes":[],"connections":{}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.token = h.client("agent").token
	for path, want := range map[string]string{
		filepath.Join(allowed, "w.json"): "Workflow created",
		filepath.Join(other, "w.json"):   "or in the `folders` of the configuration; add it there",
		"w.json":                         "an absolute path on Genkan's machine, below the home directory or in `folders` of Genkan's configuration",
	} {
		if got, _ := h.mcp("tools/call", "n8n__create_workflow_from_file", `"arguments":{"filePath":"`+path+`"},`); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
