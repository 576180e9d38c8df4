package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// session is a legacy client's: over HTTP it is named by an id, over stdio it
// is the connection. Ten thousand of them must be cheap, so it holds nothing
// that is not needed while it is idle.
type session struct {
	owner   string // the ClientID that opened it
	version string

	mu       sync.Mutex
	lastSeen time.Time
	calls    map[string]context.CancelCauseFunc // by the client's request id
	// stream is the open GET stream, nil if none.
	stream *stream
	// stale is set when the tools changed since the client last asked for
	// them. A new stream begins with telling so: what was sent on a stream that
	// broke may never have arrived.
	stale bool
}

// stream is an open stream of server messages. A session has one: a newer one
// takes over, so that no message is sent twice.
type stream struct {
	listener
	replaced chan struct{}
}

var errCanceledByClient = &gateway.Error{Code: gateway.CodeCanceled, Message: "the client canceled the call"}

// begin registers a call under the client's id. An id that is in use is
// refused: the answers could not be told apart.
func (s *session) begin(id string, cancel context.CancelCauseFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, used := s.calls[id]; used {
		return gateway.Errorf(gateway.CodeInvalid, "request id %s is in use by a call that is still under way", id)
	}
	if s.calls == nil {
		s.calls = map[string]context.CancelCauseFunc{}
	}
	s.calls[id] = cancel
	return nil
}

func (s *session) finish(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
	if len(s.calls) == 0 {
		s.calls = nil
	}
	s.lastSeen = time.Now()
}

// cancel ends a call at the client's wish.
func (s *session) cancel(id string) {
	s.mu.Lock()
	cancel := s.calls[id]
	s.mu.Unlock()
	if cancel != nil {
		cancel(errCanceledByClient)
	}
}

func (s *session) toolsChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
	if s.stream != nil {
		s.stream.tell()
	}
}

// listing notes that the client asks for the tools, before they are looked up.
func (s *session) listing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = false
}

// open makes a stream the session's.
func (s *session) open() *stream {
	st := &stream{listener: listener{changed: make(chan struct{}, 1)}, replaced: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		close(s.stream.replaced)
	}
	s.stream = st
	if s.stale {
		st.tell()
	}
	return st
}

func (s *session) shut(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.stream = nil
	}
	s.lastSeen = time.Now()
}

// sessions are all legacy sessions over HTTP.
type sessions struct {
	mu     sync.RWMutex
	byID   map[string]*session
	closed chan struct{}
	once   sync.Once
}

// mostSessions bounds the memory that clients can take by opening sessions.
const mostSessions = 100_000

var errTooManySessions = errors.New("too many sessions")

func (ss *sessions) init() {
	ss.byID = map[string]*session{}
	ss.closed = make(chan struct{})
}

func (ss *sessions) add(owner, version string) (string, error) {
	id := rand.Text()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if len(ss.byID) >= mostSessions {
		return "", &gateway.Error{
			Code: gateway.CodeLimited, Err: errTooManySessions, RetryAfter: time.Minute,
			Message: "there are too many sessions; end some, or try again later",
		}
	}
	ss.byID[id] = &session{owner: owner, version: version, lastSeen: time.Now()}
	return id, nil
}

// get finds a session of this owner. Another's is as good as none.
func (ss *sessions) get(id, owner string) (*session, bool) {
	ss.mu.RLock()
	s, ok := ss.byID[id]
	ss.mu.RUnlock()
	return s, ok && s.owner == owner
}

func (ss *sessions) remove(id string) {
	ss.mu.Lock()
	s := ss.byID[id]
	delete(ss.byID, id)
	ss.mu.Unlock()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.calls {
		cancel(errCanceledByClient)
	}
	if s.stream != nil {
		close(s.stream.replaced)
		s.stream = nil
	}
}

func (ss *sessions) count() int {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	return len(ss.byID)
}

func (ss *sessions) toolsChanged() {
	ss.mu.RLock()
	defer ss.mu.RUnlock()
	for _, s := range ss.byID {
		s.toolsChanged()
	}
}

// expire removes sessions that nobody has used for the idle limit.
func (ss *sessions) expire(idle time.Duration) {
	oldest := time.Now().Add(-idle)
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for id, s := range ss.byID {
		s.mu.Lock()
		if s.lastSeen.Before(oldest) && len(s.calls) == 0 && s.stream == nil {
			delete(ss.byID, id)
		}
		s.mu.Unlock()
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

func (ss *sessions) close() { ss.once.Do(func() { close(ss.closed) }) }
