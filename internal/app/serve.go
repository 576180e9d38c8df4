package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"genkan/internal/gateway"
)

// drainTime is how long calls may go on after a request to stop.
const drainTime = 30 * time.Second

// Handler is everything that is served over HTTP.
func (p *Process) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		p.mcp.View(viewOf(r, "")).ServeHTTP(w, r)
	})
	mux.HandleFunc("/mcp/s/{server}", func(w http.ResponseWriter, r *http.Request) {
		p.mcp.View(viewOf(r, oneServer(r))).ServeHTTP(w, r)
	})
	mux.HandleFunc("/mcp/p/{profile}", func(w http.ResponseWriter, r *http.Request) {
		p.mcp.View(viewOf(r, profileMark+r.PathValue("profile"))).ServeHTTP(w, r)
	})
	mux.Handle("/sse", p.mcp.SSE(""))
	mux.HandleFunc("/sse/s/{server}", func(w http.ResponseWriter, r *http.Request) {
		p.mcp.SSE(oneServer(r)).ServeHTTP(w, r)
	})
	mux.Handle("/messages", p.mcp.Messages())
	p.api.Routes(mux)
	metrics := promhttp.HandlerFor(p.recorder.Registry(), promhttp.HandlerOpts{})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := p.admit(w, r); ok {
			metrics.ServeHTTP(w, r)
		}
	})
	// Clients look here for an authorization server. Anything but a plain
	// "not found" sends them into a sign-in that does not exist.
	mux.HandleFunc("/.well-known/", http.NotFound)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := p.admit(w, r); ok {
			p.refused(r, http.StatusNotFound, "not_found")
			p.api.Nothing(w)
		}
	})
	return mux
}

// admit says who is calling. When it reports false, it has answered.
func (p *Process) admit(w http.ResponseWriter, r *http.Request) (gateway.Identity, bool) {
	id, ok := p.lock.Admit(w, r)
	if ok {
		know(r)
	}
	return id, ok
}

// refused notes a request that was let in and then refused.
func (p *Process) refused(r *http.Request, status int, reason string) {
	p.recorder.Refusals().Note(r, status, reason, p.lock.Client(r))
}

// oneServer is the view of a single server that a URL names. What stands for
// several, or for something else, is no server's name, and there is no end of such.
func oneServer(r *http.Request) string {
	if name := r.PathValue("server"); !strings.ContainsAny(name, ",@~?") {
		return name
	}
	return "?"
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

// Serve serves until ctx ends, and then lets the calls under way finish. It fails
// when the database is lost.
func (p *Process) Serve(ctx context.Context, l net.Listener) error {
	ctx, end := p.whileHealthy(ctx)
	defer end()
	server := p.httpServer()
	track(server)
	l = strangerListener{l, newStrangers()}
	open, closeReception := context.WithCancel(ctx)
	joining := p.letOthersJoin(open)
	defer func() {
		closeReception()
		<-joining.ended
	}()
	address := Address{Listen: reachable(l.Addr()), PID: os.Getpid(), TLS: p.Config().TLS.CertFile != ""}
	if other, err := ReadAddress(p.opt.DataDir); err == nil && other.Answers() {
		p.log.Warn("another genkan serves this data directory: both start servers of their own, and the command line and `genkan stdio` speak with the other one; "+
			"stop one of them, or give this one a data directory of its own with --data", "other_listens_on", other.Listen, "other_process_id", other.PID)
	} else if err := address.write(p.opt.DataDir); err != nil {
		p.log.Warn("the address could not be written down for the command line", "error", err)
	}
	defer address.remove(p.opt.DataDir)
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
	// While everything is still served, so that nobody who joined notices.
	<-joining.handedOver
	drain := drainTime
	if p.Health() != nil {
		drain = lostDrain
	}
	p.log.Info("stopping: calls under way may finish", "seconds", drain.Seconds())
	p.mcp.Drain()
	p.endTests()
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := server.Shutdown(patience)
	if err != nil {
		p.log.Warn("some calls did not finish in time", "error", err)
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return p.Health()
}

// Address says where the genkan of a data directory listens, for the command
// line.
type Address struct {
	Listen string `json:"listen"`
	PID    int    `json:"pid"`
	TLS    bool   `json:"tls,omitempty"`
}

// reachable is an address that this machine can call: one that stands for all
// of them is none.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}

// Answers reports whether somebody listens there.
func (a Address) Answers() bool {
	// Not bound to the process's own life: the answer counts while it ends, too.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", a.Listen)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

func addressFile(dataDir string) string { return filepath.Join(dataDir, "address.json") }

func (a Address) write(dataDir string) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	// A new file under another name first: a link at the path is replaced and not
	// followed.
	temp, err := os.CreateTemp(dataDir, ".address-*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(append(raw, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), addressFile(dataDir))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// remove takes the file away if it is still ours.
func (a Address) remove(dataDir string) {
	if found, err := ReadAddress(dataDir); err == nil && found.PID == a.PID {
		_ = os.Remove(addressFile(dataDir))
	}
}

// ReadAddress finds the genkan of a data directory.
func ReadAddress(dataDir string) (Address, error) {
	var a Address
	raw, err := os.ReadFile(addressFile(dataDir))
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(raw, &a)
}
