package app

import (
	"net/http"
	"net/http/httptest"
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	if took := time.Since(began); took > 20*time.Second {
		t.Error(took)
	}
	release()
	calls.Wait()
	d.mustCall("one__read", "{}")
	if got := d.auth.Count("refresh"); got != 1 {
		t.Errorf("%d refreshes", got)
	}
}

// Two genkans on one data directory find the same token expired at once. It is
// renewed once, because the second use of a rotated token ends a sign-in.
func TestTwoHousesRenewOneToken(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{}, nil)
	d.mustLogin()
	other := &door{openHouseIn(t, d.dir, servers(conf{"one": conf{"url": d.auth.URL()}}), byClock(d.clock)), d.auth, d.clock}
	other.waitReady("one")
	testkit.Eventually(t, func() bool { return other.lists("one__write") }, "listed")
	for round := 1; round <= 4; round++ {
		d.clock.advance(10 * time.Minute)
		if round%2 == 0 {
			d.clock.advance(2 * time.Hour)
		} else {
			d.auth.Expire()
		}
		before := d.auth.Count("tool")
		var calls sync.WaitGroup
		each := testkit.Count(10, 30)
		for range each {
			for _, house := range []*door{d, other} {
				calls.Go(func() {
					if _, err := house.call("one__write", "{}"); err != nil {
						t.Error(err)
					}
				})
			}
		}
		calls.Wait()
		if got := d.auth.Count("tool") - before; got != 2*each {
			t.Errorf("%d calls were carried out", got)
		}
		if got := d.auth.Count("refresh"); got != round {
			t.Errorf("%d refreshes in %d rounds", got, round)
		}
	}
	if faults := d.auth.Faults(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	// One that signs out here is signed out there, at the latest when the server
	// says so.
	d.logout()
	other.wantCallError("genkan login one")
}

// A server that was never signed in to costs neither the first list nor its
// clients anything.
func TestAServerThatWantsASignInCostsNoTime(t *testing.T) {
	auth := authserver.Start(t, authserver.Options{})
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(endless.Close)
	h := openHouse(t, servers(conf{"one": child(t), "two": conf{"url": auth.URL()}, "three": conf{"url": endless.URL}}), func(opt *Options) { opt.FirstListPatience = time.Hour })
	if !h.lists("one__echo") {
		t.Error("the first list lacks a server that is there")
	}
	for _, path := range []string{"/mcp", "/mcp/s/two", "/mcp/s/three"} {
		status, text := h.request(http.MethodPost, path,
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// A scope that one tool lacks is that tool's matter, however many ask at once.
func TestOneToolLacksAScope(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{Scopes: []string{"read"}, ToolScopes: map[string]string{"write": "write"}}, nil)
	d.mustLogin()
	starts := d.server("one").Starts
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := d.call("one__write", "{}"); err == nil || !strings.Contains(err.Error(), "(write); run `genkan login one`") {
				t.Error(err)
			}
		})
		calls.Go(func() {
			if _, err := d.call("one__read", "{}"); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if st := d.server("one"); st.Starts != starts || st.State != "ready" || st.SignIn != "signed in" {
		t.Errorf("%+v", st)
	}
	if got := d.auth.Count("refresh"); got != 0 {
		t.Errorf("%d refreshes", got)
	}
}
