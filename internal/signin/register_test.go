package signin

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit/authserver"
)

// TestHowGenkanBecomesKnown: each way to be a client, and each way to prove it.
func TestHowGenkanBecomesKnown(t *testing.T) {
	t.Parallel()
	const document = "https://genkan.example/oauth/client.json"
	byHand := Client{ID: "me & you", Secret: "s3cr3t/with:colon+plus"}
	hand := map[string]string{byHand.ID: byHand.Secret.Reveal()}
	for name, c := range map[string]struct {
		options   authserver.Options
		client    Client
		document  string
		registers int
	}{
		"by itself":                      {authserver.Options{}, Client{}, "", 1},
		"by itself, and gets a secret":   {authserver.Options{RegisterSecret: methodBasic}, Client{}, "", 1},
		"by itself, and posts a secret":  {authserver.Options{RegisterSecret: methodPost, AuthMethods: []string{methodPost}}, Client{}, "", 1},
		"by a document":                  {authserver.Options{Documents: []string{document}}, Client{}, document, 0},
		"a document that is not wanted":  {authserver.Options{}, Client{}, document, 1},
		"a document at no address":       {authserver.Options{Documents: []string{"x"}}, Client{}, "http://genkan.example/x", 1},
		"by hand, basic":                 {authserver.Options{Clients: hand}, byHand, "", 0},
		"by hand, post":                  {authserver.Options{Clients: hand, AuthMethods: []string{methodPost}}, byHand, "", 0},
		"by hand, without a secret":      {authserver.Options{Clients: map[string]string{"me": ""}}, Client{ID: "me"}, "", 0},
		"by hand goes before a document": {authserver.Options{Clients: hand, Documents: []string{document}}, byHand, document, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.options)
			r.server.Client, r.keeper.metadataURL = c.client, c.document
			r.mustSignIn()
			r.mustCall("read")
			r.Expire()
			r.clock.advance(time.Hour)
			r.mustCall("read") // after a refresh, which proves it again
			if got := r.Count("register"); got != c.registers {
				t.Errorf("registered %d times", got)
			}
			r.noFaults()
		})
	}
}

// TestSigningInAgain uses the same registration, on the same port.
func TestSigningInAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	r.mustSignIn()
	if got := r.Count("register"); got != 1 {
		t.Errorf("registered %d times", got)
	}
	t.Run("when the port is taken", func(t *testing.T) {
		g, err := r.keeper.load(t.Context(), r.server)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", redirectPort(t, g)))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		r.mustSignIn()
		if got := r.Count("register"); got != 2 {
			t.Errorf("registered %d times", got)
		}
	})
	t.Run("afresh", func(t *testing.T) {
		if err := r.keeper.SignIn(t.Context(), r.server, Login{Fresh: true}, r.browser()); err != nil {
			t.Fatal(err)
		}
		if got := r.Count("register"); got != 3 {
			t.Errorf("registered %d times", got)
		}
	})
	t.Run("after a sign-out", func(t *testing.T) {
		if err := r.keeper.SignOut(t.Context(), r.server); err != nil {
			t.Fatal(err)
		}
		r.mustSignIn()
		if got := r.Count("register"); got != 4 {
			t.Errorf("registered %d times", got)
		}
	})
}

// TestAForgottenClient: the next sign-in registers again by itself.
func TestAForgottenClient(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	r.Forget()
	wantError(t, r.tryCallLater("read"), gateway.CodeUnauthenticated, "has ended; run `genkan login one`")
	r.mustSignIn()
	r.mustCall("read")
}

// TestAClientIsBoundToItsIssuer: its credentials go to nobody else.
func TestAClientIsBoundToItsIssuer(t *testing.T) {
	t.Parallel()
	first, second := newRig(t, authserver.Options{}), newRig(t, authserver.Options{})
	first.mustSignIn()
	first.Change(func(o *authserver.Options) {
		o.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/metadata/") {
				return false
			}
			_, _ = w.Write([]byte(`{"resource":"` + first.URL() + `","authorization_servers":["` + second.Issuer() + `"]}`))
			return true
		}
	})
	first.mustSignIn()
	if n, m := first.Count("register"), second.Count("register"); n != 1 || m != 1 {
		t.Errorf("registered %d times with the old one and %d with the new", n, m)
	}
	second.server.Client = Client{ID: "me", Secret: "s3cret", Issuer: "https://old.example"}
	wantError(t, second.signIn(), gateway.CodeDenied, "not where its client id is from")
	second.server.Client.Issuer = second.Issuer() + "/"
	second.Change(func(o *authserver.Options) { o.NoRegistration = true })
	wantError(t, second.signIn(), gateway.CodeUnavailable, "") // the browser shows that it is unknown
}

// TestAFixedPort: a client that was registered by hand with one must get it.
func TestAFixedPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, authserver.Options{Clients: map[string]string{"me": ""}})
	r.server.Client.ID = "me"
	r.server.RedirectPort = l.Addr().(*net.TCPAddr).Port
	wantError(t, r.signIn(), gateway.CodeConflict, "is taken")
	_ = l.Close()
	r.mustSignIn()
}

// TestAnotherServerUnderTheSameName never gets the token of the first.
func TestAnotherServerUnderTheSameName(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{})
	r.mustSignIn()
	for name, change := range map[string]func(*Server){
		"another address": func(s *Server) { s.URL += "/x" },
		"another client":  func(s *Server) { s.Client.ID = "by hand" },
	} {
		s := r.server
		change(&s)
		_, err := r.keeper.Token(t.Context(), s)
		wantError(t, err, gateway.CodeUnauthenticated, "needs sign-in; run `genkan login one`")
		if status, err := r.keeper.Status(t.Context(), s); err != nil || status.SignedIn {
			t.Errorf("%s: %+v, %v", name, status, err)
		}
	}
	r.mustToken()
}

func redirectPort(t *testing.T, g *kept) string {
	t.Helper()
	u, err := url.Parse(g.Client.RedirectURI)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

// tryCallLater calls when the token has ended.
func (r *rig) tryCallLater(tool string) error {
	r.t.Helper()
	r.clock.advance(2 * time.Hour)
	return r.tryCall(tool)
}
