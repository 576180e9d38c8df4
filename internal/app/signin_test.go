package app

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/signin"
	"genkan/internal/testkit"
	"genkan/internal/testkit/authserver"
)

// door is a house with a server behind a lock, and how to sign in to it.
type door struct {
	*testHouse
	auth  *authserver.Server
	clock *clock
}

// clock stands still until a test moves it.
type clock struct{ past atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.past.Load()))
}

func (c *clock) advance(d time.Duration) { c.past.Add(int64(d)) }

func byClock(c *clock) houseOption { return func(o *Options) { o.Now = c.now } }

// openDoor opens a house with the server "one". more is added to its
// configuration.
func openDoor(t testing.TB, o authserver.Options, more conf, options ...houseOption) *door {
	t.Helper()
	c := new(clock)
	o.Now = c.now
	auth := authserver.Start(t, o)
	options = append(options, byClock(c))
	return &door{openHouse(t, servers(conf{"one": with(conf{"url": auth.URL()}, more)}), options...), auth, c}
}

// keeper opens the sign-ins as another process does, such as `genkan login`.
func (d *door) keeper(use func(*signin.SignIns, signin.Server) error) error {
	d.t.Helper()
	cfg, err := ReadConfig(d.opt)
	if err != nil {
		d.t.Fatal(err)
	}
	k := signin.New(signin.Options{Vault: OpenVault(d.dir), ClientMetadataURL: cfg.ClientMetadataURL, Now: d.clock.now})
	defer k.Close()
	i := slices.IndexFunc(cfg.Servers, func(s config.Server) bool { return s.Name == "one" })
	return use(k, SignInServer(cfg.Servers[i]))
}

func (d *door) login() error {
	d.t.Helper()
	err := d.keeper(func(k *signin.SignIns, s signin.Server) error {
		return k.SignIn(d.t.Context(), s, signin.Login{}, signin.Person{Open: func(ctx context.Context, address string) error {
			_, err := d.auth.Browse(ctx, address)
			return err
		}})
	})
	d.try()
	return err
}

func (d *door) logout() {
	d.t.Helper()
	if err := d.keeper(func(k *signin.SignIns, s signin.Server) error { return k.SignOut(d.t.Context(), s) }); err != nil {
		d.t.Fatal(err)
	}
	d.try()
}

// try tells genkan that the sign-in has changed.
func (d *door) try() {
	d.t.Helper()
	if status, text := d.request(http.MethodPost, "/v1/servers/one/try", "", nil); status != http.StatusAccepted {
		d.t.Fatal(text)
	}
}

func (d *door) mustLogin() {
	d.t.Helper()
	if err := d.login(); err != nil {
		d.t.Fatal(err)
	}
	d.waitReady("one")
	// The catalog hears of a list a moment after the server has it.
	testkit.Eventually(d.t, func() bool { return d.lists("one__read") }, "its tools are listed")
}

func (d *door) waitSignIn(want string) {
	d.t.Helper()
	testkit.Eventually(d.t, func() bool { return d.server("one").SignIn == want }, "the sign-in is %q", want)
}

func (d *door) wantCallError(want string) {
	d.t.Helper()
	if text, err := d.call("one__read", "{}"); err == nil || !strings.Contains(err.Error(), want) {
		d.t.Errorf("got %q and %v, want …%s…", text, err, want)
	}
}

const needsSignIn = "server one needs sign-in; run `genkan login one`"

