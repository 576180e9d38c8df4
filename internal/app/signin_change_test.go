package app

import (
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/testkit"
	"genkan/internal/testkit/authserver"
)

// Connections for some callers only sign in as the shared one does.
func TestSignInAndIsolation(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"session", "root"} {
		t.Run(isolation, func(t *testing.T) {
			d := openDoor(t, authserver.Options{SSE: true}, conf{"isolation": isolation})
			d.mustLogin()
			clients := []*legacyClient{d.legacy("2025-06-18", "{}"), d.legacy("2025-11-25", "{}"), d.legacy("2025-03-26", "{}")}
			wantAll := func(text string) {
				t.Helper()
				for i, c := range clients {
					if got := c.call("one__read", "{}"); !strings.Contains(got, text) {
						t.Errorf("client %d got %s, want %s", i, got, text)
					}
				}
			}
			wantAll(`"text":"done"`)
			d.clock.advance(2 * time.Hour)
			wantAll(`"text":"done"`)
			if got := d.auth.Count("refresh"); got != 1 {
				t.Errorf("%d refreshes", got)
			}
			d.logout()
			testkit.Eventually(t, func() bool { return d.server("one").State == "down" }, "the connection is dropped")
			wantAll("genkan login one")
			asked := len(d.auth.Requests())
			for range testkit.Count(8, 50) {
				wantAll("genkan login one")
			}
			if got := len(d.auth.Requests()) - asked; got > 10 {
				t.Errorf("a server that wants a sign-in was asked %d times more", got)
			}
			d.waitSignIn("needed")
			d.mustLogin()
			wantAll(`"text":"done"`)
		})
	}
}

// A thousand refused calls leave nothing behind and do not bother the server.
func TestAThousandRefusedCalls(t *testing.T) {
	d := openDoor(t, authserver.Options{}, nil)
	d.mustLogin()
	d.mustCall("one__read", "{}")
	d.logout()
	testkit.Eventually(t, func() bool { return d.server("one").State == "down" }, "the connection is dropped")
	d.wantCallError("genkan login one")
	asked := len(d.auth.Requests())
	before := runtime.NumGoroutine()
	var calls sync.WaitGroup
	for range 10 {
		calls.Go(func() {
			for range testkit.Count(30, 100) {
				if _, err := d.call("one__read", "{}"); err == nil || !strings.Contains(err.Error(), "genkan login one") {
					t.Error(err)
				}
			}
		})
	}
	calls.Wait()
	d.http.CloseIdleConnections()
	testkit.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+5 }, "the goroutines have ended")
	if got := len(d.auth.Requests()) - asked; got > 0 {
		t.Errorf("the server was asked %d times", got)
	}
}

// A reload that changes how a server is signed in to takes what fits of the
// sign-in, and nothing else anywhere.
func TestReloadsOfASignedInServer(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{Clients: map[string]string{"me": "s3cret"}}, nil)
	d.mustLogin()
	d.mustCall("one__read", "{}")
	url := d.auth.URL()

	// Other scopes and headers: the sign-in is the same.
	d.reload(servers(conf{"one": conf{"url": url, "headers": conf{"X-Team": "a"}, "oauth": conf{"scopes": []string{"a"}}}}))
	d.waitReady("one")
	d.mustCall("one__read", "{}")

	// Another client: the sign-in was not its.
	d.reload(servers(conf{"one": conf{"url": url, "oauth": conf{"clientId": "me", "clientSecret": "s3cret"}}}))
	d.waitSignIn("needed")

	// Another address: no token is sent there.
	other := authserver.Start(t, authserver.Options{})
	d.reload(servers(conf{"one": conf{"url": other.URL()}}))
	d.waitSignIn("needed")
	for _, sent := range other.Tokens() {
		if sent != "" {
			t.Errorf("%q was sent to another server", sent)
		}
	}

	// Off: none is sent anywhere.
	before := len(d.auth.Tokens())
	d.reload(servers(conf{"one": conf{"url": url, "oauth": false}}))
	testkit.Eventually(t, func() bool { return d.server("one").State == "down" }, "it refuses")
	for _, sent := range d.auth.Tokens()[before:] {
		if sent != "" {
			t.Errorf("%q was sent", sent)
		}
	}

	// Back as it was: the first sign-in is still there.
	d.reload(servers(conf{"one": conf{"url": url}}))
	d.waitReady("one")
	testkit.Eventually(t, func() bool { return d.lists("one__read") }, "listed")
	d.mustCall("one__read", "{}")
	if faults := d.auth.Faults(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// A reload while the token is being renewed loses neither the calls nor the
// renewed token.
func TestAReloadDuringARenewal(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	release := sync.OnceFunc(func() { close(hang) })
	var asked atomic.Int64
	var slow atomic.Bool
	d := openDoor(t, authserver.Options{Before: func(_ http.ResponseWriter, r *http.Request) bool {
		if slow.Load() && strings.HasSuffix(r.URL.Path, "/token") {
			asked.Add(1)
			<-hang
		}
		return false
	}}, nil)
	t.Cleanup(release)
	d.mustLogin()
	slow.Store(true)
	d.clock.advance(2 * time.Hour)
	var calls sync.WaitGroup
	for range 10 {
		calls.Go(func() {
			if _, err := d.call("one__read", "{}"); err != nil {
				t.Error(err)
			}
		})
	}
	testkit.Eventually(t, func() bool { return asked.Load() == 1 }, "the token is being renewed")
	d.reload(servers(conf{"one": conf{"url": d.auth.URL(), "headers": conf{"X-Team": "a"}}}))
	release()
	calls.Wait()
	d.waitReady("one")
	d.mustCall("one__read", "{}")
	if got := d.auth.Count("refresh"); got != 1 {
		t.Errorf("%d refreshes", got)
	}
}
