package n8n_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/n8n"
	"genkan/internal/testkit"
	"genkan/internal/testkit/n8nfake"
	"genkan/internal/tokens"
)

const child = `{"id":"c1","name":"Child","active":true,"nodes":[{"id":"t","name":"Called","type":"n8n-nodes-base.executeWorkflowTrigger","typeVersion":1.1,"position":[0,0],"parameters":{}}],"connections":{}}`

// ask calls a tool as a local caller in a folder.
func ask(t *testing.T, s *n8n.Source, dir, name string, arguments any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		t.Fatal(err)
	}
	text, err := call(t.Context(), s, dir, raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheURLMayHaveThePathOfTheAPI(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	for _, suffix := range []string{"", "/", "/api/v1", "/api/v1/"} {
		if got := ask(t, newSource(t, fake.URL+suffix, n8nfake.Key, n8n.Setup{}), "", "list_workflows", nil); !strings.Contains(got, `"count":0`) {
			t.Errorf("%s: %s", suffix, got)
		}
	}
}

func TestURLsThatWouldGiveTheKeyAwayAreRefused(t *testing.T) {
	t.Parallel()
	for url, fine := range map[string]bool{
		"https://n8n.example.com": true, "https://203.0.113.7": true, "http://127.0.0.1:5678": true, "http://[::1]:5678": true,
		"http://10.1.2.3": true, "http://192.168.0.2:5678/n8n": true, "http://localhost:5678": true, "http://n8n:5678": true,
		"http://203.0.113.7": false, "http://[2001:db8::1]": false, "ftp://n8n": false, "n8n.example.com": false, "": false,
		"https://user:pass@n8n.example.com": false, "https://n8n.example.com/?a=b": false,
	} {
		_, err := n8n.NewClient(n8n.Options{URL: url, Key: "k"})
		if (err == nil) != fine {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "pass@") {
			t.Errorf("the error has the password: %v", err)
		}
	}
	for _, key := range []gateway.Secret{"", " ", "two words", "new\nline"} {
		_, err := n8n.NewClient(n8n.Options{URL: "https://n8n.example.com", Key: key})
		if err == nil || strings.Contains(err.Error(), "words") {
			t.Errorf("key %q: %v", key.Reveal(), err)
		}
	}
}

func TestTheKeyIsNotSentToWhereARedirectLeads(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("X-N8N-API-KEY") }))
	t.Cleanup(other.Close)
	fake := n8nfake.New(t)
	fake.Fail(n8nfake.Fault{Status: 307, Header: map[string]string{"Location": other.URL}})
	ask(t, newSource(t, fake.URL, n8nfake.Key, n8n.Setup{}), "", "list_workflows", nil)
	select {
	case <-asked:
		t.Error("the redirect was followed")
	default:
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	got := ask(t, newSource(t, server.URL, n8nfake.Key, n8n.Setup{}), "", "list_workflows", nil)
	if !strings.Contains(got, "certificate") {
		t.Error(got)
	}
}

func TestAnswersMayBeCompressedAndConnectionsAreReused(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.Add(t, child)
	fake.Gzip()
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{})
	for range 10 {
		if got := ask(t, s, "", "get_workflow", map[string]any{"id": "c1"}); !strings.Contains(got, `"name":"Child"`) {
			t.Fatal(got)
		}
	}
	if n := fake.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestASlowInstanceIsGivenUpAndNotedInItsHealth(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.Fail(n8nfake.Fault{Wait: true, Times: 3})
	client, err := n8n.NewClient(n8n.Options{URL: fake.URL, Key: n8nfake.Key, Backoff: time.Millisecond, Patience: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s := n8n.New(client, n8n.Setup{})
	if h := s.Health(); h.Down {
		t.Errorf("down before anybody asked: %s", h.Problem)
	}
	if got := ask(t, s, "", "list_workflows", nil); !strings.Contains(got, "does not answer in time") {
		t.Error(got)
	}
	if h := s.Health(); !h.Down || !strings.Contains(h.Problem.String(), fake.URL) {
		t.Errorf("%+v", h)
	}
	// On a busy machine the fake itself may need longer than the client's patience.
	testkit.Eventually(t, func() bool { return s.Check(t.Context()) == nil }, "the instance answers in time")
	if h := s.Health(); h.Down {
		t.Errorf("still down: %s", h.Problem)
	}
}

func TestACanceledCallEndsAtOnce(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.Fail(n8nfake.Fault{Wait: true, Times: 3})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{})
	_, err := call(ctx, s, "", []byte(`{"name":"list_workflows","arguments":{}}`))
	if e := gateway.AsError(err); e == nil || e.Code != gateway.CodeCanceled {
		t.Errorf("%v", err)
	}
}

func TestAWriteWhoseAnswerIsLostIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{})
	ask(t, s, "", "list_workflows", nil)
	fake.Fail(n8nfake.Fault{Method: "POST", Status: 502, Body: "<html>", After: true})
	ask(t, s, "", "create_workflow", map[string]any{"name": "x", "nodes": []any{}, "connections": map[string]any{}})
	if got := ask(t, s, "", "list_workflows", nil); !strings.Contains(got, `"count":1`) {
		t.Error(got)
	}
}

