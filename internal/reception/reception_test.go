//go:build unix

package reception

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// owner is a process that serves the socket of a data directory. Its clients get
// their lines back.
type owner struct {
	dir    string
	opt    Options
	log    *testkit.Buffer
	joined chan Client
	// handedOver and ended are closed at the steps of its end.
	handedOver, ended chan struct{}
	end               context.CancelFunc
}

// open starts an owner. change may set its options and timeouts.
func open(t *testing.T, dir string, change func(*server)) *owner {
	t.Helper()
	socket, err := bridge.Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := socket.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := &owner{
		dir: dir, log: &testkit.Buffer{}, joined: make(chan Client, 10),
		handedOver: make(chan struct{}), ended: make(chan struct{}),
	}
	o.opt = Options{
		Welcome:   bridge.Welcome{Version: "v1", Listen: "127.0.0.1:1"},
		Settings:  func() Settings { return Settings{ConfigFile: "/genkan.yaml", Lang: "en"} },
		CheckName: func(string) error { return nil },
		CheckView: func(gateway.View) error { return nil },
		ServeClient: func(ctx context.Context, conn *bridge.Joined, client Client) error {
			o.joined <- client
			lines := make(chan string)
			go func() {
				defer close(lines)
				for scanner := bufio.NewScanner(conn); scanner.Scan(); {
					lines <- scanner.Text()
				}
			}()
			for {
				select {
				case line, ok := <-lines:
					if !ok {
						return nil
					}
					_, _ = io.WriteString(conn, line+"\n")
				case <-ctx.Done():
					go func() {
						for range lines {
						}
					}()
					return context.Cause(ctx)
				}
			}
		},
		REST: &http.Server{
			ReadHeaderTimeout: time.Minute,
			Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }),
		},
		Shutdown:   func(server *http.Server) { _ = server.Close() },
		HandedOver: func() { close(o.handedOver) },
		Log:        slog.New(slog.NewTextHandler(o.log, nil)),
	}
	s := newServer(socket, o.opt)
	if change != nil {
		change(s)
	}
	ctx, end := context.WithCancel(context.Background())
	o.end = end
	go func() {
		defer close(o.ended)
		s.serve(ctx)
	}()
	t.Cleanup(func() {
		end()
		<-o.ended
	})
	return o
}

// join connects a client with the settings of the owner.
func (o *owner) join(t *testing.T, client Client) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, welcome, err := bridge.Dial(t.Context(), o.dir, NewHello("v1", Settings{ConfigFile: "/genkan.yaml"}, client))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if welcome.Listen != "127.0.0.1:1" || welcome.Version != "v1" || welcome.PID != os.Getpid() {
		t.Errorf("the owner's answer is %+v", welcome)
	}
	<-o.joined
	return conn, bufio.NewReader(conn)
}

func echo(t *testing.T, conn net.Conn, r *bufio.Reader) {
	t.Helper()
	if _, err := io.WriteString(conn, "{}\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := r.ReadString('\n'); err != nil || line != "{}\n" {
		t.Errorf("the owner answers %q, %v", line, err)
	}
}

// The client of a joined process is served with what its hello says about it.
func TestAJoinedClientIsServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := open(t, dir, nil)
	want := Client{Name: "cursor", Dir: "/project", View: gateway.View{Servers: gateway.NewServerSet("a", "b"), Mode: "search"}}
	conn, _, err := bridge.Dial(t.Context(), dir, NewHello("v1", Settings{ConfigFile: "/genkan.yaml", Lang: "en"}, want))
	if err != nil {
		t.Fatal(err)
	}
	if got := <-o.joined; got != want {
		t.Errorf("the client is %+v, want %+v", got, want)
	}
	echo(t, conn, bufio.NewReader(conn))
	_ = conn.Close()
	testkit.Eventually(t, func() bool {
		return strings.Contains(o.log.String(), `msg="a client has left" client=local:cursor`)
	}, "the log says that the client has left")
}

// A process that would serve its client in another way is refused, and the log
// says why.
func TestAProcessWithOtherSettingsIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := open(t, dir, nil)
	_, _, err := bridge.Dial(t.Context(), dir, NewHello("v2", Settings{ConfigFile: "/genkan.yaml"}, Client{}))
	var refused *bridge.RefusedError
	if !errors.As(err, &refused) || refused.Refusal != bridge.RefusedVersion {
		t.Errorf("another build: %v", err)
	}
	if log := o.log.String(); !strings.Contains(log, "serves by itself") || !strings.Contains(log, "it is of version v1, the other one of v2") {
		t.Errorf("the log: %s", log)
	}
	if _, _, err := bridge.Dial(t.Context(), dir, bridge.Hello{Purpose: "tea"}); !errors.As(err, &refused) || refused.Refusal != bridge.RefusedPurpose {
		t.Errorf("an unknown purpose: %v", err)
	}
}

