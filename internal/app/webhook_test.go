package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/testkit"
)

// chat is a webhook that keeps what it was told.
type chat struct {
	*httptest.Server
	status atomic.Int32
	mu     sync.Mutex
	bodies []string
}

func newChat(t *testing.T) *chat {
	t.Helper()
	c := &chat{}
	c.status.Store(http.StatusOK)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies = append(c.bodies, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
		w.WriteHeader(int(c.status.Load()))
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *chat) told() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.bodies...)
}

// pending calls a tool that a person must allow. It returns what becomes of the call, and
// the approval after the webhook was tried.
func (h *testHouse) pending(arguments string) (decided chan string, one client.Approval) {
	h.t.Helper()
	decided = make(chan string, 1)
	go func() {
		text, err := h.call("one__echo", arguments)
		decided <- fmt.Sprint(text, err)
	}()
	testkit.Eventually(h.t, func() bool {
		var list client.ApprovalList
		err := json.Unmarshal([]byte(h.must(http.MethodGet, "/v1/approvals", "", http.StatusOK)), &list)
		if err == nil && len(list.Approvals) == 1 && (list.Approvals[0].Webhook == "sent" || list.Approvals[0].Webhook == "failed") {
			one = list.Approvals[0]
		}
		return one.ID != ""
	}, "an approval is pending, and the webhook was tried")
	return decided, one
}

// A webhook is told of a call that waits. Its link shows the call, opening it decides
// nothing, and the form on it decides once.
func TestApprovalsOverAWebhook(t *testing.T) {
	t.Parallel()
	const canary = "canary-key-Hq4Vn8Xs2"
	chat := newChat(t)
	file := servers(conf{"one": child(t)})
	file["approvals"] = conf{"webhook": chat.URL + "/" + canary}
	h := openHouse(t, file)
	h.waitReady("one")
	h.enable(approving)
	page := func(method, link, form string, header ...string) (int, string, http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, link, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		if form != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		response, err := h.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body), response.Header
	}
	for _, decision := range []string{"approve", "deny"} {
		decided, one := h.pending("{\"text\":\"<b>hello</b>\",\"password\":\"hunter2-and-more\",\"path\":\"files/\u2066\u202etxt.seton\u202c\u2069\"}")
		all := chat.told()
		var got struct{ Event, Text, Link, ID, Tool, Arguments, Hash string }
		what, raw, _ := strings.Cut(all[len(all)-1], "{")
		if err := json.Unmarshal([]byte("{"+raw), &got); err != nil || what != "POST /"+canary+" application/json " || got.Event != "approval.opened" ||
			got.ID != one.ID || got.Tool != "one__echo" || got.Hash != one.Hash || !strings.Contains(got.Text, got.Link) || strings.Contains(raw, "hunter2") {
			t.Fatalf("%v: told %s", err, all)
		}
		if one.Webhook != "sent" || !strings.HasPrefix(got.Link, h.base+"/approvals/") || strings.Contains(got.Link, one.ID) {
			t.Errorf("%+v, link %s", one, got.Link)
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} { // a chat's preview, a scanner, a person
			status, body, header := page(method, got.Link, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
			if status != http.StatusOK || method == http.MethodGet && (!strings.Contains(body, "&lt;b&gt;hello&lt;/b&gt;") || !strings.Contains(body, "one__echo") || !strings.Contains(body, "hunter2") || !strings.Contains(body, `files/\u2066\u202etxt.seton\u202c\u2069`) || strings.Contains(body, "<script")) {
				t.Errorf("%s: %d %s", method, status, body)
			}
			policy := header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || !strings.Contains(policy, "form-action 'self'; frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || header.Get("Cache-Control") != "no-store" {
				t.Errorf("%v", header)
			}
		}
		form := "decision=" + decision + "&hash=" + one.Hash
		for want, try := range map[string][]string{
			"403 ": {got.Link, form, "Origin", "https://evil.example.com"},
			"409 ": {got.Link, "decision=approve&hash=" + strings.Repeat("0", 64)},
			"404 ": {h.base + "/approvals/" + one.ID, form},
			"400 ": {got.Link, "decision=perhaps&hash=" + one.Hash},
		} {
			if status, body, _ := page(http.MethodPost, try[0], try[1], try[2:]...); fmt.Sprint(status, " ") != want {
				t.Errorf("%v: %d %s", try, status, body)
			}
		}
		if len(h.workflows.desk.List()) != 1 {
			t.Fatal("something was decided")
		}
		u, _ := url.Parse(h.base)
		if status, body, _ := page(http.MethodPost, got.Link, form, "Origin", "http://"+u.Host); status != http.StatusOK || !strings.Contains(body, "The call was") {
			t.Errorf("%d %s", status, body)
		}
		if text := <-decided; strings.HasPrefix(text, "<b>hello") != (decision == "approve") {
			t.Errorf("%s: %s", decision, text)
		}
		if status, _, _ := page(http.MethodPost, got.Link, form); status != http.StatusNotFound {
			t.Errorf("the code lives on: %d", status)
		}
		if status, body, _ := page(http.MethodGet, got.Link, ""); status != http.StatusNotFound || !strings.Contains(body, "any more") {
			t.Errorf("%d %s", status, body)
		}
	}
	// The page says what it does not show, and another one shows all.
	decided, one := h.pending(`{"note":"` + strings.Repeat("x", 50_000) + `THE END","text":"hello"}`)
	all := chat.told()
	_, link, _ := strings.Cut(all[len(all)-1], `"link":"`)
	link, _, _ = strings.Cut(link, `"`)
	if _, body, _ := page(http.MethodGet, link, ""); !strings.Contains(body, "bytes of the arguments are not shown here.") || !strings.Contains(body, `<a href="?all">`) || strings.Contains(body, "THE END") || !strings.Contains(body, "hello") {
		t.Errorf("%s", body)
	}
	if status, body, _ := page(http.MethodGet, link+"?all", ""); status != http.StatusOK || !strings.Contains(body, "THE END") || strings.Contains(body, "not shown") {
		t.Errorf("%d %s", status, body)
	}
	h.must(http.MethodPost, "/v1/approvals/"+one.ID, `{"decision":"deny"}`, http.StatusOK)
	<-decided
	if lines := h.logLines("an approval was decided over its link"); len(lines) != 2 {
		t.Errorf("logged %v", lines)
	}

	// If it fails, the call waits all the same.
	chat.status.Store(http.StatusNotFound)
	decided, one = h.pending(`{"text":"a"}`)
	if one.Webhook != "failed" || one.WebhookProblem != "the webhook of approvals answered with status 404" {
		t.Errorf("%+v", one)
	}
	h.must(http.MethodPost, "/v1/approvals/"+one.ID, `{"decision":"approve"}`, http.StatusOK)
	if text := <-decided; !strings.HasPrefix(text, "a") {
		t.Error(text)
	}
	// The problem of one that a reload names does not show its URL.
	file["approvals"] = conf{"webhook": "http://192.0.2.1/" + canary}
	h.reload(file)
	decided, one = h.pending(`{"text":"a"}`)
	if one.Webhook != "failed" || !strings.Contains(one.WebhookProblem, "use https") || strings.Contains(one.WebhookProblem, canary) {
		t.Errorf("%+v", one)
	}
	h.must(http.MethodPost, "/v1/approvals/"+one.ID, `{"decision":"deny"}`, http.StatusOK)
	<-decided
	if lines := h.logLines("the webhook of approvals failed; the call waits all the same"); len(lines) != 2 || strings.Contains(h.log.String(), canary) {
		t.Errorf("logged %v", lines)
	}
}
