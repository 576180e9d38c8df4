package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// names are the values of a member of each entry of a list.
func names(t *testing.T, answer, list, key string) []string {
	t.Helper()
	var entries []map[string]any
	if err := json.Unmarshal([]byte(member(t, answer, "result", list)), &entries); err != nil {
		t.Fatalf("%s has no %s: %v", answer, list, err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, fmt.Sprint(entry[key]))
	}
	return found
}

// TestPrompts: they are listed and got under a prefix, as tools are.
func TestPrompts(t *testing.T) {
	t.Parallel()
	everyPairing(t, clientOptions{}, func(t *testing.T, c *client, server string) {
		listed := names(t, c.do("prompts/list", ""), "prompts", "name")
		if !slices.Contains(listed, server+"__greet") || slices.Contains(listed, "greet") {
			t.Errorf("the prompts are %v", listed)
		}
		answer := c.do("prompts/get", fmt.Sprintf(`"name":"%s__greet","arguments":{"name":"Hana","style":"warmly"}`, server))
		if !strings.Contains(answer, `"text":"Greet Hana warmly"`) {
			t.Errorf("greet is answered with %s", answer)
		}
		if typed := strings.Contains(answer, `"resultType":"complete"`); typed != (c.era == modernEra) && !isModernServer(server) {
			t.Errorf("greet is answered with %s", answer)
		}
		// A server's own error is forwarded; genkan refuses unknown names.
		for name, want := range map[string]string{server + "__greet": "greet needs a name", "greet": "Unknown prompt: greet. prompts/list", server + "__nosuch": "Unknown prompt: " + server + "__nosuch"} {
			if answer := c.do("prompts/get", fmt.Sprintf(`"name":%q`, name)); errorCode(answer) != -32602 || !strings.Contains(answer, want) {
				t.Errorf("%s is answered with %s", name, answer)
			}
		}
	})
}

// TestResources: a resource is read under its own URI, listed or not.
func TestResources(t *testing.T) {
	t.Parallel()
	everyPairing(t, clientOptions{}, func(t *testing.T, c *client, server string) {
		if listed := names(t, c.do("resources/list", ""), "resources", "uri"); !slices.Contains(listed, server+"://text") {
			t.Errorf("the resources are %v", listed)
		}
		if listed := names(t, c.do("resources/templates/list", ""), "resourceTemplates", "uriTemplate"); !slices.Contains(listed, server+"://note/{id}") {
			t.Errorf("the templates are %v", listed)
		}
		for path, want := range map[string]string{
			"text": `"text":"` + server + `://text version 0"`, "blob": `"blob":"AAEC/w=="`, "note/7": `"text":"note 7"`,
		} {
			answer := c.do("resources/read", fmt.Sprintf(`"uri":"%s://%s"`, server, path))
			if !strings.Contains(answer, want) {
				t.Errorf("%s is answered with %s", path, answer)
			}
			// A modern client must be told how long it may keep what it read.
			if c.era == modernEra && (member(t, answer, "result", "ttlMs") == "" || member(t, answer, "result", "cacheScope") == "") {
				t.Errorf("%s may be kept for ever: %s", path, answer)
			}
		}
		// No server lists it and no template matches it. The first configured server
		// with resources is asked, and refuses it.
		if answer := c.do("resources/read", fmt.Sprintf(`"uri":"%s://nosuch"`, server)); errorCode(answer) != -32602 && errorCode(answer) != -32002 {
			t.Errorf("an unknown resource is answered with %s", answer)
		}
	})
}

// TestCompletion: what is completed is named as it is listed.
func TestCompletion(t *testing.T) {
	t.Parallel()
	everyPairing(t, clientOptions{}, func(t *testing.T, c *client, server string) {
		const argument = `"argument":{"name":"name","value":"be"}`
		for _, ref := range []string{
			fmt.Sprintf(`{"type":"ref/prompt","name":"%s__greet"}`, server),
			fmt.Sprintf(`{"name":"%s__greet","title":"x","type":"ref/prompt"}`, server),
			fmt.Sprintf(`{"type":"ref/resource","uri":"%s://note/{id}"}`, server),
		} {
			answer := c.do("completion/complete", `"ref":`+ref+`,`+argument)
			if !strings.Contains(answer, `"values":["beta","better"]`) {
				t.Errorf("%s completes to %s", ref, answer)
			}
			if answer := c.do("completion/complete", argument+`,"ref":`+ref+`,"context":{"arguments":{"a":"b"}}`); !strings.Contains(answer, `"values":["beta","better"]`) {
				t.Errorf("with the argument first, %s completes to %s", ref, answer)
			}
		}
		for ref, want := range map[string]string{
			`{"type":"ref/prompt","name":"greet"}`:           "Unknown prompt: greet",
			`{"type":"ref/resource","uri":"x://nosuch/{a}"}`: "Resource not found",
			`{"type":"ref/prompt"}`:                          "params.ref must say",
			`{"type":"ref/tool","name":"x"}`:                 "params.ref must say",
			`7`:                                              "params.ref must say",
			`{"type":"ref/prompt","name":"a","name":"b"}`:    "params.ref must say",
			`{"type":"ref/prompt","name":"a","Name":"b"}`:    "params.ref must say",
		} {
			if answer := c.do("completion/complete", `"ref":`+ref+`,`+argument); errorCode(answer) != -32602 || !strings.Contains(answer, want) {
				t.Errorf("%s is answered with %s", ref, answer)
			}
		}
	})
}

