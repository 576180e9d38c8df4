package upstream

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func TestHTTPBadAnswers(t *testing.T) {
	for mode, words := range map[string]string{
		"malformed": "not valid",
		"not-utf8":  "not valid UTF-8",
		"dup-keys":  "twice",
		"deep":      "too deep",
	} {
		for _, answers := range []string{"json", "sse"} {
			t.Run(mode+" "+answers, func(t *testing.T) {
				t.Parallel()
				u := openReady(t, faultHTTP(t, "-mode", mode, fmt.Sprintf("-sse=%v", answers == "sse")))
				_, err := u.callText("echo", `{"text":"x"}`)
				if e := wantError(t, err, gateway.CodeUnavailable, "srv", words); e.Unsent {
					t.Error("the call was sent")
				}
				if st := u.Status(); st.State != StateReady || st.Starts != 1 {
					t.Errorf("status %+v", st)
				}
			})
		}
	}
}

func TestHTTPWrongIDs(t *testing.T) {
	t.Parallel()
	t.Run("a body that answers something else is refused", func(t *testing.T) {
		u := openReady(t, faultHTTP(t, "-mode", "wrong-id"))
		_, err := u.callText("echo", `{"text":"x"}`)
		wantError(t, err, gateway.CodeUnavailable, "not the answer")
	})
	t.Run("an event that answers something else is passed over", func(t *testing.T) {
		u := openReady(t, faultHTTP(t, "-mode", "wrong-id", "-sse"))
		_, err := u.callText("echo", `{"text":"x"}`)
		wantError(t, err, gateway.CodeUnavailable, "srv", "may or may not") // the stream ends without an answer
	})
	t.Run("a second answer is ignored", func(t *testing.T) {
		u := openReady(t, faultHTTP(t, "-mode", "double-answer"))
		for i := range 20 {
			u.mustEcho(fmt.Sprint(i))
		}
	})
}

// A response bomb is refused, and costs little.
func TestHTTPBombs(t *testing.T) {
	for _, test := range []struct{ name, mode, word string }{
		{"a huge body", "huge", "larger than 32 MiB"},
		{"a huge event", "huge -sse", "larger than 32 MiB"},
		{"an event without end", "endless-event", "larger than 32 MiB"},
		{"what unpacks to a huge body", "gzip-bomb", "compresses"},
		{"what unpacks to a huge event", "gzip-bomb -sse", "compresses"},
	} {
		if test.mode == "huge" && !testkit.Full() {
			continue // like the event, but for the framing
		}
		t.Run(test.name, func(t *testing.T) {
			u := openReady(t, faultHTTP(t, append([]string{"-mode"}, strings.Fields(test.mode)...)...))
			bounded(t, func() {
				_, err := u.callText("echo", `{"text":"x"}`)
				wantError(t, err, gateway.CodeUnavailable, "srv", test.word)
			})
			if list, err := u.conn.list(context.Background(), gateway.KindTool); err != nil || len(list.raw) < 100 {
				t.Errorf("listing afterwards: %d bytes, %v", len(list.raw), err)
			}
		})
	}
}

// Events without end and without an answer end with the caller's patience:
// they are no sign of life.
func TestHTTPEventsWithoutEnd(t *testing.T) {
	u := openReady(t, faultHTTP(t, "-mode", "endless-sse"))
	bounded(t, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		call := u.newCall(gateway.EraLegacy, "echo", `{"text":"x"}`, "")
		call.OnSignOfLife(func() { t.Error("log messages are no sign of life") })
		if _, err := u.Handle(ctx, call); ctx.Err() == nil || err == nil {
			t.Errorf("got %v", err)
		}
	})
	if st := u.Status(); st.State != StateReady {
		t.Errorf("state %s", st.State)
	}
}

// A body of unknown length counts against the bytes in flight as one of known
// length does.
func TestHTTPAnswersCountAgainstTheBudget(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter, string, int64) bool{
		"known length": nil,
		"chunked": func(w http.ResponseWriter, _ string, _ int64) bool {
			_ = http.NewResponseController(w).Flush()
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := openReady(t, serveHTTP(t, &legacyHTTP{answer: answer}))
			call := u.newCall(gateway.EraLegacy, "t", `{}`, "")
			call.Budget = gateway.NewShares(10)
			_, err := u.Handle(context.Background(), call)
			wantError(t, err, gateway.CodeLimited, "carried out")
			call.Release()
			if call.Budget.Used() != 0 {
				t.Errorf("%d bytes are still taken", call.Budget.Used())
			}
		})
	}
}

