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

// A token that was renewed is still the same person's: being told to look again
// does not cost the connection.
func TestARenewedTokenIsTheSameSignIn(t *testing.T) {
	for name, sse := range map[string]bool{"streamable HTTP": false, "the old SSE transport": true} {
		t.Run(name, func(t *testing.T) {
			d := openDoor(t, authserver.Options{SSE: sse}, nil)
			d.mustLogin()
			d.mustCall("one__read", "{}")
			starts := d.server("one").Starts
			d.clock.advance(2 * time.Hour)
			d.mustCall("one__read", "{}")
			if got := d.auth.Count("refresh"); got != 1 {
				t.Fatalf("%d refreshes", got)
			}
			calls := d.auth.Count("call")
			d.try()
			testkit.Eventually(t, func() bool { return d.auth.Count("call") > calls }, "the server is asked for its lists")
			d.mustCall("one__read", "{}")
			if got := d.server("one").Starts; got != starts {
				t.Errorf("it was connected to %d times more", got-starts)
			}
		})
	}
}

// A server that is wrong about a token now and then, or for a while.
func TestAServerThatFlaps(t *testing.T) {
	var refuse atomic.Bool
	flaps := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/mcp" || !refuse.Load() {
			return false
		}
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	d := openDoor(t, authserver.Options{Before: flaps}, nil)
	d.mustLogin()
	d.clock.advance(10 * time.Minute)
	d.mustCall("one__read", "{}")
	for range 5 {
		refuse.Store(true)
		if status, text := d.request(http.MethodPost, "/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__read","arguments":{},"_meta":{`+modernMeta+`}}}`,
			http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"one__read"}}); status != http.StatusOK || !strings.Contains(text, "genkan login one") {
			t.Errorf("%d %s", status, text)
		}
		refuse.Store(false)
		d.clock.advance(10 * time.Minute)
		d.mustCall("one__read", "{}")
	}
	d.waitSignIn("signed in")
	if faults := d.auth.Faults(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// A header that the server refuses once and takes again needs no sign-in.
func TestAHeaderThatFlaps(t *testing.T) {
	var refuse atomic.Bool
	d := openDoor(t, authserver.Options{Open: true, Before: func(w http.ResponseWriter, r *http.Request) bool {
		if refuse.Load() {
			w.WriteHeader(http.StatusUnauthorized)
		}
		return refuse.Load()
	}}, conf{"headers": conf{"Authorization": "Bearer key"}})
	d.waitReady("one")
	testkit.Eventually(t, func() bool { return d.lists("one__read") }, "listed")
	d.mustCall("one__read", "{}")
	refuse.Store(true)
	d.wantCallError("does not take the Authorization header")
	d.waitSignIn("needed")
	refuse.Store(false)
	d.mustCall("one__read", "{}")
	d.waitSignIn("")
}

// A token endpoint that is not what it should be: the call says so, in time, and
// the sign-in is still there when it is well again.
func TestTokenEndpointsThatMisbehave(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"500":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"HTML": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>maintenance</html>")) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.com/", http.StatusTemporaryRedirect)
		},
		"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"empty": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) },
	} {
		t.Run(name, func(t *testing.T) {
			var ill atomic.Bool
			d := openDoor(t, authserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
				if !ill.Load() || !strings.HasSuffix(r.URL.Path, "/token") {
					return false
				}
				answer(w, r)
				return true
			}}, nil)
			d.mustLogin()
			ill.Store(true)
			d.clock.advance(2 * time.Hour)
			for range 1 {
				if text, err := d.call("one__read", "{}"); err == nil {
					t.Errorf("%q", text)
				} else if strings.Contains(err.Error(), "is down") {
					t.Error(err)
				}
			}
			ill.Store(false)
			d.clock.advance(time.Minute)
			d.mustCall("one__read", "{}")
			d.waitSignIn("signed in")
		})
	}
}

// A token endpoint that hangs holds up neither the lists nor other servers, nor
// the end of genkan for longer than it must.
func TestATokenEndpointThatHangs(t *testing.T) {
	hang := make(chan struct{})
	release := sync.OnceFunc(func() { close(hang) })
	var ill atomic.Bool
	d := openDoor(t, authserver.Options{Before: func(_ http.ResponseWriter, r *http.Request) bool {
		if !ill.Load() || !strings.HasSuffix(r.URL.Path, "/token") {
			return false
		}
		<-hang
		return false
	}}, nil)
	t.Cleanup(release)
	d.mustLogin()
	ill.Store(true)
	d.clock.advance(2 * time.Hour)
	var calls sync.WaitGroup
	for range 10 {
		calls.Go(func() { _, _ = d.call("one__read", "{}") })
	}
	began := time.Now()
	if !d.lists("one__read") {
		t.Error("not listed")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Error(took)
	}
	release()
	calls.Wait()
	d.mustCall("one__read", "{}")
	if got := d.auth.Count("refresh"); got != 1 {
		t.Errorf("%d refreshes", got)
	}
}

// Connections for some callers only sign in as the shared one does.
func TestSignInAndIsolation(t *testing.T) {
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
			for range 50 {
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
			for range 100 {
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
	if !d.lists("one__read") {
		t.Log("not listed while the server is replaced") // its list is waited for
	}
	release()
	calls.Wait()
	d.waitReady("one")
	d.mustCall("one__read", "{}")
	if got := d.auth.Count("refresh"); got != 1 {
		t.Errorf("%d refreshes", got)
	}
}
