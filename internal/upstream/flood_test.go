package upstream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// pingFlood is a legacy server that sends requests of its own and never accepts
// the answers.
type pingFlood struct {
	legacyHTTP
	// waiting counts the answers that the server has not accepted, most their
	// highest number.
	waiting, most atomic.Int64
}

func (f *pingFlood) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method == http.MethodPost && bytes.Contains(body, []byte(`"result":{}`)) {
		n := f.waiting.Add(1)
		defer f.waiting.Add(-1)
		for most := f.most.Load(); n > most && !f.most.CompareAndSwap(most, n); most = f.most.Load() {
		}
		<-r.Context().Done()
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.legacyHTTP.ServeHTTP(w, r)
}

// flood writes pings to a stream of events.
func flood(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range 4 * maxAnswering {
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"ping\"}\n\n", i)
	}
	_ = http.NewResponseController(w).Flush()
}

// A server that floods its client with requests and does not accept the answers
// loses its connection. It cannot use up the descriptors of all servers.
func TestAFloodOfRequestsOverHTTPIsBounded(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, f *pingFlood, u *upstreamTest) {
		t.Helper()
		testkit.Eventually(t, func() bool {
			return strings.Contains(u.log.String(), "server is down") && strings.Contains(u.log.String(), "without accepting the answers")
		}, "the server is down for its flood")
		if most := f.most.Load(); most > maxAnswering {
			t.Errorf("%d answers were posted at once, want at most %d", most, maxAnswering)
		}
		testkit.Eventually(t, func() bool { return f.waiting.Load() == 0 }, "no answer waits for the server any more")
		u.waitReady()
	}
	t.Run("on the stream of the session", func(t *testing.T) {
		f := &pingFlood{}
		var flooded atomic.Bool
		f.stream = func(w http.ResponseWriter, r *http.Request) {
			if flooded.Swap(true) {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			flood(w)
			<-r.Context().Done()
		}
		check(t, f, open(t, serveHTTP(t, f)))
	})
	t.Run("on the stream of a call", func(t *testing.T) {
		f := &pingFlood{}
		release := make(chan struct{})
		defer close(release)
		f.answer = func(w http.ResponseWriter, _ string, _ int64) bool {
			flood(w)
			<-release
			return true
		}
		u := openReady(t, serveHTTP(t, f))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _, _ = u.Handle(ctx, u.newCall(gateway.EraLegacy, "t", `{}`, "")) }()
		check(t, f, u)
	})
}

// A child that asks more than can be asked at once is refused. What its client
// already thinks about goes on.
func TestAFloodOfQuestionsOfAChildIsBounded(t *testing.T) {
	t.Parallel()
	u, record := openScript(t, "question-flood")
	p := &floodedClient{release: make(chan struct{})}
	call := u.newCall(gateway.EraLegacy, "t", `{}`, "")
	call.Session = &gateway.Session{ID: "s", Capabilities: []byte(`{"elicitation":{}}`)}
	call.Peer = p
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, err := u.Handle(ctx, call)
		ended <- err
	}()
	sees(t, record, "too many requests of this server wait")
	if n := p.asked.Load(); n > maxAnswering {
		t.Errorf("the client was asked %d questions at once", n)
	}
	close(p.release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// floodedClient answers when it is released.
type floodedClient struct {
	asked   atomic.Int64
	release chan struct{}
}

func (*floodedClient) Notify(string, []byte) {}

func (p *floodedClient) Ask(context.Context, string, []byte) ([]byte, error) {
	p.asked.Add(1)
	<-p.release
	return []byte(`{"action":"decline"}`), nil
}

// So is a modern server that asks for too much in one answer.
func TestAModernServerThatAsksForTooMuch(t *testing.T) {
	t.Parallel()
	var requests strings.Builder
	for i := range maxAnswering + 1 {
		fmt.Fprintf(&requests, `,"q%d":{"method":"elicitation/create","params":{}}`, i)
	}
	p := &floodedClient{release: make(chan struct{})}
	close(p.release)
	call := &gateway.Call{
		Caller: gateway.Caller{Era: gateway.EraLegacy, Peer: p, Session: &gateway.Session{ID: "s", Capabilities: []byte(`{"elicitation":{}}`)}},
		Tool:   &gateway.Tool{Exposed: "t"},
	}
	_, err := (&Server{}).askAll(t.Context(), call, []byte("{"+requests.String()[1:]+"}"))
	wantError(t, err, gateway.CodeUnavailable, "t asks the client 257 questions at once")
	if n := p.asked.Load(); n != 0 {
		t.Errorf("the client was asked %d questions", n)
	}
}
