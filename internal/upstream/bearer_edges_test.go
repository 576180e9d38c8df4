package upstream

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
)

// wireFunc is a wire that a test is.
type wireFunc func(r *http.Request) (*http.Response, error)

func (f wireFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A refusal whose text has no end is not read to its end.
func TestARefusalWithoutAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, _ := io.Pipe()
		s := newSignedTransport(&Settings{Name: "srv", URL: "https://mcp.example/mcp", Bearer: &keyring{token: "t"}},
			wireFunc(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: body, Request: r}, nil
			}))
		s.prepare(t.Context())
		began := time.Now()
		_, err := s.RoundTrip(request(t, http.MethodPost, "https://mcp.example/mcp", "body")) //nolint:bodyclose // there is none
		if e := gateway.AsError(err); e.Code != gateway.CodeUnauthenticated || time.Since(began) > 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// A stream of changes that was refused for a while is opened again: the server
// was wrong, or somebody signed in and did not say so.
func TestTheStreamOfChangesComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		opened, missed := 0, 0
		var refuse atomic.Bool
		c := &httpConn{
			name: "srv", log: slog.New(slog.DiscardHandler), url: &url.URL{Scheme: "https", Host: "mcp.example"},
			proto: protocol{era: gateway.EraLegacy, version: gateway.LegacyVersion},
			transport: wireFunc(func(r *http.Request) (*http.Response, error) {
				if refuse.Load() {
					return nil, &signInError{gateway.Errorf(gateway.CodeUnauthenticated, "server %s needs sign-in; run `genkan login %s`", "srv", "srv")}
				}
				opened++
				life, done := context.WithTimeout(r.Context(), time.Hour)
				body, end := io.Pipe()
				context.AfterFunc(life, func() { done(); _ = end.Close() })
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
			}),
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = c.listen(ctx, "", func() { missed++ }, func() {})
		}()
		time.Sleep(30 * time.Minute)
		refuse.Store(true)
		time.Sleep(time.Hour)
		refuse.Store(false)
		time.Sleep(2 * signInRetry)
		synctest.Wait()
		if opened != 2 || missed == 0 {
			t.Errorf("opened %d times, missed %d", opened, missed)
		}
		cancel()
		<-ended
		// One that is refused from the beginning is left to the calls.
		refuse.Store(true)
		if err := c.listen(t.Context(), "", func() {}, func() {}); !needsPerson(err) {
			t.Error(err)
		}
	})
}

// A call whose stream breaks, and that must not come back for the answer, tells
// both: what to do, and that it may have been carried out.
func TestABrokenStreamAndASignInThatEnded(t *testing.T) {
	t.Parallel()
	keys := &keyring{token: "t"}
	l := interrupting(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, strings.Repeat("no", 100))
	})
	set := serveHTTP(t, l)
	set.Bearer = keys
	u := openReady(t, set)
	_, err := u.callText("t", `{}`)
	e := wantError(t, err, gateway.CodeUnauthenticated, "genkan login srv", "may have been carried out")
	if e.Unsent || !e.Answered {
		t.Errorf("%+v", e)
	}
	if l.calls.Load() != 1 {
		t.Errorf("%d calls", l.calls.Load())
	}
}
