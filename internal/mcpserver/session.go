package mcpserver

import (
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// session is the session of a legacy client. Over HTTP it has an id; over stdio it
// is the connection. Ten thousand idle sessions must be cheap, so most fields are
// nil while it is idle.
type session struct {
	owner string // the ClientID that opened it
	// bytes counts the memory that is kept for the client.
	bytes   account
	version string
	view    gateway.View
	// patience is how long the client may take to answer a question.
	patience time.Duration
	// known is the part of the session that other packages see.
	known atomic.Pointer[gateway.Session]
	// id, idleSince and heapIndex belong to sessions: the key it is listed under,
	// and its position in the heap of idle sessions.
	id        string
	idleSince time.Time
	heapIndex int

	mu       sync.Mutex
	lastSeen time.Time
	calls    map[string]context.CancelCauseFunc // by the client's request id
	// stream receives notifications; nil if none is open.
	stream *stream
	// stale are the lists that changed since the client last asked for them. A
	// new stream begins with these notifications: what was sent on a stream that
	// broke may never have arrived.
	stale [gateway.KindCount]bool
	// missed are the watched resources that changed while no stream was open. unsent
	// are the messages that a stream had not sent when it ended.
	missed []string
	unsent [][]byte
	// journals are the streams of calls, by number.
	journals    map[int]*journal
	lastJournal int
	// asks are the questions that the client has not answered yet.
	asks    map[string]chan clientAnswer
	lastAsk int
	// subscriptions are the resources that the client subscribed to.
	subscriptions map[string]func()
	ended         bool
	// mute is why the client can no longer answer questions; nil if it can.
	mute error
}

// clientAnswer is a client's answer to a question.
type clientAnswer struct {
	result []byte
	err    error
}

// stream is an open stream of server messages. A session has one: a newer stream
// replaces the older, so that no message is sent twice.
type stream struct {
	*listener
	replaced chan struct{}
}

var errCanceledByClient = &gateway.Error{Code: gateway.CodeCanceled, Message: "the client canceled the call"}

// newSession returns a session of a client. Messages that wait for the client count
// against its share of the budget.
func newSession(owner gateway.Identity, budget *gateway.Shares, view gateway.View, version string, capabilities []byte, patience time.Duration) *session {
	s := &session{
		owner: owner.ClientID, bytes: account{budget, owner.ClientID},
		view: view, version: version, patience: patience, lastSeen: time.Now(),
	}
	s.known.Store(&gateway.Session{ID: rand.Text()[:12], Identity: owner, Capabilities: capabilities, Peer: sessionPeer{s}})
	return s
}

// sessionPeer reaches a client outside of its calls.
type sessionPeer struct{ *session }

// Notify sends a notification on the session's stream, or keeps it for the next
// one.
func (l sessionPeer) Notify(method string, params []byte) {
	message := jsonrpc.AppendNotification(nil, method, params)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.stream != nil:
		l.stream.push(message)
	case !l.ended && len(l.unsent) < mostUnsent && len(message) <= longestUnsent && l.bytes.take(len(message)):
		l.unsent = append(l.unsent, message)
	}
}

// mostUnsent is how many messages are kept for a client without a stream, and
// longestUnsent how long each may be. Such a client may never open a stream.
const mostUnsent, longestUnsent = 64, 16 << 10

// Ask puts a question on the session's stream and waits for the answer.
func (l sessionPeer) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	return l.askVia(ctx, method, params, l.push, nil)
}

