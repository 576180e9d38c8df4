package signin

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
	"genkan/internal/testkit/authserver"
)

// TestSigningInWhereverItIsDescribed: all the places where servers of all
// versions may say how to sign in.
func TestSigningInWhereverItIsDescribed(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]authserver.Options{
		"in the header":                    {},
		"at the path":                      {ResourceMetadata: authserver.AtPath},
		"at the root":                      {ResourceMetadata: authserver.AtRoot},
		"OpenID":                           {IssuerMetadata: authserver.OpenIDInserted},
		"an issuer with a path":            {IssuerPath: "/tenant"},
		"an OpenID issuer with a path":     {IssuerPath: "/tenant", IssuerMetadata: authserver.OpenIDInserted},
		"an OpenID issuer, appended":       {IssuerPath: "/tenant", IssuerMetadata: authserver.OpenIDAppended},
		"2025-03-26, metadata at the root": {Legacy: true},
		"2025-03-26, OpenID at the root":   {Legacy: true, IssuerMetadata: authserver.OpenIDInserted},
		"2025-03-26, only endpoints":       {Legacy: true, NoMetadata: true},
		"the issuer says its name":         {AnnounceIss: true},
		"the issuer never says its name":   {Iss: "-"},
		"the server asks for scopes":       {Scopes: []string{"a", "b"}, ToolScopes: map[string]string{"read": "b"}},
		"the metadata lists scopes":        {ResourceMetadata: authserver.AtPath, Scopes: []string{"a", "b"}},
		"tokens without an end":            {Lifetime: -1},
		"no refresh tokens":                {NoRefresh: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, o)
			r.mustSignIn()
			r.mustCall("read")
		})
	}
}

// TestWhereGenkanLooks, in the order that the specification sets.
func TestWhereGenkanLooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{
		ResourceMetadata: authserver.AtRoot, IssuerPath: "/tenant", IssuerMetadata: authserver.OpenIDAppended,
	})
	r.mustSignIn()
	want := []string{
		"POST /mcp",
		"GET /.well-known/oauth-protected-resource/mcp",
		"GET /.well-known/oauth-protected-resource",
		"GET /.well-known/oauth-authorization-server/tenant",
		"GET /.well-known/openid-configuration/tenant",
		"GET /tenant/.well-known/openid-configuration",
		"POST /tenant/register",
		"GET /tenant/authorize",
		"POST /tenant/token",
	}
	if diff := cmp.Diff(want, r.Requests()); diff != "" {
		t.Error(diff)
	}
}

// TestTheChallengeOfARefusedCall saves asking the server again.
func TestTheChallengeOfARefusedCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{Scopes: []string{"a"}})
	_, header := r.call("read", "nonsense")
	if err := r.keeper.SignIn(t.Context(), r.server, Login{Challenge: ParseChallenge(header)}, r.browser()); err != nil {
		t.Fatal(err)
	}
	if n := len(slices.DeleteFunc(r.Requests(), func(s string) bool { return s != "POST /mcp" })); n != 1 {
		t.Errorf("the server was asked %d times", n)
	}
	r.mustCall("read")
}

// TestWhoMustNotBeTrusted: what servers say wrongly, and what follows.
func TestWhoMustNotBeTrusted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options authserver.Options
		code    gateway.Code
		words   string
	}{
		"another's resource":           {authserver.Options{ClaimResource: "https://bank.example/mcp"}, gateway.CodeDenied, "is not its address"},
		"a resource beside it":         {authserver.Options{ClaimResource: "{server}/mcp2"}, gateway.CodeDenied, "is not its address"},
		"a resource below it":          {authserver.Options{ClaimResource: "{server}/mcp/x"}, gateway.CodeDenied, "is not its address"},
		"another's issuer":             {authserver.Options{ClaimIssuer: "https://honest.example"}, gateway.CodeDenied, "goes by another name"},
		"no PKCE":                      {authserver.Options{NoPKCE: true}, gateway.CodeDenied, "PKCE"},
		"an issuer without metadata":   {authserver.Options{IssuerMetadata: 99}, gateway.CodeUnavailable, "cannot be used"},
		"an answer from another":       {authserver.Options{Iss: "https://attacker.example"}, gateway.CodeDenied, "did not come from"},
		"an answer without a name":     {authserver.Options{Iss: "-", AnnounceIss: true}, gateway.CodeDenied, "did not come from"},
		"refusal":                      {authserver.Options{DenyConsent: true}, gateway.CodeDenied, "refused in the browser"},
		"another's refusal":            {authserver.Options{DenyConsent: true, Iss: "https://attacker.example"}, gateway.CodeDenied, "did not come from"},
		"nobody registers us":          {authserver.Options{NoRegistration: true}, gateway.CodeDenied, "cannot register itself"},
		"legacy without any authority": {authserver.Options{Legacy: true, NoMetadata: true, NoRegistration: true}, gateway.CodeDenied, "does not register genkan"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.options)
			if claim := c.options.ClaimResource; claim != "" {
				origin := r.URL()[:len(r.URL())-len("/mcp")]
				r.Change(func(o *authserver.Options) { o.ClaimResource = replaceServer(claim, origin) })
			}
			wantError(t, r.signIn(), c.code, c.words)
			if n := r.Count("code"); n != 0 {
				t.Errorf("a code was sent %d times", n)
			}
			if _, err := r.keeper.Token(t.Context(), r.server); err == nil {
				t.Error("there is a token")
			}
		})
	}
}

