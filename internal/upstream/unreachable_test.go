package upstream

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// withTransport trusts the certificates of the pool, and dials in another way.
func withTransport(pool *x509.CertPool, dial func(context.Context, string, string) (net.Conn, error)) option {
	return func(_ *Settings, d *Deps) {
		d.Transport = &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: pool}}
	}
}

// certificate makes a self-signed certificate for 127.0.0.1, and a pool that
// trusts it.
func certificate(t *testing.T, from, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: from, NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// secure serves TLS and returns the host and port.
func secure(t *testing.T, cert tls.Certificate) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// closedPort is an address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// A server that cannot be reached says why, in the status and in the answer to a
// call, and shows nothing secret of its URL.
func TestWhyAServerCannotBeReached(t *testing.T) {
	now := time.Now()
	good, trusted := certificate(t, now.Add(-time.Hour), now.Add(time.Hour))
	old, trustedOld := certificate(t, now.Add(-48*time.Hour), now.Add(-24*time.Hour))
	young, trustedYoung := certificate(t, now.Add(24*time.Hour), now.Add(48*time.Hour))
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	plainHost := plain.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(secure(t, good))
	var d net.Dialer
	fails := func(err error) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
		}
	}
	for name, c := range map[string]struct {
		url   string
		use   option
		cause string
		word  string
	}{
		"no such host": {
			"http://nowhere.invalid", withTransport(nil, fails(&net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true})),
			CauseNoHost, "nowhere.invalid",
		},
		"no DNS": {
			"http://somewhere.invalid", withTransport(nil, fails(&net.DNSError{Err: "server misbehaving", Name: "somewhere.invalid"})),
			CauseNoHost, "could not be looked up",
		},
		"connection refused":   {"http://" + closedPort(t), withTransport(nil, d.DialContext), CauseRefusedHere, "connection refused"},
		"expired":              {"https://" + secure(t, old), withTransport(trustedOld, d.DialContext), CauseExpired, "has expired on"},
		"not valid yet":        {"https://" + secure(t, young), withTransport(trustedYoung, d.DialContext), CauseExpired, "is not valid before"},
		"unknown authority":    {"https://" + secure(t, good), withTransport(x509.NewCertPool(), d.DialContext), CauseAuthority, "authority"},
		"another name":         {"https://localhost:" + port, withTransport(trusted, d.DialContext), CauseWrongName, "another host name"},
		"TLS to a plain port":  {"https://" + plainHost, withTransport(trusted, d.DialContext), CauseNotTLS, "does not speak TLS"},
		"plain to a TLS port":  {"http://" + secure(t, good), withTransport(trusted, d.DialContext), CauseNotHTTP, "https"},
		"an HTTP status":       {"http://" + plainHost, withTransport(nil, d.DialContext), CauseStatus, "404"},
		"no route":             {"http://192.0.2.1", withTransport(nil, fails(errors.New("no route to host"))), CauseNoRoute, "no route"},
		"an answer that stays": {"http://192.0.2.1", withTransport(nil, fails(context.DeadlineExceeded)), CauseTimeout, "in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "another name" && !resolves("localhost") {
				t.Skip("localhost is not 127.0.0.1 here")
			}
			u := open(t, Settings{URL: c.url + "/mcp?key=c4n4ry"}, c.use)
			testkit.Eventually(t, func() bool { return u.Status().State == StateDown }, "it is down")
			st := u.Status()
			if text := st.Problem.String(); st.Cause != c.cause || !strings.Contains(text, c.word) {
				t.Errorf("cause %q, problem %q; want %q and %q", st.Cause, text, c.cause, c.word)
			}
			_, err := u.callText("echo", `{}`)
			e := wantError(t, err, gateway.CodeUnavailable, "srv", c.word)
			if shown := st.Problem.String() + e.Text(); strings.Contains(shown, "c4n4ry") || strings.Contains(shown, "carried out") {
				t.Errorf("it says %q", shown)
			}
		})
	}
}

func resolves(host string) bool {
	ips, err := net.LookupHost(host)
	return err == nil && len(ips) > 0 && ips[0] == "127.0.0.1"
}

// A request that failed before it left is marked so, whatever broke the
// connection.
func TestTLSFailuresAreUnsent(t *testing.T) {
	t.Parallel()
	old, pool := certificate(t, time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	r := httptest.NewRequest(http.MethodPost, "https://"+secure(t, old)+"/mcp", http.NoBody)
	_, err := transport.RoundTrip(r) //nolint:bodyclose // there is none
	e := wantError(t, wireError("srv", r.URL, err), gateway.CodeUnavailable, "srv", "has expired")
	if !e.Unsent {
		t.Error("nothing was sent")
	}
}
