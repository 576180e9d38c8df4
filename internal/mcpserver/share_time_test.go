package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// largeHouse answers calls and lists with a large text. What it answers a call with
// counts, as execute sees to it.
type largeHouse struct {
	quietHouse
	handled *atomic.Int64
}

const largeSize = 32 << 10

var largePage = &catalog.Page{Legacy: []byte(`{"tools":["` + strings.Repeat("x", largeSize) + `"]}`)}

func (h largeHouse) Handle(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
	h.handled.Add(1)
	if err := call.ReserveAnswer(largeSize); err != nil {
		return nil, err
	}
	return &gateway.Result{Raw: []byte(`{"content":["` + strings.Repeat("x", largeSize) + `"]}`)}, nil
}

func (largeHouse) Page(context.Context, gateway.View, gateway.Kind, string) (*catalog.Page, error) {
	return largePage, nil
}

// newSharedServer knows its clients by the Authorization header.
func newSharedServer(h House, budget *gateway.Shares, limits Limits) *Server {
	return New(Options{
		House: func() House { return h },
		Admit: func(_ http.ResponseWriter, r *http.Request) (gateway.Identity, bool) {
			return gateway.Identity{ClientID: r.Header.Get("Authorization")}, true
		},
		Log: slog.New(slog.DiscardHandler), SessionIdle: time.Hour, Budget: budget, Limits: limits,
	})
}

func postAs(s *Server, w http.ResponseWriter, client, session, body string) {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", client)
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	s.ServeHTTP(w, r)
}

func openAs(s *Server, client, version string) (session string) {
	w := httptest.NewRecorder()
	postAs(s, w, client, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+version+`"}}`)
	return w.Header().Get("Mcp-Session-Id")
}

