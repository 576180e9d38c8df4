package signin

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
	"genkan/internal/testkit/authserver"
)

func TestZones(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]zone{
		"8.8.8.8": public, "2606:4700::1111": public, "198.18.0.1": public, "172.32.0.1": public, "100.128.0.1": public,
		"127.0.0.1": inside, "127.9.9.9": inside, "::1": inside, "10.0.0.1": inside, "172.16.0.1": inside,
		"192.168.1.1": inside, "100.64.0.1": inside, "fd12::1": inside, "fec0::1": inside,
		"::ffff:127.0.0.1": inside, "::ffff:10.0.0.1": inside, "64:ff9b::a00:1": inside, "2002:a00:1::1": inside,
		"169.254.169.254": forbidden, "fe80::1": forbidden, "fe80::1%eth0": forbidden, "fd00:ec2::254": forbidden,
		"100.100.100.200": forbidden, "0.0.0.0": forbidden, "0.1.2.3": forbidden, "::": forbidden, "224.0.0.1": forbidden,
		"ff02::1": forbidden, "255.255.255.255": forbidden, "192.0.2.1": forbidden, "2001:db8::1": forbidden,
		"::ffff:169.254.169.254": forbidden, "64:ff9b::a9fe:a9fe": forbidden, "2002:a9fe:a9fe::": forbidden, "2001::1": forbidden,
		"64:ff9b::808:808": public,
	} {
		if got := zoneOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}

func TestWhoseAddressesAreDialed(t *testing.T) {
	t.Parallel()
	far := Server{Name: "far", URL: "https://mcp.example.com/mcp", PrivateHosts: []string{"auth.corp.example"}}
	near := Server{Name: "near", URL: "http://localhost:9000/mcp"}
	literal := Server{Name: "literal", URL: "http://169.254.1.1/mcp"}
	for _, c := range []struct {
		server   Server
		host, ip string
		want     bool
	}{
		{far, "auth.example.com", "8.8.8.8", true},
		{far, "auth.example.com", "10.0.0.1", false},
		{far, "auth.example.com", "127.0.0.1", false},
		{far, "auth.example.com", "169.254.169.254", false},
		{far, "localhost", "127.0.0.1", false},
		{far, "127.0.0.1", "127.0.0.1", false},
		{far, "mcp.example.com", "10.0.0.1", true}, // an intranet's own name
		{far, "MCP.Example.com.", "10.0.0.1", true},
		{far, "mcp.example.com", "169.254.169.254", false},
		{far, "auth.corp.example", "10.0.0.1", true},
		{far, "auth.corp.example", "169.254.169.254", false},
		{near, "127.0.0.1", "127.0.0.1", true},
		{near, "localhost", "::1", true},
		{near, "localhost", "10.0.0.1", false}, // a name of this machine that leads elsewhere
		{near, "auth.localhost", "127.0.0.1", true},
		{near, "10.0.0.1", "10.0.0.1", false},
		{near, "rebound.example", "127.0.0.1", false},
		{literal, "169.254.1.1", "169.254.1.1", true},
		{literal, "169.254.169.254", "169.254.169.254", false},
	} {
		if got := c.server.permits(c.host, netip.MustParseAddr(c.ip)); got != c.want {
			t.Errorf("%s: %s at %s: %v", c.server.Name, c.host, c.ip, got)
		}
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://a.example/x?y=z": true, "http://localhost:1/x": true, "http://127.0.0.1/x": true, "http://[::1]/x": true,
		"http://a.example/x": false, "http://10.0.0.1/x": false, "javascript:alert(1)": false, "file:///etc/passwd": false,
		"https://user:pass@a.example/": false, "https://": false, "/x": false, "https://a.example/#x": false, "ftp://a.example": false, "": false,
	} {
		if _, got := parseEndpoint(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

// wide is a rig whose servers believe to be on the internet. Every connection
// goes through the test's hands.
type wide struct {
	*rig
	mu       sync.Mutex
	names    map[string][]string
	connects []string
}

func newWide(t *testing.T, o authserver.Options) *wide {
	t.Helper()
	o.TLS, o.ServerAt, o.IssuerAt = true, "https://mcp.example.com", "https://auth.example.com"
	w := &wide{rig: newRig(t, o), names: map[string][]string{
		"mcp.example.com": {"93.184.216.34"}, "auth.example.com": {"93.184.216.35"},
	}}
	issuer, resource := w.Listeners()
	roots := x509.NewCertPool()
	roots.AddCert(issuer.Certificate())
	n := &w.keeper.network
	n.roots = roots
	n.proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	n.resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		var found []netip.Addr
		for _, text := range w.names[host] {
			found = append(found, netip.MustParseAddr(text))
		}
		if found == nil {
			return nil, errors.New("no such host")
		}
		return found, nil
	}
	n.connect = func(ctx context.Context, network, address string) (net.Conn, error) {
		w.mu.Lock()
		w.connects = append(w.connects, address)
		w.mu.Unlock()
		to := map[string]string{
			"93.184.216.34:443": resource.Listener.Addr().String(), "93.184.216.35:443": issuer.Listener.Addr().String(),
		}[address]
		if to == "" {
			return nil, errors.New("nobody is there")
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}
	return w
}

// strays are connections to anywhere but the two servers.
func (w *wide) strays() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.connects), func(address string) bool {
		return strings.HasPrefix(address, "93.184.216.3")
	})
}

