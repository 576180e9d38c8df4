package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// workingHouse has a tool that says what it does, takes its time, and counts
// how its calls end.
type workingHouse struct {
	quietHouse
	steps   int
	ended   *atomic.Int64
	lastErr *atomic.Pointer[error]
}

func newWorkingServer(steps int, takes time.Duration) (*Server, workingHouse) {
	h := workingHouse{quietHouse{takes}, steps, &atomic.Int64{}, &atomic.Pointer[error]{}}
	return newQuietServer(h), h
}

func (h workingHouse) Handle(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
	defer h.ended.Add(1)
	for i := range h.steps {
		call.Peer.Notify("notifications/progress", fmt.Appendf(nil, `{"progress":%d,"message":"%s"}`, i+1, strings.Repeat("x", 500)))
	}
	result, err := h.quietHouse.Handle(ctx, call)
	if err != nil {
		h.lastErr.Store(&err)
	}
	return result, err
}

func (h workingHouse) wantEnd(t *testing.T, code gateway.Code) {
	t.Helper()
	synctest.Wait()
	if err := h.lastErr.Load(); err == nil || gateway.AsError(*err).Code != code {
		t.Errorf("the call ended with %v, want %s", err, code)
	}
}

// sent is what was written to a connection, by event.
type sent struct{ id, data string }

func eventsOf(body string) (events []sent) {
	for block := range strings.SplitSeq(body, "\n\n") {
		var e sent
		for line := range strings.SplitSeq(block, "\n") {
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				e.id = id
			} else if data, ok := strings.CutPrefix(line, "data: "); ok {
				e.data = data
			}
		}
		if e.id != "" {
			events = append(events, e)
		}
	}
	return events
}

// callAndDrop makes a call whose connection breaks after a while, and returns
// what came until then. The handler goes on; the bubble ends only after it.
func callAndDrop(s *Server, session string, id int, after time.Duration) []sent {
	ctx, breakOff := context.WithCancel(context.Background())
	body := strings.Replace(callBody, `"id":1`, fmt.Sprintf(`"id":%d`, id), 1)
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body)).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Session-Id", session)
	w := httptest.NewRecorder()
	go s.ServeHTTP(w, r)
	time.Sleep(after)
	breakOff()
	synctest.Wait()
	return eventsOf(w.Body.String())
}

func comeBack(s *Server, session, lastEvent string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/mcp", http.NoBody)
	r.Header.Set("Mcp-Session-Id", session)
	r.Header.Set("Last-Event-ID", lastEvent)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func open(s *Server) string { return post(s, "", initializeBody).Header().Get("Mcp-Session-Id") }

func journalsOf(s *Server) (all []*journal) {
	s.sessions.each(func(sess *session) { all = slices.AppendSeq(all, maps.Values(sess.journals)) })
	return all
}

// wantNothingLeft: no stream is kept, and no byte is counted.
func wantNothingLeft(t *testing.T, s *Server) {
	t.Helper()
	synctest.Wait()
	journals := len(journalsOf(s))
	if journals != 0 || s.Orphans() != 0 || s.undelivered.Used() != 0 || s.delivered.Used() != 0 {
		t.Errorf("%d streams, %d orphans, %d and %d bytes are left", journals, s.Orphans(), s.undelivered.Used(), s.delivered.Used())
	}
}

// TestAStreamIsWaitedFor: a client may come back for five minutes. Then the call
// ends that is still under way, and nothing of it is left.
func TestAStreamIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newWorkingServer(1, time.Hour)
		defer s.Close()
		session := open(s)
		seen := callAndDrop(s, session, 1, time.Second)
		if len(seen) != 2 || seen[0].data != "" || !strings.Contains(seen[1].data, `"progress":1`) {
			t.Fatalf("the stream began with %v", seen)
		}
		time.Sleep(resumePatience - time.Second)
		synctest.Wait()
		if s.Orphans() != 1 || h.ended.Load() != 0 {
			t.Error("the call has ended before its time")
		}
		// A client that comes back has the full time again.
		ctx, breakOff := context.WithCancel(context.Background())
		r := httptest.NewRequest(http.MethodGet, "/mcp", http.NoBody).WithContext(ctx)
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Last-Event-ID", seen[0].id)
		w := httptest.NewRecorder()
		go s.ServeHTTP(w, r)
		time.Sleep(resumePatience)
		breakOff()
		synctest.Wait()
		if again := eventsOf(w.Body.String()); len(again) != 2 || again[0].id != seen[0].id || again[1] != seen[1] {
			t.Errorf("it was resumed with %v", again)
		}
		time.Sleep(resumePatience - time.Second)
		synctest.Wait()
		if s.Orphans() != 1 || h.ended.Load() != 0 {
			t.Error("the call has ended before its time")
		}
		time.Sleep(2 * time.Second)
		h.wantEnd(t, gateway.CodeTimeout)
		wantNothingLeft(t, s)
		if got := comeBack(s, session, seen[1].id); got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), "no stream to resume") {
			t.Errorf("too late: %d %s", got.Code, got.Body)
		}
	})
}

