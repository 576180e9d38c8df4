package mcpserver

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// This is the transport of MCP 2024-11-05, for clients that support no other. A GET
// opens a stream. The stream begins with the address to post messages to, and
// carries all messages to the client. The stream is the session.

// SSE returns the handler that opens streams. The URL selects the view.
func (s *Server) SSE() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveSSE(w, r, requestedView(r)) })
}

// Messages returns the handler that receives the messages of all clients.
func (s *Server) Messages() http.Handler { return http.HandlerFunc(s.servePosted) }

// messagesPath is the path that package app mounts Messages at.
const messagesPath = "/messages?sessionId="

// sseClients are the clients with an open stream, by session id.
type sseClients struct {
	mu   sync.RWMutex
	byID map[string]*duplexConn
}

// add adds a client and returns its unguessable id.
func (cs *sseClients) add(c *duplexConn) (id string, remove func()) {
	id = rand.Text()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.byID[id] = c
	return id, func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		delete(cs.byID, id)
	}
}

// get returns the client with an id if it belongs to this owner.
func (cs *sseClients) get(id, owner string) (*duplexConn, bool) {
	cs.mu.RLock()
	defer cs.mu.RUnlock()
	c, ok := cs.byID[id]
	return c, ok && c.sess.owner == owner
}

// each visits the sessions of all clients.
func (cs *sseClients) each(visit func(*session)) {
	cs.mu.RLock()
	defer cs.mu.RUnlock()
	for _, c := range cs.byID {
		visit(c.sess)
	}
}

func (cs *sseClients) count() int {
	cs.mu.RLock()
	defer cs.mu.RUnlock()
	return len(cs.byID)
}

// serveSSE serves a client while its stream is open. The stream counts against the
// client's rate limit.
func (s *Server) serveSSE(w http.ResponseWriter, r *http.Request, view gateway.View) {
	id, ok := s.admit(w, r, view)
	switch {
	case !ok:
		return
	case r.Method != http.MethodGet:
		// This status tells clients that try streamable HTTP first to use SSE.
		w.Header().Set("Allow", "GET")
		s.plainError(w, r, http.StatusMethodNotAllowed, invalidRequest("GET opens a stream here, which says where to post messages; for streamable HTTP use /mcp"))
		return
	case !acceptsStream(r.Header):
		s.plainError(w, r, http.StatusNotAcceptable, invalidRequest("the Accept header must allow text/event-stream"))
		return
	}
	if err := s.opt.House().Count(id.Identity); err != nil {
		s.newReply(w, r).fail(nil, err)
		return
	}
	closeStream, err := s.openStream(id.ClientID, headerSize(r))
	if err != nil {
		s.newReply(w, r).fail(nil, err)
		return
	}
	defer closeStream()
	out := newEvents(s.account(id.ClientID))
	c := s.newDuplexConn(id, "sse", out)
	c.legacyOnly = true
	leave, ok := s.connect(c.sess)
	if !ok {
		s.plainError(w, r, http.StatusServiceUnavailable, errGoingDown())
		return
	}
	defer leave()
	life, giveUp := context.WithCancelCause(s.life)
	defer giveUp(nil)
	c.life = life
	name, remove := s.sse.add(c)
	ctx, cancel := context.WithCancel(r.Context())
	var beside sync.WaitGroup
	changes := c.sess.open()
	beside.Go(func() { c.tellOfChanges(ctx, changes) })

	out.put([]byte(messagesPath+name), "endpoint")
	c.speak(ctx, w, out, func() bool { return s.recognizes(r) })

	// Without the stream nothing can be sent to the client.
	remove()
	c.stopBeginning()
	out.close()
	cancel()
	s.endSession(c.sess)
	giveUp(errCanceledByClient)
	c.calls.Wait()
	beside.Wait()
}

// speak writes to the stream until the client disconnects, or until genkan shuts
// down and the calls in flight are answered.
func (c *duplexConn) speak(ctx context.Context, w http.ResponseWriter, out *events, recognized func() bool) {
	startStream(w)
	alive := time.NewTicker(keepAliveEvery)
	defer alive.Stop()
	drain := c.server.drain
	var answered chan struct{}
	for {
		last, silent := false, false
		select {
		case <-out.queue.wake:
		case <-alive.C:
			silent = true
		case <-drain:
			drain = nil
			answered = make(chan struct{})
			c.stopBeginning()
			go func() {
				c.calls.Wait()
				close(answered)
			}()
		case <-answered:
			last = true
		case <-out.deaf:
			c.server.opt.Log.Info("the client does not read what it is sent; its stream is closed", "client", c.id.ClientID)
			return
		case <-ctx.Done():
			return
		}
		if !recognized() {
			return
		}
		if err := out.flush(w, silent); err != nil || last {
			return
		}
	}
}

// servePosted serves one message of a client that has a stream.
func (s *Server) servePosted(w http.ResponseWriter, r *http.Request) {
	id, ok := s.admit(w, r, gateway.View{})
	if !ok {
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		s.plainError(w, r, http.StatusMethodNotAllowed, invalidRequest("messages are posted here; GET /sse opens the stream for the answers"))
		return
	}
	c, ok := s.sse.get(r.URL.Query().Get("sessionId"), id.ClientID)
	if !ok {
		s.plainError(w, r, http.StatusNotFound, invalidRequest("this session does not exist or has ended: open a new stream with GET /sse"))
		return
	}
	p := s.newReply(w, r)
	p.quota.account = s.account(id.ClientID)
	defer p.quota.release()
	if msg, ok := s.message(p, r); ok {
		c.receive(r.Context(), &msg)
		w.WriteHeader(http.StatusAccepted)
	}
}