func TestErrorsAreLoggedAsTheyAreShown(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	var log bytes.Buffer
	s := newSource(t, fake.URL, "wrong-secret-key", n8n.Setup{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	shown := ask(t, s, "", "list_workflows", nil)
	var line struct{ Level, Error string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Level != "WARN" || line.Error != shown {
		t.Errorf("%s\n%s", log.String(), shown)
	}
	if strings.Contains(log.String()+shown, "wrong-secret-key") {
		t.Error("the key is in the log")
	}
}

func TestAnUpdateOfAPublishedWorkflowLeavesWhatIsLive(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	id := fake.Add(t, child)
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{})
	live, _ := json.Marshal(fake.Published(id))
	change := map[string]any{"id": id, "operations": []any{map[string]any{"op": "updateNode", "node": "Called", "changes": map[string]any{"notes": "new"}}}}
	ask(t, s, "", "update_workflow", change)
	if now, _ := json.Marshal(fake.Published(id)); !bytes.Equal(now, live) {
		t.Errorf("went live: %s", now)
	}
	change["publish"] = true
	ask(t, s, "", "update_workflow", change)
	if now, _ := json.Marshal(fake.Published(id)); !bytes.Contains(now, []byte(`"notes":"new"`)) {
		t.Errorf("not published: %s", now)
	}
}

func TestUnchangedNodesKeepEveryByte(t *testing.T) {
	t.Parallel()
	odd := `{"id":"o","name":"Odd","type":"n8n-nodes-base.set","typeVersion":3.40,"position":[1e2,0],"parameters":{"b":12345678901234567890,"a":"<&>\u2028"}}`
	var sent []byte
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			sent, _ = io.ReadAll(r.Body)
		}
		fmt.Fprintf(w, `{"id":"x","name":"X","nodes":[%s,{"id":"p","name":"P","type":"n8n-nodes-base.manualTrigger"}],"connections":{}}`, odd)
	}))
	t.Cleanup(proxy.Close)
	s := newSource(t, proxy.URL, n8nfake.Key, n8n.Setup{})
	ask(t, s, "", "update_workflow", map[string]any{"id": "x", "operations": []any{map[string]any{"op": "updateNode", "node": "P", "changes": map[string]any{"notes": "n"}}}})
	if !bytes.Contains(sent, []byte(odd)) {
		t.Errorf("%s", sent)
	}
}

func TestCodeIsParsedBeforeItIsSaved(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.Add(t, `{"id":"c1","name":"X","nodes":[{"id":"t","name":"Code","type":"n8n-nodes-base.code","typeVersion":2,"position":[0,0],"parameters":{"jsCode":"return 1;"}}],"connections":{}}`)
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{CheckCode: func(code string) error {
		if strings.Contains(code, "retrun") {
			return gateway.Errorf(gateway.CodeInvalid, "line %d, column %d: %s", 1, 8, "unexpected identifier")
		}
		return nil
	}})
	got := ask(t, s, "", "update_workflow", map[string]any{"id": "c1", "operations": []any{
		map[string]any{"op": "patchField", "node": "Code", "path": "parameters.jsCode", "find": "return", "replace": "retrun"},
	}})
	if !strings.Contains(got, "'Code' is not valid JavaScript: line 1, column 8: unexpected identifier. Nothing was saved") || slices.ContainsFunc(fake.Requests(), func(r string) bool { return strings.HasPrefix(r, "PUT") }) {
		t.Error(got, fake.Requests())
	}
}

// reader answers for executions.
type reader struct{}

func (reader) Summary(ctx context.Context, from n8n.Executions, q n8n.ExecutionQuery) (out n8n.ExecutionAnswer, err error) {
	body, err := from.OpenExecution(ctx, q.ID, true)
	if err != nil {
		return out, err
	}
	defer func() { _ = body.Close() }()
	var e struct{ ID, Status string }
	err = json.NewDecoder(body).Decode(&e)
	out.Data = map[string]string{"id": e.ID, "status": e.Status}
	return out, err
}

func (reader) Node(_ context.Context, _ n8n.Executions, q n8n.ExecutionQuery) (n8n.ExecutionAnswer, error) {
	return n8n.ExecutionAnswer{Data: map[string]any{"nodeName": q.NodeName, "itemOffset": *q.ItemOffset}}, nil
}

