package mcpserver

import (
	"container/heap"
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

// sessions holds all legacy sessions over HTTP.
type sessions struct {
	sign seal.Sealer
	// patience is how long a client may take to answer a question.
	patience time.Duration
	// shares bounds the number of sessions, budget their memory.
	shares, budget *gateway.Shares
	mostGone       int
	// forget releases what servers keep for a session that has ended.
	forget func(*session)

	mu      sync.RWMutex
	byID    map[string]*session
	byOwner map[string]*idleHeap
	gone    map[string]time.Time // ended by their clients, and must not be resumed
	closed  chan struct{}
	once    sync.Once
}

// mostSessions is how many sessions there may be by default.
const mostSessions = 20_000

var errTooManySessions = errors.New("too many sessions")

func (ss *sessions) init(opt Options, forget func(*session)) {
	ss.sign, ss.patience, ss.forget = seal.Sealer{Secret: opt.Secret}, opt.AskPatience, forget
	ss.shares, ss.budget = gateway.NewShares(int64(opt.Limits.Sessions)), opt.Budget
	ss.mostGone = opt.Limits.Sessions
	ss.byID = map[string]*session{}
	ss.byOwner = map[string]*idleHeap{}
	ss.gone = map[string]time.Time{}
	ss.closed = make(chan struct{})
}

// add opens a session and returns its id.
func (ss *sessions) add(owner gateway.Identity, view gateway.View, version string, capabilities []byte) (string, error) {
	ticket := newTicket(view, version, capabilities)
	id := ss.sign.Seal(sessionPurpose, ticket.encode(), []byte(owner.ClientID))
	s := newSession(owner, ss.budget, view, version, capabilities, ss.patience)
	ss.mu.Lock()
	ended, ok := ss.put(id, s)
	ss.mu.Unlock()
	for _, s := range ended {
		ss.forget(s)
	}
	if !ok {
		return "", errSessionsUsedUp()
	}
	return id, nil
}

// put adds a session. If its client has used up its share, the client's longest
// idle session ends, because some clients open a session for each run and never end
// any. More than one ends if the share has become smaller. It reports false if none
// is idle. Called with mu held.
func (ss *sessions) put(id string, s *session) (ended []*session, ok bool) {
	for !ss.shares.Take(s.owner, 1) {
		idlest := ss.endIdlest(s.owner)
		if idlest == nil {
			return ended, false
		}
		ended = append(ended, idlest)
	}
	s.id = id
	ss.byID[id] = s
	idle := ss.byOwner[s.owner]
	if idle == nil {
		idle = &idleHeap{}
		ss.byOwner[s.owner] = idle
	}
	s.idleSince = s.lastSeen
	heap.Push(idle, s)
	return ended, true
}

// drop removes a session from the list. Called with mu held.
func (ss *sessions) drop(s *session) {
	delete(ss.byID, s.id)
	idle := ss.byOwner[s.owner]
	heap.Remove(idle, s.heapIndex)
	if idle.Len() == 0 {
		delete(ss.byOwner, s.owner)
	}
	ss.shares.Give(s.owner, 1)
}

// endIdlest ends the longest idle session of a client. It returns nil if all have a
// call or a stream. Called with mu held.
func (ss *sessions) endIdlest(owner string) *session {
	idle, now := ss.byOwner[owner], time.Now()
	for idle != nil {
		s := (*idle)[0]
		if s.idleSince.After(now) { // this session and all others are in use
			return nil
		}
		since, ended := s.endIfIdle(s.idleSince)
		if ended {
			ss.drop(s)
			return s
		}
		if since.IsZero() {
			since = now.Add(1) // in use
		}
		s.idleSince = since
		heap.Fix(idle, 0)
	}
	return nil
}

func errSessionsUsedUp() error {
	return &gateway.Error{
		Code: gateway.CodeLimited, Err: errTooManySessions, RetryAfter: time.Minute,
		Message: "there are too many sessions; end some, or try again later",
	}
}

// idleHeap is a heap of a client's sessions. The first is the one that may have
// been idle longest. A used session does not move at once: its idleSince is a lower
// bound, which is updated when the session reaches the front.
type idleHeap []*session

func (h idleHeap) Len() int           { return len(h) }
func (h idleHeap) Less(i, j int) bool { return h[i].idleSince.Before(h[j].idleSince) }

func (h idleHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = i, j
}

// Push implements heap.Interface.
func (h *idleHeap) Push(s any) {
	added := s.(*session) //nolint:forcetypeassert // only sessions are added
	added.heapIndex = len(*h)
	*h = append(*h, added)
}

// Pop implements heap.Interface.
func (h *idleHeap) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return s
}

// get returns a session of this owner. Sessions of other owners are not found. A
// session that is no longer in memory, after a restart or a long silence, is
// resumed.
func (ss *sessions) get(id string, owner gateway.Identity, view gateway.View) (*session, bool) {
	s, ok := ss.find(id, owner, view)
	if ok && !s.seen() { // it has just been ended to admit another session
		if s, ok = ss.find(id, owner, view); ok {
			s.seen()
		}
	}
	return s, ok
}

func (ss *sessions) find(id string, owner gateway.Identity, view gateway.View) (*session, bool) {
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
	if !ok || ticket.view != view.String() || time.Since(ticket.opened) > sessionLife {
		return nil, false
	}
	s = newSession(owner, ss.budget, view, ticket.version, ticket.capabilities, ss.patience)
	for _, kind := range gateway.Kinds() {
		s.stale[kind] = true // the list may have changed meanwhile
	}
	ss.mu.Lock()
	now, taken := ss.byID[id]
	_, gone = ss.gone[id]
	var ended []*session
	if !taken && !gone {
		if ended, ok = ss.put(id, s); ok {
			now = s
		}
	}
	ss.mu.Unlock()
	for _, s := range ended {
		ss.forget(s)
	}
	return now, now != nil
}