// learn replaces known with a changed copy.
func (s *session) learn(change func(*gateway.Session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := *s.known.Load()
	change(&fresh)
	s.known.Store(&fresh)
}

// begin registers a call under the client's id. An id that is in use is refused,
// because the answers could not be told apart.
func (s *session) begin(id string, cancel context.CancelCauseFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, used := s.calls[id]; used {
		return gateway.Errorf(gateway.CodeInvalid, "request id %s is in use by a call that is still under way", gateway.Short(id))
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

// cancel ends a call that the client canceled.
func (s *session) cancel(id string) {
	s.mu.Lock()
	cancel := s.calls[id]
	s.mu.Unlock()
	if cancel != nil {
		cancel(errCanceledByClient)
	}
}

func (s *session) changed(kind gateway.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale[sharedKind(kind)] = true
	if s.stream != nil {
		s.stream.tell(kind)
	}
}

// listing notes that the client asks for a list. Call it before the list is read.
func (s *session) listing(kind gateway.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale[sharedKind(kind)] = false
}

// open opens a stream, which replaces the session's former one.
func (s *session) open() *stream {
	st := &stream{listener: newListener(s.view, s.bytes), replaced: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		close(s.stream.replaced)
		s.keepRest(s.stream)
	}
	s.stream = st
	for _, kind := range gateway.Kinds() {
		if s.stale[kind] {
			st.tell(kind)
		}
	}
	for _, message := range s.unsent {
		s.bytes.give(len(message)) // push counts it again
		st.push(message)
	}
	for _, uri := range s.missed {
		st.update(uri)
	}
	s.unsent, s.missed = nil, nil
	return st
}

func (s *session) shut(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == st {
		s.stream = nil
		s.keepRest(st)
	}
	st.close()
	s.lastSeen = time.Now()
}

// keepRest keeps the unsent messages of a stream for the next one. Called with mu
// held.
func (s *session) keepRest(st *stream) {
	uris, messages := st.rest()
	s.missed, s.unsent = append(s.missed, uris...), append(s.unsent, messages...)
}

// updated notifies the client of a resource that it subscribed to.
func (s *session) updated(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stream != nil:
		s.stream.update(uri)
	case len(s.missed) < mostWaiting && !slices.Contains(s.missed, uri):
		s.missed = append(s.missed, uri)
	}
}

// push sends a message on the open stream. It reports false if there is none.
func (s *session) push(message []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream != nil && s.stream.push(message)
}

// ask registers a question and returns its id. The id is unique over all sessions,
// so that no answer reaches another session's question.
func (s *session) ask() (id []byte, answer chan clientAnswer, err error) {
	answer = make(chan clientAnswer, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastAsk++
	id = []byte(`"genkan-` + s.known.Load().ID + "-" + strconv.Itoa(s.lastAsk) + `"`)
	if s.ended {
		return nil, nil, errSessionEnded()
	}
	if s.mute != nil {
		return nil, nil, s.mute
	}
	if len(s.asks) >= mostQuestions {
		return nil, nil, gateway.Errorf(gateway.CodeLimited, "the client has %d questions to answer already", mostQuestions)
	}
	if s.asks == nil {
		s.asks = map[string]chan clientAnswer{}
	}
	s.asks[string(id)] = answer
	return id, answer, nil
}

// mostQuestions is how many open questions a client may have.
const mostQuestions = 64

func errSessionEnded() error {
	return gateway.Errorf(gateway.CodeCanceled, "the client has ended its session")
}

// answered passes the client's answer to the goroutine that asked.
func (s *session) answered(msg *jsonrpc.Message) {
	s.mu.Lock()
	answer := s.asks[string(msg.ID)]
	delete(s.asks, string(msg.ID))
	s.mu.Unlock()
	switch {
	case answer == nil: // late, or invented
	case msg.Kind == jsonrpc.Response:
		answer <- clientAnswer{result: msg.Result.Raw}
	default:
		answer <- clientAnswer{err: &gateway.Error{
			Code: gateway.CodeInvalid, Message: "the client answered the server's question with an error", RPC: msg.Error,
		}}
	}
}

func (s *session) forget(id []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asks, string(id))
	if len(s.asks) == 0 {
		s.asks = nil
	}
}

// askVia sends a question to the client with send and waits for the answer. When
// gone is closed, the question may never have arrived and is sent once more.
func (s *session) askVia(
	ctx context.Context, method string, params []byte,
	send func(message []byte) bool, gone <-chan struct{},
) ([]byte, error) {
	id, answer, err := s.ask()
	if err != nil {
		return nil, err
	}
	defer s.forget(id)
	message := jsonrpc.AppendRequest(nil, id, method, params)
	if !send(message) {
		return nil, errNoWayToAsk()
	}
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	reason := "the question is not open any more"
	for err == nil {
		select {
		case a := <-answer:
			return a.result, a.err
		case <-gone:
			if gone = nil; ctx.Err() == nil && !send(message) {
				return nil, errNoWayToAsk()
			}
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-timer.C:
			err = gateway.Errorf(gateway.CodeTimeout, "the client did not answer within %s", s.patience)
			reason = "it took too long"
		}
	}
	cancel := append(append([]byte(`{"requestId":`), id...), `,"reason":"`+reason+`"}`...)
	send(jsonrpc.AppendNotification(nil, "notifications/cancelled", cancel))
	return nil, err
}

func errNoWayToAsk() error {
	return gateway.Errorf(gateway.CodeUnavailable, "the client cannot be asked: it has no stream open that a question could be sent on")
}

// silence ends the questions to the client, because nothing is read from it any
// more.
func (s *session) silence(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = why
	s.dropAsks(why)
}

// dropAsks ends the open questions. Called with mu held.
func (s *session) dropAsks(why error) {
	for id, answer := range s.asks {
		answer <- clientAnswer{err: why}
		delete(s.asks, id)
	}
}

// end cancels everything that the session has in flight.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close()
}

// endIfIdle ends the session if it has not been used since a time. Otherwise it
// returns the time since which the session has been idle; zero if it is in use.
func (s *session) endIfIdle(since time.Time) (idleSince time.Time, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.calls) > 0 || s.stream != nil || s.undelivered():
		return time.Time{}, false
	case s.lastSeen.After(since):
		return s.lastSeen, false
	}
	s.close()
	return time.Time{}, true
}

// seen records activity of the client. It reports false if the session has ended.
func (s *session) seen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastSeen = time.Now()
	return !s.ended
}

// undelivered reports whether the session has an answer that its client may not
// have read. Called with mu held.
func (s *session) undelivered() bool {
	for _, j := range s.journals {
		if j.reader != nil || !j.delivered {
			return true
		}
	}
	return false
}

// close is end with mu held.
func (s *session) close() {
	s.ended = true
	for _, cancel := range s.calls {
		cancel(errCanceledByClient)
	}
	s.dropAsks(errSessionEnded())
	for _, j := range s.journals {
		if j.reader == nil { // the others end with the answers to their calls
			j.drop()
		}
	}
	for uri, stop := range s.subscriptions {
		s.bytes.give(watchCost(len(uri)))
		go stop()
	}
	s.subscriptions = nil
	for _, message := range s.unsent {
		s.bytes.give(len(message))
	}
	s.unsent, s.missed = nil, nil
	if s.stream != nil {
		close(s.stream.replaced)
		s.stream.close()
		s.stream = nil
	}
}

// idle reports whether the session can be dropped from memory without loss until
// its client comes back. The client has not been active since the first time. If it
// has subscriptions, it has not received their notifications since the second,
// which is as long as its id is valid.
func (s *session) idle(since, lost time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) > 0 || s.stream != nil || len(s.journals) > 0 {
		return false
	}
	return s.lastSeen.Before(since) && (len(s.subscriptions) == 0 || s.lastSeen.Before(lost))
}
