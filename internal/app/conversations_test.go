//go:build linux

package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"genkan/internal/testkit"
)

// hooked is a workflow of one hook before the call, one behind it and one beside it. An
// empty script leaves its hook out.
func hooked(id, match, before, after, beside string) string {
	nodes, edges, last := []string{`{"id":"start","type":"start"}`}, []string{}, "start"
	add := func(id, kind, data string) {
		nodes = append(nodes, fmt.Sprintf(`{"id":%q,"type":%q,"data":%s}`, id, kind, data))
		edges = append(edges, fmt.Sprintf(`{"source":%q,"target":%q}`, last, id))
	}
	hook := func(id, script string, blocking bool) {
		if script == "" {
			return
		}
		raw, _ := json.Marshal(map[string]any{"hook": map[string]any{"script": script, "blocking": blocking}})
		if add(id, "hook", string(raw)); blocking {
			last = id
		}
	}
	hook("before", before, true)
	add("call", "mcp-call", "{}")
	last = "call"
	hook("beside", beside, false)
	hook("after", after, true)
	add("end", "end", "{}")
	return fmt.Sprintf(`{"id":%q,"name":%q,"workflowType":"tools/call","match":%s,"limits":{"hookMs":20000},"nodes":[%s],"edges":[%s]}`,
		id, id, match, strings.Join(nodes, ","), strings.Join(edges, ","))
}

// put stores a workflow over REST and enables it.
func (p *process) put(id, definition string) {
	p.t.Helper()
	base := ""
	if status, text := p.request(http.MethodGet, "/v1/workflows/"+id, "", nil); status == http.StatusOK {
		var was struct{ Version int }
		if err := json.Unmarshal([]byte(text), &was); err != nil {
			p.t.Fatal(err)
		}
		base = fmt.Sprintf("?base=%d", was.Version)
	}
	p.must(http.MethodPut, "/v1/workflows/"+id+base, definition, http.StatusOK)
	p.must(http.MethodPost, "/v1/workflows/"+id+"/enable", "{}", http.StatusOK)
}

// Conversations with workflows, through the binary and its worker processes.
func testWorkflowConversations(t *testing.T, path string) {
	config := servers(conf{"old": child(t, "-era", "legacy"), "new": child(t, "-era", "modern")})
	p := startProcess(t, path, config)
	p.waitReady("old", "new")
	t.Run("a question within a call", func(t *testing.T) { testQuestionsWithinHooks(t, p) })
	t.Run("a person agrees", func(t *testing.T) { testALegacyClientAsks(t, p) })
	t.Run("the version stays", func(t *testing.T) { testTheVersionStays(t, p) })
	t.Run("bytes that stay", func(t *testing.T) { testBytesStay(t, p) })
	t.Run("the end waits for hooks beside calls, and traces outlive it", func(t *testing.T) { testDrain(t, p, path, config) })
}

// A server's question reaches the person, and the hooks see one call and its final answer,
// whichever eras the client and the server speak.
func testQuestionsWithinHooks(t *testing.T, p *process) {
	p.put("polite", hooked("polite", `{"tools":["*__elicit"]}`,
		`context.request.params.arguments.message += ", please"`,
		`return {response: mapText(context.response, s => s.replace("Ada", "A."))}`, ""))
	for _, server := range []string{"old", "new"} {
		tool := server + "__elicit"
		asked, text := p.asked(t, tool, func() {})
		if len(asked) != 1 || !strings.Contains(asked[0], "Your name, please") || !strings.Contains(text, `"A."`) || strings.Contains(text, "Ada") {
			t.Errorf("%s: asked %q, answered %s", tool, asked, text)
		}

		// A modern client is asked by an answer, and comes back with the same arguments.
		send := func(more string) string {
			meta := strings.Replace(modernMeta, `"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}`, 1)
			_, text := p.request(http.MethodPost, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"message":"Your name"}%s,"_meta":{%s}}}`, tool, more, meta),
				http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}})
			return text[strings.Index(text, "{"):]
		}
		var question struct {
			Result struct {
				ResultType, RequestState string
				InputRequests            map[string]struct{ Params struct{ Message string } }
			}
		}
		first := send("")
		if err := json.Unmarshal([]byte(first), &question); err != nil || question.Result.ResultType != "input_required" || len(question.Result.InputRequests) != 1 {
			t.Fatalf("%s: %v: %s", tool, err, first)
		}
		for key, request := range question.Result.InputRequests {
			if !strings.Contains(request.Params.Message, "Your name, please") {
				t.Errorf("%s: asked %s", tool, first)
			}
			last := send(fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"name":"Ada"}}}`, question.Result.RequestState, key))
			if !strings.Contains(last, `\"A.\"`) || strings.Contains(last, "Ada") || strings.Contains(last, "please, please") {
				t.Errorf("%s: answered %s", tool, last)
			}
		}
		// The hooks ran once for each of the two calls.
		for _, call := range p.tracesOf(tool) {
			if len(call.Workflows) != 1 || len(call.Workflows[0].Steps) != 4 {
				t.Errorf("%s: %+v", tool, call)
			}
		}
	}
	p.must(http.MethodDelete, "/v1/workflows/polite", "", http.StatusOK)
}

