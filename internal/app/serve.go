package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"genkan/internal/api/client"
	"genkan/internal/connections"
	"genkan/internal/gateway"
	"genkan/internal/web"
	"genkan/internal/webhook"
)

// drainTime is how long calls may run on after a request to stop.
const drainTime = 30 * time.Second

// Handler returns the handler of everything that is served over HTTP.
func (p *Process) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/mcp", "/mcp/s/{server}", "/mcp/p/{profile}"} {
		mux.Handle(path, p.mcp)
	}
	for _, path := range []string{"/sse", "/sse/s/{server}"} {
		mux.Handle(path, p.mcp.SSE())
	}
	mux.Handle("/messages", p.mcp.Messages())
	p.api.Routes(mux)
	p.ui.Routes(mux)
	metrics := promhttp.HandlerFor(p.recorder.Registry(), promhttp.HandlerOpts{})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		id, ok := p.admit(w, r)
		switch {
		case !ok:
		case !id.Admin && p.reach(id.ClientID) != nil: // metrics name all servers
			p.nothing(w, r)
		default:
			metrics.ServeHTTP(w, r)
		}
	})
	mux.HandleFunc("GET "+webhook.PagePath+"{code}", p.api.ApprovalPage)
	mux.HandleFunc("POST "+webhook.PagePath+"{code}", p.api.ApprovalPage)
	mux.HandleFunc("GET "+client.ProofPath, p.prove)
	// Clients look here for an authorization server. Anything but a plain
	// "not found" sends them into a sign-in that does not exist.
	mux.HandleFunc("/.well-known/", http.NotFound)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := p.admit(w, r); ok {
			p.nothing(w, r)
		}
	})
	return mux
}

// nothing answers that there is nothing at the path of a request.
func (p *Process) nothing(w http.ResponseWriter, r *http.Request) {
	p.refused(r, http.StatusNotFound, "not_found")
	p.api.Nothing(w)
}

// admit identifies the caller by a token. When it reports false, it has answered the
// request.
func (p *Process) admit(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool) {
	return p.admitWith(p.lock.Admit, w, r)
}

// admitPage is admit for what the web UI uses. It identifies the caller by a token or
// by the session of a browser.
func (p *Process) admitPage(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool) {
	return p.admitWith(p.lock.AdmitPage, w, r)
}

func (p *Process) admitWith(
	admit func(http.ResponseWriter, *http.Request) (gateway.Identity, bool), w http.ResponseWriter, r *http.Request,
) (gateway.Identity, bool) {
	id, ok := admit(w, r)
	if ok && !connections.Authenticated(r, id.ClientID) {
		w.Header().Set("Connection", "close")
		p.lock.Refuse(w, r, "too_many_connections", &gateway.Error{
			Code: gateway.CodeLimited, RetryAfter: time.Second,
			Message: "client %s has as many connections open as it may have; close some, or try again in a moment",
			Values:  []any{id.ClientID},
		})
		return gateway.Identity{}, false
	}
	if ok {
		web.Admitted(r)
	}
	return id, ok
}

// refused records a request that was admitted and then refused.
func (p *Process) refused(r *http.Request, status int, reason string) {
	p.recorder.Refusals().Note(r, status, reason, p.lock.Client(r))
}

// prove answers a challenge with proof that this process knows the admin token.
// The command line sends the token to an address only after such a proof.
func (p *Process) prove(w http.ResponseWriter, r *http.Request) {
	if !p.lock.Receive(w, r) {
		return
	}
	challenge := r.URL.Query().Get(client.ProofChallenge)
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || len(challenge) != client.ChallengeLength {
		p.api.Nothing(w)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, client.Proof(p.admin, challenge, local.Port))
}

// Listen opens the configured port.
func (p *Process) Listen(ctx context.Context) (net.Listener, error) {
	address := p.Config().Listen
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &gateway.Error{
			Code: gateway.CodeConflict, Err: err,
			Message: "%s is in use, perhaps by another genkan; stop that one, or choose another port with --port",
			Values:  []any{address},
		}
	}
	if err != nil {
		return nil, &gateway.Error{
			Code: gateway.CodeInvalid, Err: err,
			Message: "cannot listen on %s; choose another address with --listen",
			Values:  []any{address},
		}
	}
	return l, nil
}

// maxHeader bounds the headers of a request, in bytes. A call keeps them until it
// ends. Modern clients mirror arguments into headers, which other servers bound at
// 8 to 32 KiB.
const maxHeader = 32 << 10

func (p *Process) httpServer() *http.Server {
	return &http.Server{
		Handler:           p.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
}

// Serve serves until ctx ends, and then lets the calls in flight finish. It fails
// when the database is lost.
func (p *Process) Serve(ctx context.Context, l net.Listener) error {
	ctx, end := p.whileHealthy(ctx)
	defer end()
	server := p.httpServer()
	l = connections.Limit(server, l)
	open, closeReception := context.WithCancel(ctx)
	p.address.Store(reachable(l.Addr()))
	joining := p.letOthersJoin(open, p.listening())
	defer func() {
		closeReception()
		<-joining.ended
	}()
	ended := make(chan error, 1)
	go func() {
		if tls := p.Config().TLS; tls.CertFile != "" {
			ended <- server.ServeTLS(l, tls.CertFile, tls.KeyFile)
		} else {
			ended <- server.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// This happens while everything is still served, so that clients of joined
	// processes notice nothing.
	<-joining.handedOver
	p.log.Info("stopping: calls under way may finish", "seconds", p.patience().Seconds())
	p.mcp.Drain()
	p.registry.EndTests()
	p.shutDown(server)
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return p.Health()
}

// patience returns how long calls may run on after a request to stop.
func (p *Process) patience() time.Duration {
	if p.Health() != nil {
		return lostDrain
	}
	return drainTime
}

// shutDown closes a server because the process ends. Calls in flight may finish within
// patience.
func (p *Process) shutDown(server *http.Server) {
	p.api.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), p.patience())
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		p.log.Warn("some calls did not finish in time", "error", err)
		_ = server.Close()
	}
}

// reachable returns an address that this machine can connect to. It replaces an
// unspecified IP with the loopback.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}