// However a server signs in: before, everybody is told the command, and
// afterwards everything works.
func TestSignIn(t *testing.T) {
	t.Parallel()
	const document = "https://genkan.example/client.json"
	for name, c := range map[string]struct {
		options authserver.Options
		oauth   conf
	}{
		"registers itself":           {},
		"registers, with a secret":   {options: authserver.Options{RegisterSecret: "client_secret_basic"}},
		"registers, secret in form":  {options: authserver.Options{RegisterSecret: "client_secret_post"}},
		"registered by hand":         {authserver.Options{NoRegistration: true, Clients: map[string]string{"me": "s3cret"}}, conf{"clientId": "me", "clientSecret": "s3cret"}},
		"registered without secret":  {authserver.Options{NoRegistration: true, Clients: map[string]string{"me": ""}}, conf{"clientId": "me"}},
		"described by a document":    {options: authserver.Options{NoRegistration: true, Documents: []string{document}}},
		"of 2025-03-26":              {options: authserver.Options{Legacy: true}},
		"of 2025-03-26, undescribed": {options: authserver.Options{Legacy: true, NoMetadata: true}},
		"of a tenant, OpenID":        {options: authserver.Options{IssuerPath: "/tenant", IssuerMetadata: authserver.OpenIDAppended, AnnounceIss: true}},
		"over the old SSE transport": {options: authserver.Options{SSE: true}},
		"with scopes of our own":     {authserver.Options{Scopes: []string{"a"}}, conf{"scopes": []string{"a", "b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			still := new(clock)
			c.options.Now = still.now
			auth := authserver.Start(t, c.options)
			one := conf{"url": auth.URL()}
			if c.oauth != nil {
				one["oauth"] = c.oauth
			}
			d := &door{openHouse(t, conf{"mcpServers": conf{"one": one}, "oauth": conf{"clientMetadataUrl": document}}, byClock(still)), auth, still}
			testkit.Eventually(t, func() bool { return d.server("one").State == "down" }, "the server has refused")
			if st := d.server("one"); st.SignIn != "needed" || st.Problem != needsSignIn {
				t.Errorf("%+v", st)
			}
			knocks := len(auth.Requests())
			if status, text := d.request(http.MethodPost, "/v1/tools/call", `{"name":"one__read"}`, nil); status != http.StatusServiceUnavailable || !strings.Contains(text, "run `genkan login one`") {
				t.Error(status, text) // its tools have never been seen
			}
			if got := len(auth.Requests()); got != knocks {
				t.Errorf("the server was asked %d times more", got-knocks)
			}
			d.mustLogin()
			d.waitSignIn("signed in")
			if got := d.mustCall("one__read", "{}"); got != "done" {
				t.Error(got)
			}
			if st := d.server("one"); st.SignInExpires == nil || st.Tools != 2 {
				t.Errorf("%+v", st)
			}
			if faults := auth.Faults(); len(faults) > 0 {
				t.Errorf("the authorization server complains: %q", faults)
			}
		})
	}
}

// A hundred calls on an expired token cause one refresh. No call fails or is
// carried out twice.
func TestManyCallsOnAnExpiredToken(t *testing.T) {
	t.Parallel()
	// Expired by the clock, which genkan sees by itself, or by what the server
	// says.
	byTime := func(d *door) { d.clock.advance(2 * time.Hour) }
	byWord := func(d *door) { d.clock.advance(10 * time.Minute); d.auth.Expire() }
	for name, c := range map[string]struct {
		options authserver.Options
		expire  func(*door)
	}{
		"by the clock":         {authserver.Options{}, byTime},
		"by the server's word": {authserver.Options{}, byWord},
		"SSE, by the clock":    {authserver.Options{SSE: true}, byTime},
		"SSE, by its word":     {authserver.Options{SSE: true}, byWord},
		"refresh tokens stay":  {authserver.Options{KeepRefresh: true}, byWord},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDoor(t, c.options, nil)
			d.mustLogin()
			d.mustCall("one__write", "{}")
			calling := testkit.Count(15, 100)
			for round := 1; round <= 2; round++ {
				before := d.auth.Count("tool")
				c.expire(d)
				var calls sync.WaitGroup
				for range calling {
					calls.Go(func() {
						if _, err := d.call("one__write", "{}"); err != nil {
							t.Error(err)
						}
					})
				}
				calls.Wait()
				if got := d.auth.Count("tool") - before; got != calling {
					t.Errorf("%d calls were carried out", got)
				}
				if got := d.auth.Count("refresh"); got != round {
					t.Errorf("%d refreshes in %d rounds", got, round)
				}
			}
			if faults := d.auth.Faults(); len(faults) > 0 {
				t.Errorf("%q", faults)
			}
		})
	}
}

