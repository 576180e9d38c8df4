package mcpserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/seal"
)

// sessions are all legacy sessions over HTTP.
type sessions struct {
	sign seal.Sealer
	// patience is how long a client may take to answer a question.
	patience time.Duration

	mu     sync.RWMutex
	byID   map[string]*session
	gone   map[string]time.Time // ended by their clients, and not to be taken up again
	closed chan struct{}
	once   sync.Once
}

// mostSessions bounds the memory that clients can take by opening sessions.
const mostSessions = 100_000

var errTooManySessions = errors.New("too many sessions")

func (ss *sessions) init(sign seal.Sealer, patience time.Duration) {
	ss.sign, ss.patience = sign, patience
	ss.byID = map[string]*session{}
	ss.gone = map[string]time.Time{}
	ss.closed = make(chan struct{})
}

// add opens a session and returns its id.
func (ss *sessions) add(owner gateway.Identity, view, version string, capabilities []byte) (string, error) {
	ticket := newTicket(view, version, capabilities)
	id := ss.sign.Seal(sessionPurpose, ticket.encode(), []byte(owner.ClientID))
	return id, ss.put(id, newSession(owner, view, version, capabilities, ss.patience))
}

func (ss *sessions) put(id string, s *session) error {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if len(ss.byID) >= mostSessions {
		return &gateway.Error{
			Code: gateway.CodeLimited, Err: errTooManySessions, RetryAfter: time.Minute,
			Message: "there are too many sessions; end some, or try again later",
		}
	}
	ss.byID[id] = s
	return nil
}

// get finds a session of this owner. Another's is as good as none. One that is
// not in memory any more, after a restart or a long silence, is taken up again.
func (ss *sessions) get(id string, owner gateway.Identity, view string) (*session, bool) {
	ss.mu.RLock()
	s, ok := ss.byID[id]
	_, gone := ss.gone[id]
	ss.mu.RUnlock()
	if ok {
		return s, s.owner == owner.ClientID && s.view == view
	}
	payload, ours := ss.sign.Open(sessionPurpose, id, []byte(owner.ClientID))
	if gone || !ours {
		return nil, false
	}
	ticket, ok := decodeTicket(payload)
	if !ok || ticket.view != view || time.Since(ticket.opened) > sessionLife {
		return nil, false
	}
	s = newSession(owner, view, ticket.version, ticket.capabilities, ss.patience)
	for _, kind := range gateway.Kinds() {
		s.stale[kind] = true // who knows what changed meanwhile
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if now, taken := ss.byID[id]; taken {
		return now, true
	}
	if _, gone := ss.gone[id]; gone || len(ss.byID) >= mostSessions {
		return nil, false
	}
	ss.byID[id] = s
	return s, true
}

// remove takes a session out of the list at its client's wish; nil when it is
// not there.
func (ss *sessions) remove(id string) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s := ss.byID[id]
	delete(ss.byID, id)
	if len(ss.gone) < mostSessions {
		ss.gone[id] = time.Now()
	}
	return s
}

func (ss *sessions) count() int {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	return len(ss.byID)
}

// each visits all sessions.
func (ss *sessions) each(visit func(*session)) {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	for _, s := range ss.byID {
		visit(s)
	}
}

func (ss *sessions) changed(view string, kind gateway.Kind) {
	ss.each(func(s *session) {
		if s.view == view {
			s.changed(kind)
		}
	})
}

func (ss *sessions) views(into map[string]bool) {
	ss.each(func(s *session) { into[s.view] = true })
}

// expire forgets sessions that nobody has used for the idle limit.
func (ss *sessions) expire(idle time.Duration) {
	now := time.Now()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for id, s := range ss.byID {
		if s.idle(now.Add(-idle), now.Add(-sessionLife)) {
			delete(ss.byID, id)
			s.end()
		}
	}
	for id, since := range ss.gone {
		if now.Sub(since) > sessionLife {
			delete(ss.gone, id)
		}
	}
}

// sweep expires sessions until close.
func (ss *sessions) sweep(idle time.Duration) {
	ticker := time.NewTicker(max(idle/10, time.Second))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			ss.expire(idle)
		case <-ss.closed:
			return
		}
	}
}

func (ss *sessions) close() {
	ss.once.Do(func() { close(ss.closed) })
	ss.each((*session).end)
}

// setLevel takes a legacy client's wish for log messages.
func (s *Server) setLevel(sess *session, msg *jsonrpc.Message) error {
	level := jsonrpc.LookupText(msg.Params.Raw, "level")
	if gateway.Quietness(level) < 0 {
		return badLevel()
	}
	sess.learn(func(known *gateway.Session) { known.LogLevel = level })
	s.tellLoudest()
	return nil
}

