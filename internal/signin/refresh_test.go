package signin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
	"genkan/internal/testkit/authserver"
	"genkan/internal/vault"
)

// tokensAtOnce makes n calls of Token at once and returns what they got.
func (r *rig) tokensAtOnce(n int, keepers ...*SignIns) map[gateway.Secret]int {
	r.t.Helper()
	var mu sync.Mutex
	got := map[gateway.Secret]int{}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			token, err := keepers[i%len(keepers)].Token(r.t.Context(), r.server)
			if err != nil {
				r.t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[token]++
		})
	}
	all.Wait()
	return got
}

// TestAHundredCallsOnAnExpiredToken make one refresh.
func TestAHundredCallsOnAnExpiredToken(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	old := r.mustToken()
	r.clock.advance(2 * time.Hour)
	got := r.tokensAtOnce(100, r.keeper)
	if len(got) != 1 || got[old] != 0 {
		t.Errorf("%d different tokens", len(got))
	}
	if n := r.Count("refresh"); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	r.mustCall("read")
	r.noFaults()
}

// TestAHundredRefusals of one token make one refresh, too.
func TestAHundredRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	old := r.mustToken()
	r.clock.advance(10 * time.Minute)
	r.Expire()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if err := r.keeper.Refused(t.Context(), r.server, old, http.StatusUnauthorized, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := r.Count("refresh"); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	r.mustCall("read")
}

// TestSeveralProcesses with one vault make one refresh between them: a second
// would use a refresh token that is spent, and end the sign-in.
func TestSeveralProcesses(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	dir := t.TempDir()
	r.vault = vault.NewFile(dir, nil)
	r.keeper = r.another()
	r.mustSignIn()
	keepers := []*SignIns{r.keeper}
	for range 4 {
		// A vault of its own, as another process would have.
		r.vault = vault.NewFile(dir, nil)
		keepers = append(keepers, r.another())
	}
	for range 3 {
		r.clock.advance(2 * time.Hour)
		before := r.Count("refresh")
		if got := r.tokensAtOnce(50, keepers...); len(got) != 1 {
			t.Errorf("%d different tokens", len(got))
		}
		if n := r.Count("refresh") - before; n != 1 {
			t.Errorf("%d refreshes", n)
		}
	}
	r.noFaults()
}

// TestASignInElsewhere is found without a restart, and so is a sign-out when
// the token is refused.
func TestASignInElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	other := r.another()
	_, err := other.Token(t.Context(), r.server)
	wantError(t, err, gateway.CodeUnauthenticated, "needs sign-in; run `genkan login one`")
	r.mustSignIn()
	token, err := other.Token(t.Context(), r.server)
	if err != nil || token != r.mustToken() {
		t.Fatal(err)
	}
	if err := r.keeper.SignOut(t.Context(), r.server); err != nil {
		t.Fatal(err)
	}
	status, header := r.call("read", token)
	if status != http.StatusUnauthorized {
		t.Errorf("the token still works: HTTP %d", status)
	}
	err = other.Refused(t.Context(), r.server, token, status, header)
	wantError(t, err, gateway.CodeUnauthenticated, "needs sign-in")
}

// TestRefreshTokens that are rotated, kept or missing.
func TestRefreshTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options   authserver.Options
		refreshes int
	}{
		"rotated": {authserver.Options{}, 3},
		"kept":    {authserver.Options{KeepRefresh: true}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.options)
			r.mustSignIn()
			for range c.refreshes {
				r.clock.advance(2 * time.Hour)
				r.mustCall("read")
				// A restart: what is not in the vault is gone.
				r.keeper = r.another()
			}
			if n := r.Count("refresh"); n != c.refreshes {
				t.Errorf("%d refreshes", n)
			}
			r.noFaults()
		})
	}
	t.Run("missing", func(t *testing.T) {
		r := newRig(t, authserver.Options{NoRefresh: true})
		r.mustSignIn()
		r.clock.advance(time.Hour - time.Second)
		r.mustCall("read") // to its last second
		r.clock.advance(time.Second)
		wantError(t, r.tryCall("read"), gateway.CodeUnauthenticated, "has ended; run `genkan login one`")
	})
}

// weakVault fails to save when told to.
type weakVault struct {
	Vault
	mu    sync.Mutex
	fails bool
	saved []gateway.Secret
}

func (v *weakVault) Save(ctx context.Context, name string, value gateway.Secret) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fails {
		return errors.New("disk full")
	}
	v.saved = append(v.saved, value)
	return v.Vault.Save(ctx, name, value)
}

func (v *weakVault) set(fails bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fails = fails
}