// Errors in a sign-in are reported, and nothing is sent.
func TestSignInsThatMustNotBe(t *testing.T) {
	t.Parallel()
	sendTo := func(address string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			found := strings.Contains(r.URL.Path, "/.well-known/oauth-authorization-server")
			if found {
				http.Redirect(w, r, address, http.StatusFound)
			}
			return found
		}
	}
	for name, c := range map[string]struct {
		options authserver.Options
		oauth   conf
		want    string
	}{
		"another issuer answers":   {authserver.Options{Iss: "https://evil.example"}, nil, "did not come from"},
		"the issuer does not say":  {authserver.Options{AnnounceIss: true, Iss: "-"}, nil, "did not come from"},
		"another issuer described": {authserver.Options{ClaimIssuer: "https://evil.example"}, nil, "goes by another name"},
		"another resource":         {authserver.Options{ClaimResource: "https://evil.example/mcp"}, nil, "a token for somebody else"},
		"not our client's issuer":  {authserver.Options{}, conf{"clientId": "me", "issuer": "https://login.example"}, "not where its client id is from"},
		"no PKCE":                  {authserver.Options{NoPKCE: true}, nil, "PKCE"},
		"to the metadata address":  {authserver.Options{Before: sendTo("https://169.254.169.254/x")}, nil, "privateHosts"},
		"to a private address":     {authserver.Options{Before: sendTo("https://10.0.0.1/x")}, nil, "privateHosts"},
		"without encryption":       {authserver.Options{Before: sendTo("http://example.com/x")}, nil, "without encryption"},
		"refused by the person":    {authserver.Options{DenyConsent: true}, nil, "refused in the browser"},
	} {
		t.Run(name, func(t *testing.T) {
			more := conf{}
			if c.oauth != nil {
				more["oauth"] = c.oauth
			}
			d := openDoor(t, c.options, more)
			d.waitSignIn("needed")
			if err := d.login(); err == nil || !strings.Contains(gateway.AsError(err).Text(), c.want) {
				t.Errorf("got %v, want …%s…", err, c.want)
			}
			if got := d.auth.Count("code") + d.auth.Count("refresh"); got != 0 {
				t.Errorf("%d codes or tokens were sent", got)
			}
			d.waitSignIn("needed")
		})
	}
}

// A token for another audience is refused.
func TestATokenOfAnotherAudience(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{Audience: "https://other.example/mcp"}, nil)
	if err := d.login(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool {
		return strings.Contains(d.server("one").Problem, "does not take the token that it was just given")
	}, "the server's problem is told")
	d.waitSignIn("needed")
}

// A sign-in that ended is told with the command, and the next one mends it.
func TestASignInThatEnded(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{}, nil)
	d.mustLogin()
	d.mustCall("one__read", "{}")
	live := watch(t, d.token, d.overHTTP)
	d.opened(live)
	d.auth.Forget()
	d.clock.advance(10 * time.Minute)
	d.wantCallError("the sign-in to one has ended; run `genkan login one`")
	d.waitSignIn("needed")
	live.until(client.EventServerState, `"signIn":"needed"`)
	refreshes := d.auth.Count("refresh")
	d.wantCallError("run `genkan login one`")
	if got := d.auth.Count("refresh"); got != refreshes {
		t.Errorf("a dead token was tried again")
	}
	if status, text := d.request(http.MethodPost, "/v1/tools/call", `{"name":"one__read"}`, nil); status != http.StatusBadGateway || !strings.Contains(text, `"code":"SIGN_IN_NEEDED"`) {
		t.Error(status, text)
	}
	d.mustLogin()
	d.waitSignIn("signed in")
	live.until(client.EventServerState, `"state":"ready"`, `"signIn":"signed in"`)
	d.mustCall("one__read", "{}")
}