func TestSigningInOverTheInternet(t *testing.T) {
	t.Parallel()
	w := newWide(t, authserver.Options{})
	w.mustSignIn()
	if strays := w.strays(); len(strays) > 0 {
		t.Errorf("connections to %q", strays)
	}
}

// insideAddresses are where a server on the internet would like to send us.
var insideAddresses = []string{
	"https://169.254.169.254/latest/meta-data", "https://10.0.0.1/", "https://127.0.0.1:8443/", "https://[::1]/",
	"https://[::ffff:169.254.169.254]/", "https://192.168.0.1/", "https://[fd00:ec2::254]/", "https://100.100.100.200/",
	"https://rebound.example/", "https://metadata.google.internal/", "http://127.0.0.1:6379/", "https://0.0.0.0/", "https://2130706433/",
}

// TestNobodySendsUsInside: whatever way a server names an address inside,
// nothing connects to it.
func TestNobodySendsUsInside(t *testing.T) {
	t.Parallel()
	type way func(to string) func(w http.ResponseWriter, r *http.Request)
	redirect := func(to string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) }
	}
	document := func(text string) way {
		return func(to string) func(http.ResponseWriter, *http.Request) {
			return func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(strings.ReplaceAll(text, "TO", strings.TrimSuffix(to, "/"))))
			}
		}
	}
	challenge := func(to string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+to+`"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	const (
		issuer = "/.well-known/oauth-authorization-server"
		rest   = `"issuer":"https://auth.example.com","code_challenge_methods_supported":["S256"],"authorization_endpoint":"https://auth.example.com/authorize"`
	)
	// Usually each address is tried in every third of the ways.
	every, attempts := testkit.Count(3, 1), 0
	for name, c := range map[string]struct {
		path string
		say  way
	}{
		"in the challenge":                    {"/mcp", challenge},
		"by a redirect of its metadata":       {"/.well-known/oauth-protected-resource/mcp", redirect},
		"by a redirect of the issuer's":       {issuer, redirect},
		"by a redirect of the registration":   {"/register", redirect},
		"by a redirect of the token endpoint": {"/token", redirect},
		"as its issuer":                       {"/.well-known/oauth-protected-resource/mcp", document(`{"resource":"https://mcp.example.com/mcp","authorization_servers":["TO"]}`)},
		"as the registration endpoint":        {issuer, document(`{` + rest + `,"token_endpoint":"https://auth.example.com/token","registration_endpoint":"TO/register"}`)},
		"as the token endpoint":               {issuer, document(`{` + rest + `,"registration_endpoint":"https://auth.example.com/register","token_endpoint":"TO/token"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWide(t, authserver.Options{ResourceMetadata: authserver.AtPath})
			w.names["rebound.example"] = []string{"127.0.0.1", "10.1.1.1"}
			w.names["metadata.google.internal"] = []string{"169.254.169.254"}
			var said int
			for _, to := range insideAddresses {
				if attempts++; attempts%every != 0 {
					continue
				}
				before := said
				say := c.say(to)
				w.Change(func(o *authserver.Options) {
					o.Before = func(w http.ResponseWriter, r *http.Request) bool {
						if r.URL.Path != c.path {
							return false
						}
						said++
						say(w, r)
						return true
					}
				})
				if err := w.signIn(); err == nil {
					t.Errorf("%s: signed in", to)
				} else if e := gateway.AsError(err); e.Code == gateway.CodeInternal {
					t.Errorf("%s: %v", to, err)
				}
				if said == before {
					t.Errorf("%s: it was never said", to)
				}
				if strays := w.strays(); len(strays) > 0 {
					t.Fatalf("%s: connections to %q", to, strays)
				}
			}
		})
	}
}

