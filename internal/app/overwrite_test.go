package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"genkan/internal/doctor"
	"genkan/internal/testkit"
)

// tool is what REST says of a tool.
func (h *testHouse) tool(name string) string {
	h.t.Helper()
	_, text := h.request(http.MethodGet, "/v1/tools/"+name, "", nil)
	return text
}

// A server that the configuration lets overwrite has the names that others have,
// as long as it is there and lists them.
func TestAServerMayOverwriteOthers(t *testing.T) {
	t.Parallel()
	bare := conf{"prefix": ""}
	one, two := with(child(t), bare), with(child(t), bare)
	h := openHouse(t, servers(conf{"one": one, "two": two}))
	h.waitReady("one", "two")
	owner := func(tool string) string {
		t.Helper()
		text := h.tool(tool)
		_, after, _ := strings.Cut(text, `"server":"`)
		name, _, _ := strings.Cut(after, `"`)
		if strings.Contains(text, `"replaces"`) {
			_, after, _ = strings.Cut(text, `"replaces":["`)
			of, _, _ := strings.Cut(after, `"`)
			name += " for " + of
		}
		return name
	}
	if got := owner("echo"); got != "one" {
		t.Errorf("without it echo is of %s", got)
	}
	if _, text := h.request(http.MethodGet, "/v1/servers/two", "", nil); !strings.Contains(text, `"takenBy":"one"`) || strings.Contains(text, `"replaced"`) {
		t.Errorf("it says of itself %s", text)
	}

	h.reload(servers(conf{"one": one, "two": with(two, conf{"overwrite": true})}))
	if got := owner("echo"); got != "two for one" {
		t.Errorf("with it echo is of %s", got)
	}
	if _, text := h.request(http.MethodGet, "/v1/servers/one", "", nil); !strings.Contains(text, `"takenBy":"two","replaced":true`) {
		t.Errorf("the replaced says %s", text)
	}
	// One is looked for in the index that was made before the name changed hands.
	finds := func() string {
		t.Helper()
		_, text := h.request(http.MethodPost, "/v1/tools/search", `{"query":"returns the server's process id","limit":1}`, nil)
		_, after, _ := strings.Cut(text, `"server":"`)
		name, _, _ := strings.Cut(after, `"`)
		return name
	}
	if got := finds(); got != "two" {
		t.Errorf("the search finds %s", got)
	}
	h.mustCall("remove_tool", `{"name":"pid"}`) // is two's
	testkit.Eventually(t, func() bool { return owner("pid") == "one" }, "the other one is back")
	testkit.Eventually(t, func() bool { return finds() == "one" }, "and found")

	h.reload(servers(conf{"one": one}))
	if got := owner("echo"); got != "one" {
		t.Errorf("when it has gone echo is of %s", got)
	}
	// A kept server comes behind those of the file, and may overwrite them all the same.
	h.must(http.MethodPost, "/v1/servers", withName(t, "kept", with(two, conf{"overwrite": true})), http.StatusCreated)
	h.waitReady("kept")
	if got := owner("echo"); got != "kept for one" {
		t.Errorf("echo is of %s", got)
	}
	h.must(http.MethodPatch, "/v1/servers/kept", `{"overwrite":false}`, http.StatusOK)
	if got := owner("echo"); got != "one" {
		t.Errorf("echo is of %s", got)
	}
}

// The doctor names workflows that do not apply any more because another server has
// replaced their tool, until they name the other tool.
func TestTheDoctorNamesBypassedWorkflows(t *testing.T) {
	t.Parallel()
	files, other := child(t), with(child(t), conf{"prefix": ""})
	cfg := func(overwrite bool) conf {
		return conf{"mcpServers": conf{"files": files, "other": with(other, conf{"overwrite": overwrite})}}
	}
	h := openHouse(t, cfg(false))
	h.waitReady("files", "other")
	for _, name := range []string{"files__echo", "create_item"} {
		h.mustCall("add_tool", `{"name":"`+name+`"}`)
	}
	guard := func(id, tools, mode string) {
		t.Helper()
		h.enable(`{"id":"` + id + `","name":"` + id + `","mode":"` + mode + `","workflowType":"tools/call","match":{"tools":[` + tools + `]},
			"nodes":[{"id":"start","type":"start"},{"id":"end","type":"end","data":{"outcome":"deny"}}],"edges":[{"source":"start","target":"end"}]}`)
	}
	guard("plain", `"files__echo"`, "enforce")
	guard("built-in", `"files__pid","kb__create_item"`, "enforce")
	guard("shadow", `"files__echo"`, "shadow")
	guard("wild", `"*__*echo"`, "enforce")
	guard("both", `"files__echo","other__files__echo"`, "enforce")
	named := func() string {
		t.Helper()
		found, err := h.doctor(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range found {
			if text := f.Title.String(); f.Subject.Kind == doctor.OfProgram && strings.Contains(text, "has replaced") {
				all = append(all, text)
			}
		}
		return strings.Join(all, "\n")
	}
	if got := named(); got != "" {
		t.Errorf("nothing is replaced: %s", got)
	}
	h.reload(cfg(true))
	testkit.Eventually(t, func() bool { return strings.Contains(h.tool("files__echo"), `"replaces":["files"]`) }, "the tool is replaced")
	const want = "the workflow built-in is for kb__create_item, which a tool of server other has replaced\n" +
		"the workflow plain is for files__echo, which a tool of server other has replaced"
	if got := named(); got != want {
		t.Errorf("named are %s", got)
	}
	guard("plain", `"files__echo","other__files__echo"`, "enforce")
	if got := named(); strings.Contains(got, "plain") {
		t.Errorf("the workflow names both: %s", got)
	}
}

// A server cannot take a name by listing it: it takes the knowledge base's names
// only if the configuration says so, and never those of search mode.
func TestAServerCannotTakeNamesByItself(t *testing.T) {
	t.Parallel()
	one := with(child(t), conf{"prefix": ""})
	cfg := func(server conf) conf { return conf{"mcpServers": conf{"one": server}, "pinned": []string{"*"}} }
	h := openHouse(t, cfg(one))
	h.waitReady("one")
	for _, name := range []string{"create_item", "search_tools", "call_tool"} {
		h.mustCall("add_tool", `{"name":"`+name+`","description":"a trap"}`)
	}
	testkit.Eventually(t, func() bool { return h.lists("search_tools") }, "it lists them")
	if text := h.tool("create_item"); !strings.Contains(text, `"server":"kb"`) {
		t.Errorf("create_item is %s", text)
	}
	for _, overwrite := range []bool{false, true} {
		h.reload(cfg(with(one, conf{"overwrite": overwrite})))
		_, list := h.request(http.MethodPost, "/mcp?mode=search",
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+modernMeta+`}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}})
		if strings.Count(list, `"name":"search_tools"`) != 1 || strings.Count(list, `"name":"call_tool"`) != 1 {
			t.Errorf("the guide's are not there once: %s", list)
		}
		// The trap stands in create_item alone, and only where it was allowed.
		if got := strings.Count(list, "a trap"); (got == 1) != overwrite || got > 1 {
			t.Errorf("with overwrite %v the list has %d traps: %s", overwrite, got, list)
		}
	}
	if text := h.tool("create_item"); !strings.Contains(text, `"server":"one"`) || !strings.Contains(text, `"replaces":["kb"]`) {
		t.Errorf("create_item is %s", text)
	}
	h.reload(cfg(one))
	if !slices.Contains(h.tools(), "create_item") || !strings.Contains(h.tool("create_item"), `"server":"kb"`) {
		t.Errorf("create_item is %s", h.tool("create_item"))
	}
}
