package upstream

import (
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// ClientNotified handles a notification of a client and forwards it if it concerns this
// server. It does not wait for the client or the server.
func (s *Server) ClientNotified(session *gateway.Session, method string, params []byte) {
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

// clientMoved asks a client for its new roots and sends them to its servers. A
// client without an open stream is asked at its next call. With IsolationRoot
// nothing is sent: the next call uses the connection of the new folder.
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

// move tells the server of a connection that its client's workspace changed.
func (b *connPool) move(one *pooledConn, where workspace) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one.err == nil && one.workspace.version < where.version {
		one.workspace = where
		one.conn.setRoots(where.roots)
		one.conn.sendNotification("notifications/roots/list_changed", nil)
	}
}