// TestWhereTheBrowserIsSent: nobody checks there what is dialed, so names that
// are addresses are checked before.
func TestWhereTheBrowserIsSent(t *testing.T) {
	t.Parallel()
	far, near := Server{URL: "https://mcp.example.com/mcp"}, Server{URL: "http://127.0.0.1:9000/mcp"}
	for host, want := range map[string][2]bool{
		"auth.example.com": {true, true}, "8.8.8.8": {true, true}, "localhost": {false, true}, "x.localhost": {false, true},
		"127.0.0.1": {false, true}, "10.0.0.1": {false, false}, "169.254.169.254": {false, false}, "::1": {false, true},
		"2130706433": {false, false}, "0x7f000001": {false, false}, "127.1": {false, false}, "0177.0.0.1.": {false, false}, "127.0.0.0x1": {false, false},
	} {
		if got := [2]bool{far.permitsName(host), near.permitsName(host)}; got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
	w := newWide(t, authserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/.well-known/oauth-authorization-server" {
			return false
		}
		_, _ = w.Write([]byte(`{"issuer":"https://auth.example.com","code_challenge_methods_supported":["S256"],"token_endpoint":"https://auth.example.com/token",` +
			`"registration_endpoint":"https://auth.example.com/register","authorization_endpoint":"http://localhost:6006/authorize"}`))
		return true
	}})
	wantError(t, w.signIn(), gateway.CodeDenied, "leads to localhost, an address inside a network")
}

// TestANameThatMoves: an address is judged when it is dialed, not before.
func TestANameThatMoves(t *testing.T) {
	t.Parallel()
	w := newWide(t, authserver.Options{})
	w.mustSignIn()
	w.clock.advance(2 * time.Hour)
	w.mu.Lock()
	w.names["auth.example.com"] = []string{"10.0.0.1"}
	w.mu.Unlock()
	_, err := w.keeper.Token(t.Context(), w.server)
	wantError(t, err, gateway.CodeDenied, "inside a network")
	if strays := w.strays(); len(strays) > 0 {
		t.Errorf("connections to %q", strays)
	}
}

// TestOneGoodAddressOfSeveral is enough, and the others are left alone.
func TestOneGoodAddressOfSeveral(t *testing.T) {
	t.Parallel()
	w := newWide(t, authserver.Options{})
	w.names["auth.example.com"] = []string{"10.0.0.1", "93.184.216.35"}
	w.mustSignIn()
	if strays := w.strays(); len(strays) > 0 {
		t.Errorf("connections to %q", strays)
	}
}

// TestBehindAProxy: the proxy is the environment's and may be anywhere; what
// is asked of it may not.
func TestBehindAProxy(t *testing.T) {
	t.Parallel()
	w := newWide(t, authserver.Options{})
	proxy := &url.URL{Scheme: "http", Host: "10.0.0.99:3128"}
	w.keeper.network.proxy = func(*http.Request) (*url.URL, error) { return proxy, nil }
	wantError(t, w.signIn(), gateway.CodeUnavailable, "cannot be reached")
	if diff := w.strays(); len(diff) != 1 || diff[0] != "10.0.0.99:3128" {
		t.Errorf("connections to %q", diff)
	}
	w.server.URL = "https://mcp.example.com/mcp"
	err := w.keeper.SignIn(t.Context(), w.server, Login{Challenge: Challenge{ResourceMetadata: "https://169.254.169.254/"}}, w.browser())
	wantError(t, err, gateway.CodeDenied, "inside a network")
}

