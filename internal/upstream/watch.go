package upstream

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// patienceForWishes is how long a server may take to accept a subscription or
// a log level.
const patienceForWishes = 30 * time.Second

// watches are the resources of a server that somebody wants to hear of. Each is
// asked for once, however many want it, and again on every new connection.
type watches struct {
	mu    sync.Mutex
	byURI map[string]*watched
	last  int
}

type watched struct {
	told map[int]func(uri string)
	// stop ends the subscription on the present connection; nil when there is
	// none.
	stop func()
}

// Subscribe asks to be told when a resource changes, until stop is called. A
// server that is down is asked when it is back.
func (s *Server) Subscribe(ctx context.Context, uri string, told func(uri string)) (stop func(), err error) {
	c, err := s.ready(ctx)
	if err == nil && !c.protocol().watches {
		return nil, gateway.Errorf(gateway.CodeNotFound,
			"server %s does not tell when its resources change, so %s cannot be subscribed to", s.set.Name, uri)
	}
	w := &s.watched
	w.mu.Lock()
	if w.byURI == nil {
		w.byURI = map[string]*watched{}
	}
	entry, known := w.byURI[uri]
	if !known {
		entry = &watched{told: map[int]func(string){}}
		w.byURI[uri] = entry
	}
	w.last++
	number := w.last
	entry.told[number] = told
	w.mu.Unlock()
	stop = sync.OnceFunc(func() { w.drop(uri, number) })
	if known || c == nil {
		return stop, nil
	}
	if err := w.open(ctx, c, uri); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// open asks the server of a connection to tell about one resource.
func (w *watches) open(ctx context.Context, c conn, uri string) error {
	ctx, cancel := context.WithTimeout(ctx, patienceForWishes)
	defer cancel()
	stop, err := c.watch(ctx, uri)
	if err != nil {
		return err
	}
	w.mu.Lock()
	entry := w.byURI[uri]
	if entry != nil {
		entry.stop, stop = stop, entry.stop
	}
	w.mu.Unlock()
	if stop != nil { // nobody wants it any more, or it was asked for twice
		stop()
	}
	return nil
}

func (w *watches) drop(uri string, number int) {
	w.mu.Lock()
	entry := w.byURI[uri]
	if entry == nil {
		w.mu.Unlock()
		return
	}
	delete(entry.told, number)
	var stop func()
	if len(entry.told) == 0 {
		delete(w.byURI, uri)
		stop = entry.stop
	}
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// renew asks a fresh connection for everything that is watched.
func (w *watches) renew(ctx context.Context, c conn, log *slog.Logger) {
	if !c.protocol().watches {
		return
	}
	w.mu.Lock()
	var uris []string
	for uri, entry := range w.byURI {
		entry.stop = nil // the connection that it was for is gone
		uris = append(uris, uri)
	}
	w.mu.Unlock()
	for _, uri := range uris {
		if err := w.open(ctx, c, uri); err != nil {
			log.Warn("a subscription could not be renewed", "error", err)
			continue
		}
		w.updated(uri) // it may have changed while nobody listened
	}
}

// updated tells whoever watches the resource, or something that contains it.
func (w *watches) updated(uri string) {
	w.mu.Lock()
	var told []func(string)
	for watching, entry := range w.byURI {
		if uri == watching || strings.HasPrefix(uri, strings.TrimSuffix(watching, "/")+"/") {
			for _, f := range entry.told {
				told = append(told, f)
			}
		}
	}
	w.mu.Unlock()
	for _, f := range told {
		f(uri)
	}
}

// SetLogLevel tells the server how loud the loudest of its clients wants it.
// A modern server is told with each call instead.
func (s *Server) SetLogLevel(ctx context.Context, level string) {
	s.mu.Lock()
	same := s.logLevel == level
	s.logLevel = level
	c := s.conn
	s.mu.Unlock()
	if c != nil && !same && level != "" {
		s.sendLevel(ctx, c, level)
	}
}

func (s *Server) sendLevel(ctx context.Context, c conn, level string) {
	p := c.protocol()
	if !p.logs || p.era != gateway.EraLegacy || !slices.Contains(levels, level) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patienceForWishes)
	defer cancel()
	params := append(jsonrpc.AppendQuoted([]byte(`{"level":`), level), '}')
	if _, err := c.ask(ctx, "logging/setLevel", params); err != nil {
		s.log.Debug("the log level could not be set", "error", err)
	}
}

// uriParams are the params of a request about one resource.
func uriParams(uri string) []byte {
	return append(jsonrpc.AppendQuoted([]byte(`{"uri":`), uri), '}')
}