// A legacy client asks the person for a workflow, and then for the server.
func testALegacyClientAsks(t *testing.T, p *process) {
	definition := strings.ReplaceAll(approving, `"id":"ask"`, `"id":"agree"`)
	definition = strings.Replace(definition, `"May it?"`, `"May it?","askClient":true`, 1)
	p.put("agree", strings.Replace(definition, "one__echo", "new__elicit", 1))
	var pending []string // at each question
	asked, text := p.asked(t, "new__elicit", func() {
		pending = append(pending, p.must(http.MethodGet, "/v1/approvals", "", http.StatusOK))
	})
	if len(asked) != 2 || !strings.Contains(asked[0], "May it?\nnew__elicit {") || !strings.Contains(asked[1], "Your name") || !strings.Contains(text, "accept") {
		t.Fatalf("asked %q, answered %s", asked, text)
	}
	if !strings.Contains(pending[0], `"inClient":true`) || !strings.Contains(pending[1], `"approvals":[]`) {
		t.Errorf("pending while the client was asked: %q", pending)
	}
	p.must(http.MethodDelete, "/v1/workflows/agree", "", http.StatusOK)
}

// tracedCall is a call with what workflows did to it.
type tracedCall struct {
	ID        string
	Workflows []struct {
		Workflow, Outcome string
		Version           int
		Detached          bool
		Steps             []struct {
			Node, Status string
			Patch        json.RawMessage
			Console      []struct{ Text string }
		}
	}
}

// tracesOf returns the calls of a tool, the newest first.
func (p *process) tracesOf(tool string) (calls []tracedCall) {
	p.t.Helper()
	var list struct{ Calls []tracedCall }
	if err := json.Unmarshal([]byte(p.must(http.MethodGet, "/v1/calls?tool="+tool, "", http.StatusOK)), &list); err != nil {
		p.t.Fatal(err)
	}
	for _, call := range list.Calls {
		if err := json.Unmarshal([]byte(p.must(http.MethodGet, "/v1/calls/"+call.ID, "", http.StatusOK)), &call); err != nil {
			p.t.Fatal(err)
		}
		calls = append(calls, call)
	}
	return calls
}

// A call that waits for a person ends with the version that it began with, though the
// workflow is changed and disabled meanwhile.
func testTheVersionStays(t *testing.T, p *process) {
	version := func(n int) string {
		return hooked("pinned", `{"tools":["old__elicit"]}`, "", fmt.Sprintf(`return {response: mapText(context.response, s => "version %d")}`, n), "")
	}
	p.put("pinned", version(1))
	call := func(meanwhile func()) string {
		_, text := p.asked(t, "old__elicit", meanwhile)
		return text
	}
	if got := call(func() {
		p.put("pinned", version(2))
		p.must(http.MethodPost, "/v1/workflows/pinned/disable", "{}", http.StatusOK)
	}); got != "version 1" {
		t.Errorf("got %s", got)
	}
	if got := call(func() {}); !strings.Contains(got, "accept") {
		t.Errorf("without it: %s", got)
	}
	p.must(http.MethodPost, "/v1/workflows/pinned/enable", "{}", http.StatusOK)
	if got := call(func() {}); got != "version 2" {
		t.Errorf("got %s", got)
	}
	p.must(http.MethodDelete, "/v1/workflows/pinned", "", http.StatusOK)
}

