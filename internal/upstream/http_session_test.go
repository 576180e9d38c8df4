package upstream

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// A restarted server has forgotten its sessions. The next call opens a new one
// and is carried out, once.
func TestARestartedServer(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		for _, answers := range []string{"json", "sse"} {
			t.Run(era.String()+" "+answers, func(t *testing.T) {
				dir := t.TempDir()
				server := testkit.NewFaultHTTP(t, "-era", era.String(), fmt.Sprintf("-sse=%v", answers == "sse"),
					"-record", dir+"/record", "-counter", dir+"/counter")
				var wire connections
				u := openReady(t, Settings{URL: server.URL()}, func(_ *Settings, d *Deps) {
					d.Transport = &http.Transport{DialContext: wire.dial, DisableCompression: true}
				})
				for want := 1; want <= 3; want++ {
					if got, err := u.callText("count", `{}`); err != nil || got != fmt.Sprint(want) {
						t.Fatalf("got %q, %v, want %d: each call is carried out once", got, err, want)
					}
					server.Stop()
					// A call that is written to a connection just when it ends
					// has an unknown fate; this is about those that come later.
					testkit.Eventually(t, func() bool { return wire.open.Load() == 0 }, "the old connections are gone")
					server.Restart()
				}
				u.mustEcho("x")
				sessions := countLines(t, dir+"/record", `"initialize"`)
				if era == gateway.EraLegacy && sessions != 4 {
					t.Errorf("%d sessions were opened, want 4: one and one for each restart", sessions)
				}
				if st := u.Status(); st.Starts != 1 {
					t.Errorf("%d connects: a lost session is renewed without starting over", st.Starts)
				}
			})
		}
	}
}

// connections are what a transport has dialed and not closed again.
type connections struct {
	net.Dialer
	open atomic.Int64
}

type countedConn struct {
	net.Conn
	once sync.Once
	open *atomic.Int64
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &countedConn{Conn: conn, open: &c.open}, nil
}

// While a server is away its calls fail fast, say so, and were not sent; when
// it is back, the next one succeeds.
func TestAServerThatIsAwayForAWhile(t *testing.T) {
	for _, era := range bothEras {
		t.Run(era.String(), func(t *testing.T) {
			server := testkit.NewFaultHTTP(t, "-era", era.String())
			u := openReady(t, Settings{URL: server.URL()})
			u.mustEcho("x")
			server.Stop()
			testkit.Eventually(t, func() bool {
				began := time.Now()
				_, err := u.callText("echo", `{"text":"x"}`)
				if err == nil {
					t.Fatal("nobody is there")
				}
				if took := time.Since(began); took > time.Minute {
					t.Fatalf("it took %v to say so", took)
				}
				return gateway.AsError(err).Unsent
			}, "calls are refused unsent")
			testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
			if st := u.Status(); !strings.Contains(st.Problem.String(), "cannot be reached") {
				t.Errorf("status %+v", st)
			}
			if len(u.List(gateway.KindTool)) == 0 {
				t.Error("its tools must stay listed")
			}
			server.Restart()
			began := time.Now()
			testkit.Eventually(t, func() bool {
				_, err := u.callText("echo", `{"text":"x"}`)
				return err == nil
			}, "it is back")
			t.Logf("the first call succeeded %v after the restart", time.Since(began))
		})
	}
}

// legacyHTTP is a small legacy server whose answers to calls a test decides.
type legacyHTTP struct {
	sessions atomic.Int64
	calls    atomic.Int64
	// answer may answer a tools/call itself and report that it did.
	answer func(w http.ResponseWriter, session string, call int64) bool
	// list may answer tools/list.
	list func(w http.ResponseWriter, session string) bool
	// stream answers GET; nil for 405.
	stream http.HandlerFunc
}

func (l *legacyHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get("Mcp-Session-Id")
	if r.Method == http.MethodGet && l.stream != nil {
		l.stream(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body := make([]byte, r.ContentLength)
	_, _ = r.Body.Read(body)
	m := string(body)
	_, rest, _ := strings.Cut(m, `"id":`)
	id, _, _ := strings.Cut(rest, ",")
	reply := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}
	switch {
	case strings.Contains(m, `"server/discover"`):
		http.Error(w, "what is that", http.StatusBadRequest)
	case strings.Contains(m, `"initialize"`):
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("session-%d", l.sessions.Add(1)))
		reply(scriptInit)
	case strings.Contains(m, `"tools/list"`):
		if l.list == nil || !l.list(w, session) {
			reply(scriptList)
		}
	case strings.Contains(m, `"tools/call"`):
		if n := l.calls.Add(1); l.answer == nil || !l.answer(w, session, n) {
			reply(scriptDone)
		}
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func serveHTTP(t testing.TB, h http.Handler) Settings {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return Settings{URL: server.URL}
}

// Servers say in many ways that they do not know a session any more.
func TestALostSession(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(w http.ResponseWriter){
		"404":           func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		"404 with text": func(w http.ResponseWriter) { http.Error(w, "nothing here", http.StatusNotFound) },
		"400 with text": func(w http.ResponseWriter) {
			http.Error(w, "Bad Request: No valid session ID provided", http.StatusBadRequest)
		},
		"400 with an error": func(w http.ResponseWriter) {
			rpcFailure(w, http.StatusBadRequest, -32000, "Bad Request: Session not found")
		},
		"404 with an error": func(w http.ResponseWriter) { rpcFailure(w, http.StatusNotFound, -32001, "Session not found") },
		"400 with odd JSON": func(w http.ResponseWriter) { jsonText(w, http.StatusBadRequest, `{"error":"invalid session"}`) },
		"400 with id null": func(w http.ResponseWriter) {
			jsonText(w, http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Mcp-Session-Id is unknown"},"id":null}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &legacyHTTP{answer: func(w http.ResponseWriter, session string, _ int64) bool {
				if session == "session-1" {
					say(w)
					return true
				}
				return false
			}}
			u := openReady(t, serveHTTP(t, l))
			if got, err := u.callText("t", `{}`); err != nil || got != "done" {
				t.Errorf("got %q, %v", got, err)
			}
			if l.sessions.Load() != 2 || l.calls.Load() != 2 {
				t.Errorf("%d sessions and %d calls, want 2 and 2", l.sessions.Load(), l.calls.Load())
			}
		})
	}
}