// The command line sends REST requests over the socket, several on a connection.
func TestRESTOverTheSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := open(t, dir, nil)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, _, err := bridge.Dial(ctx, dir, bridge.Hello{Purpose: bridge.PurposeREST})
		return conn, err
	}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for _, path := range []string{"/one", "/two"} {
		resp, err := client.Get("http://genkan" + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(text) != path {
			t.Errorf("%s: %s, %v", path, text, err)
		}
	}
	// An idle connection does not hold up the end.
	o.end()
	<-o.ended
}

// An owner that ends releases the socket and asks its clients to find another
// owner. It answers them until they have left.
func TestHandOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := open(t, dir, nil)
	conn, r := o.join(t, Client{})
	echo(t, conn, r)
	o.end()
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "genkan/retiring") {
		t.Fatalf("the client reads %q, %v", line, err)
	}
	next, err := bridge.Claim(dir)
	if err != nil {
		t.Fatalf("the socket is not free: %v", err)
	}
	defer next.Release()
	echo(t, conn, r)
	select {
	case <-o.handedOver:
		t.Error("the hand-over is complete, although a client is served")
	default:
	}
	_ = conn.Close()
	<-o.handedOver
	<-o.ended
}

// A client that does not leave is disconnected after a while.
func TestHandOverDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	o := open(t, t.TempDir(), func(s *server) { s.handOverTimeout = time.Millisecond })
	_, r := o.join(t, Client{})
	o.end()
	<-o.handedOver
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Error(err)
	}
	<-o.ended
}

// A background process gives the socket up to a process that serves HTTP and ends
// when that process serves.
func TestABackgroundProcessGivesTheSocketUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := open(t, dir, func(s *server) { s.opt.IdleTimeout = time.Hour })
	next := claim(t.Context(), dir, "v2", slog.New(slog.DiscardHandler), time.Hour)
	if next == nil {
		t.Fatal("the socket was not given up")
	}
	defer next.Release()
	<-o.ended
	if log := o.log.String(); !strings.Contains(log, "another genkan takes over") {
		t.Errorf("the log: %s", log)
	}
}

// A process that serves HTTP keeps the socket. The next one says so once and gets
// the socket when the first one ends.
func TestClaimWaitsForTheOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := open(t, dir, nil)
	log := &testkit.Buffer{}
	claimed := make(chan *bridge.Owner)
	go func() {
		claimed <- claim(t.Context(), dir, "v1", slog.New(slog.NewTextHandler(log, nil)), time.Millisecond)
	}()
	testkit.Eventually(t, func() bool { return strings.Contains(log.String(), "other_listens_on=127.0.0.1:1") }, "the log names the owner")
	conn, r := o.join(t, Client{})
	echo(t, conn, r)
	_ = conn.Close()
	o.end()
	next := <-claimed
	if next == nil {
		t.Fatal("the socket was not claimed")
	}
	next.Release()
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("the log has %d lines: %s", n, log.String())
	}
}

// Claim gives up when its context ends or no socket can be made.
func TestClaimGivesUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir, nil)
	ctx, cancel := context.WithCancel(t.Context())
	log := &testkit.Buffer{}
	claimed := make(chan *bridge.Owner)
	go func() { claimed <- Claim(ctx, dir, "v1", slog.New(slog.NewTextHandler(log, nil))) }()
	testkit.Eventually(t, func() bool { return log.String() != "" }, "the log names the owner")
	cancel()
	if owner := <-claimed; owner != nil {
		t.Error("two processes own the socket")
	}

	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "run"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log = &testkit.Buffer{}
	if owner := Claim(t.Context(), broken, "v1", slog.New(slog.NewTextHandler(log, nil))); owner != nil || !strings.Contains(log.String(), "socket cannot be used") {
		t.Errorf("claimed %v: %s", owner, log.String())
	}
}

// A background process ends after it has had no connections for a while, and
// refuses those that come too late.
func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var busy atomic.Bool
		s := newServer(nil, Options{IdleTimeout: time.Minute, Busy: busy.Load, Log: slog.New(slog.DiscardHandler)})
		hasStopped := func() bool {
			synctest.Wait()
			select {
			case <-s.stopped:
				return true
			default:
				return false
			}
		}
		s.startIdleTimer()
		for range 2 {
			time.Sleep(59 * time.Second)
			if hasStopped() || !s.addConnection() || !s.addConnection() {
				t.Fatal("it stopped too early")
			}
			time.Sleep(time.Hour)
			s.removeConnection()
			time.Sleep(time.Hour)
			if hasStopped() {
				t.Fatal("it stopped with an open connection")
			}
			s.removeConnection()
		}
		busy.Store(true)
		time.Sleep(time.Hour)
		if hasStopped() {
			t.Fatal("it stopped while it was busy")
		}
		busy.Store(false)
		time.Sleep(time.Minute)
		if !hasStopped() || s.addConnection() {
			t.Error("it did not stop")
		}
	})
}

// A background process that no one connects to ends and releases the socket.
func TestAnIdleBackgroundProcessEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := open(t, dir, func(s *server) { s.opt.IdleTimeout = time.Millisecond })
	<-o.ended
	next, err := bridge.Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	next.Release()
}
