package api_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/api"
	"genkan/internal/api/client"
	"genkan/internal/events"
	"genkan/internal/gateway"
	"genkan/internal/reception"
)

// stage is an API with nothing but events, on connections in memory.
type stage struct {
	t        *testing.T
	hub      *events.Hub
	api      *api.API
	listener *reception.Listener
	server   *http.Server
	passing  sync.WaitGroup
	// counted is how many requests counted against a rate limit, and revoked the token
	// that is no longer valid.
	counted atomic.Int32
	revoked atomic.Value
}

// emptyHouse has no rate limit.
type emptyHouse struct {
	api.House
	counted *atomic.Int32
}

func (h emptyHouse) Count(gateway.Identity) error {
	h.counted.Add(1)
	return nil
}

// onStage runs a test in a bubble. The token is the name of the client.
func onStage(t *testing.T, size int, test func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		s := &stage{t: t, hub: events.NewHub(size), listener: reception.NewListener()}
		s.api = api.New(api.Options{
			House: func() api.House { return emptyHouse{counted: &s.counted} }, Log: slog.New(slog.DiscardHandler), Events: s.hub,
			Admit: func(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool) {
				if !s.recognizes(r) {
					w.WriteHeader(http.StatusUnauthorized)
					_, _ = io.WriteString(w, `{"error":"no","code":"AUTHENTICATION_ERROR"}`)
					return gateway.Identity{}, false
				}
				name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				return gateway.Identity{ClientID: name, Admin: name == "admin"}, true
			},
			Recognizes: s.recognizes,
		})
		mux := http.NewServeMux()
		s.api.Routes(mux)
		s.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.server.Serve(s.listener)
		}()
		test(s)
		s.api.Drain()
		_ = s.server.Close()
		_ = s.listener.Close()
		<-ended
		s.passing.Wait()
	})
}

func (s *stage) recognizes(r *http.Request) bool {
	return r.Header.Get("Authorization") != "Bearer "+toText(s.revoked.Load())
}

func toText(v any) string {
	text, _ := v.(string)
	return text
}

func (s *stage) dial(context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	s.passing.Go(func() { s.listener.Pass(theirs) })
	return ours, nil
}

// follower is an open stream.
type follower struct {
	t    *testing.T
	resp *http.Response
	*bufio.Reader
	leave func()
}

func (s *stage) follow(who, query, lastEventID string) follower {
	s.t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx) }}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/v1/events"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+who)
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	resp, err := transport.RoundTrip(r) //nolint:bodyclose // leave closes it
	if err != nil {
		s.t.Fatal(err)
	}
	return follower{s.t, resp, bufio.NewReader(resp.Body), func() {
		cancel()
		_ = resp.Body.Close()
		transport.CloseIdleConnections()
		synctest.Wait()
	}}
}

// block reads lines up to an empty one.
func (f follower) block() string {
	var text strings.Builder
	for {
		line, err := f.ReadString('\n')
		if err != nil {
			return text.String() + err.Error()
		}
		if line == "\n" {
			return text.String()
		}
		text.WriteString(line)
	}
}

// start reads what comes before the first event, and returns the id.
func (f follower) start() string {
	f.t.Helper()
	retry, position := f.block(), f.block()
	id, ok := strings.CutPrefix(position, "id: ")
	if !ok || !strings.HasPrefix(retry, "retry: ") {
		f.t.Fatalf("the stream begins with %q and %q", retry, position)
	}
	return strings.TrimSpace(id)
}

// want reads an event and looks for parts of it.
func (f follower) want(name string, parts ...string) (id string) {
	f.t.Helper()
	got := f.block()
	fields := strings.Split(got, "\n")
	if len(fields) != 4 || !strings.HasPrefix(fields[0], "id: ") || fields[1] != "event: "+name || !strings.HasPrefix(fields[2], `data: {"id":"`) {
		f.t.Errorf("got %q, want the event %s", got, name)
		return ""
	}
	for _, part := range parts {
		if !strings.Contains(fields[2], part) {
			f.t.Errorf("got %s, which lacks %s", fields[2], part)
		}
	}
	return strings.TrimPrefix(fields[0], "id: ")
}

func call(who string, n int) events.Event {
	return events.Event{Topic: events.Calls, Name: "call.ended", Client: who, Data: map[string]int{"n": n}}
}

func TestEventsReachThoseWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	onStage(t, 100, func(s *stage) {
		alice, bob, admin, tools := s.follow("alice", "", ""), s.follow("bob", "?topics=calls", ""), s.follow("admin", "", ""), s.follow("alice", "?topics=tools,%20config", "")
		for name, value := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "",
		} {
			if got := alice.resp.Header.Get(name); got != value {
				t.Errorf("%s is %q", name, got)
			}
		}
		begin := alice.start()
		for _, f := range []follower{bob, admin, tools} {
			f.start()
		}
		s.hub.Publish(call("alice", 1))
		s.hub.Publish(call("bob", 2))
		s.hub.Publish(events.Event{Topic: events.Tools, Name: "tools.changed", Data: map[string]string{"text": "<a>\n"}})
		alice.want("call.ended", `"client":"alice"`, `"data":{"n":1}`, `"topic":"calls"`, `"time":"`)
		last := alice.want("tools.changed", `"data":{"text":"<a>\n"}`)
		bob.want("call.ended", `"client":"bob"`)
		admin.want("call.ended", `"client":"alice"`)
		admin.want("call.ended", `"client":"bob"`)
		admin.want("tools.changed")
		tools.want("tools.changed")
		// Both ways to resume; the header is newer.
		again := s.follow("alice", "?after="+begin, "")
		again.block()
		again.want("call.ended", `"n":1`)
		late := s.follow("alice", "?after="+begin, last)
		if got := late.start(); got != last {
			t.Errorf("resumed at %s, want %s", got, last)
		}
		other := s.follow("alice", "", "another-7")
		other.block()
		other.want("dropped", `"missed":-1`)
		if n := s.counted.Load(); n != 6 {
			t.Errorf("%d requests were counted; the administrator's is not", n)
		}
		for _, f := range []follower{alice, bob, admin, tools, again, late, other} {
			f.leave()
		}
	})
}

func TestEventStreamsAreRefused(t *testing.T) {
	t.Parallel()
	onStage(t, 100, func(s *stage) {
		wrong := s.follow("alice", "?topics=calls,tolls", "")
		body, _ := io.ReadAll(wrong)
		if wrong.resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), `there is no topic \"tolls\"; the topics are calls, servers, tools, config, progress`) {
			t.Errorf("got %d %s", wrong.resp.StatusCode, body)
		}
		wrong.leave()
		var open []follower
		for range 16 {
			open = append(open, s.follow("alice", "", ""))
		}
		more := s.follow("alice", "", "")
		body, _ = io.ReadAll(more)
		if more.resp.StatusCode != http.StatusTooManyRequests || more.resp.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "client alice has 16 streams") {
			t.Errorf("got %d %s", more.resp.StatusCode, body)
		}
		more.leave()
		open = append(open, s.follow("bob", "", ""))
		open[0].leave()
		open[0] = s.follow("alice", "", "")
		for _, f := range open {
			f.start()
			f.leave()
		}
	})
}

func TestAQuietStreamHasHeartbeats(t *testing.T) {
	t.Parallel()
	onStage(t, 100, func(s *stage) {
		f := s.follow("alice", "", "")
		begin, began := f.start(), time.Now()
		s.hub.Publish(call("bob", 1)) // which alice passes without seeing it
		if got := f.block(); !strings.HasPrefix(got, ": ") || strings.Contains(got, begin) || !strings.Contains(got, "\nid: ") {
			t.Errorf("got %q", got)
		}
		if took := time.Since(began); took != 15*time.Second {
			t.Errorf("it came after %s", took)
		}
		f.leave()
	})
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	onStage(t, 100, func(s *stage) {
		f, quiet := s.follow("alice", "", ""), s.follow("alice", "?topics=config", "")
		f.start()
		quiet.start()
		s.revoked.Store("alice")
		s.hub.Publish(call("alice", 1))
		if got := f.block(); got != "EOF" {
			t.Errorf("got %q", got)
		}
		if got := quiet.block(); got != "EOF" {
			t.Errorf("got %q", got)
		}
		f.leave()
		quiet.leave()
	})
}

