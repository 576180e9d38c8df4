package app

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"genkan/internal/connections"
	"genkan/internal/gateway"
)

// uiLinger is how long a port for the web UI stays open without requests. A page holds
// a stream of events open, so that is after the last page was closed; a page that is
// reloaded finds the port still open.
const uiLinger = time.Minute

// uiPort is the port that a background process opens for the web UI when somebody asks
// for it. It is on loopback, and closes when no page is open.
type uiPort struct {
	p      *Process
	linger time.Duration

	mu sync.Mutex
	// server serves the port; nil while it is closed.
	server *http.Server
	// address is the port, also of the last time, so that a browser finds what it
	// stored for it.
	address string
	// requests are under way.
	requests int
	idle     *time.Timer
	ended    bool
	// serving are the server and its end.
	serving sync.WaitGroup
}

// link returns a link to the web UI on the port, which it opens if it is closed.
func (u *uiPort) link(ctx context.Context) (string, time.Time, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.open(ctx); err != nil {
		return "", time.Time{}, &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "no port could be opened for the web UI; `genkan serve --port PORT` serves it on one that you choose",
		}
	}
	link, until := u.p.uiLink("http://" + u.address + "/ui/")
	u.idle.Reset(u.patience())
	return link, until, nil
}

// open opens the port. Called with mu held.
func (u *uiPort) open(ctx context.Context) error {
	switch {
	case u.ended:
		return context.Canceled
	case u.server != nil:
		return nil
	}
	var config net.ListenConfig
	const free = "127.0.0.1:0"
	if u.address == "" {
		u.address = free
	}
	l, err := config.Listen(ctx, "tcp", u.address)
	if err != nil {
		l, err = config.Listen(ctx, "tcp", free)
	}
	if err != nil {
		return err
	}
	u.address = l.Addr().String()
	server := u.p.httpServer()
	server.Handler = u.count(server.Handler)
	l = connections.Limit(server, l)
	u.server = server
	if u.idle == nil {
		u.idle = time.AfterFunc(u.patience(), u.closeIfIdle)
	}
	u.serving.Go(func() { _ = server.Serve(l) })
	u.p.log.Info("the web UI has a port while pages are open", "address", u.address)
	return nil
}

// count counts the requests under way.
func (u *uiPort) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.requests++
		u.mu.Unlock()
		defer func() {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.requests--
			if u.requests == 0 {
				u.idle.Reset(u.patience())
			}
		}()
		h.ServeHTTP(w, r)
	})
}

// patience returns how long the port stays open without requests from now on. A link
// that was not used must work as long as it says.
func (u *uiPort) patience() time.Duration {
	return max(u.linger, time.Until(u.p.sessions.CodesUntil()))
}

// closeIfIdle closes the port if no request is under way.
func (u *uiPort) closeIfIdle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.requests > 0 || u.server == nil {
		return // the end of the last request starts the timer again
	}
	if left := time.Until(u.p.sessions.CodesUntil()); left > 0 {
		u.idle.Reset(left)
		return
	}
	server := u.server
	u.server = nil
	u.serving.Go(func() { _ = server.Close() })
	u.p.log.Info("the port of the web UI is closed: no page is open", "address", u.address)
}

// isOpen reports whether the port is open.
func (u *uiPort) isOpen() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.server != nil
}

// end closes the port for good. Requests under way may finish.
func (u *uiPort) end() {
	u.mu.Lock()
	u.ended = true
	server := u.server
	u.server = nil
	if u.idle != nil {
		u.idle.Stop()
	}
	u.mu.Unlock()
	if server != nil {
		u.p.shutDown(server)
	}
	u.serving.Wait()
}