// TestEveryListHasPages: pages of ours, whatever the servers' are.
func TestEveryListHasPages(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-entries", "20", "-page", "3", "-tools", "20")}, map[string]any{"pageSize": 7})
	for _, kind := range kinds() {
		c := h.connect(t, kind)
		for _, l := range []struct {
			method, list, key string
			want              int
		}{
			{"tools/list", "tools", "name", 38},
			{"prompts/list", "prompts", "name", 22},
			{"resources/list", "resources", "uri", 23},
			{"resources/templates/list", "resourceTemplates", "uriTemplate", 21},
		} {
			var all []string
			cursor := ""
			for {
				answer := c.do(l.method, cursor)
				page := names(t, answer, l.list, l.key)
				if len(page) > 7 {
					t.Errorf("%s: a page of %d", l.method, len(page))
				}
				all = append(all, page...)
				next := member(t, answer, "result", "nextCursor")
				if next == "" {
					break
				}
				cursor = `"cursor":` + next
			}
			slices.Sort(all)
			if all = slices.Compact(all); len(all) != l.want {
				t.Errorf("%s: %s has %d, want %d: %v", kind, l.method, len(all), l.want, all)
			}
			// A cursor of one list means nothing in another.
			if cursor != "" && l.method != "tools/list" {
				if answer := c.do("tools/list", cursor); errorCode(answer) != -32602 {
					t.Errorf("%s: a cursor of %s is good for tools/list: %s", kind, l.method, answer)
				}
			}
		}
	}
}

// introduction begins the instructions of several servers, in JSON.
const introduction = `Instructions of the servers behind this endpoint. A heading names a server; ` +
	`the lines after it that begin with \"> \" are that server's own words, and speak for that server only.`

// TestInstructions: a server's own where it is looked at alone, all of them
// with their names in the aggregate.
func TestInstructions(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything"), "b": child(t)})
	const own = "A server for tests. What it does wrong, it does on purpose."
	for view, want := range map[string]struct{ instructions, capabilities, info string }{
		"": {
			`"` + introduction + `\n\n# a\n> ` + own + `\n\n# b\n> ` + own + `"`,
			`{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}`,
			`{"name":"genkan","title":"Genkan","version":"1.2.3-test"}`,
		},
		"a": {
			`"` + own + `"`,
			`{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}`,
			`{"name":"faultserver","version":"1.0.0"}`,
		},
		"b": {`"` + own + `"`, `{"tools":{"listChanged":true}}`, `{"name":"faultserver","version":"1.0.0"}`},
	} {
		path := "/mcp"
		if view != "" {
			path += "/s/" + view
		}
		r := legacy("", "0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		r.path = path
		answer := h.send(r).last()
		if got := member(t, answer, "result", "instructions"); got != want.instructions {
			t.Errorf("view %q: the instructions are %s", view, got)
		}
		if got := member(t, answer, "result", "capabilities"); got != want.capabilities {
			t.Errorf("view %q: the capabilities are %s", view, got)
		}
		if got := member(t, answer, "result", "serverInfo"); !strings.HasPrefix(got, want.info[:len(want.info)-1]) {
			t.Errorf("view %q: the server is %s", view, got)
		}
		r = modern("1", "server/discover", "", "")
		r.path = path
		answer = h.send(r).last()
		if got := member(t, answer, "result", "instructions"); got != want.instructions {
			t.Errorf("view %q: the modern instructions are %s", view, got)
		}
		if got := member(t, answer, "result", "capabilities"); got != want.capabilities {
			t.Errorf("view %q: the modern capabilities are %s", view, got)
		}
	}
}