// TestAVaultThatFails: the new refresh token is not lost, and is kept as soon
// as the vault works again.
func TestAVaultThatFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	vault := &weakVault{Vault: vault.NewMemory()}
	r.vault = vault
	r.keeper = r.another()
	r.mustSignIn()
	vault.set(true)
	r.clock.advance(2 * time.Hour)
	r.mustCall("read")
	if !strings.Contains(r.log.String(), "sign_in_not_kept") {
		t.Error("nobody was told")
	}
	r.clock.advance(2 * time.Hour)
	r.mustCall("read") // with the refresh token that is in memory only
	vault.set(false)
	r.clock.advance(failurePause)
	r.mustToken() // keeps it behind our back
	r.keeper.Close()
	r.keeper = r.another() // a restart
	r.clock.advance(2 * time.Hour)
	r.mustCall("read")
	r.noFaults()
}

// TestTheNewRefreshTokenIsKeptFirst, before anybody has the access token.
func TestTheNewRefreshTokenIsKeptFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	vault := &weakVault{Vault: vault.NewMemory()}
	r.vault = vault
	r.keeper = r.another()
	r.mustSignIn()
	r.clock.advance(2 * time.Hour)
	token := r.mustToken()
	last, ok := decodeKept(vault.saved[len(vault.saved)-1])
	if !ok || last.Access != token || last.Refresh == "" {
		t.Errorf("the vault has %+v", last)
	}
}

// TestTheFirstCallerGoes: the refresh is not its own, and goes on for others.
func TestTheFirstCallerGoes(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	r.Change(func(o *authserver.Options) {
		o.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" {
				close(reached)
				<-release
			}
			return false
		}
	})
	r.clock.advance(2 * time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := r.keeper.Token(ctx, r.server)
		first <- err
	}()
	<-reached
	cancel()
	wantError(t, <-first, gateway.CodeCanceled, "")
	second := make(chan error, 1)
	go func() {
		_, err := r.keeper.Token(t.Context(), r.server)
		second <- err
	}()
	close(release)
	if err := <-second; err != nil {
		t.Error(err)
	}
	r.keeper.Close()
	if n := r.Count("refresh"); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	_, err := r.keeper.Token(t.Context(), r.server)
	if err != nil {
		t.Error("a token at hand needs no work, also when stopping:", err)
	}
	r.clock.advance(2 * time.Hour)
	_, err = r.keeper.Token(t.Context(), r.server)
	wantError(t, err, gateway.CodeUnavailable, "stopping")
}

// TestClosingKeepsWhatComes: a refresh under way ends well before Close does.
func TestClosingKeepsWhatComes(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	r.Change(func(o *authserver.Options) {
		o.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" {
				close(reached)
				<-release
			}
			return false
		}
	})
	r.clock.advance(2 * time.Hour)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = r.keeper.Token(context.Background(), r.server)
	}()
	<-reached
	closed := make(chan struct{})
	go func() { r.keeper.Close(); close(closed) }()
	close(release)
	<-closed
	<-answered
	r.Change(func(o *authserver.Options) { o.Before = nil })
	r.keeper = r.another()
	r.clock.advance(2 * time.Hour)
	r.mustCall("read")
	r.noFaults()
}

// TestAnAuthorizationServerThatIsDown: the token is used to its end, then calls
// fail alike without asking again at once, and recover by themselves.
func TestAnAuthorizationServerThatIsDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		words  string
	}{
		"down":          {http.StatusBadGateway, "<html>", "could not be renewed (HTTP 502)"},
		"busy":          {http.StatusTooManyRequests, `{"error":"temporarily_unavailable"}`, "(temporarily_unavailable)"},
		"redirects":     {http.StatusTemporaryRedirect, "", "cannot be used"},
		"nonsense":      {http.StatusOK, `{"access_token":17}`, "cannot be used"},
		"no token":      {http.StatusOK, `{"token_type":"bearer"}`, "cannot be used"},
		"another type":  {http.StatusOK, `{"access_token":"x","token_type":"mac"}`, "cannot be used"},
		"a header more": {http.StatusOK, `{"access_token":"x\r\nX-Evil: 1","token_type":"bearer"}`, "cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, authserver.Options{})
			r.mustSignIn()
			var asked int
			r.Change(func(o *authserver.Options) {
				o.Before = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != "/token" {
						return false
					}
					asked++
					w.Header().Set("Location", "/elsewhere")
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
					return true
				}
			})
			r.clock.advance(time.Hour - 30*time.Second) // early, and the token still works
			r.mustCall("read")
			r.mustCall("read")
			if asked != 1 {
				t.Errorf("it was asked %d times", asked)
			}
			r.clock.advance(time.Minute)
			for range 3 {
				wantError(t, r.tryCall("read"), gateway.CodeUnavailable, c.words)
			}
			if asked != 2 {
				t.Errorf("it was asked %d times", asked)
			}
			r.Change(func(o *authserver.Options) { o.Before = nil })
			r.clock.advance(failurePause)
			r.mustCall("read")
		})
	}
}