// TestOnlyEncrypted: HTTP is for this machine.
func TestOnlyEncrypted(t *testing.T) {
	t.Parallel()
	w := newWide(t, authserver.Options{})
	w.server.URL = "http://mcp.example.com/mcp"
	wantError(t, w.signIn(), gateway.CodeDenied, "without encryption")
	w = newWide(t, authserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/.well-known/oauth-authorization-server" {
			return false
		}
		http.Redirect(w, r, "http://auth.example.com/x", http.StatusFound)
		return true
	}})
	wantError(t, w.signIn(), gateway.CodeDenied, "without encryption")
}

// TestRedirectsOfDocuments are followed as long as they lead to a good place.
func TestRedirectsOfDocuments(t *testing.T) {
	t.Parallel()
	var hops int
	w := newWide(t, authserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/.well-known/oauth-authorization-server" || r.URL.RawQuery != "" {
			return false
		}
		hops++
		http.Redirect(w, r, "https://auth.example.com/.well-known/oauth-authorization-server?moved", http.StatusMovedPermanently)
		return true
	}})
	w.mustSignIn()
	if hops != 1 {
		t.Errorf("%d redirects", hops)
	}
	w = newWide(t, authserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/.well-known/oauth-authorization-server" {
			return false
		}
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
		return true
	}})
	wantError(t, w.signIn(), gateway.CodeUnavailable, "cannot be used")
}

// TestAnswersHaveALimit, also after they are unpacked.
func TestAnswersHaveALimit(t *testing.T) {
	t.Parallel()
	huge := append([]byte(`{"issuer":"`), bytes.Repeat([]byte("x"), 4<<20)...)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(huge)
	_ = z.Close()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"plain": func(w http.ResponseWriter) { _, _ = w.Write(huge) },
		"packed": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, authserver.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.URL.Path, "/.well-known/") {
					answer(w)
					return true
				}
				return false
			}})
			err := r.signIn()
			wantError(t, err, gateway.CodeUnavailable, "cannot be used")
			if !errors.Is(err, errTooLarge) {
				t.Error(err)
			}
		})
	}
}

// TestASlowServer: patience ends, and so does it when the caller goes.
func TestASlowServer(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	slow := func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/.well-known/oauth-authorization-server" {
			return false
		}
		select {
		case reached <- struct{}{}:
		case <-release:
		}
		<-release
		return false
	}
	t.Run("patience", func(t *testing.T) {
		r := newRig(t, authserver.Options{Before: slow})
		t.Cleanup(func() { close(release) })
		ended, end := context.WithCancelCause(context.Background())
		defer end(nil)
		r.keeper.network.patience = func(ctx context.Context) (context.Context, context.CancelFunc) {
			inner, cancel := context.WithCancelCause(ctx)
			stop := context.AfterFunc(ended, func() { cancel(context.DeadlineExceeded) })
			return deadlined{inner}, func() { stop(); cancel(nil) }
		}
		go func() { <-reached; end(nil) }()
		wantError(t, r.signIn(), gateway.CodeTimeout, "does not answer in time")
	})
	release = make(chan struct{})
	t.Run("the caller", func(t *testing.T) {
		r := newRig(t, authserver.Options{Before: slow})
		t.Cleanup(func() { close(release) })
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-reached; cancel() }()
		err := r.keeper.SignIn(ctx, r.server, Login{}, r.browser())
		wantError(t, err, gateway.CodeCanceled, "")
	})
}

// deadlined is a context whose end is that of its time.
type deadlined struct{ context.Context }

func (d deadlined) Err() error {
	if d.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// TestPagesForPeople are no metadata: some servers show one at every address.
func TestPagesForPeople(t *testing.T) {
	t.Parallel()
	r := newRig(t, authserver.Options{Legacy: true, Before: func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<!doctype html><title>hello</title>"))
			return true
		}
		return false
	}})
	r.mustSignIn()
}
