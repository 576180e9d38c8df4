package app

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// Connections without a good token are closed, longest idle first, when there are
// too many. One that has shown a good token stays, and a new one is served.
func TestIdleConnectionsLeaveRoom(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
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
			know(r)
		}),
	}
	track(server)
	const most = 8
	serving := make(chan error, 1)
	go func() {
		serving <- server.Serve(strangerListener{listener, &strangers{most: most, crowd: most, grace: time.Hour}})
	}()
	defer func() {
		_ = server.Close()
		<-serving
	}()

	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	ask := func(conn net.Conn, token string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
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
		t.Errorf("a connection that had shown a good token: %d", status)
	}
	if status := ask(dial(), "good"); status != http.StatusOK {
		t.Errorf("a new connection with a good token: %d", status)
	}
}

// Connections that were opened at the same moment have had no time to show their
// token, and are not closed for one another.
func TestABurstOfConnectionsIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		among := &strangers{most: 2, crowd: 10, grace: time.Second}
		var open []*strangerConn
		add := func() (closed int) {
			here, there := net.Pipe()
			t.Cleanup(func() { _ = there.Close() })
			c := &strangerConn{Conn: here, among: among}
			open = append(open, c)
			for _, out := range among.add(c) {
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
			t.Errorf("one more than the crowd closed %d others", closed)
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
