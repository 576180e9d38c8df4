package upstream

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"genkan/internal/gateway"
)

// interrupting is a legacy server that closes the stream of a call after a
// numbered event.
func interrupting(resume http.HandlerFunc) *legacyHTTP {
	return &legacyHTTP{
		answer: func(w http.ResponseWriter, _ string, _ int64) bool {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, "id: first\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
			return true
		},
		stream: func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Last-Event-Id") == "" {
				w.WriteHeader(http.StatusMethodNotAllowed) // the stream of changes
				return
			}
			resume(w, r)
		},
	}
}

// A stream that a server closes in the middle is taken up again where it
// ended. The call itself is not sent again.
func TestAStreamIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	var resumed atomic.Int64
	l := interrupting(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		want := "first"
		if n := resumed.Add(1); n > 1 {
			want = fmt.Sprintf("event-%d", n-1)
		}
		if got := r.Header.Get("Last-Event-Id"); got != want || r.Header.Get("Mcp-Session-Id") != "session-1" {
			t.Errorf("resumed after %q in %q, want %q", got, r.Header.Get("Mcp-Session-Id"), want)
		}
		if n := resumed.Load(); n < 3 {
			_, _ = fmt.Fprintf(w, "id: event-%d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n", n)
			return
		}
		// The id of the call is the fourth: after discover, initialize and
		// the list.
		_, _ = fmt.Fprintf(w, "id: event-3\ndata: {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":%s}\n\n", scriptDone)
	})
	u := openReady(t, serveHTTP(t, l))
	if got, err := u.callText("t", `{}`); err != nil || got != "done" {
		t.Errorf("got %q, %v", got, err)
	}
	if l.calls.Load() != 1 || resumed.Load() != 3 {
		t.Errorf("%d calls, %d resumptions", l.calls.Load(), resumed.Load())
	}
}

// A server that always closes at once is not asked for ever, and nobody
// pretends to know what became of the call.
func TestAStreamThatBringsNothing(t *testing.T) {
	t.Parallel()
	var resumed atomic.Int64
	l := interrupting(func(w http.ResponseWriter, _ *http.Request) {
		resumed.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
	})
	u := openReady(t, serveHTTP(t, l))
	_, err := u.callText("t", `{}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "srv", "may or may not"); e.Unsent {
		t.Error("the call was sent")
	}
	if l.calls.Load() != 1 || resumed.Load() != maxResumptions {
		t.Errorf("%d calls, %d resumptions", l.calls.Load(), resumed.Load())
	}
}

// A server that is gone when its stream is to be taken up again has been sent
// the call all the same: "unsent" would have it carried out twice.
func TestAServerThatDiesDuringACallWasSentIt(t *testing.T) {
	t.Parallel()
	var server *httptest.Server
	l := interrupting(nil)
	begin := l.answer
	l.answer = func(w http.ResponseWriter, session string, call int64) bool {
		begin(w, session, call)
		_ = server.Listener.Close()
		_ = http.NewResponseController(w).Flush()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return true
		}
		_ = conn.Close()
		return true
	}
	server = httptest.NewUnstartedServer(l)
	server.Config.SetKeepAlivesEnabled(false) // whoever comes again must connect again
	server.Start()
	defer server.Close()
	u := openReady(t, Settings{URL: server.URL})
	_, err := u.callText("t", `{}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "srv", "may or may not"); e.Unsent {
		t.Error("the call was sent, and must not be sent again")
	}
}
