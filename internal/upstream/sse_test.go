package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func TestSSEStartsListsAndCalls(t *testing.T) {
	t.Parallel()
	s := startSSEServer(t)
	u := openReady(t, s.settings(), withHeader("authorization", "Bearer ours"))
	if st := u.Status(); st.Era != gateway.EraLegacy || st.Version != "2024-11-05" || st.PID != 0 || st.Starts != 1 {
		t.Errorf("status %+v", st)
	}
	if names := u.toolNames(); len(names) != 8 || names[0] != "echo" {
		t.Errorf("tools %v", names)
	}
	u.mustEcho("こんにちは \u0000 \" \\")
	u.mustEcho(strings.Repeat("long ", testkit.Count(1<<17, 1<<20)))
	client := &peer{}
	call := u.newCall(gateway.EraLegacy, "progress", `{}`, `"progressToken":"mine"`)
	call.Peer = client
	if _, err := u.Handle(context.Background(), call); err != nil {
		t.Fatal(err)
	}
	if got := client.heard(); len(got) != 1 || !strings.Contains(got[0], `"progressToken":"mine"`) {
		t.Errorf("the client heard %v", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if got := r.Header.Get("Authorization"); got != "Bearer ours" {
			t.Errorf("%s %s with Authorization %q", r.Method, r.URL, got)
		}
	}
	if r := s.requests[0]; r.Method != http.MethodGet || r.Header.Get("Accept") != "text/event-stream" {
		t.Errorf("it began with %s, Accept %q", r.Method, r.Header.Get("Accept"))
	}
	if strings.Contains(u.log.String(), "Bearer") {
		t.Error("the log has our credentials")
	}
}

// When the configuration does not say which transport a URL has, the server
// shows it.
func TestSSEIsFound(t *testing.T) {
	t.Parallel()
	t.Run("by what it answers to a POST", func(t *testing.T) {
		s := startSSEServer(t)
		u := openReady(t, Settings{URL: s.url()})
		u.mustEcho("found")
		want := []string{"POST /sse", "POST /sse", "GET /sse", "POST /messages"}
		if got := s.asked(); !slices.Equal(got[:4], want) {
			t.Errorf("asked %v, want %v first", got, want)
		}
		// The next time it is not looked for.
		before := len(s.asked())
		s.forget(true)
		u.waitStart(2)
		if got := s.asked()[before:]; got[0] != "GET /sse" {
			t.Errorf("the second time it was asked %v", got)
		}
		u.mustEcho("found again")
	})
	t.Run("not when the configuration says http", func(t *testing.T) {
		s := startSSEServer(t)
		u := open(t, Settings{URL: s.url(), Transport: TransportHTTP})
		testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
		if got := s.asked(); slices.Contains(got, "GET /sse") {
			t.Errorf("asked %v", got)
		}
	})
	refusing := func(t *testing.T, status int, body string, get http.HandlerFunc) (*upstreamTest, *atomic.Int32) {
		t.Helper()
		var gets atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				gets.Add(1)
				get(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(server.Close)
		u := open(t, Settings{URL: server.URL})
		testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
		return u, &gets
	}
	for name, test := range map[string]struct {
		status int
		body   string
		tried  bool
	}{
		"not found":               {http.StatusNotFound, `nothing here`, true},
		"not allowed":             {http.StatusMethodNotAllowed, `no`, true},
		"bad":                     {http.StatusBadRequest, `{"error":"what?"}`, true},
		"an error of the old era": {http.StatusBadRequest, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no session"}}`, true},
		"an error of the new era": {http.StatusBadRequest, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2030-01-01"]}}}`, false},
		"credentials":             {http.StatusUnauthorized, `no`, false},
		"broken":                  {http.StatusInternalServerError, `no`, false},
	} {
		t.Run(name, func(t *testing.T) {
			u, gets := refusing(t, test.status, test.body, http.NotFound)
			if tried := gets.Load() > 0; tried != test.tried {
				t.Errorf("tried with a GET: %v", tried)
			}
			// What the POST was answered with is what is wrong.
			if problem := u.Status().Problem.String(); strings.Contains(problem, "endpoint event") || strings.Contains(problem, "stream") {
				t.Errorf("problem %q", problem)
			}
		})
	}
	t.Run("unless its stream is no such stream", func(t *testing.T) {
		u, gets := refusing(t, http.StatusBadRequest, `no`, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("event: message\ndata: {}\n\n"))
		})
		if problem := u.Status().Problem.String(); gets.Load() == 0 || !strings.Contains(problem, "HTTP status 400") {
			t.Errorf("%d GETs, problem %q", gets.Load(), problem)
		}
	})
	t.Run("a stream that wants credentials says so", func(t *testing.T) {
		u, _ := refusing(t, http.StatusMethodNotAllowed, `no`, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		})
		if problem := u.Status().Problem.String(); !strings.Contains(problem, "credentials") {
			t.Errorf("problem %q", problem)
		}
	})
}

// Where messages are sent to is the server's word, within its own house: our
// credentials for it go with them.
func TestSSEEndpoint(t *testing.T) {
	t.Parallel()
	for name, announce := range map[string]func(s *sseServer, session string) string{
		"a path":          func(_ *sseServer, session string) string { return "/messages?session=" + session },
		"relative":        func(_ *sseServer, session string) string { return "messages?session=" + session },
		"a whole address": func(s *sseServer, session string) string { return s.URL + "/messages?session=" + session },
		"in capital letters": func(s *sseServer, session string) string {
			return strings.Replace(s.URL, "http", "HTTP", 1) + "/messages?session=" + session
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSSEServer(t)
			s.endpoint = func(session string) string { return announce(s, session) }
			openReady(t, s.settings()).mustEcho("there")
		})
	}
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	t.Cleanup(thief.Close)
	for name, test := range map[string]struct {
		announce func(s *sseServer) string
		before   string
		words    string
	}{
		"another port":   {announce: func(*sseServer) string { return thief.URL + "/messages" }, words: "wants messages sent to"},
		"another host":   {announce: func(s *sseServer) string { return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/messages" }, words: "wants messages sent to"},
		"another scheme": {announce: func(s *sseServer) string { return strings.Replace(s.URL, "http:", "https:", 1) + "/messages" }, words: "wants messages sent to"},
		"without scheme": {announce: func(*sseServer) string { return strings.TrimPrefix(thief.URL, "http:") + "/x" }, words: "wants messages sent to"},
		"not an address": {announce: func(*sseServer) string { return "http://[" }, words: "not valid"},
		"a message":      {before: "data: {}\n\n", words: "endpoint event"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSSEServer(t, func(s *sseServer) { s.before = test.before })
			if test.announce != nil {
				s.endpoint = func(string) string { return test.announce(s) }
			}
			u := open(t, s.settings(), withHeader("Authorization", "Bearer ours"))
			testkit.Eventually(t, func() bool { return strings.Contains(u.Status().Problem.String(), test.words) }, "the problem is said: %s", test.words)
			if slices.Contains(s.asked(), "POST /messages") || stolen.Load() > 0 {
				t.Error("something was posted")
			}
		})
	}
	t.Run("never said", func(t *testing.T) {
		s := startSSEServer(t, func(s *sseServer) { s.endpoint = func(string) string { return "" } })
		u := open(t, s.settings(), withStartup(300*time.Millisecond))
		testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
		if problem := u.Status().Problem.String(); !strings.Contains(problem, "startupTimeout") {
			t.Errorf("problem %q", problem)
		}
	})
	t.Run("no stream at all", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
		t.Cleanup(server.Close)
		u := open(t, Settings{URL: server.URL, Transport: TransportSSE})
		testkit.Eventually(t, func() bool { return strings.Contains(u.Status().Problem.String(), "no stream of events") }, "the problem is said")
	})
}

