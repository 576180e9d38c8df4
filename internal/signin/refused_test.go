package signin

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
	"genkan/internal/testkit/authserver"
)

// TestStepUp: a call that lacks a scope says so; the next sign-in asks for it
// and loses none of the others.
func TestStepUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{Scopes: []string{"read:all"}, ToolScopes: map[string]string{"write": "write:all"}})
	r.mustSignIn()
	r.mustCall("read")
	for range 2 {
		wantError(t, r.tryCall("write"), gateway.CodeDenied, "wants more permissions for this (write:all); run `genkan login one`, which asks for them")
	}
	status, err := r.keeper.Status(t.Context(), r.server)
	want := Status{
		SignedIn: true, Refreshable: true, Issuer: r.Issuer(), Expires: r.clock.Now().Add(time.Hour),
		Scopes: []string{"read:all"}, Wanted: []string{"write:all"},
	}
	if diff := cmp.Diff(want, status); diff != "" || err != nil {
		t.Error(diff, err)
	}
	// Another process, as `genkan login` is.
	other := r.another()
	if err := other.SignIn(t.Context(), r.server, Login{}, r.browser()); err != nil {
		t.Fatal(err)
	}
	r.mustCall("write") // the old token is refused once more, and the new one found
	r.mustCall("read")
	if status, err := r.keeper.Status(t.Context(), r.server); err != nil || len(status.Scopes) != 2 || len(status.Wanted) != 0 {
		t.Errorf("%+v, %v", status, err)
	}
}

// TestStepUpWithoutEnd: what a person was not given is not asked for for ever.
func TestStepUpWithoutEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{
		Scopes: []string{"read"}, Grantable: []string{"read"}, ToolScopes: map[string]string{"write": "write"},
	})
	r.mustSignIn()
	wantError(t, r.tryCall("write"), gateway.CodeDenied, "run `genkan login one`, which asks for them")
	r.mustSignIn()
	wantError(t, r.tryCall("write"), gateway.CodeDenied, "were asked for when signing in and not given")
}

// TestRefusals that no sign-in mends.
func TestRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{Scopes: []string{"a"}})
	forbidden := func(challenge string) error {
		return r.keeper.Refused(t.Context(), r.server, r.mustToken(), http.StatusForbidden, http.Header{"Www-Authenticate": {challenge}})
	}
	err := r.keeper.Refused(t.Context(), r.server, "x", http.StatusForbidden, http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="b"`}})
	wantError(t, err, gateway.CodeUnauthenticated, "needs sign-in")
	r.mustSignIn()
	wantError(t, forbidden(""), gateway.CodeDenied, "HTTP 403")
	wantError(t, forbidden(`Bearer error="invalid_token"`), gateway.CodeDenied, "HTTP 403")
	wantError(t, forbidden(`Bearer error="insufficient_scope"`), gateway.CodeDenied, "does not say which")
	wantError(t, forbidden(`Bearer error="insufficient_scope", scope="a"`), gateway.CodeDenied, "which it has (a)")
	if err := r.keeper.Refused(t.Context(), r.server, "an older one", http.StatusForbidden, http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="b"`}}); err != nil {
		t.Errorf("the new token was not tried: %v", err)
	}
}

// TestSigningOut forgets here, and asks the other side to.
func TestSigningOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	token := r.mustToken()
	if err := r.keeper.SignOut(t.Context(), r.server); err != nil {
		t.Fatal(err)
	}
	if n := r.Count("revoke"); n != 2 {
		t.Errorf("%d revoked", n)
	}
	if status, _ := r.call("read", token); status != http.StatusUnauthorized {
		t.Errorf("the token still works: HTTP %d", status)
	}
	_, err := r.keeper.Token(t.Context(), r.server)
	wantError(t, err, gateway.CodeUnauthenticated, "needs sign-in")
	if _, found, _ := r.vault.Load(t.Context(), vaultName(r.server)); found {
		t.Error("the vault still has it")
	}
	if err := r.keeper.SignOut(t.Context(), r.server); err != nil {
		t.Error("who is out already:", err)
	}
	r.mustSignIn()
	r.Change(func(o *authserver.Options) {
		o.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/revoke" {
				w.WriteHeader(http.StatusInternalServerError)
			}
			return r.URL.Path == "/revoke"
		}
	})
	if err := r.keeper.SignOut(t.Context(), r.server); err != nil {
		t.Error("the other side does not matter:", err)
	}
}

// TestDoubt: what another process did to the sign-in counts, also where the
// token in memory would still do.
func TestDoubt(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	bearer := r.keeper.Bearer(r.server)
	first, cli := r.mustToken(), r.another()
	if err := cli.SignIn(t.Context(), r.server, Login{}, r.browser()); err != nil {
		t.Fatal(err)
	}
	if r.mustToken() != first {
		t.Error("nobody has said that there is another")
	}
	bearer.Doubt()
	if signedIn, _ := bearer.Known(); signedIn {
		t.Error("what is doubted is not known")
	}
	if r.mustToken() == first {
		t.Error("still the token of the former sign-in")
	}
	if signedIn, expires := bearer.Known(); !signedIn || !expires.Equal(r.clock.Now().Add(time.Hour)) {
		t.Errorf("known: %v until %v", signedIn, expires)
	}
	if err := cli.SignOut(t.Context(), r.server); err != nil {
		t.Fatal(err)
	}
	bearer.Doubt()
	_, err := bearer.Token(t.Context())
	wantError(t, err, gateway.CodeUnauthenticated, "server one needs sign-in; run `genkan login one`")
	if signedIn, _ := bearer.Known(); signedIn {
		t.Error("known to be signed in after signing out")
	}
}