// tellLoudest tells the house the loudest level that any legacy client wants,
// one at a time, so that what was found out last is said last.
func (s *Server) tellLoudest() {
	s.levels.Lock()
	defer s.levels.Unlock()
	if level := s.loudest(); level != "" {
		s.opt.House().SetLogLevel(level)
	}
}

// loudest is the loudest level that any legacy client wants, empty when none
// said.
func (s *Server) loudest() (loudest string) {
	consider := func(other *session) {
		if l := other.known.Load().LogLevel; l != "" && (loudest == "" || gateway.Quietness(l) < gateway.Quietness(loudest)) {
			loudest = l
		}
	}
	s.sessions.each(consider)
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.connected {
		consider(other)
	}
	return loudest
}

// mostSubscriptions is how many resources one client may watch.
const mostSubscriptions = 1000

// subscribe takes a legacy client's wish to hear of a resource.
func (s *Server) subscribe(ctx context.Context, sess *session, msg *jsonrpc.Message) error {
	uri, ok := textOf(&msg.Params, msg.Params.URI)
	if !ok {
		return gateway.Errorf(gateway.CodeInvalid, "params.uri must be the URI of a resource")
	}
	sess.mu.Lock()
	_, already := sess.subscriptions[uri]
	many := len(sess.subscriptions) >= mostSubscriptions
	sess.mu.Unlock()
	switch {
	case already:
		return nil
	case many:
		return gateway.Errorf(gateway.CodeLimited, "a client can watch %d resources at once; unsubscribe from some", mostSubscriptions)
	}
	stop, err := s.opt.House().Subscribe(ctx, sess.watching(uri), sess.updated)
	if err != nil {
		return err
	}
	sess.mu.Lock()
	defer sess.mu.Unlock()
	if _, already := sess.subscriptions[uri]; already || sess.ended {
		go stop()
		return nil
	}
	if sess.subscriptions == nil {
		sess.subscriptions = map[string]func(){}
	}
	sess.subscriptions[uri] = stop
	return nil
}

func (s *Server) unsubscribe(sess *session, msg *jsonrpc.Message) error {
	uri, ok := textOf(&msg.Params, msg.Params.URI)
	if !ok {
		return gateway.Errorf(gateway.CodeInvalid, "params.uri must be the URI of a resource")
	}
	sess.mu.Lock()
	stop := sess.subscriptions[uri]
	delete(sess.subscriptions, uri)
	sess.mu.Unlock()
	if stop != nil {
		stop()
	}
	return nil
}

// Resubscribe tells the house that serves now what clients wished of the former
// one: a server that was replaced has taken its subscriptions with it.
func (s *Server) Resubscribe() {
	s.tellLoudest()
	var watching []*session
	gather := func(sess *session) {
		sess.mu.Lock()
		defer sess.mu.Unlock()
		if len(sess.subscriptions) > 0 {
			watching = append(watching, sess)
		}
	}
	s.sessions.each(gather)
	s.mu.Lock()
	for sess := range s.connected {
		gather(sess)
	}
	for l := range s.listeners {
		l.renew()
	}
	s.mu.Unlock()
	for _, sess := range watching {
		go sess.renew(s)
	}
}

// renew asks the present house for the session's subscriptions, and then gives
// up the former ones: none is without for a moment.
func (s *session) renew(server *Server) {
	s.mu.Lock()
	uris := slices.Collect(maps.Keys(s.subscriptions))
	s.mu.Unlock()
	for _, uri := range uris {
		ctx, cancel := context.WithTimeout(server.life, time.Minute)
		stop, err := server.opt.House().Subscribe(ctx, s.watching(uri), s.updated)
		cancel()
		if err != nil {
			server.opt.Log.Debug("a subscription was lost with its server", "error", err)
			continue
		}
		s.mu.Lock()
		former, wanted := s.subscriptions[uri]
		if wanted {
			s.subscriptions[uri], stop = stop, former
		}
		s.mu.Unlock()
		stop()
	}
}

// watching is a legacy client's wish to hear of a resource, as a call.
func (s *session) watching(uri string) *gateway.Call {
	known := s.known.Load()
	return &gateway.Call{
		Method: "resources/subscribe", Kind: gateway.KindResource, Name: uri, View: s.view,
		Era: gateway.EraLegacy, Identity: known.Identity, Session: known,
	}
}

// bury ends a session, and what servers keep for it.
func (s *Server) bury(sess *session) {
	sess.end()
	s.opt.House().Forget(sess.known.Load().ID)
}