// A hundred callers share the stream, and each gets its own answer, whether the
// server accepts a call at once or only when it is done.
func TestSSENothingCrosses(t *testing.T) {
	t.Parallel()
	for _, whenDone := range []bool{false, true} {
		t.Run(fmt.Sprintf("accepted when done: %v", whenDone), func(t *testing.T) {
			s := startSSEServer(t, func(s *sseServer) { s.whenDone = whenDone })
			u := openReady(t, s.settings())
			var calls sync.WaitGroup
			for i := range testkit.Count(30, 100) {
				calls.Go(func() {
					for round := range 3 {
						text := fmt.Sprintf("%d in round %d", i, round)
						if got, err := u.callText("echo", fmt.Sprintf(`{"text":%q}`, text)); err != nil || got != text {
							t.Errorf("%s: got %q, %v", text, got, err)
						}
					}
				})
			}
			calls.Wait()
		})
	}
}

// Slow calls hold up nobody, and are given up with a word to the server.
func TestSSESlowCalls(t *testing.T) {
	t.Parallel()
	for _, whenDone := range []bool{false, true} {
		t.Run(fmt.Sprintf("accepted when done: %v", whenDone), func(t *testing.T) {
			s := startSSEServer(t, func(s *sseServer) { s.whenDone = whenDone })
			u := openReady(t, s.settings())
			ctx, cancel := context.WithCancel(context.Background())
			var slow sync.WaitGroup
			for range 50 {
				call := u.newCall(gateway.EraLegacy, "sleep", `{"ms":60000}`, "")
				slow.Go(func() {
					if _, err := u.Handle(ctx, call); !errors.Is(err, context.Canceled) {
						t.Errorf("got %v", err)
					}
				})
			}
			testkit.Eventually(t, func() bool { return s.heard("tools/call", "sleep") == 50 }, "all are under way")
			u.mustEcho("past them")
			cancel()
			slow.Wait()
			testkit.Eventually(t, func() bool { return s.heard("notifications/cancelled") == 50 }, "the server is told")
			u.mustEcho("behind them")
		})
	}
}

