package mcpserver

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestASlowClientsBacklogIsBounded: messages that a client over SSE does not read
// wait, up to a bound. Beyond it, answers wait with their calls and progress is
// dropped. A client that sends more requests without reading loses its stream.
func TestASlowClientsBacklogIsBounded(t *testing.T) {
	message := bytes.Repeat([]byte("x"), 10_000)
	t.Run("answers wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEvents(account{})
			var answers sync.WaitGroup
			const many = 60
			for range many {
				answers.Go(func() { e.answer(message) })
			}
			synctest.Wait()
			if e.queue.size > maxBacklog+len(message) {
				t.Errorf("%d bytes wait", e.queue.size)
			}
			if e.offer([]byte("progress")) {
				t.Error("progress was not left out")
			}
			w := httptest.NewRecorder()
			for written := 0; written < many; {
				if err := e.flush(w, false); err != nil {
					t.Fatal(err)
				}
				if w.Body.Len() == 0 {
					t.Fatalf("%d answers are lost", many-written)
				}
				written += strings.Count(w.Body.String(), "event: message\ndata: xx")
				w.Body.Reset()
				synctest.Wait()
			}
			answers.Wait()
			if !e.offer([]byte("progress")) {
				t.Error("there is room again, and progress was left out")
			}
		})
	})
	t.Run("a large one is held by its call until it is written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEvents(account{})
			done := false
			go func() {
				e.answer(bytes.Repeat(message, 100))
				done = true
			}()
			synctest.Wait()
			if done {
				t.Error("nobody has read it")
			}
			if err := e.flush(httptest.NewRecorder(), false); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if !done {
				t.Error("it was written")
			}
		})
	})
	t.Run("who waits is let go", func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			e := newEvents(account{})
			var answers sync.WaitGroup
			large := bytes.Repeat(message, 100)
			for range 100 {
				answers.Go(func() { e.answer(large) })
			}
			synctest.Wait()
			e.close()
			answers.Wait()
		})
	})
	t.Run("who asks and does not read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEvents(account{})
			for range mostWaiting {
				e.reply([]byte("pong"))
			}
			select {
			case <-e.deaf:
				t.Error("too early")
			default:
			}
			for range 10 {
				e.reply([]byte("pong"))
			}
			<-e.deaf
			if len(e.queue.waiting) != mostWaiting {
				t.Errorf("%d wait", len(e.queue.waiting))
			}
		})
	})
}

// sseWriter is a stream with or without a reader. Without one, a write fails at its
// deadline.
type sseWriter struct {
	http.ResponseWriter
	mu       sync.Mutex
	text     strings.Builder
	blocked  bool
	deadline time.Time
}

func (w *sseWriter) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}
func (w *sseWriter) FlushError() error { return nil }
func (w *sseWriter) WriteHeader(int)   {}
func (w *sseWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blocked {
		time.Sleep(time.Until(w.deadline))
		return 0, context.DeadlineExceeded
	}
	return w.text.Write(p)
}

func (w *sseWriter) read() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestSSEStreamInTime: the stream shows that it lives; a client that does not
// read is given up, with its calls.
func TestSSEStreamInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newQuietServer(quietHouse{takes: 5 * time.Hour})
		defer s.Close()
		w := &sseWriter{ResponseWriter: httptest.NewRecorder()}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r := httptest.NewRequest(http.MethodGet, "/sse", http.NoBody)
			s.SSE().ServeHTTP(w, r)
		}()
		time.Sleep(time.Minute)
		begin, rest, _ := strings.Cut(w.read(), "\n\n")
		if !strings.HasPrefix(begin, "event: endpoint\ndata: /messages?sessionId=") {
			t.Errorf("it begins with %q", begin)
		}
		if got := strings.Count(rest, ": keep-alive\n\n"); got < 3 || got > 4 {
			t.Errorf("%d signs of life in a minute", got)
		}
		_, endpoint, _ := strings.Cut(begin, "data: ")
		send := func(body string) {
			r := httptest.NewRequest(http.MethodPost, endpoint, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			s.Messages().ServeHTTP(answer, r)
			if answer.Code != http.StatusAccepted {
				t.Errorf("%s: %d", body, answer.Code)
			}
		}
		for i := range 10 {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t"}}`, i))
		}
		if got := s.Sessions(); got != 1 {
			t.Errorf("%d sessions", got)
		}
		w.mu.Lock()
		w.blocked = true
		w.mu.Unlock()
		began := time.Now()
		send(pingBody)
		<-ended
		if took := time.Since(began); took != writeTime {
			t.Errorf("it was given up after %s", took)
		}
		if got := s.Sessions(); got != 0 {
			t.Errorf("%d sessions are left", got)
		}
	})
}