// remove removes a session that its client deletes; it returns nil if there is
// none.
func (ss *sessions) remove(id string) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s := ss.byID[id]
	if s != nil {
		ss.drop(s)
	}
	if len(ss.gone) < ss.mostGone {
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

func (ss *sessions) changed(view gateway.View, kind gateway.Kind) {
	ss.each(func(s *session) {
		if s.view == view {
			s.changed(kind)
		}
	})
}

func (ss *sessions) views(into map[gateway.View]bool) {
	ss.each(func(s *session) { into[s.view] = true })
}

// expire drops sessions that have not been used for the idle limit.
func (ss *sessions) expire(idle time.Duration) {
	now := time.Now()
	var expired []*session
	defer func() {
		for _, s := range expired {
			ss.forget(s)
		}
	}()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for _, s := range ss.byID {
		if s.idle(now.Add(-idle), now.Add(-sessionLife)) {
			ss.drop(s)
			s.end()
			expired = append(expired, s)
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

// setLevel sets the log level that a legacy client asks for.
func (s *Server) setLevel(sess *session, msg *jsonrpc.Message) error {
	level := jsonrpc.LookupText(msg.Params.Raw, "level")
	if gateway.Quietness(level) < 0 {
		return badLevel()
	}
	sess.learn(func(known *gateway.Session) { known.LogLevel = level })
	s.raiseLogLevel()
	return nil
}

// raiseLogLevel passes the most verbose log level of all legacy clients to the house.
// Calls are serialised, so that the newest level is set last.
func (s *Server) raiseLogLevel() {
	s.levels.Lock()
	defer s.levels.Unlock()
	if level := s.mostVerbose(); level != "" {
		s.opt.House().SetLogLevel(level)
	}
}

// mostVerbose returns the most verbose log level that a legacy client asks for; empty
// if none has asked.
func (s *Server) mostVerbose() (level string) {
	consider := func(other *session) {
		if l := other.known.Load().LogLevel; l != "" && (level == "" || gateway.Quietness(l) < gateway.Quietness(level)) {
			level = l
		}
	}
	s.sessions.each(consider)
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.connected {
		consider(other)
	}
	return level
}

const (
	// mostSubscriptions is how many resources one client may watch.
	mostSubscriptions = 1000
	// longestName bounds the URIs and ids that a client can watch, in bytes.
	longestName = 8 << 10
	// mostTopicBytes bounds the URIs or ids of one stream together, in bytes.
	mostTopicBytes = 256 << 10
)

// watchCost returns the bytes to count for a resource or task that a client
// watches, by the length of its name. The name is copied into requests and filters
// on the way to the server, and a modern server over HTTP gets a connection for
// each. The numbers are measured.
func watchCost(name int) int { return 64<<10 + 6*name }

// subscribe subscribes a legacy client to a resource. It counts against the
// client's rate limit.
func (s *Server) subscribe(ctx context.Context, sess *session, msg *jsonrpc.Message) error {
	uri, ok := textOf(&msg.Params, msg.Params.URI)
	if !ok {
		return gateway.Errorf(gateway.CodeInvalid, "params.uri must be the URI of a resource")
	}
	if err := s.opt.House().Count(sess.known.Load().Identity); err != nil {
		return err
	}
	sess.mu.Lock()
	_, already := sess.subscriptions[uri]
	many := len(sess.subscriptions) >= mostSubscriptions
	sess.mu.Unlock()
	cost := watchCost(len(uri))
	switch {
	case already:
		return nil
	case len(uri) > longestName:
		return gateway.Errorf(gateway.CodeInvalid, "the URI of a resource to watch may have %d bytes", longestName)
	case many:
		return gateway.Errorf(gateway.CodeLimited, "a client can watch %d resources at once; unsubscribe from some", mostSubscriptions)
	}
	if !sess.bytes.take(cost) {
		return gateway.ErrShareUsedUp
	}
	stop, err := s.opt.House().Subscribe(ctx, sess.watching(uri), sess.updated)
	if err != nil {
		sess.bytes.give(cost)
		return err
	}
	sess.mu.Lock()
	defer sess.mu.Unlock()
	if _, already := sess.subscriptions[uri]; already || sess.ended {
		sess.bytes.give(cost)
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
		sess.bytes.give(watchCost(len(uri)))
		stop()
	}
	return nil
}

// Resubscribe repeats the subscriptions of all clients in the current house, because a
// replaced server has lost its subscriptions, or clients may use other servers than before.
func (s *Server) Resubscribe() {
	s.raiseLogLevel()
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

// renew repeats the session's subscriptions in the current house, and then ends the
// former ones, so that there is no gap. A resource that the client can no longer subscribe
// to is asked for again by the next renew: its server may come back.
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
			if code := gateway.AsError(err).Code; code == gateway.CodeUnavailable || code == gateway.CodeTimeout || code == gateway.CodeLimited {
				continue // the former one may still work
			}
			stop = func() {}
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

// watching returns the call that subscribes a legacy client to a resource.
func (s *session) watching(uri string) *gateway.Call {
	known := s.known.Load()
	return &gateway.Call{
		Method: "resources/subscribe", Kind: gateway.KindResource, Name: uri,
		Caller: gateway.Caller{View: s.view, Era: gateway.EraLegacy, Identity: known.Identity, Session: known},
	}
}

// endSession ends a session and releases what servers keep for it.
func (s *Server) endSession(sess *session) {
	sess.end()
	s.forget(sess)
}

// forget releases what servers keep for a session that has ended.
func (s *Server) forget(sess *session) { s.opt.House().Forget(sess.known.Load().ID) }