// What the server asks during a call is put to the one client that has calls
// under way, and to nobody if there are several.
func TestSSEQuestions(t *testing.T) {
	t.Parallel()
	client := func(u *upstreamTest, tool, session string, p *peer) *gateway.Call {
		call := u.newCall(gateway.EraLegacy, tool, `{"ms":60000}`, "")
		call.Session = &gateway.Session{ID: session, Capabilities: []byte(`{"elicitation":{}}`)}
		call.Peer = p
		return call
	}
	for _, whenDone := range []bool{false, true} {
		t.Run(fmt.Sprintf("accepted when done: %v", whenDone), func(t *testing.T) {
			s := startSSEServer(t, func(s *sseServer) { s.whenDone = whenDone })
			u := openReady(t, s.settings())
			p := &peer{reply: func(string, []byte) ([]byte, error) { return []byte(`{"action":"accept","content":{}}`), nil }}
			result, err := u.Handle(context.Background(), client(u, "ask", "one", p))
			if err != nil {
				t.Fatal(err)
			}
			if got := textOf(t, result); got != `{"action":"accept","content":{}}` {
				t.Errorf("the server got %s", got)
			}
			if heard := p.heard(); len(heard) != 1 || !strings.Contains(heard[0], "who?") {
				t.Errorf("the client heard %v", heard)
			}
		})
	}
	t.Run("of nobody in particular", func(t *testing.T) {
		s := startSSEServer(t)
		u := openReady(t, s.settings())
		ctx, cancel := context.WithCancel(context.Background())
		bystander, asker := &peer{}, &peer{}
		var calls sync.WaitGroup
		calls.Go(func() { _, _ = u.Handle(ctx, client(u, "sleep", "other", bystander)) })
		testkit.Eventually(t, func() bool { return s.heard("sleep") == 1 }, "another client has a call under way")
		result, err := u.Handle(ctx, client(u, "ask", "one", asker))
		if err != nil || textOf(t, result) != "" {
			t.Errorf("got %v, %v", result, err)
		}
		if n := len(bystander.heard()) + len(asker.heard()); n != 0 {
			t.Errorf("%d questions were put", n)
		}
		testkit.Eventually(t, func() bool { return s.heard(`"id":"q1"`, "error") == 1 }, "the server is told that nobody can be asked")
		cancel()
		calls.Wait()
	})
}

func TestSSEHearsOfChanges(t *testing.T) {
	t.Parallel()
	s := startSSEServer(t)
	u := openReady(t, s.settings())
	if _, err := u.callText("add", `{"name":"fresh"}`); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { return slices.Contains(u.toolNames(), "fresh") }, "the new tool is listed")
}