// TestAnAnswerIsKept for who was not there when it came; and for a moment when
// it seems to have been delivered.
func TestAnAnswerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newWorkingServer(1, time.Minute)
		defer s.Close()
		session := open(s)
		seen := callAndDrop(s, session, 1, time.Second)
		time.Sleep(3 * time.Minute)
		if h.ended.Load() != 1 || s.Orphans() != 1 || s.undelivered.Used() == 0 {
			t.Fatalf("%d calls have ended, %d orphans", h.ended.Load(), s.Orphans())
		}
		for range 2 {
			w := comeBack(s, session, seen[1].id)
			if got := eventsOf(w.Body.String()); w.Code != http.StatusOK || len(got) != 2 || !strings.Contains(got[1].data, `"result"`) {
				t.Errorf("resumed: %d %s", w.Code, w.Body)
			}
			time.Sleep(deliveredFor - time.Second)
		}
		time.Sleep(2 * time.Second)
		wantNothingLeft(t, s)

		// The same for a connection that took all of it and may have been broken.
		if w := post(s, session, callBody); !strings.Contains(w.Body.String(), `"result"`) {
			t.Fatalf("answered %s", w.Body)
		} else {
			seen = eventsOf(w.Body.String())
		}
		if got := eventsOf(comeBack(s, session, seen[1].id).Body.String()); len(got) != 2 || got[1] != seen[2] {
			t.Errorf("resumed with %v, want %v", got, seen[2])
		}
		time.Sleep(deliveredFor + time.Second)
		wantNothingLeft(t, s)
	})
}

// TestOnlySoManyStreamsAreWaitedFor: the oldest is given up for the newest, and
// any that was delivered before it.
func TestOnlySoManyStreamsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newWorkingServer(0, time.Hour)
		defer s.Close()
		session := open(s)
		first := callAndDrop(s, session, 0, time.Second)
		for i := range mostOrphans {
			if h.ended.Load() != 0 {
				t.Fatalf("a call was given up for the %d. other", i)
			}
			callAndDrop(s, session, i+1, time.Second)
		}
		h.wantEnd(t, gateway.CodeLimited)
		if h.ended.Load() != 1 || s.Orphans() != mostOrphans {
			t.Errorf("%d calls have ended, %d are waited for", h.ended.Load(), s.Orphans())
		}
		if got := comeBack(s, session, first[0].id).Code; got != http.StatusBadRequest {
			t.Errorf("the oldest is resumed with %d", got)
		}
		// Another session has its own.
		callAndDrop(s, open(s), 1, time.Second)
		if h.ended.Load() != 1 {
			t.Error("a call was given up for one of another session")
		}
	})
}