// Another sign-in replaces the former one at once, and signing out ends it.
func TestSigningInAndOutBesideARunningHouse(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{}, nil)
	d.mustLogin()
	d.mustCall("one__read", "{}")
	former := d.lastToken()
	starts := d.server("one").Starts
	d.mustLogin()
	testkit.Eventually(t, func() bool { st := d.server("one"); return st.Starts > starts && st.State == "ready" }, "connected anew")
	d.mustCall("one__read", "{}")
	if d.lastToken() == former {
		t.Error("the former sign-in is still in use")
	}
	d.logout()
	d.waitSignIn("needed")
	testkit.Eventually(t, func() bool { return d.server("one").State == "down" }, "the connection is dropped")
	d.wantCallError(needsSignIn)
	if !d.lists("one__read") {
		t.Error("its tools are not listed any more")
	}
	// Without being told, too: the next call finds the sign-in.
	if err := d.keeper(func(k *signin.SignIns, s signin.Server) error {
		return k.SignIn(t.Context(), s, signin.Login{}, signin.Person{Open: func(ctx context.Context, address string) error {
			_, err := d.auth.Browse(ctx, address)
			return err
		}})
	}); err != nil {
		t.Fatal(err)
	}
	d.mustCall("one__read", "{}")
}

func (d *door) lastToken() string {
	tokens := d.auth.Tokens()
	return tokens[len(tokens)-1]
}

// The header of the configuration comes before the sign-in, which is only used
// when the server does not take it.
func TestHeadersBeforeOAuth(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{}, conf{"headers": conf{"authorization": "Bearer stale-key"}})
	testkit.Eventually(t, func() bool { return d.server("one").State == "down" }, "the server has refused")
	if got := d.server("one").Problem; got != "server one does not take the Authorization header of its configuration (HTTP 401); correct it, or run `genkan login one`" {
		t.Error(got)
	}
	d.mustLogin()
	d.mustCall("one__read", "{}")
	if !slices.Contains(d.auth.Tokens(), "Bearer stale-key") {
		t.Error("the header was not tried")
	}
	// A key that the server takes is the only thing that it gets.
	key := strings.TrimPrefix(d.lastToken(), "Bearer ")
	d.logoutWithoutRevoking()
	d.mustLogin()
	d.reload(servers(conf{"one": conf{"url": d.auth.URL(), "headers": conf{"Authorization": "Bearer " + key}}}))
	d.waitReady("one")
	before := len(d.auth.Tokens())
	d.mustCall("one__read", "{}")
	for _, sent := range d.auth.Tokens()[before:] {
		if sent != "Bearer "+key {
			t.Error("a token was sent in the place of the header")
		}
	}
}

// logoutWithoutRevoking forgets the sign-in here only.
func (d *door) logoutWithoutRevoking() {
	d.t.Helper()
	if err := OpenVault(d.dir).Delete(d.t.Context(), signin.VaultPrefix+"one"); err != nil {
		d.t.Fatal(err)
	}
}

// A server that must not be signed in to is not, whatever it says.
func TestOAuthOff(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{}, conf{"oauth": false})
	testkit.Eventually(t, func() bool {
		return strings.Contains(d.server("one").Problem, "wants other credentials (HTTP 401)")
	}, "the problem is told")
	if st := d.server("one"); st.SignIn != "" {
		t.Errorf("%+v", st)
	}
}

// A call that lacks a permission says which command asks for it.
func TestStepUp(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{Scopes: []string{"read"}, ToolScopes: map[string]string{"write": "write"}}, nil)
	d.mustLogin()
	d.mustCall("one__read", "{}")
	if _, err := d.call("one__write", "{}"); err == nil || !strings.Contains(err.Error(), "wants more permissions for this (write); run `genkan login one`, which asks for them") {
		t.Error(err)
	}
	d.mustCall("one__read", "{}")
	d.mustLogin()
	d.mustCall("one__write", "{}")
	d.mustCall("one__read", "{}")
}

// A page begins a sign-in over REST; the person goes on in the browser, and the server
// is up without another request.
func TestSignInOverREST(t *testing.T) {
	t.Parallel()
	d := openDoor(t, authserver.Options{}, nil)
	var begun client.SignInAddress
	for range 2 { // the person closed the first window
		status, text := d.request(http.MethodPost, "/v1/servers/one/sign-in", "", nil)
		if err := json.Unmarshal([]byte(text), &begun); status != http.StatusOK || err != nil {
			t.Fatal(status, text)
		}
	}
	if _, err := d.auth.Browse(t.Context(), begun.URL); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool {
		_, text := d.request(http.MethodGet, "/v1/servers/one", "", nil)
		return strings.Contains(text, `"state":"ready"`)
	}, "the server did not come up")
}
