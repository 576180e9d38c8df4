package signin

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"genkan/internal/gateway"
)

// loopback waits on this machine for the browser to come back.
type loopback struct {
	listener net.Listener
	port     int
}

const callbackPath = "/callback"

// listenLoopback takes the wanted port if it is free, else any. The number
// and not the name localhost: the name may lead elsewhere (RFC 8252 §8.3).
func listenLoopback(ctx context.Context, wanted int) (*loopback, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(wanted)))
	if err != nil && wanted != 0 {
		l, err = config.Listen(ctx, "tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, because(err, gateway.Errorf(gateway.CodeInternal,
			"genkan cannot listen on 127.0.0.1, where the browser comes back to after signing in; check what forbids it"))
	}
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		_ = l.Close()
		return nil, errors.New("a listener without a port")
	}
	return &loopback{listener: l, port: address.Port}, nil
}

func (l *loopback) redirectURI() string { return redirectURI(l.port) }

func redirectURI(port int) string {
	return "http://127.0.0.1:" + strconv.Itoa(port) + callbackPath
}

// portOfRedirect is the port that an earlier registration was made with.
func portOfRedirect(uri string) int {
	u, err := url.Parse(uri)
	if err != nil {
		return 0
	}
	port, _ := strconv.Atoi(u.Port())
	return port
}

// serve answers the browser until ctx ends. take gets each answer's query and
// says whether it was the one; a page that knows nothing of us may call here.
func (l *loopback) serve(ctx context.Context, translate gateway.Translate, take func(url.Values) (ours bool, err error)) {
	own := net.JoinHostPort("127.0.0.1", strconv.Itoa(l.port))
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != callbackPath || r.Method != http.MethodGet || r.Host != own {
				http.NotFound(w, r)
				return
			}
			switch ours, err := take(r.URL.Query()); {
			case !ours:
				showPage(w, http.StatusBadRequest, translate, gateway.Textf("This is not the sign-in that genkan waits for. Start it again from the terminal."))
			case err != nil:
				showPage(w, http.StatusOK, translate, gateway.Textf("The sign-in did not work. The terminal says why; you can close this window."))
			default:
				showPage(w, http.StatusOK, translate, gateway.Textf("Genkan has your answer. You can close this window and go back to the terminal."))
			}
		}),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l.listener)
	}()
	<-ctx.Done()
	// The page may still be on its way to the browser.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = server.Shutdown(last)
	_ = server.Close()
	<-served
}

const page = `<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Genkan</title>
<style>body{font:1.1rem/1.6 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;text-align:center;color-scheme:light dark}</style>
<h1>Genkan</h1>
<p>%s</p>
`

// showPage shows one sentence. Its address holds the code: nothing may carry
// it on.
func showPage(w http.ResponseWriter, status int, translate gateway.Translate, text gateway.Text) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, page, html.EscapeString(text.In(translate)))
}