func TestExecutionsAreReadThroughTheReader(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	fake.AddExecution(t, `{"id":"7","status":"error","workflowId":"c1"}`)
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{Executions: reader{}})
	for _, one := range [][3]string{
		{"get_execution", `{"id":"7"}`, `{"success":true,"message":"Execution summary read","data":{"id":"7","status":"error"}}`},
		{"get_execution_by_node", `{"id":7,"nodeName":"A","itemOffset":50}`, `{"success":true,"message":"Execution details of node 'A' read","data":{"itemOffset":50,"nodeName":"A"}}`},
		{"get_execution", `{"id":"8"}`, `{"name":"NotFoundError","message":"Execution '8' not found","context":{"operation":"get execution","resourceType":"Execution","resourceId":"8","errorDetails":"list_executions has the ids. n8n deletes old executions"}}`},
		{"get_execution", `{}`, `{"name":"ValidationError","message":"Execution ID is required","context":{"field":"id"}}`},
		{"get_execution", `{"id":"seven"}`, `{"name":"ValidationError","message":"'seven' is no execution ID, which has digits only. list_executions has the ids","context":{"field":"id"}}`},
	} {
		if got := ask(t, s, "", one[0], json.RawMessage(one[1])); got != one[2] {
			t.Errorf("%s: %s", one[0], got)
		}
	}
	if tools := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{}).List(gateway.KindTool); slices.ContainsFunc(tools, func(t gateway.Tool) bool { return t.Name == "get_execution" }) {
		t.Error("get_execution is listed without a reader")
	}
}

func TestManyWorkflowNamesAreLookedUpAtOnceAndKept(t *testing.T) {
	t.Parallel()
	fake := n8nfake.New(t)
	for i := range 30 {
		id := fmt.Sprintf("w%02d", i)
		if i > 0 {
			fake.Add(t, fmt.Sprintf(`{"id":"%s","name":"N%02d","nodes":[],"connections":{}}`, id, i))
		}
		fake.AddExecution(t, fmt.Sprintf(`{"id":"%d","status":"success","workflowId":"%s"}`, i+1, id))
	}
	s := newSource(t, fake.URL, n8nfake.Key, n8n.Setup{})
	first := ask(t, s, "", "list_executions", map[string]any{"limit": 100})
	if !strings.Contains(first, "Deleted Workflow") || !strings.Contains(first, `"workflowName":"N29"`) {
		t.Error(first)
	}
	asked := len(fake.Requests())
	if asked > 5 {
		t.Errorf("%d requests: %v", asked, fake.Requests())
	}
	ask(t, s, "", "list_executions", map[string]any{"limit": 100})
	if again := len(fake.Requests()) - asked; again != 2 {
		t.Errorf("%d requests the second time", again)
	}
}

func TestToolsAreDescribedWithinTheirBudget(t *testing.T) {
	t.Parallel()
	for _, l := range lang.All() {
		client, err := n8n.NewClient(n8n.Options{URL: "http://127.0.0.1:1", Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, tool := range n8n.New(client, n8n.Setup{Translate: l.Translator(), Executions: reader{}}).List(gateway.KindTool) {
			all = append(all, tool.Definition...)
			var d struct {
				Annotations map[string]bool
				InputSchema struct{ Properties map[string]any }
			}
			if err := json.Unmarshal(tool.Definition, &d); err != nil {
				t.Fatal(err)
			}
			for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint"} {
				if _, ok := d.Annotations[hint]; !ok {
					t.Errorf("%s has no %s", tool.Name, hint)
				}
			}
			if d.InputSchema.Properties["raw"] == nil {
				t.Errorf("%s does not accept raw", tool.Name)
			}
		}
		const budget = 3500
		if n := tokens.Count(all); n > budget {
			t.Errorf("%s: %d tokens, more than %d", l, n, budget)
		} else {
			t.Logf("%s: %d tokens, %d bytes", l, n, len(all))
		}
	}
}

// A URL with the wrong scheme is told from an n8n that cannot be reached.
func TestTheWrongSchemeIsNamed(t *testing.T) {
	t.Parallel()
	quiet := log.New(io.Discard, "", 0)
	plain := n8nfake.New(t)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	t.Cleanup(secure.Close)
	// Node ends connections that do not speak TLS without a word.
	mute, err := tls.Listen("tcp", "127.0.0.1:0", secure.TLS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mute.Close() })
	go func() {
		for {
			c, err := mute.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).Handshake()
			_ = c.(*tls.Conn).NetConn().Close()
		}
	}()
	host := func(url string) string { _, h, _ := strings.Cut(url, "://"); return h }
	for url, want := range map[string]string{
		"https://" + host(plain.URL):     "speaks http, not https. Set its URL to http://" + host(plain.URL),
		"http://" + host(secure.URL):     "speaks https, not http. Set its URL to https://" + host(secure.URL),
		"http://" + mute.Addr().String(): "speaks https, not http. Set its URL to https://" + mute.Addr().String(),
	} {
		s := newSource(t, url, n8nfake.Key, n8n.Setup{})
		if got := ask(t, s, "", "list_workflows", nil); !strings.Contains(got, want) {
			t.Errorf("%s: %s", url, got)
		}
		if problem := s.Health().Problem.String(); !strings.Contains(problem, want) {
			t.Errorf("%s: the state is %q", url, problem)
		}
	}
}