func arrayOf(n int, method string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"name":"t"}}`, i, method)
	}
	return "[" + b.String()[1:] + "]"
}

// unread is a response without a reader until it is opened.
type unread struct {
	http.ResponseWriter
	began  func()
	opened chan struct{}
}

func (w *unread) Write(p []byte) (int, error) {
	w.began()
	<-w.opened
	return w.ResponseWriter.Write(p)
}

// A batch takes the memory of its answers until they are read, never more than
// its client's share, and what the share does not allow for is said.
func TestBatchesTakeABoundedAmountOfMemory(t *testing.T) {
	t.Parallel()
	const memory, messages = 16 * largeSize, 60
	for method, check := range map[string]func(t *testing.T, results, refused, handled int, peak int64){
		// All clients share the bytes of a list.
		"tools/list": func(t *testing.T, results, refused, _ int, peak int64) {
			if results != messages || refused != 0 || peak > 2*largeSize { // one of them is another client's
				t.Errorf("%d lists and %d errors; %d bytes were taken", results, refused, peak)
			}
		},
		"tools/call": func(t *testing.T, results, refused, handled int, peak int64) {
			if results < 8 || results > 12 || results+refused != messages || peak > memory*3/4+largeSize {
				t.Errorf("%d results and %d errors; %d bytes were taken", results, refused, peak)
			}
			if handled > results+batchConcurrency {
				t.Errorf("%d calls were made for %d answers", handled, results)
			}
		},
	} {
		t.Run(method, func(t *testing.T) {
			budget, handled := gateway.NewShares(memory), &atomic.Int64{}
			s := newSharedServer(largeHouse{handled: handled}, budget, Limits{})
			defer s.Close()
			session := openAs(s, "greedy", "2025-03-26")
			writing := make(chan struct{})
			whole := httptest.NewRecorder()
			w := &unread{ResponseWriter: whole, began: sync.OnceFunc(func() { close(writing) }), opened: make(chan struct{})}
			var posted sync.WaitGroup
			posted.Go(func() { postAs(s, w, "greedy", session, arrayOf(messages, method)) })
			<-writing
			made := int(handled.Load())
			// Another client still has its share, also for large answers.
			other := openAs(s, "other", "2025-03-26")
			for range 10 {
				got := httptest.NewRecorder()
				postAs(s, got, "other", other, callBody)
				if got.Code != http.StatusOK || got.Body.Len() < largeSize {
					t.Errorf("another client: %d %.300s", got.Code, got.Body)
				}
			}
			close(w.opened)
			posted.Wait()
			var answers []struct {
				ID     int             `json:"id"`
				Result json.RawMessage `json:"result"`
				Error  *struct {
					Code    int    `json:"code"`
					Message string `json:"message"`
				} `json:"error"`
			}
			if err := json.Unmarshal(whole.Body.Bytes(), &answers); err != nil || len(answers) != messages {
				t.Fatalf("%d answers: %v, %.300s", len(answers), err, whole.Body)
			}
			results, refused := 0, 0
			for i, a := range answers {
				switch {
				case a.ID != i:
					t.Errorf("answer %d is to message %d", i, a.ID)
				case a.Error == nil && len(a.Result) > largeSize:
					results++
				case a.Error != nil && a.Error.Code == 429 && strings.Contains(a.Error.Message, "carried out"):
					refused++
				case strings.Contains(string(a.Result), `"isError":true`) && strings.Contains(string(a.Result), "carried out"):
					refused++
				default:
					t.Errorf("message %d was answered with %+v", i, a.Error)
				}
			}
			check(t, results, refused, made, budget.Peak())
			if budget.Used() != 0 {
				t.Errorf("%d bytes are left", budget.Used())
			}
		})
	}
}

// A client that leaks sessions loses its longest idle one for each new one, and
// none that has a call or a stream.
func TestLeakedSessionsEndLongestIdleFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSharedServer(quietHouse{takes: 30 * time.Minute}, nil, Limits{Sessions: 8})
		defer s.Close()
		later := func() { time.Sleep(time.Second) }
		listed := func(id string) bool { return s.sessions.byID[id] != nil }
		var ids []string
		for range 6 { // three quarters of eight
			ids = append(ids, openAs(s, "leaky", "2025-06-18"))
			later()
		}
		other := openAs(s, "other", "2025-06-18")
		var calls sync.WaitGroup
		calls.Go(func() { postAs(s, httptest.NewRecorder(), "leaky", ids[1], callBody) })
		ctx, cancel := context.WithCancel(t.Context())
		calls.Go(func() {
			r := httptest.NewRequest(http.MethodGet, "/mcp", http.NoBody).WithContext(ctx)
			r.Header.Set("Mcp-Session-Id", ids[2])
			r.Header.Set("Authorization", "leaky")
			s.ServeHTTP(httptest.NewRecorder(), r)
		})
		synctest.Wait()
		later()
		postAs(s, httptest.NewRecorder(), "leaky", ids[0], pingBody) // it is used
		later()
		fresh := openAs(s, "leaky", "2025-06-18")
		// The other client's session has made the share smaller by one or two.
		for i, want := range map[int]bool{0: true, 1: true, 2: true, 3: false} {
			if listed(ids[i]) != want {
				t.Errorf("session %d is there: %t", i, listed(ids[i]))
			}
		}
		if !listed(fresh) || !listed(other) {
			t.Error("the new session or another client's is not there")
		}
		// None but those in use are left to end.
		later()
		for range 20 {
			openAs(s, "leaky", "2025-06-18")
			later()
		}
		if !listed(ids[1]) || !listed(ids[2]) || listed(ids[0]) || !listed(other) {
			t.Error("a session that is in use was ended, or an idle one not")
		}
		// One that was ended is taken up again when its client comes back.
		w := httptest.NewRecorder()
		postAs(s, w, "leaky", ids[3], pingBody)
		if w.Code != http.StatusOK || !listed(ids[3]) {
			t.Errorf("a session that was ended: %d %s", w.Code, w.Body)
		}
		cancel()
		calls.Wait()
	})
}

// When all sessions of a client are in use, a new one is refused, and it is told
// so.
func TestSessionsInUseAreNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSharedServer(quietHouse{takes: 30 * time.Minute}, nil, Limits{Sessions: 8})
		defer s.Close()
		var calls sync.WaitGroup
		for range 6 {
			id := openAs(s, "busy", "2025-06-18")
			calls.Go(func() {
				w := httptest.NewRecorder()
				postAs(s, w, "busy", id, callBody)
				if w.Code != http.StatusOK {
					t.Errorf("its call was answered with %d %s", w.Code, w.Body)
				}
			})
			synctest.Wait()
		}
		w := httptest.NewRecorder()
		postAs(s, w, "busy", "", initializeBody)
		if w.Code != http.StatusTooManyRequests {
			t.Errorf("one too many: %d %s", w.Code, w.Body)
		}
		if openAs(s, "other", "2025-06-18") == "" {
			t.Error("another client has no session")
		}
		calls.Wait()
		if openAs(s, "busy", "2025-06-18") == "" {
			t.Error("with idle ones to end, there is no new session")
		}
	})
}

// Messages that wait for a client that does not read count against its share, and
// are released however the client ends.
func TestWhatWaitsForAClientCounts(t *testing.T) {
	t.Parallel()
	message := bytes.Repeat([]byte("x"), 1000)
	for name, run := range map[string]func(t *testing.T, s *Server, budget *gateway.Shares){
		"a session without a stream": func(t *testing.T, s *Server, budget *gateway.Shares) {
			sess := newSession(gateway.Identity{ClientID: "t"}, s.opt.Budget, gateway.View{}, "2025-06-18", nil, time.Minute)
			for range 10 {
				sessionPeer{sess}.Notify("notifications/message", message)
			}
			if budget.Held("t") < 10_000 {
				t.Errorf("%d bytes are counted", budget.Held("t"))
			}
			sess.end()
		},
		"a stream that comes later, and goes": func(t *testing.T, s *Server, budget *gateway.Shares) {
			sess := newSession(gateway.Identity{ClientID: "t"}, s.opt.Budget, gateway.View{}, "2025-06-18", nil, time.Minute)
			sessionPeer{sess}.Notify("notifications/message", message)
			st := sess.open()
			sessionPeer{sess}.Notify("notifications/message", message)
			if n := len(st.take(nil, everyKind)); n != 2 || budget.Held("t") < 2000 {
				t.Errorf("%d messages, %d bytes", n, budget.Held("t"))
			}
			st.sent()
			if budget.Held("t") != 0 {
				t.Errorf("%d bytes are counted for what was sent", budget.Held("t"))
			}
			sessionPeer{sess}.Notify("notifications/message", message)
			sess.shut(st)
			if budget.Held("t") < 1000 {
				t.Error("what was not sent waits for the next stream, and is not counted")
			}
			sess.end()
		},
		"a subscription": func(t *testing.T, s *Server, budget *gateway.Shares) {
			l := newListener(gateway.View{}, s.account("t"))
			leave, _ := s.join(l)
			for l.push(message) {
			}
			if held := budget.Held("t"); held < 700_000 || held > 750_000 {
				t.Errorf("%d bytes wait, of 750,000 that the client may have", held)
			}
			leave()
			if l.push(message) {
				t.Error("it takes more messages after its end")
			}
		},
		"the old transport": func(t *testing.T, s *Server, budget *gateway.Shares) {
			e := newEvents(s.account("t"))
			for e.offer(message) {
			}
			if budget.Held("t") < maxBacklog-2000 {
				t.Errorf("%d bytes are counted", budget.Held("t"))
			}
			if err := e.flush(httptest.NewRecorder(), false); err != nil || budget.Held("t") != 0 {
				t.Errorf("%d bytes are left: %v", budget.Held("t"), err)
			}
			e.offer(message)
			e.close()
		},
		"the stream of a call": func(t *testing.T, s *Server, budget *gateway.Shares) {
			sess := newSession(gateway.Identity{ClientID: "t"}, s.opt.Budget, gateway.View{}, "2025-11-25", nil, time.Minute)
			j, _ := sess.newJournal(s, func(error) {})
			for range 1000 { // more than are kept
				j.add(message, false)
			}
			if held := budget.Held("t"); held < maxBacklog/2 || held > maxBacklog {
				t.Errorf("%d bytes are counted", held)
			}
			j.abandon()
		},
	} {
		t.Run(name, func(t *testing.T) {
			budget := gateway.NewShares(1_000_000)
			s := newSharedServer(quietHouse{}, budget, Limits{})
			defer s.Close()
			run(t, s, budget)
			if budget.Used() != 0 {
				t.Errorf("%d bytes are left", budget.Used())
			}
		})
	}
}

// The memory that a session keeps for its client is bounded.
func TestWhatASessionKeepsIsBounded(t *testing.T) {
	t.Parallel()
	budget := gateway.NewShares(16 << 20)
	s := newSharedServer(quietHouse{}, budget, Limits{})
	defer s.Close()
	w := httptest.NewRecorder()
	postAs(s, w, "t", "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{},"experimental":{"x":"`+strings.Repeat("x", 5000)+`"}}}}`)
	id := w.Header().Get("Mcp-Session-Id")
	if kept := string(s.sessions.byID[id].known.Load().Capabilities); kept != `{"sampling":{}}` {
		t.Errorf("of its capabilities are kept %.300s", kept)
	}
	subscribe := func(uri string) int {
		w := httptest.NewRecorder()
		postAs(s, w, "t", id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`)
		return bytes.Count(w.Body.Bytes(), []byte(`"error"`))
	}
	if subscribe(strings.Repeat("x", longestName+1)) != 1 {
		t.Error("a resource with a name that is too long can be watched")
	}
	watched := 0
	for i := range testkit.Count(250, mostSubscriptions) {
		watched += 1 - subscribe(fmt.Sprintf("%04d%s", i, strings.Repeat("x", 4000)))
	}
	if held := budget.Held("t"); watched < 100 || watched > 200 || held < 12_000_000 {
		t.Errorf("%d resources are watched, for which %d bytes are counted", watched, held)
	}
	r := httptest.NewRequest(http.MethodDelete, "/mcp", http.NoBody)
	r.Header.Set("Mcp-Session-Id", id)
	r.Header.Set("Authorization", "t")
	s.ServeHTTP(httptest.NewRecorder(), r)
	if budget.Used() != 0 {
		t.Errorf("%d bytes are left", budget.Used())
	}
}

// stillOpen is a client's end of a stream: told is closed when something has been
// written to it.
type stillOpen struct {
	*httptest.ResponseRecorder
	once sync.Once
	told chan struct{}
}

func (w *stillOpen) Write(p []byte) (int, error) {
	n, err := w.ResponseRecorder.Write(p)
	w.once.Do(func() { close(w.told) })
	return n, err
}

// streamOf opens a stream, calls during when it has begun or was refused, and
// closes it.
func streamOf(t *testing.T, handler http.Handler, r *http.Request, during func(w *httptest.ResponseRecorder)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &stillOpen{ResponseRecorder: httptest.NewRecorder(), told: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		handler.ServeHTTP(w, r.WithContext(ctx))
	}()
	<-w.told
	during(w.ResponseRecorder)
	cancel()
	<-ended
}

func listenTo(names ...string) *http.Request {
	list, _ := json.Marshal(append([]string{}, names...))
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":`+string(list)+
		`},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Authorization": {"t"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}
	return r
}

// TestWhatAStreamWatchesCounts with all that is kept for it, and has bounds.
func TestWhatAStreamWatchesCounts(t *testing.T) {
	t.Parallel()
	uri := strings.Repeat("x", 8000)
	budget := gateway.NewShares(16 << 20)
	s := newSharedServer(quietHouse{}, budget, Limits{})
	defer s.Close()
	streamOf(t, s, listenTo(slices.Repeat([]string{uri}, 30)...), func(w *httptest.ResponseRecorder) {
		if held := budget.Held("t"); w.Code != http.StatusOK || held < 30*100_000 {
			t.Errorf("status %d, %d bytes are counted", w.Code, held)
		}
	})
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"too many bytes": {slices.Repeat([]string{uri}, 33), "262144 bytes in all"},
		"too many":       {slices.Repeat([]string{"x"}, mostSubscriptions+1), "at most 1000 URIs"},
		"no memory":      {slices.Repeat([]string{"x"}, 300), "too many large calls"},
	} {
		streamOf(t, s, listenTo(c.names...), func(w *httptest.ResponseRecorder) {
			if !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s: %.300s", name, w.Body)
			}
		})
	}
	if budget.Used() != 0 || s.streams.Used() != 0 {
		t.Errorf("%d bytes and %d streams are left", budget.Used(), s.streams.Used())
	}
}

// TestTheHeadersOfAStreamCount: they are kept for as long as it is open.
func TestTheHeadersOfAStreamCount(t *testing.T) {
	t.Parallel()
	budget := gateway.NewShares(100_000)
	s := newSharedServer(quietHouse{}, budget, Limits{})
	defer s.Close()
	id := openAs(s, "t", "2025-06-18")
	before := budget.Used()
	for name, c := range map[string]struct {
		handler http.Handler
		request func() *http.Request
	}{
		"sse":    {s.SSE(), func() *http.Request { return httptest.NewRequest(http.MethodGet, "/sse", http.NoBody) }},
		"listen": {s, func() *http.Request { return listenTo() }},
		"legacy": {s, func() *http.Request { return httptest.NewRequest(http.MethodGet, "/mcp", http.NoBody) }},
	} {
		for size, refused := range map[int]bool{10_000: false, 60_000: true} {
			if name == "legacy" && !refused {
				continue // it says nothing at first
			}
			r := c.request()
			r.Header.Set("Authorization", "t")
			r.Header.Set("X-Large", strings.Repeat("x", size))
			if name == "legacy" {
				r.Header.Set("Mcp-Session-Id", id)
			}
			streamOf(t, c.handler, r, func(w *httptest.ResponseRecorder) {
				if held := budget.Used() - before; (w.Code != http.StatusOK) != refused || !refused && held < int64(size) {
					t.Errorf("%s with %d bytes: status %d, %d bytes are counted", name, size, w.Code, held)
				}
			})
		}
	}
	if budget.Used() != before {
		t.Errorf("%d bytes are left", budget.Used()-before)
	}
}

// countingHouse refuses what counts against the rate limit.
type countingHouse struct{ quietHouse }

func (countingHouse) Count(gateway.Identity) error {
	return gateway.Errorf(gateway.CodeLimited, "too often")
}

// TestSubscriptionsCountAgainstTheRateLimit, and so do streams of the old
// transport.
func TestSubscriptionsCountAgainstTheRateLimit(t *testing.T) {
	t.Parallel()
	s := newSharedServer(nil, nil, Limits{})
	defer s.Close()
	limited := false
	s.opt.House = func() House {
		if limited {
			return countingHouse{}
		}
		return quietHouse{}
	}
	id := openAs(s, "t", "2025-06-18")
	limited = true
	w := httptest.NewRecorder()
	postAs(s, w, "t", id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x"}}`)
	if !strings.Contains(w.Body.String(), "too often") {
		t.Errorf("resources/subscribe: %s", w.Body)
	}
	stream := httptest.NewRequest(http.MethodGet, "/sse", http.NoBody)
	stream.Header.Set("Authorization", "t")
	for name, c := range map[string]struct {
		handler http.Handler
		request *http.Request
	}{"sse": {s.SSE(), stream}, "listen": {s, listenTo("x")}} {
		streamOf(t, c.handler, c.request, func(w *httptest.ResponseRecorder) {
			if !strings.Contains(w.Body.String(), "too often") {
				t.Errorf("%s: %s", name, w.Body)
			}
		})
	}
}
