package upstream

import "context"

// Retire waits until no call holds the server, or until ctx ends, and closes the
// server. It is used for servers that leave the configuration.
func (s *Server) Retire(ctx context.Context) {
	s.Wait(ctx)
	s.Close()
}
