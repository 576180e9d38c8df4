package upstream

import (
	"context"
	"errors"
	"net/http"

	"genkan/internal/gateway"
)

// How a server with a URL is spoken with.
const (
	TransportHTTP = "http" // streamable HTTP
	TransportSSE  = "sse"  // the transport of MCP 2024-11-05
)

// connectURL connects to a server that has a URL. When the configuration does
// not say how, streamable HTTP is tried first, as the specification asks.
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
	// Any server may open a stream for a GET, and be silent on it.
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

// mayBeSSE tells the refusals that a server of the old transport answers a POST
// to its stream with.
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