// TestARevokedSignIn says so, does not ask again, and a new one works.
func TestARevokedSignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{Scopes: []string{"a"}, QuoteWhatWasSent: true})
	r.mustSignIn()
	token := r.mustToken()
	r.clock.advance(2 * time.Hour)
	r.Forget()
	for range 3 {
		_, err := r.keeper.Token(t.Context(), r.server)
		wantError(t, err, gateway.CodeUnauthenticated, "has ended; run `genkan login one`")
	}
	if n := r.Count("refused"); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	if strings.Contains(r.log.String(), token.Reveal()) {
		t.Error("the log has the token")
	}
	if status, err := r.keeper.Status(t.Context(), r.server); err != nil || status.SignedIn {
		t.Errorf("%+v, %v", status, err)
	}
	r.mustSignIn()
	r.mustCall("read")
}

// TestEarly: a token is renewed before its end, by a margin that fits its life.
func TestEarly(t *testing.T) {
	t.Parallel()
	for lifetime, early := range map[time.Duration]time.Duration{
		time.Hour: time.Minute, 10 * time.Minute: time.Minute, time.Minute: 12 * time.Second, 5 * time.Second: time.Second,
	} {
		r := newRig(t, authserver.Options{Lifetime: lifetime})
		r.mustSignIn()
		r.clock.advance(lifetime - early - time.Millisecond)
		r.mustToken()
		if n := r.Count("refresh"); n != 0 {
			t.Errorf("%s: renewed too early", lifetime)
		}
		r.clock.advance(time.Millisecond)
		r.mustToken()
		if n := r.Count("refresh"); n != 1 {
			t.Errorf("%s: not renewed", lifetime)
		}
	}
}

// TestAClockThatIsSetBack locks nobody out.
func TestAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	r.clock.advance(-48 * time.Hour)
	r.mustCall("read")
	r.Expire()
	r.mustCall("read")
	if n := r.Count("refresh"); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

// TestATokenThatCannotBeRenewed is tried again some time after a refusal:
// servers have been wrong before.
func TestATokenThatCannotBeRenewed(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{NoRefresh: true})
	r.mustSignIn()
	token := r.mustToken()
	r.clock.advance(10 * time.Minute)
	r.keeper.Invalidate(r.server, token)
	_, err := r.keeper.Token(t.Context(), r.server)
	wantError(t, err, gateway.CodeUnauthenticated, "has ended")
	r.clock.advance(failurePardon)
	if r.mustToken() != token {
		t.Error("another token")
	}
	r.mustCall("read")
}

// TestRefusalsOfAnotherToken are old news.
func TestRefusalsOfAnotherToken(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	r.keeper.Invalidate(r.server, "another")
	r.keeper.Invalidate(Server{Name: "unknown"}, "another")
	r.mustToken()
	if n := r.Count("refresh"); n != 0 {
		t.Errorf("%d refreshes", n)
	}
}

func TestLifetimes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]time.Duration{
		"3600": time.Hour, `"3600"`: time.Hour, "1.5": 1500 * time.Millisecond, "": 0, "null": 0, "0": 0, "-1": 0, `"x"`: 0, "[]": 0,
		"1e300": 10 * 365 * 24 * time.Hour, "NaN": 0,
	} {
		if got := lifetime([]byte(raw)); got != want {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

// TestKeptSurvivesTheVault: nothing of it is lost.
func TestKeptSurvivesTheVault(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	g := &kept{
		ID: "n", URL: "u", Resource: "r", TokenEndpoint: "t", RevocationEndpoint: "v", Requested: []string{"a"}, Granted: []string{"b"}, Wanted: []string{"c"},
		Access: "x", Refresh: "y", Obtained: now, Expires: now.Add(time.Hour),
		Client: registered{Issuer: "i", ID: "d", Secret: "s", Method: methodPost, How: byItself, RedirectURI: "z", SecretExpires: now},
	}
	value, err := g.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := decodeKept(value)
	if diff := cmp.Diff(g, got); diff != "" || !ok {
		t.Error(diff)
	}
	if _, ok := decodeKept("{"); ok {
		t.Error("nonsense was decoded")
	}
}
