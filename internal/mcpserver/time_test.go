package mcpserver

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// These tests are about time, so they run in a bubble where it costs nothing.

// quietHouse has one tool, which answers after a while or when it is given up.
type quietHouse struct{ takes time.Duration }

func (h quietHouse) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	timer := time.NewTimer(h.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		return &gateway.Result{Raw: []byte(`{"content":[]}`)}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (quietHouse) Page(context.Context, gateway.View, gateway.Kind, string) (*catalog.Page, error) {
	return &catalog.Page{Legacy: []byte(`{"tools":[]}`), Modern: []byte(`{"tools":[]}`)}, nil
}

func (quietHouse) Has(view gateway.View) bool                      { return view == gateway.View{} }
func (quietHouse) Describe(gateway.View) Description               { return Description{} }
func (quietHouse) Count(gateway.Identity) error                    { return nil }
func (quietHouse) SetLogLevel(string)                              {}
func (quietHouse) Forget(string)                                   {}
func (quietHouse) ClientNotified(*gateway.Session, string, []byte) {}
func (quietHouse) Tasks(context.Context, *gateway.Call, string) ([]byte, error) {
	return []byte(`{"tasks":[]}`), nil
}

func (quietHouse) Subscribe(context.Context, *gateway.Call, func(string)) (func(), error) {
	return func() {}, nil
}

func newQuietServer(h House) *Server {
	return New(Options{
		House: func() House { return h },
		Admit: func(http.ResponseWriter, *http.Request) (gateway.Identity, bool) {
			return gateway.Identity{ClientID: "t"}, true
		},
		Log: slog.New(slog.DiscardHandler), SessionIdle: time.Hour,
	})
}

func post(s *Server, session, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

const (
	initializeBody = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	pingBody       = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	callBody       = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`
	modernCallBody = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// TestSessionsExpire: an unused session ends after the idle limit. A session with a
// call in flight or an open stream is in use.
func TestSessionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newQuietServer(quietHouse{takes: 5 * time.Hour})
		defer s.Close()
		open := func() string { return post(s, "", initializeBody).Header().Get("Mcp-Session-Id") }
		idle, used, calling, listening := open(), open(), open(), open()
		answered := make(chan *httptest.ResponseRecorder, 1)
		go func() { answered <- post(s, calling, callBody) }()
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r := httptest.NewRequest(http.MethodGet, "/mcp", http.NoBody).WithContext(ctx)
			r.Header.Set("Mcp-Session-Id", listening)
			s.ServeHTTP(httptest.NewRecorder(), r)
		}()
		for range 5 {
			time.Sleep(30 * time.Minute)
			if got := post(s, used, pingBody).Code; got != http.StatusOK {
				t.Errorf("a session that is used ended: %d", got)
			}
		}
		if got := s.Sessions(); got != 3 {
			t.Errorf("there are %d sessions, want 3", got)
		}
		// It is not kept in memory any more, but its id is still good.
		if got := post(s, idle, pingBody).Code; got != http.StatusOK {
			t.Errorf("an idle session was not taken up again: %d", got)
		}
		if got := (<-answered).Code; got != http.StatusOK {
			t.Errorf("a call of five hours was answered with %d", got)
		}
		cancel()
		<-ended
		// After the call and the stream they have the idle limit again.
		for _, session := range []string{calling, listening} {
			if got := post(s, session, pingBody).Code; got != http.StatusOK {
				t.Errorf("a session ended with its call or stream: %d", got)
			}
		}
		time.Sleep(2 * time.Hour)
		if got := s.Sessions(); got != 0 {
			t.Errorf("%d sessions are left", got)
		}
	})
}

// TestKeepAlive: a client that waits sees something every 15 seconds, if it can
// read a stream, and then its answer. That it can come back for it is told to
// those who know of it.
func TestKeepAlive(t *testing.T) {
	const (
		both   = "application/json, text/event-stream"
		result = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
		alive  = ": keep-alive\n\n"
		primed = "id: ID-1-0\nretry: 1000\ndata: \n\n"
		answer = "event: message\nid: ID-1-1\ndata: " + result + "\n\n"
	)
	for _, c := range []struct {
		version, accept string
		takes           time.Duration
		want            string
	}{
		{"2025-11-25", both, 40 * time.Second, primed + alive + alive + answer},
		{"2025-11-25", both, openAfter + 1, primed + answer},
		{"2025-11-25", both, openAfter - 1, result},
		{"2025-11-25", "application/json", 40 * time.Second, result},
		{"2025-06-18", both, 40 * time.Second, alive + alive + answer},
		{"2025-06-18", both, 14 * time.Second, result},
		{gateway.ModernVersion, both, 40 * time.Second, alive + alive + "event: message\ndata: " + result + "\n\n"},
		{gateway.ModernVersion, both, 14 * time.Second, result},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newQuietServer(quietHouse{takes: c.takes})
			defer s.Close()
			body := callBody
			if c.version == gateway.ModernVersion {
				body = modernCallBody
			}
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", c.accept)
			if c.version == gateway.ModernVersion {
				r.Header.Set("Mcp-Protocol-Version", gateway.ModernVersion)
				r.Header.Set("Mcp-Method", "tools/call")
				r.Header.Set("Mcp-Name", "t")
			} else {
				initialize := strings.Replace(initializeBody, "2025-11-25", c.version, 1)
				r.Header.Set("Mcp-Session-Id", post(s, "", initialize).Header().Get("Mcp-Session-Id"))
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			got := w.Body.String()
			s.sessions.each(func(sess *session) { got = strings.ReplaceAll(got, sess.known.Load().ID, "ID") })
			if got != c.want {
				t.Errorf("%s, Accept %s, %s: the answer is %q\nwant %q", c.version, c.accept, c.takes, got, c.want)
			}
		})
	}
}

// TestStdioStop: a request to stop gives calls half a minute, even if the input had
// ended before and a call hangs.
func TestStdioStop(t *testing.T) {
	for name, c := range map[string]struct {
		takes, after time.Duration
		endOfInput   bool
		want         string
	}{
		"a call that finishes":           {20 * time.Second, 20 * time.Second, false, `"result"`},
		"a call that hangs":              {time.Hour, drainTime, false, "genkan is going down"},
		"a call that hangs after an end": {time.Hour, drainTime, true, "genkan is going down"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newQuietServer(quietHouse{takes: c.takes})
				defer s.Close()
				in, write := io.Pipe()
				read, out := io.Pipe()
				ctx, stop := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- s.ServeStdio(ctx, in, out, StdioOptions{}) }()
				answers := make(chan string, 10)
				go func() {
					defer close(answers)
					for lines := bufio.NewScanner(read); lines.Scan(); {
						answers <- lines.Text()
					}
				}()
				if _, err := io.WriteString(write, callBody+"\n"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if c.endOfInput {
					_ = write.Close()
					synctest.Wait()
				}
				begun := time.Now()
				stop()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took != c.after {
					t.Errorf("stopping took %s, want %s", took, c.after)
				}
				if got := <-answers; !strings.Contains(got, c.want) {
					t.Errorf("the answer is %s", got)
				}
				_ = write.Close()
				_ = out.Close()
				synctest.Wait()
			})
		})
	}
}

// TestEveryCodeHasAWireError keeps the table whole: a code that is missing
// would be answered with code 0 and status 0.
func TestEveryCodeHasAWireError(t *testing.T) {
	t.Parallel()
	for _, code := range gateway.Codes() {
		wire, ok := wireErrors[code]
		if !ok || wire.rpc == 0 || wire.status < 200 || http.StatusText(wire.status) == "" {
			t.Errorf("code %s is %+v", code, wire)
		}
		// MCP reserves -32000 to -32099, JSON-RPC the rest down to -32768.
		if wire.rpc <= -32000 && wire.rpc >= -32599 {
			t.Errorf("code %s uses the reserved number %d", code, wire.rpc)
		}
	}
}
