package upstream

import (
	"context"
	"errors"
	"net/http"

	"genkan/internal/gateway"
)

// The transports of servers with a URL.
const (
	TransportHTTP = "http" // streamable HTTP
	TransportSSE  = "sse"  // the transport of MCP 2024-11-05
)

// connectURL connects to a server with a URL. If the configuration states no
// transport, it tries streamable HTTP first, as the specification asks.
func connectURL(ctx context.Context, s *Server, us self, known gateway.Era, e listeners, roots []byte) (conn, error) {
	s.signed.prepare(ctx)
	switch s.set.Transport {
	case TransportHTTP:
		return connectHTTP(ctx, s, us, known, e, roots)
	case TransportSSE:
		return connectSSE(ctx, s, us, e, roots)
	}
	if s.isSSE.Load() {
		c, err := connectSSE(ctx, s, us, e, roots)
		if !errors.Is(err, errNotSSE) {
			return c, err
		}
		s.isSSE.Store(false) // it was updated, perhaps
	}
	c, err := connectHTTP(ctx, s, us, known, e, roots)
	if err == nil || !mayBeSSE(err) {
		return c, err
	}
	// Any server may answer a GET with a stream and send nothing on it.
	patient, cancel := context.WithTimeout(ctx, endpointTimeout)
	defer cancel()
	w, otherwise := openSSE(patient, s, us)
	switch {
	case errors.Is(otherwise, errNotSSE) || otherwise != nil && patient.Err() != nil:
		return nil, err
	case otherwise != nil:
		return nil, otherwise
	}
	s.isSSE.Store(true)
	return startSSE(ctx, s, w, us, e, roots)
}

// mayBeSSE reports whether an error is how servers of the old transport refuse a
// POST to their stream.
func mayBeSSE(err error) bool {
	var refused *statusError
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	default:
		return false
	}
}