// asked calls a tool that asks the person, as a legacy client, and returns what it asked
// and answered. meanwhile is called before the person answers.
func (p *process) asked(t *testing.T, tool string, meanwhile func()) (questions []string, text string) {
	t.Helper()
	session := p.legacy("2025-11-25", `{"elicitation":{}}`).session
	post := func(body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{
			"Authorization": "Bearer " + p.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25",
		} {
			r.Header.Set(key, value)
		}
		resp, err := p.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	resp := post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"message":"Your name"}}}`, tool))
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "" {
			continue
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Message string }
			Result struct{ Content []struct{ Text string } }
		}
		switch err := json.Unmarshal([]byte(data), &m); {
		case err != nil:
			t.Fatalf("%v: %s", err, data)
		case m.Method == "elicitation/create":
			questions = append(questions, m.Params.Message)
			meanwhile()
			_ = post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"Ada","allow":true}}}`, m.ID)).Body.Close()
		case string(m.ID) == "1" && len(m.Result.Content) > 0:
			return questions, m.Result.Content[0].Text
		default:
			t.Fatalf("%s: %s", tool, data)
		}
	}
	t.Fatalf("%s: no answer", tool)
	return nil, ""
}

// What hooks do not touch keeps its bytes on both ways.
func testBytesStay(t *testing.T, p *process) {
	p.put("bytes", hooked("bytes", `{"tools":["old__raw"]}`, `context.request.params.arguments.note = "x"`,
		`context.response.content[0].text = "changed"; context.response.structuredContent.key = "***"`, ""))
	result := `{"structuredContent": {"big":1234567890123456789, "é":"\u00e9","key":"k","n":1.0e2}, "content":[{"type":"text","text":"was"}]}`
	raw, _ := json.Marshal(result)
	got, err := p.mcp("tools/call", "old__raw", fmt.Sprintf(`"arguments":{"id":9223372036854775807,"result_json":%s},`, raw))
	if err != nil || !strings.Contains(got, `{"big":1234567890123456789,"é":"\u00e9","key":"***","n":1.0e2}`) || !strings.Contains(got, `"text":"changed"`) {
		t.Errorf("got %s, %v", got, err)
	}
}

// At the end genkan waits for hooks that run beside calls. What workflows did to a call is
// there after a restart, without secrets.
func testDrain(t *testing.T, p *process, path string, config conf) {
	began, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	page := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/done" {
			close(done)
			return
		}
		close(began)
		<-goOn
	}))
	defer page.Close()
	definition := hooked("beside", `{"tools":["old__echo"]}`,
		`console.log({password: context.request.params.arguments.password}); context.request.params.arguments.text += "!"`, "",
		fmt.Sprintf(`await fetch("%s/wait"); await fetch("%s/done")`, page.URL, page.URL))
	p.put("beside", strings.Replace(definition, `"limits":{`, `"limits":{"fetchHosts":["127.0.0.1"],`, 1))
	if got := p.mustCall("old__echo", `{"text":"hello","password":"hunter2-and-more"}`); got != "hello!" {
		t.Errorf("got %s", got)
	}
	<-began
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool {
		_, _, err := p.tryRequest(http.MethodGet, "/health", "", nil)
		return err != nil
	}, "genkan is about to end")
	close(goOn)
	<-p.ended
	select {
	case <-done:
	default:
		t.Error("the hook beside the call was cut off")
	}
	if p.err != nil {
		t.Error(p.err)
	}

	again := startProcessIn(t, path, p.dir, config)
	calls := again.tracesOf("old__echo")
	if len(calls) != 1 || len(calls[0].Workflows) == 0 || len(calls[0].Workflows[0].Steps) != 3 {
		t.Fatalf("%+v", calls)
	}
	step := calls[0].Workflows[0].Steps[0]
	if string(step.Patch) != `[{"op":"replace","path":"/request/params/arguments/text","value":"hello!"}]` || len(step.Console) != 1 || strings.Contains(step.Console[0].Text, "hunter2") {
		t.Errorf("%+v", step)
	}
}