func replaceServer(claim, origin string) string {
	const mark = "{server}"
	if len(claim) > len(mark) && claim[:len(mark)] == mark {
		return origin + claim[len(mark):]
	}
	return claim
}

// TestATokenForAnother: the server refuses it, and refreshing would not help.
func TestATokenForAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{Audience: "https://other.example"})
	r.mustSignIn()
	wantError(t, r.tryCall("read"), gateway.CodeUnauthenticated, "does not take the token that it was just given")
	if n := r.Count("refresh"); n != 0 {
		t.Errorf("refreshed %d times", n)
	}
}

// TestNoSignInNeeded: an open server is not signed in to.
func TestNoSignInNeeded(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{NoMetadata: true, Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/mcp" {
			w.WriteHeader(http.StatusOK)
		}
		return r.URL.Path == "/mcp"
	}})
	wantError(t, r.signIn(), gateway.CodeConflict, "does not ask for sign-in")
}

// TestSeveralIssuers: one that was registered with by hand is preferred, and
// one that is out of order does not stand in the way.
func TestSeveralIssuers(t *testing.T) {
	t.Parallel()
	offered := []string{"https://a.example", "https://b.example/", "https://c.example"}
	if diff := cmp.Diff([]string{"https://b.example/", "https://a.example", "https://c.example"}, arrange(offered, []string{"https://b.example"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(offered, arrange(offered, nil)); diff != "" {
		t.Error(diff)
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	const server = "https://mcp.example.com/a/b"
	for resource, want := range map[string]bool{
		server:                                 true,
		server + "/":                           true,
		"https://mcp.example.com/a":            true,
		"https://mcp.example.com/a/":           true,
		"https://mcp.example.com":              true,
		"https://mcp.example.com:443/a/b":      true,
		"HTTPS://MCP.Example.com/a/b":          true,
		"https://mcp.example.com/a/bc":         false,
		"https://mcp.example.com/a/b/c":        false,
		"https://mcp.example.com/A/b":          false,
		"http://mcp.example.com/a/b":           false,
		"https://mcp.example.com:8443/a/b":     false,
		"https://mcp.example.com.evil.example": false,
		"https://user@mcp.example.com/a/b":     false,
		server + "#x":                          false,
		"mcp.example.com/a/b":                  false,
		"":                                     false,
		"https:mcp.example.com":                false,
	} {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		if got := covers(resource, u); got != want {
			t.Errorf("%q: %v", resource, got)
		}
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"HTTPS://Mcp.Example.com":            "https://mcp.example.com",
		"https://mcp.example.com/":           "https://mcp.example.com",
		"https://mcp.example.com/Mcp?key=1":  "https://mcp.example.com/Mcp",
		"https://mcp.example.com:8443/a/%2F": "https://mcp.example.com:8443/a/%2F",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := canonical(u); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestParseChallenge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  Challenge
	}{
		"nothing": {nil, Challenge{}},
		"all of it": {
			[]string{`Bearer error="insufficient_scope", scope="a b", resource_metadata="https://x.example/m", error_description="no, \"not\" this"`},
			Challenge{ResourceMetadata: "https://x.example/m", Scopes: []string{"a", "b"}, Error: "insufficient_scope"},
		},
		"after another scheme": {[]string{`Basic realm="x", bearer scope=a`}, Challenge{Scopes: []string{"a"}}},
		"in another line":      {[]string{`Basic realm="x"`, `Bearer resource_metadata="https://x.example/m"`}, Challenge{ResourceMetadata: "https://x.example/m", Scopes: nil}},
		"beside nonsense":      {[]string{`Bearer "`, `Bearer scope="a"`}, Challenge{Scopes: []string{"a"}}},
		"another scheme's":     {[]string{`Digest scope="a"`}, Challenge{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := ParseChallenge(http.Header{"Www-Authenticate": c.lines})
			if len(got.Scopes) == 0 {
				got.Scopes = nil
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzParseChallenge: whatever a server says, nothing breaks.
func FuzzParseChallenge(f *testing.F) {
	f.Add(`Bearer realm="x", scope="a b"`)
	f.Add(`Bearer scope="\"`)
	f.Fuzz(func(_ *testing.T, line string) {
		ParseChallenge(http.Header{"Www-Authenticate": {line}})
	})
}
