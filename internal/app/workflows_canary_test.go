package app

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"genkan/internal/history"
	"genkan/internal/testkit"
)

// Whatever scripts say about a call, its secrets are neither in the log nor in events,
// traces, replays, tests, approvals and files; and no client learns a secret that only the
// workflow knows.
func TestWorkflowsLeakNoSecrets(t *testing.T) {
	t.Parallel()
	const (
		canary  = "canary-Zq8Lw3Rt6Yp1" // is in the vault, and in the arguments
		private = "canary-Kd7Pv2Ns9Xc4" // is in the vault, for workflows alone
		named   = "canary-of-no-vault"  // is secret because of its key
		saved   = "canary-of-a-test"    // too; an administrator wrote it into a test
	)
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.keepSecret("KEY", canary)
	h.keepSecret("PRIVATE", private)
	h.waitReady("one")
	events := watch(t, h.token, h.overHTTP)
	h.opened(events)

	clean := func(what, text string) {
		t.Helper()
		for _, secret := range []string{canary, private, named, saved} {
			if secret == saved && strings.HasPrefix(what, "the file") {
				continue
			}
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s has %s: …%s", what, secret, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	lastCall := func() history.Listed {
		// Not one that a workflow has made beside it.
		calls := slices.DeleteFunc(h.recorded(everything), func(c history.Listed) bool { return c.Tool != "one__echo" })
		return calls[len(calls)-1]
	}
	arguments := fmt.Sprintf(`{"text":"it is %s","password":%q}`, canary, named)
	h.must(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":`+arguments+`}`, http.StatusOK)
	whole := lastCall().ID
	scripts := map[string]string{
		"says":         `console.log(args); console.error("with " + args.text, {deep: [{password: args.password}]}); console.log(JSON.stringify(args))`,
		"throws":       `throw {args}`,
		"throws-text":  `throw args.text`,
		"throws-error": `throw new Error(JSON.stringify({args}))`,
		"throws-odd":   `throw {toString() { return "with " + args.text }, message: args.text, password: args.password}`,
		"rejects":      `await Promise.reject(args)`,
		"denies":       `return {action: "deny", reason: "it has " + args.text + " and " + JSON.stringify({password: args.password})}`,
		"returns":      `return args.text`,
		"unknown":      `return {action: args.text}`,
		"changes":      `args[args.text] = args.text; args.list = [{password: args.password}]`,
		"answers":      `return {action: "respond", response: {content: [{type: "text", text: args.text}], structuredContent: {password: args.password}}}`,
		"calls":        `await call("one__" + args.text, args)`,
		"fetches":      `await fetch("http://" + args.text.slice(6) + ".invalid/?key=" + args.text.slice(6), {headers: {authorization: args.text}})`,
		"keeps":        `await state.set("k", args.text); throw new Error(await state.get("k"))`,
	}
	for id, script := range scripts {
		for _, blocking := range []bool{true, false} {
			definition := oneHook(id, "const args = context.request.params.arguments;\n"+script, blocking)
			h.enable(definition)
			_, answer := h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":`+arguments+`}`, nil)
			if strings.Contains(answer, private) {
				t.Errorf("%s: %s", id, answer)
			}
			last := lastCall().ID
			testkit.Eventually(t, func() bool { return h.workflows.traces.Of(last) != nil }, "%s left a trace", id)
			clean(id+": the call", h.must(http.MethodGet, "/v1/calls/"+last, "", http.StatusOK))
			clean(id+": its replay", h.must(http.MethodPost, "/v1/workflows/"+id+"/replay", `{"call":"`+whole+`"}`, http.StatusOK))
			h.must(http.MethodPut, "/v1/workflows/"+id+"/tests/a", fmt.Sprintf(`{"call":{"params":{"name":"one__echo","arguments":{"text":"x","password":%q}}},"answer":{"content":[]},"expect":{"outcome":"ok"}}`, saved), http.StatusOK)
			clean(id+": its test", h.must(http.MethodPost, "/v1/workflows/"+id+"/tests", `{}`, http.StatusOK))
			clean(id+": its backtest", h.must(http.MethodPost, "/v1/workflows/"+id+"/backtest", `{}`, http.StatusOK))
			clean(id+": its figures", h.must(http.MethodGet, "/v1/workflows/"+id+"/stats", "", http.StatusOK))
			h.must(http.MethodDelete, "/v1/workflows/"+id, "", http.StatusOK)
		}
	}

	// What only the workflow knows.
	guest := h.client("guest")
	for id, script := range map[string]string{
		"secret-throws": `throw new Error("with " + vars.key)`, "secret-denies": `return {action: "deny", reason: "with " + vars.key}`,
		"secret-fetch": `await fetch("http://127.0.0.1:1/?key=" + vars.key)`, "secret-call": `await call("one__" + vars.key, {})`,
	} {
		h.enable(strings.Replace(oneHook(id, script, true), `"limits":`, `"vars":{"key":"${secret:PRIVATE}"},"limits":`, 1))
		clean(id+" over MCP", guest.callAt("/mcp", "one__echo", `{"text":"x"}`))
		clean(id+" over REST", guest.rest(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":{"text":"x"}}`))
		h.must(http.MethodDelete, "/v1/workflows/"+id, "", http.StatusOK)
	}

	// Expressions, and people.
	condition := strings.Replace(approving, `"type":"approve","data":{"message":"May it?"}`, `"type":"condition","data":{"cases":[{"handle":"a","when":"args[args.text] == ''"}]}`, 1)
	condition = strings.Replace(condition, `{"source":"person","target":"call"}`, `{"source":"person","target":"call","sourceHandle":"a"},{"source":"person","target":"end2","sourceHandle":"else"}`, 1)
	h.enable(strings.Replace(condition, `"nodes":[`, `"nodes":[{"id":"end2","type":"end","data":{"outcome":"deny"}},`, 1))
	h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":`+arguments+`}`, nil)
	clean("the expression", h.must(http.MethodGet, "/v1/calls/"+lastCall().ID, "", http.StatusOK))

	h.enable(approving)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		h.request(http.MethodPost, "/v1/tools/call", `{"name":"one__echo","parameters":`+arguments+`}`, nil)
	}()
	testkit.Eventually(t, func() bool { return len(h.workflows.desk.List()) == 1 }, "an approval is pending")
	pending := h.must(http.MethodGet, "/v1/approvals", "", http.StatusOK)
	if !strings.Contains(pending, "redacted") {
		t.Error(pending)
	}
	// What only looks like a secret is shown to who decides: it could be what the call runs.
	clean("the approval", strings.ReplaceAll(pending, "canary-of-no-vault", ""))
	h.must(http.MethodPost, "/v1/approvals/"+h.workflows.desk.List()[0].ID, `{"decision":"deny"}`, http.StatusOK)
	<-answered

	for len(events.events) > 0 {
		e := <-events.events
		clean("an event", string(e.Data))
	}
	clean("the log", h.log.String())
	h.calls.Writer.Flush(t.Context())
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		clean("the file "+path, string(raw))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// oneHook is a workflow of one hook before the call, or beside it.
func oneHook(id, script string, blocking bool) string {
	hook, _ := json.Marshal(map[string]any{"hook": map[string]any{"script": script, "blocking": blocking}})
	edges := `{"source":"start","target":"hook"},{"source":"hook","target":"call"}`
	if !blocking {
		edges = `{"source":"start","target":"hook"},{"source":"start","target":"call"}`
	}
	return fmt.Sprintf(`{"id":%q,"name":%q,"workflowType":"tools/call","match":{"tools":["one__echo"]},"limits":{"hookMs":20000,"fetchHosts":["*"]},
		"nodes":[{"id":"start","type":"start"},{"id":"hook","type":"hook","data":%s},{"id":"call","type":"mcp-call"},{"id":"end","type":"end"}],
		"edges":[%s,{"source":"call","target":"end"}]}`, id, id, hook, edges)
}
