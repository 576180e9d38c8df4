package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// testCodes has a code that works until a time, in nanoseconds since 1970.
type testCodes struct{ until atomic.Int64 }

func (c *testCodes) NewCode() (gateway.Secret, time.Time) { return "c0de", c.CodesUntil() }
func (c *testCodes) CodesUntil() time.Time                { return time.Unix(0, c.until.Load()) }

func newPort(t *testing.T, codes *testCodes, linger time.Duration) *Port {
	t.Helper()
	p := NewPort(PortOptions{
		Server: func() *http.Server {
			return &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/events" {
					Admitted(r)
					Admitted(r) // counts once
				}
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})}
		},
		Codes: codes, ShutDown: func(s *http.Server) { _ = s.Close() }, Log: slog.New(slog.DiscardHandler), Linger: linger,
	})
	t.Cleanup(p.Close)
	return p
}

// origin returns the origin of a new link.
func (p *Port) origin(t *testing.T) string {
	t.Helper()
	link, _, err := p.Link(t.Context())
	origin, ok := strings.CutSuffix(link, "/ui/#code=c0de")
	if err != nil || !ok || !strings.HasPrefix(origin, "http://127.0.0.1:") {
		t.Fatalf("%v: the link is %s", err, link)
	}
	return origin
}

// openPage sends an admitted request, which ends when the page is closed.
func openPage(t *testing.T, origin string) (closePage func()) {
	t.Helper()
	return begin(t, origin+"/v1/events")
}

// begin sends a request, which ends when the returned function is called.
func begin(t *testing.T, address string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		cancel()
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

func (p *Port) underWay() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// A port stays open while a page is, and is opened again where it was.
func TestAPortIsOpenWhileAPageIs(t *testing.T) {
	t.Parallel()
	p := newPort(t, &testCodes{}, time.Hour)
	origin := p.origin(t)
	pages := []func(){openPage(t, origin), openPage(t, p.origin(t))}
	for i, closePage := range pages {
		p.closeIfIdle()
		if !p.IsOpen() {
			t.Fatal("the port was closed while a page was open")
		}
		closePage()
		testkit.Eventually(t, func() bool { return p.underWay() == len(pages)-i-1 }, "page %d is closed", i)
	}
	p.closeIfIdle()
	if p.IsOpen() {
		t.Fatal("the port is still open")
	}
	p.serving.Wait() // the address is free again
	if again := p.origin(t); again != origin || !p.IsOpen() {
		t.Errorf("the port was %s and is %s", origin, again)
	}
	p.Close()
	if _, _, err := p.Link(t.Context()); p.IsOpen() || gateway.AsError(err).Code != gateway.CodeUnavailable {
		t.Errorf("a port that was closed for good was opened: %v", err)
	}
}

// Requests of strangers do not keep the port open, neither while they are under way nor
// afterwards.
func TestStrangersDoNotKeepThePortOpen(t *testing.T) {
	t.Parallel()
	p := newPort(t, &testCodes{}, time.Hour)
	origin := p.origin(t)
	p.idle.Stop()
	end := begin(t, origin+"/v1/tools")
	if n := p.underWay(); n != 0 {
		t.Errorf("%d requests of strangers count", n)
	}
	end()
	if p.closeIfIdle(); p.IsOpen() {
		t.Fatal("a stranger keeps the port open")
	}
	p.serving.Wait()
	if p.idle.Stop() {
		t.Error("a stranger has started the timer again")
	}
}

// A link that was not used keeps the port open for as long as it works.
func TestALinkKeepsThePortOpen(t *testing.T) {
	t.Parallel()
	codes := &testCodes{}
	codes.until.Store(time.Now().Add(10 * time.Minute).UnixNano())
	p := newPort(t, codes, time.Millisecond)
	origin := p.origin(t)
	if left := p.patience(); left < 9*time.Minute {
		t.Errorf("the port closes in %s", left)
	}
	p.closeIfIdle()
	if !p.IsOpen() {
		t.Fatal("the port was closed before the link was used")
	}
	closePage := openPage(t, origin)
	codes.until.Store(0) // it was used
	closePage()
	testkit.Eventually(t, func() bool { return !p.IsOpen() }, "the port is closed")
}