func rpcFailure(w http.ResponseWriter, status, code int, message string) {
	jsonText(w, status, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`, code, message))
}

func jsonText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// A server that forgets every session is not asked for ever, and the caller
// hears what is wrong instead of "something went wrong inside genkan".
func TestAServerThatForgetsEverySession(t *testing.T) {
	t.Parallel()
	l := &legacyHTTP{answer: func(w http.ResponseWriter, _ string, _ int64) bool {
		w.WriteHeader(http.StatusNotFound)
		return true
	}}
	u := openReady(t, serveHTTP(t, l))
	_, err := u.callText("t", `{}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "srv", "session"); !e.Unsent {
		t.Error("the server did not look at the call")
	}
	if l.calls.Load() != 2 || l.sessions.Load() != 2 {
		t.Errorf("%d calls in %d sessions, want 2 in 2", l.calls.Load(), l.sessions.Load())
	}
}

// Of a hundred calls that find their session lost, one opens a new one.
func TestOneNewSessionForManyCalls(t *testing.T) {
	t.Parallel()
	callers := int64(testkit.Count(30, 100))
	var arrived atomic.Int64
	all := make(chan struct{})
	l := &legacyHTTP{}
	l.answer = func(w http.ResponseWriter, session string, _ int64) bool {
		if session != "session-1" {
			return false
		}
		// All of them are on their way before the first one is answered.
		if arrived.Add(1) == callers {
			close(all)
		}
		<-all
		w.WriteHeader(http.StatusNotFound)
		return true
	}
	l.list = func(w http.ResponseWriter, session string) bool {
		// Listing finds the session lost too, once the calls do; earlier, it
		// would open the new one under calls that are still to be sent.
		if session == "session-1" && arrived.Load() == callers {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	}
	u := openReady(t, serveHTTP(t, l))
	var calls sync.WaitGroup
	for range callers {
		calls.Go(func() {
			if got, err := u.callText("t", `{}`); err != nil || got != "done" {
				t.Errorf("got %q, %v", got, err)
			}
		})
		// What lists at the same time must not open one of its own.
		calls.Go(func() { _, _ = u.conn.list(context.Background(), gateway.KindTool) })
	}
	calls.Wait()
	if n := l.sessions.Load(); n != 2 {
		t.Errorf("%d sessions, want the first and one new one", n)
	}
	if n := l.calls.Load(); n != 2*callers {
		t.Errorf("%d calls were sent, want %d", n, 2*callers)
	}
}

// When the new session cannot be had either, the call was still not sent.
func TestARenewalThatFails(t *testing.T) {
	t.Parallel()
	l := &legacyHTTP{answer: func(w http.ResponseWriter, _ string, _ int64) bool {
		w.WriteHeader(http.StatusNotFound)
		return true
	}}
	gate := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.calls.Load() > 0 && r.Method == http.MethodPost {
			http.Error(w, "down for maintenance", http.StatusInternalServerError)
			return
		}
		l.ServeHTTP(w, r)
	})
	u := openReady(t, serveHTTP(t, gate))
	_, err := u.callText("t", `{}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "srv", "500"); !e.Unsent {
		t.Error("the server did not look at the call")
	}
}

// A stream of changes that cannot be had for the moment is asked for again.
func TestTheStreamOfChangesIsAskedForAgain(t *testing.T) {
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusConflict} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			l := &legacyHTTP{stream: func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) == 1 {
					w.WriteHeader(status)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}}
			openReady(t, serveHTTP(t, l))
			testkit.Eventually(t, func() bool { return asked.Load() == 2 }, "the stream is asked for again")
		})
	}
	t.Run("but not from a server that has none", func(t *testing.T) {
		t.Parallel()
		l := &legacyHTTP{}
		u := openReady(t, serveHTTP(t, l))
		if got, err := u.callText("t", `{}`); err != nil || got != "done" {
			t.Errorf("got %q, %v", got, err)
		}
	})
}
