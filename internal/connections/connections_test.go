package connections

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// Connections without a valid token are closed, longest idle first, when there are
// too many. One that has presented a valid token stays, and a new one is served.
func TestIdleConnectionsLeaveRoom(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer good" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			Authenticated(r, "client")
		}),
	}
	const most = 8
	limiter := &limiter{
		most: most, burst: most, grace: time.Hour, shares: gateway.NewShares(100), clients: map[string]map[*connection]struct{}{},
	}
	limited := limiter.limit(server, l)
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(limited) }()
	defer func() {
		_ = server.Close()
		<-serving
	}()

	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	ask := func(conn net.Conn, token string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		if err := r.Write(conn); err != nil {
			return 0
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), r)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	known, wrong := dial(), dial()
	if status := ask(known, "good"); status != http.StatusOK {
		t.Fatal(status)
	}
	if status := ask(wrong, "bad"); status != http.StatusUnauthorized {
		t.Fatal(status)
	}
	silent := dial()
	for range 2 * most {
		dial()
	}
	for name, conn := range map[string]net.Conn{"silent": silent, "with a wrong token": wrong} {
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection that was %s is still open: %v", name, err)
		}
	}
	if status := ask(known, "good"); status != http.StatusOK {
		t.Errorf("a connection that had presented a valid token: %d", status)
	}
	if status := ask(dial(), "good"); status != http.StatusOK {
		t.Errorf("a new connection with a valid token: %d", status)
	}
}

// Connections that were opened at the same moment have had no time to present
// their token, and are not closed for one another.
func TestABurstOfConnectionsIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := &limiter{most: 2, burst: 10, grace: time.Second}
		var open []*connection
		add := func() (closed int) {
			here, there := net.Pipe()
			t.Cleanup(func() { _ = there.Close() })
			c := &connection{Conn: here, limiter: limiter}
			open = append(open, c)
			for _, out := range limiter.add(c) {
				_ = out.Close()
				closed++
			}
			return closed
		}
		for i := range 10 {
			if closed := add(); closed > 0 {
				t.Fatalf("connection %d closed %d others", i, closed)
			}
		}
		if closed := add(); closed != 1 {
			t.Errorf("one more than the burst closed %d others", closed)
		}
		time.Sleep(2 * time.Second)
		if closed := add(); closed != 9 {
			t.Errorf("a connection closed %d idle ones, want all but the newest of them", closed)
		}
		if _, err := open[0].Write(nil); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the longest idle one is open: %v", err)
		}
		for _, c := range open {
			_ = c.Close()
		}
	})
}

// A client that keeps many connections open leaves descriptors for others: its new
// connections close its own idle ones, and no other client's.
func TestConnectionsOfAClientAreBounded(t *testing.T) {
	limiter := &limiter{most: 100, burst: 100, shares: gateway.NewShares(8), clients: map[string]map[*connection]struct{}{}}
	open := func() *connection {
		here, there := net.Pipe()
		t.Cleanup(func() { _ = there.Close() })
		c := &connection{Conn: here, limiter: limiter}
		t.Cleanup(func() { _ = c.Close() })
		limiter.add(c)
		return c
	}
	isOpen := func(c *connection) bool {
		_ = c.SetReadDeadline(time.Unix(1, 0))
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, os.ErrDeadlineExceeded)
	}
	authenticate := func(c *connection, client string) bool {
		r := (&http.Request{}).WithContext(context.WithValue(t.Context(), connKey{}, c))
		return Authenticated(r, client)
	}
	alice := open()
	if !authenticate(alice, "alice") {
		t.Fatal("the first connection is refused")
	}
	alice.setIdleSince(1) // idle for long
	var greedy []*connection
	for i := range 6 { // all that its share allows
		c := open()
		if !authenticate(c, "greedy") {
			t.Fatalf("connection %d is refused", i)
		}
		greedy = append(greedy, c)
	}
	if busy := open(); authenticate(busy, "greedy") {
		t.Error("a connection was taken, although none of the client's is idle")
	}
	greedy[3].setIdleSince(2)
	next := open()
	if !authenticate(next, "greedy") || isOpen(greedy[3]) || !isOpen(greedy[0]) {
		t.Error("the idle connection of the client was not closed for its new one")
	}
	if another := open(); !isOpen(alice) || !authenticate(another, "alice") {
		t.Error("another client lost its connection, or gets no more")
	}
	for _, c := range append(greedy, next) {
		_ = c.Close()
		_ = c.Close()
	}
	if held := limiter.shares.Held("greedy"); held != 0 {
		t.Errorf("%d connections are counted after all were closed", held)
	}
}

// A process with few descriptors still serves some clients.
func TestLimitsFollowTheDescriptors(t *testing.T) {
	t.Parallel()
	for descriptors, want := range map[int]struct{ most, burst int }{
		8:             {minAnonymous, minAnonymous},
		256:           {64, 64},
		4096:          {maxAnonymous, 1024},
		math.MaxInt32: {maxAnonymous, math.MaxInt32 / 4},
	} {
		m := newLimiter(descriptors)
		if m.most != want.most || m.burst != want.burst {
			t.Errorf("%d descriptors: %d anonymous connections, %d for a moment", descriptors, m.most, m.burst)
		}
		if !m.shares.Take("client", minAnonymous/2) {
			t.Errorf("%d descriptors: a client gets less than %d connections", descriptors, minAnonymous/2)
		}
	}
	if maxDescriptors() <= 0 {
		t.Errorf("this process may have %d descriptors", maxDescriptors())
	}
}
