package app

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/bridge"
	"genkan/internal/sqlite/blank"
	"genkan/internal/testkit"
	"genkan/internal/web"
)

// background is a process that serves no HTTP, as editors start it.
type background struct {
	*Process
	t     *testing.T
	ended chan struct{}
	stop  context.CancelFunc
}

// patience is how long the process waits for a page here, and for a connection. A busy
// machine opens one in that time.
const patience = 3 * time.Second

func openBackground(t *testing.T, idle, linger time.Duration) *background {
	t.Helper()
	dir := t.TempDir()
	if err := blank.Write(databaseFile(dir)); err != nil {
		t.Fatal(err)
	}
	p, err := Open(context.Background(), Options{
		DataDir: dir, Version: "1.2.3-test", LookupEnv: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	opt := p.uiPortOptions()
	opt.Linger = linger
	p.uiPort = web.NewPort(opt)
	owner, err := bridge.Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	b := &background{Process: p, t: t, ended: make(chan struct{}), stop: stop}
	ready := make(chan struct{})
	go func() {
		defer close(b.ended)
		if err := p.ServeBackground(ctx, owner, idle, func() { close(ready) }); err != nil {
			t.Error(err)
		}
	}()
	<-ready
	t.Cleanup(func() {
		stop()
		<-b.ended
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Who opens the web UI finds the search index ready. Who is not signed in causes no work.
func TestOpeningTheUIPreparesSearches(t *testing.T) {
	h := openHouse(t, servers(conf{"one": child(t)}))
	h.level.Set(slog.LevelDebug)
	open := func(cookie string) {
		if status, text := h.request("GET", "/ui/session", "", http.Header{"Cookie": {cookie}, "Authorization": nil}); status != http.StatusOK {
			t.Fatal(status, text)
		}
	}
	open("")
	_, secret, err := h.sessions.SignIn(t.Context(), h.token)
	if err != nil {
		t.Fatal(err)
	}
	if lines := h.logLines("the search index is ready"); len(lines) > 0 {
		t.Error("a stranger caused work")
	}
	open(h.lock.Sessions.Cookie + "=" + secret.Reveal())
	testkit.Eventually(t, func() bool { return len(h.logLines("the search index is ready")) == 1 }, "the index is ready")
}

// command is a command that is connected to the socket until it is done.
func (b *background) command() (done func()) {
	b.t.Helper()
	conn, _, err := bridge.Dial(b.t.Context(), b.opt.DataDir, bridge.Hello{Purpose: bridge.PurposeREST})
	if err != nil {
		b.t.Fatal(err)
	}
	return func() { _ = conn.Close() }
}

// link returns the origin of a new link and its code.
func (b *background) link() (origin, code string) {
	b.t.Helper()
	link, _, err := b.linkToUI(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	origin, code, ok := strings.Cut(link, "/ui/#code=")
	if !ok || !strings.HasPrefix(origin, "http://127.0.0.1:") {
		b.t.Fatalf("the link is %s", link)
	}
	return origin, code
}

// openTab signs in with a link and opens the stream of events, as a page does.
func (b *background) openTab(origin, code string) (closeTab func()) {
	b.t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, origin+"/ui/session", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header = http.Header{"Origin": {origin}, "Sec-Fetch-Site": {"same-origin"}, "Content-Type": {"application/json"}}
	resp, err := client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		b.t.Fatalf("signing in: %d", resp.StatusCode)
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	if r, err = http.NewRequestWithContext(ctx, http.MethodGet, origin+"/v1/events", http.NoBody); err != nil {
		b.t.Fatal(err)
	}
	r.AddCookie(resp.Cookies()[0])
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	stream, err := client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	if stream.StatusCode != http.StatusOK {
		b.t.Errorf("events: %d", stream.StatusCode)
	}
	return func() {
		cancel()
		_ = stream.Body.Close()
		client.CloseIdleConnections()
	}
}

// A background process opens a port for the web UI when it is asked to, stays while a
// page is open, and then closes the port and ends.
func TestABackgroundProcessHasAUIWhileAPageIsOpen(t *testing.T) {
	t.Parallel()
	b := openBackground(t, patience, patience)
	done := b.command()
	origin, code := b.link()
	closeFirst := b.openTab(origin, code)
	done()
	again, code := b.link()
	if again != origin {
		t.Errorf("another port was opened: %s", again)
	}
	closeSecond := b.openTab(origin, code)
	closeFirst()
	select {
	case <-b.ended: // nobody has been connected to the socket for many times the limit
		t.Fatal("it ended while a page was open")
	default:
	}
	if !b.uiPort.IsOpen() {
		t.Fatal("the port was closed while a page was open")
	}
	closeSecond()
	<-b.ended
	if b.uiPort.IsOpen() {
		t.Error("the port is still open")
	}
	if _, _, err := b.linkToUI(t.Context()); err == nil {
		t.Error("a process that has ended opened a port")
	}
}

// A port that was closed is opened again where it was, and closes with the process.
func TestTheUIPortIsOpenedAgain(t *testing.T) {
	t.Parallel()
	b := openBackground(t, time.Hour, patience)
	origin, code := b.link()
	b.openTab(origin, code)()
	testkit.Eventually(t, func() bool { return !b.uiPort.IsOpen() }, "the port is closed")
	again, _ := b.link()
	if again != origin {
		t.Errorf("the port was %s and is %s", origin, again)
	}
	b.stop()
	<-b.ended
	if b.uiPort.IsOpen() {
		t.Error("the port outlives the process")
	}
}