// TestOnlySoMuchIsKept of what a server says: the newest, in order, and the
// answer.
func TestOnlySoMuchIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const steps = 1_000 // twice what is kept
		s, _ := newWorkingServer(steps, time.Minute)
		defer s.Close()
		session := open(s)
		seen := callAndDrop(s, session, 1, time.Second)
		for _, j := range journalsOf(s) {
			if j.size > maxBacklog || j.droppable > mostKept || j.droppable != len(j.events) {
				t.Errorf("%d events of %d bytes are kept", len(j.events), j.size)
			}
		}
		got := eventsOf(comeBack(s, session, seen[0].id).Body.String())[1:]
		if len(got) < 100 || !strings.Contains(got[len(got)-1].data, `"result"`) {
			t.Fatalf("resumed with %d events", len(got))
		}
		for i, e := range got[:len(got)-1] {
			if want := fmt.Sprintf(`"progress":%d,`, steps-len(got)+2+i); !strings.Contains(e.data, want) {
				t.Fatalf("event %d is %s, want %s", i, e.data, want)
			}
		}
	})
}

// TestStreamsEndWithTheirSession, and with genkan.
func TestStreamsEndWithTheirSession(t *testing.T) {
	for name, end := range map[string]func(s *Server, session string){
		"DELETE": func(s *Server, session string) {
			r := httptest.NewRequest(http.MethodDelete, "/mcp", http.NoBody)
			r.Header.Set("Mcp-Session-Id", session)
			s.ServeHTTP(httptest.NewRecorder(), r)
		},
		"the end": func(s *Server, _ string) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, h := newWorkingServer(1, time.Minute)
				defer s.Close()
				session := open(s)
				callAndDrop(s, session, 1, time.Second) // which has ended
				time.Sleep(2 * time.Minute)
				seen := callAndDrop(s, session, 2, time.Second) // which has not
				if s.Orphans() != 2 || h.ended.Load() != 1 {
					t.Fatalf("%d orphans, %d calls have ended", s.Orphans(), h.ended.Load())
				}
				end(s, session)
				synctest.Wait()
				if h.ended.Load() != 2 {
					t.Error("the call goes on")
				}
				wantNothingLeft(t, s)
				if got := comeBack(s, session, seen[0].id).Code; got < http.StatusBadRequest {
					t.Errorf("resumed with %d", got)
				}
			})
		})
	}
}

// TestAPanicLeavesNoStream: a handler that fails takes its stream with it.
func TestAPanicLeavesNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newQuietServer(panickingHouse{})
		defer s.Close()
		session := open(s)
		func() {
			defer func() { _ = recover() }()
			post(s, session, callBody)
		}()
		wantNothingLeft(t, s)
	})
}

type panickingHouse struct{ quietHouse }

func (panickingHouse) Handle(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
	call.Peer.Notify("notifications/progress", []byte(`{"progress":1}`))
	time.Sleep(time.Second)
	panic("a bug")
}

// stuck is a connection whose client does not read on.
type stuck struct {
	*httptest.ResponseRecorder
	reads chan struct{}
}

func (w stuck) Write(b []byte) (int, error) {
	if strings.Contains(string(b), `"result"`) {
		<-w.reads
	}
	return w.ResponseRecorder.Write(b)
}

// TestAnAnswerIsCountedWhileItIsRead: a client that comes back for a large answer
// and does not read it holds the memory that its call reserved.
func TestAnAnswerIsCountedWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newWorkingServer(1, time.Minute)
		defer s.Close()
		session := open(s)
		ctx, breakOff := context.WithCancel(context.Background())
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(callBody)).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Session-Id", session)
		first, given := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(given)
			s.ServeHTTP(first, r)
		}()
		time.Sleep(time.Second)
		breakOff()
		synctest.Wait()
		again := httptest.NewRequest(http.MethodGet, "/mcp", http.NoBody)
		again.Header.Set("Mcp-Session-Id", session)
		again.Header.Set("Last-Event-ID", eventsOf(first.Body.String())[0].id)
		w, read := stuck{httptest.NewRecorder(), make(chan struct{})}, make(chan struct{})
		go func() {
			defer close(read)
			s.ServeHTTP(w, again)
		}()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		select {
		case <-given:
			t.Error("the call's room is given back while its answer is being read")
		default:
		}
		if h.ended.Load() != 1 {
			t.Errorf("%d calls have ended", h.ended.Load())
		}
		close(w.reads)
		<-read
		<-given
		if !strings.Contains(w.Body.String(), `"result"`) {
			t.Error(w.Body)
		}
		time.Sleep(deliveredFor + time.Second)
		wantNothingLeft(t, s)
	})
}
