package web

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"genkan/internal/connections"
	"genkan/internal/gateway"
)

// portLinger is the default of PortOptions.Linger.
const portLinger = time.Minute

// PortOptions configure a Port.
type PortOptions struct {
	// Server returns a new server for the port.
	Server func() *http.Server
	Codes  Codes
	// ShutDown closes a server when the process ends. Requests under way may finish.
	ShutDown func(*http.Server)
	Log      *slog.Logger
	// Linger is how long the port stays open without requests that were admitted (see
	// Admitted); zero means a minute. A page holds a stream of events open, so that is
	// after the last page was closed. A page that is reloaded finds the port still open.
	Linger time.Duration
}

// Port is a port that a process without HTTP opens for the UI when somebody asks for it.
// It is on loopback, and closes when no page is open. It is safe for concurrent use.
type Port struct {
	opt PortOptions

	mu sync.Mutex
	// server serves the port; nil while the port is closed.
	server *http.Server
	// address is the host:port. It stays when the port closes, so that a browser finds
	// again what it stored for it.
	address string
	// requests is the number of admitted requests under way.
	requests int
	idle     *time.Timer
	ended    bool
	// serving has the goroutines that serve and close the port.
	serving sync.WaitGroup
}

// NewPort returns a Port, which is closed.
func NewPort(opt PortOptions) *Port {
	if opt.Linger == 0 {
		opt.Linger = portLinger
	}
	return &Port{opt: opt}
}

// Link returns a link to the UI on the port, which it opens if it is closed.
func (p *Port) Link(ctx context.Context) (string, time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.open(ctx); err != nil {
		return "", time.Time{}, &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "no port could be opened for the web UI; `genkan serve --port PORT` serves it on one that you choose",
		}
	}
	link, until := Link(p.opt.Codes, "http://"+p.address+"/ui/")
	p.idle.Reset(p.patience())
	return link, until, nil
}

// open opens the port. Called with mu held.
func (p *Port) open(ctx context.Context) error {
	switch {
	case p.ended:
		return context.Canceled
	case p.server != nil:
		return nil
	}
	var config net.ListenConfig
	const free = "127.0.0.1:0"
	if p.address == "" {
		p.address = free
	}
	l, err := config.Listen(ctx, "tcp", p.address)
	if err != nil {
		l, err = config.Listen(ctx, "tcp", free)
	}
	if err != nil {
		return err
	}
	p.address = l.Addr().String()
	server := p.opt.Server()
	server.Handler = p.count(server.Handler)
	l = connections.Limit(server, l)
	p.server = server
	if p.idle == nil {
		p.idle = time.AfterFunc(p.patience(), p.closeIfIdle)
	}
	p.serving.Go(func() { _ = server.Serve(l) })
	p.opt.Log.Info("the web UI has a port while pages are open", "address", p.address)
	return nil
}

// admittedKey is the key of a request's context for the function that counts the request.
type admittedKey struct{}

// Admitted notes that the sender of a request is known. A Port stays open for such
// requests only: anybody can send others.
func Admitted(r *http.Request) {
	if count, ok := r.Context().Value(admittedKey{}).(func()); ok {
		count()
	}
}

// count counts the admitted requests under way.
func (p *Port) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := false
		count := func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if !counted {
				counted = true
				p.requests++
			}
		}
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if !counted {
				return
			}
			p.requests--
			if p.requests == 0 {
				p.idle.Reset(p.patience())
			}
		}()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), admittedKey{}, count)))
	})
}

// patience returns how long the port stays open without admitted requests from now on. A link
// that was not used must work as long as it says.
func (p *Port) patience() time.Duration {
	return max(p.opt.Linger, time.Until(p.opt.Codes.CodesUntil()))
}

// closeIfIdle closes the port if no admitted request is under way.
func (p *Port) closeIfIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.requests > 0 || p.server == nil {
		return // the end of the last request starts the timer again
	}
	if left := time.Until(p.opt.Codes.CodesUntil()); left > 0 {
		p.idle.Reset(left)
		return
	}
	_ = p.server.Close() // at once, so that the port is free to be opened again
	p.server = nil
	p.opt.Log.Info("the port of the web UI is closed: no page is open", "address", p.address)
}

// IsOpen reports whether the port is open.
func (p *Port) IsOpen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.server != nil
}

// Close closes the port for good. Requests under way may finish.
func (p *Port) Close() {
	p.mu.Lock()
	p.ended = true
	server := p.server
	p.server = nil
	if p.idle != nil {
		p.idle.Stop()
	}
	p.mu.Unlock()
	if server != nil {
		p.opt.ShutDown(server)
	}
	p.serving.Wait()
}