// When the connection breaks in the middle of the answer, nobody knows whether
// the call was carried out, and that is what the caller is told. It is not
// sent again from here: whether that does harm is execute's to decide.
func TestHTTPReset(t *testing.T) {
	t.Parallel()
	for _, era := range bothEras {
		for _, answers := range []string{"json", "sse"} {
			t.Run(era.String()+" "+answers, func(t *testing.T) {
				counter := t.TempDir() + "/counter"
				u := openReady(t, faultHTTP(t, "-era", era.String(), "-mode", "reset", fmt.Sprintf("-sse=%v", answers == "sse"), "-counter", counter))
				for want := 1; want <= 2; want++ {
					_, err := u.callText("count", `{}`)
					if e := wantError(t, err, gateway.CodeUnavailable, "srv", "may or may not have been carried out"); e.Unsent {
						t.Error("the call was sent")
					}
					if done, _ := os.ReadFile(counter); strings.TrimSpace(string(done)) != fmt.Sprint(want) {
						t.Errorf("the counter is %s after %d calls", done, want)
					}
				}
				if st := u.Status(); st.State != StateReady || st.Starts != 1 {
					t.Errorf("status %+v", st)
				}
			})
		}
	}
}

// Statuses are said in words that tell what to do.
func TestHTTPStatuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		header string
		code   gateway.Code
		words  []string
		after  time.Duration
	}{
		{401, "", gateway.CodeUnavailable, []string{"srv", "credentials", "401"}, 0},
		{403, "", gateway.CodeUnavailable, []string{"srv", "credentials", "403"}, 0},
		{429, "7", gateway.CodeLimited, []string{"srv", "busy", "429"}, 7 * time.Second},
		{429, "999999999999", gateway.CodeLimited, []string{"busy"}, 0},
		{429, "-3", gateway.CodeLimited, []string{"busy"}, 0},
		{503, "1", gateway.CodeLimited, []string{"srv", "busy", "503"}, time.Second},
		{302, "", gateway.CodeUnavailable, []string{"srv", "redirects"}, 0},
		{307, "", gateway.CodeUnavailable, []string{"srv", "redirects"}, 0},
		{500, "", gateway.CodeUnavailable, []string{"srv", "500"}, 0},
		{202, "", gateway.CodeUnavailable, []string{"srv", "202"}, 0},
		{400, "", gateway.CodeUnavailable, []string{"srv", "400"}, 0},
	} {
		t.Run(fmt.Sprintf("%d %s", test.status, test.header), func(t *testing.T) {
			redirected := false
			elsewhere := serveHTTP(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { redirected = true }))
			l := &legacyHTTP{answer: func(w http.ResponseWriter, _ string, _ int64) bool {
				w.Header().Set("Location", elsewhere.URL)
				if test.header != "" {
					w.Header().Set("Retry-After", test.header)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte("canary-in-the-body"))
				return true
			}}
			u := openReady(t, serveHTTP(t, l), withHeader("Authorization", "Bearer canary"))
			_, err := u.callText("t", `{}`)
			e := wantError(t, err, test.code, test.words...)
			if e.RetryAfter != test.after || e.Unsent {
				t.Errorf("got %+v", e)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats what it must not: %v", err)
			}
			if redirected || l.calls.Load() != 1 {
				t.Errorf("redirected %v, %d calls", redirected, l.calls.Load())
			}
		})
	}
}

// The same words when the server cannot even be connected to.
func TestHTTPThatCannotBeConnectedTo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		words  string
	}{
		"wants credentials": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "credentials"},
		"is no MCP server":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "not valid"},
		"is somewhere else": {http.RedirectHandler("/other", http.StatusMovedPermanently).ServeHTTP, "redirects"},
		"is not found":      {http.NotFound, "is its URL that of an MCP endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			u := open(t, serveHTTP(t, test.answer), remember(gateway.EraNone))
			testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
			if st := u.Status(); !strings.Contains(st.Problem.String(), test.words) {
				t.Errorf("problem: %s", st.Problem)
			}
			if len(u.List(gateway.KindTool)) != 1 {
				t.Error("its tools must stay listed")
			}
		})
	}
}

// Events of other types are not for us, whatever is in them.
func TestHTTPEventsOfOtherTypes(t *testing.T) {
	t.Parallel()
	l := &legacyHTTP{answer: func(w http.ResponseWriter, _ string, _ int64) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: ping\ndata: not JSON\n\nretry: 10\n\n: comment\n\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/message\"}\n\nevent: message\ndata: "))
		return false
	}}
	// The rest of the event is the JSON answer, whose end the stream lacks.
	u := openReady(t, serveHTTP(t, eventEnd{l}))
	if got, err := u.callText("t", `{}`); err != nil || got != "done" {
		t.Errorf("got %q, %v", got, err)
	}
}

// eventEnd ends an answer that was begun as an event.
type eventEnd struct{ http.Handler }

func (e eventEnd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.Handler.ServeHTTP(w, r)
	if strings.Contains(w.Header().Get("Content-Type"), "json") && r.Method == http.MethodPost {
		_, _ = w.Write([]byte("\n\n"))
	}
}
