package upstream

import (
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Hear takes what a client says beside its calls, and tells the server if it is
// meant for it. It does not wait for either.
func (s *Server) Hear(session *gateway.Session, method string, params []byte) {
	switch method {
	case statusOfTask:
		own := jsonrpc.LookupText(params, "taskId")
		for _, c := range s.conns() {
			if id, ok := c.taskTable().serverID(session.ID, own); ok {
				c.sendNotification(method, renamed(params, own, id))
			}
		}
	case "notifications/roots/list_changed":
		s.clientMoved(session)
	}
}

// conns are all connections to the server.
func (s *Server) conns() []conn {
	var all []conn
	s.mu.Lock()
	if s.conn != nil {
		all = append(all, s.conn)
	}
	s.mu.Unlock()
	for _, one := range s.pool.of(func(poolKey) bool { return true }) {
		select {
		case <-one.opened:
			if one.err == nil {
				all = append(all, one.conn)
			}
		default:
		}
	}
	return all
}

// of are the branches that match.
func (b *connPool) of(match func(poolKey) bool) (found []*pooledConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, one := range b.byKey {
		if match(key) {
			found = append(found, one)
		}
	}
	return found
}

// clientMoved tells the server of a client that has moved: it is asked where to, on
// the stream that it has open. If it has none it is asked at its next call.
// Where each folder has a server of its own, the next call finds another one.
func (s *Server) clientMoved(session *gateway.Session) {
	s.mu.Lock()
	habits := s.known.Habits
	s.mu.Unlock()
	mine := s.pool.of(func(key poolKey) bool { return key.session == session.ID })
	says := session.Peer != nil && jsonrpc.Lookup(session.Capabilities, "roots") != nil
	if len(mine) == 0 || s.isolation(habits) != IsolationSession || !says {
		return
	}
	b := &s.pool
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.open.Go(func() {
		stated, err := askRoots(s.life, &gateway.Call{Caller: gateway.Caller{Era: gateway.EraLegacy, Session: session, Peer: session.Peer}})
		if err != nil {
			s.log.Debug("a client that has moved is asked at its next call where to", "error", err)
			return
		}
		b.learn(session.ID, stated)
		where := s.workspaceAt(session.Identity, stated.roots)
		where.version = stated.version
		for _, one := range mine {
			select {
			case <-one.opened:
				b.move(one, where)
			case <-s.life.Done():
				return
			}
		}
	})
}

// move tells a branch's server that its client works elsewhere now.
func (b *connPool) move(one *pooledConn, where workspace) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one.err == nil && one.workspace.version < where.version {
		one.workspace = where
		one.conn.setRoots(where.roots)
		one.conn.sendNotification("notifications/roots/list_changed", nil)
	}
}