// A stream that ends ends the connection. Whoever waited is told, the server is
// connected to again, its lists are read and what is watched is asked for anew.
func TestSSEBreaks(t *testing.T) {
	t.Parallel()
	s := startSSEServer(t)
	u := openReady(t, s.settings())
	updated := make(chan string, 10)
	stop, err := u.Subscribe(context.Background(), &gateway.Call{Kind: gateway.KindResource, Name: "file:///a"}, func(uri string) { updated <- uri })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := u.callText("touch", `{"uri":"file:///a"}`); err != nil || <-updated != "file:///a" {
		t.Fatal("no word of the change", err)
	}
	_, err = u.callText("cut", `{}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "srv", "stream of its answers", "may or may not"); e.Unsent {
		t.Error("the call was sent")
	}
	s.mu.Lock()
	s.tools = append(s.tools, "new")
	s.mu.Unlock()
	u.waitStart(2)
	if !slices.Contains(u.toolNames(), "new") {
		t.Errorf("tools %v", u.toolNames())
	}
	testkit.Eventually(t, func() bool { return s.heard("resources/subscribe") == 2 }, "the resource is watched again")
	if uri := <-updated; uri != "file:///a" {
		t.Error("it may have changed meanwhile, and nobody was told")
	}
	u.mustEcho("back")
}

// A server that was restarted behind a proxy does not know the session, though
// the stream is still open: the call was not looked at, and the connection is
// made anew.
func TestSSEForgottenSession(t *testing.T) {
	t.Parallel()
	s := startSSEServer(t)
	u := openReady(t, s.settings())
	var streams []*sseSession
	s.each(func(session *sseSession) { streams = append(streams, session) })
	s.forget(false)
	_, err := u.callText("echo", `{"text":"x"}`)
	if e := wantError(t, err, gateway.CodeUnavailable, "forgotten", "not sent"); !e.Unsent {
		t.Error("the call can be sent again")
	}
	u.waitStart(2)
	u.mustEcho("known again")
	for _, session := range streams {
		session.close()
	}
	// One that never knows a session says what may be the reason.
	never := startSSEServer(t, func(s *sseServer) { s.endpoint = func(string) string { return "/messages?session=nobody" } })
	down := open(t, never.settings())
	testkit.Eventually(t, func() bool { return strings.Contains(down.Status().Problem.String(), "share their sessions") }, "the reason is said")
}

// A message that the server does not take fails the call that it was, and
// nobody else.
func TestSSERefusedMessages(t *testing.T) {
	t.Parallel()
	for status, words := range map[int]string{
		http.StatusTooManyRequests:       "busy",
		http.StatusUnauthorized:          "credentials",
		http.StatusInternalServerError:   "HTTP status 500",
		http.StatusRequestEntityTooLarge: "HTTP status 413",
		http.StatusTemporaryRedirect:     "redirects",
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			s := startSSEServer(t, func(s *sseServer) {
				s.accept = func(w http.ResponseWriter, _ *http.Request, m sseMessage) bool {
					if m.Params.Arguments["text"] == "refuse" {
						w.Header().Set("Location", "/elsewhere")
						w.WriteHeader(status)
						return false
					}
					return true
				}
			})
			u := openReady(t, s.settings())
			_, err := u.callText("echo", `{"text":"refuse"}`)
			wantError(t, err, gateway.AsError(err).Code, "srv", words)
			u.mustEcho("the next one")
			if st := u.Status(); st.Starts != 1 {
				t.Errorf("the connection was given up: %+v", st)
			}
		})
	}
}

// An answer that is too large, or is none, fails its call and nobody else. It is
// not parallel, because it would slow others down.
func TestSSEBadAnswers(t *testing.T) {
	s := startSSEServer(t)
	u := openReady(t, s.settings())
	_, err := u.callText("huge", `{}`)
	wantError(t, err, gateway.CodeUnavailable, "srv", "larger than")
	s.each(func(session *sseSession) { session.say("noise") })
	u.mustEcho("behind it")
	if st := u.Status(); st.Starts != 1 || !strings.Contains(st.Output, "noise") {
		t.Errorf("status %+v", st)
	}
}

// A server that goes away is found again.
func TestSSEServerGone(t *testing.T) {
	t.Parallel()
	s := startSSEServer(t)
	u := openReady(t, s.settings())
	s.CloseClientConnections()
	s.forget(true)
	s.Close()
	testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
	_, err := u.callText("echo", `{"text":"x"}`)
	wantError(t, err, gateway.CodeUnavailable, "srv is down")
}
