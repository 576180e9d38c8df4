package webhook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/testkit"
	"genkan/internal/workflow"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// canary is the part of a webhook's URL that nobody may see.
const canary = "canary-key-Hq4Vn8Xs2"

// chat is a server that keeps the requests that it gets.
type chat struct {
	*httptest.Server
	status atomic.Int32
	mu     sync.Mutex
	got    []string
}

func newChat(t *testing.T) *chat {
	t.Helper()
	c := &chat{}
	c.status.Store(http.StatusOK)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got = append(c.got, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("User-Agent"), string(body)}, " "))
		if status := int(c.status.Load()); status == http.StatusFound {
			http.Redirect(w, r, "/elsewhere", status)
		} else {
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *chat) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.got...)
}

// testSender is a Sender that keeps its reports.
type testSender struct {
	*Sender
	set     config.Approvals
	log     *testkit.Buffer
	reports chan string
}

func newSender(t *testing.T, pauses ...time.Duration) *testSender {
	t.Helper()
	s := &testSender{log: &testkit.Buffer{}, reports: make(chan string, 10)}
	s.Sender = New(Options{
		Settings: func() config.Approvals { return s.set }, Address: func() string { return "" },
		Report: func(id string, told workflow.Told, problem gateway.Text) {
			s.reports <- strings.TrimSpace(id + " " + string(told) + " " + problem.String())
		},
		Translate: func(text gateway.Text) string { return text.String() },
		Redact:    func(text string) string { return text },
		Log:       slog.New(slog.NewTextHandler(s.log, nil)), Version: "1.2.3", Pauses: pauses,
	})
	t.Cleanup(s.Close)
	return s
}

func (s *testSender) want(t *testing.T, reports ...string) {
	t.Helper()
	for _, want := range reports {
		if got := <-s.reports; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

var pending = workflow.Approval{ID: "a1", Code: "c0de", Workflow: "ask", Node: "person", Client: "alice", Tool: "one__echo", Arguments: `{"text":"hi"}`, Hash: "h"}

// A request has the approval, and a link to its page if there is an address.
func TestTheRequest(t *testing.T) {
	t.Parallel()
	chat := newChat(t)
	for _, c := range []struct{ tool, link, served, message, want, text string }{
		{tool: "note://\u202e{id}", text: "alice wants to call note://\\u202e{id}. `genkan approvals` decides."},
		{text: "alice wants to call one__echo. `genkan approvals` decides."},
		{message: "May it?", text: "May it?\nalice wants to call one__echo. `genkan approvals` decides."},
		{served: "http://127.0.0.1:1", want: "http://127.0.0.1:1/approvals/c0de", text: "alice wants to call one__echo. Decide here: http://127.0.0.1:1/approvals/c0de"},
		{served: "http://127.0.0.1:1", link: "https://example.com/genkan/", want: "https://example.com/genkan/approvals/c0de", text: "alice wants to call one__echo. Decide here: https://example.com/genkan/approvals/c0de"},
	} {
		s := newSender(t)
		s.set = config.Approvals{Webhook: gateway.Secret(chat.URL + "/" + canary), Link: c.link}
		s.opt.Address = func() string { return c.served }
		a := pending
		a.Message, a.Tool = c.message, cmp.Or(c.tool, a.Tool)
		s.Opened(a)
		s.want(t, "a1 sending", "a1 sent")
		all := chat.requests()
		what, raw, _ := strings.Cut(all[len(all)-1], "{")
		var got struct{ Event, Text, Link, ID, Tool, Arguments, Hash string }
		if err := json.Unmarshal([]byte("{"+raw), &got); err != nil || what != "POST /"+canary+" application/json genkan/1.2.3 " {
			t.Fatalf("%v: %s", err, all)
		}
		if got.Event != "approval.opened" || got.ID != a.ID || got.Tool != a.Tool || got.Arguments != a.Arguments || got.Hash != a.Hash || got.Link != c.want || got.Text != c.text {
			t.Errorf("got %+v, want link %q and text %q", got, c.want, c.text)
		}
	}
}

// A request that fails is repeated if that may help. The report and the log do not show
// the URL.
func TestRequestsThatFail(t *testing.T) {
	t.Parallel()
	chat := newChat(t)
	s := newSender(t, time.Millisecond, time.Millisecond)
	s.set.Webhook = gateway.Secret(chat.URL + "/" + canary)
	for status, attempts := range map[int32]int{
		http.StatusInternalServerError: 3, http.StatusTooManyRequests: 3, http.StatusNotFound: 1, http.StatusFound: 1,
	} {
		chat.status.Store(status)
		before := len(chat.requests())
		s.Opened(pending)
		s.want(t, "a1 sending", fmt.Sprintf("a1 failed the webhook of approvals answered with status %d", status))
		if n := len(chat.requests()) - before; n != attempts {
			t.Errorf("%d: %d attempts, want %d", status, n, attempts)
		}
	}
	// http leads to near addresses only.
	s.set.Webhook = "http://192.0.2.1/" + canary
	s.Opened(pending)
	s.want(t, "a1 sending")
	if got := <-s.reports; !strings.HasPrefix(got, "a1 failed the webhook of approvals cannot be reached: ") || !strings.HasSuffix(got, "use https") || strings.Contains(got, canary) {
		t.Error(got)
	}
	if n := strings.Count(s.log.String(), "the webhook of approvals failed; the call waits all the same"); n != 5 || strings.Contains(s.log.String(), canary) {
		t.Errorf("logged %d: %s", n, s.log)
	}
}

// Without a usable webhook there is no request.
func TestNoWebhook(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Opened(pending)
	s.set.Unresolved = gateway.Texts{Each: []gateway.Text{gateway.Textf("there is no secret %s", "x")}}
	s.Opened(pending)
	s.want(t, "a1 failed the webhook of approvals is not used: there is no secret x")
}

// The end of an approval ends its request, and closing ends all. Neither is reported.
func TestRequestsAreCanceled(t *testing.T) {
	t.Parallel()
	chat := newChat(t)
	chat.status.Store(http.StatusInternalServerError)
	s := newSender(t, time.Hour)
	s.set.Webhook = gateway.Secret(chat.URL)
	for _, end := range []func(){func() { s.Closed(pending.ID); s.ended.Wait() }, s.Close, func() {}} {
		s.Opened(pending)
		end()
	}
	s.want(t, "a1 sending", "a1 sending")
	if len(s.reports) > 0 {
		t.Errorf("got %q", <-s.reports)
	}
}