func TestStreamsEndWhenTheProcessDrains(t *testing.T) {
	t.Parallel()
	onStage(t, 100, func(s *stage) {
		f := s.follow("alice", "", "")
		f.start()
		began := time.Now()
		s.api.Drain()
		if got := f.block(); got != "EOF" {
			t.Errorf("got %q", got)
		}
		f.leave()
		late := s.follow("alice", "", "")
		if late.resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("got %d", late.resp.StatusCode)
		}
		late.leave()
		if err := s.server.Shutdown(context.Background()); err != nil || time.Since(began) > time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// A client that does not read holds nobody up, and loses its stream. When it comes
// back it is told what it missed.
func TestASlowReaderIsDisconnected(t *testing.T) {
	t.Parallel()
	onStage(t, 100, func(s *stage) {
		slow, fast := s.follow("alice", "", ""), s.follow("bob", "", "")
		last := slow.start()
		fast.start()
		began := time.Now()
		for n := range 200 {
			s.hub.Publish(call("alice", n))
			s.hub.Publish(call("bob", n))
			fast.want("call.ended")
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the other client had to wait: %s", took)
		}
		time.Sleep(time.Minute)
		rest, err := io.ReadAll(slow)
		if err == nil || len(rest) > 70<<10 {
			t.Errorf("the stream goes on: %d bytes, %v", len(rest), err)
		}
		slow.leave()
		back := s.follow("alice", "", last)
		back.block()
		back.want("dropped", `"missed":400`)
		s.hub.Publish(call("alice", 1000))
		back.want("call.ended", `"n":1000`)
		back.leave()
		fast.leave()
	})
}

func TestTheClientFollowsEvents(t *testing.T) {
	t.Parallel()
	onStage(t, 100, func(s *stage) {
		var conns []net.Conn
		var mu sync.Mutex
		broken := errors.New("nobody is there")
		fails := 0
		c := client.NewOver(func(ctx context.Context) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			if fails--; fails >= 0 {
				return nil, &net.OpError{Op: "dial", Err: broken}
			}
			conn, err := s.dial(ctx)
			conns = append(conns, conn)
			return conn, err
		}, "alice")
		defer c.Close()
		breakOff := func(dials int) {
			mu.Lock()
			defer mu.Unlock()
			fails = dials
			_ = conns[len(conns)-1].Close()
		}
		got := make(chan client.Event, 100)
		receive := func(e client.Event) error {
			got <- e
			return nil
		}
		want := func(name, data string) {
			t.Helper()
			if e := <-got; e.Name != name || string(e.Data) != data || e.ID == "" || e.Time.IsZero() {
				t.Errorf("got %s %s, want %s %s", e.Name, e.Data, name, data)
			}
		}
		var told []string
		c.Connection = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, map[bool]string{true: "open", false: "broken"}[err == nil])
		}
		fails = 1
		if err := c.Events(context.Background(), nil, "", receive); gateway.AsError(err).Code != gateway.CodeUnavailable {
			t.Errorf("nobody is there: %v", err)
		}
		if err := c.Events(context.Background(), []string{"nothing"}, "", receive); gateway.AsError(err).Code != gateway.CodeInvalid {
			t.Errorf("a wrong topic: %v", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- c.Events(ctx, []string{"calls"}, "", receive) }()
		synctest.Wait()
		s.hub.Publish(call("alice", 1))
		want("call.ended", `{"n":1}`)
		breakOff(3)
		synctest.Wait()
		s.hub.Publish(call("bob", 2))
		s.hub.Publish(call("alice", 3))
		want("call.ended", `{"n":3}`)
		// It resumes also where it has received no event yet.
		breakOff(0)
		time.Sleep(time.Hour)
		s.hub.Publish(call("alice", 4))
		want("call.ended", `{"n":4}`)
		breakOff(0)
		synctest.Wait()
		for n := range 200 {
			s.hub.Publish(call("alice", n))
		}
		want("dropped", `{"missed":200}`)
		mu.Lock()
		if got := strings.Join(told, " "); got != "broken open broken open broken open" {
			t.Errorf("it tells of its connection: %s", got)
		}
		mu.Unlock()
		cancel()
		if err := <-ended; gateway.AsError(err).Code != gateway.CodeCanceled {
			t.Errorf("canceled: %v", err)
		}
		// The receiver's own error ends it.
		go func() { ended <- c.Events(context.Background(), nil, "", func(client.Event) error { return broken }) }()
		synctest.Wait()
		s.hub.Publish(call("alice", 5))
		if err := <-ended; !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		// So does a token that is revoked.
		go func() { ended <- c.Events(context.Background(), nil, "", receive) }()
		synctest.Wait()
		s.revoked.Store("alice")
		if err := <-ended; gateway.AsError(err).Code != gateway.CodeUnauthenticated {
			t.Errorf("got %v", err)
		}
	})
}
