package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"genkan/internal/api/client"
	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// serving is a gateway that listens in this test's process.
type serving struct {
	address string
	token   gateway.Secret
	stop    func()
}

// serveIn starts a gateway on a data directory.
func serveIn(t *testing.T, dir string, log io.Writer) serving {
	t.Helper()
	p, err := Open(context.Background(), Options{
		DataDir: dir, Log: slog.New(slog.NewTextHandler(log, nil)), Version: "test", Joinable: true,
		LookupEnv: func(string) (string, bool) { return "", false },
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(AdminTokenFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return serving{address: l.Addr().String(), token: gateway.Secret(strings.TrimSpace(string(raw))), stop: stop}
}

// listensOn is what the owner of the socket says about where it listens.
func listensOn(t *testing.T, dir string) string {
	t.Helper()
	conn, welcome, err := bridge.Dial(t.Context(), dir, bridge.Hello{Purpose: bridge.PurposeREST})
	if err != nil {
		return ""
	}
	_ = conn.Close()
	return welcome.Listen
}

// A second gateway on one data directory does not take the command line away
// from the first one. It takes over when the first one goes.
func TestASecondGatewayWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := serveIn(t, dir, io.Discard)
	testkit.Eventually(t, func() bool { return listensOn(t, dir) == first.address }, "the first one owns the socket")
	log := &testkit.Buffer{}
	second := serveIn(t, dir, log)
	testkit.Eventually(t, func() bool {
		return strings.Contains(log.String(), "another genkan serves this data directory: both start servers") &&
			strings.Contains(log.String(), "other_listens_on="+first.address)
	}, "the second one warns")
	if now := listensOn(t, dir); now != first.address {
		t.Errorf("the command line is led to %q", now)
	}
	first.stop()
	testkit.Eventually(t, func() bool { return listensOn(t, dir) == second.address }, "the second one takes over")
}

// A gateway proves that it knows the token, and then serves requests with the
// token.
func TestAGatewayProvesThatItKnowsTheToken(t *testing.T) {
	t.Parallel()
	s := serveIn(t, t.TempDir(), io.Discard)
	if _, err := client.New(s.address, s.token).Servers(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := client.New(s.address, s.token+"x").Servers(t.Context())
	if e := gateway.AsError(err); e.Code != gateway.CodeDenied || !strings.Contains(e.Error(), "did not prove") {
		t.Errorf("with another token: %v", err)
	}
	for _, challenge := range []string{"", "short", strings.Repeat("x", client.ChallengeLength+1)} {
		resp, err := http.Get("http://" + s.address + client.ProofPath + "?" + client.ProofChallenge + "=" + challenge)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("challenge %q: status %d", challenge, resp.StatusCode)
		}
	}
}

// A program on another port passes challenges on to the gateway. It does not get
// the token by that.
func TestAPassedOnProofIsRefused(t *testing.T) {
	t.Parallel()
	s := serveIn(t, t.TempDir(), io.Discard)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.address})
	var passedOn, leaks atomic.Int64
	middle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaks.Add(1)
		}
		passedOn.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	defer middle.Close()
	_, err := client.New(middle.Listener.Addr().String(), s.token).Servers(t.Context())
	if e := gateway.AsError(err); e.Code != gateway.CodeDenied {
		t.Errorf("got %v", err)
	}
	if passedOn.Load() == 0 || leaks.Load() > 0 {
		t.Errorf("%d requests came, %d with a token", passedOn.Load(), leaks.Load())
	}
}
