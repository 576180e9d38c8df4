package mcpserver

import (
	"slices"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// listener is somebody who hears what happens beside calls: an open stream, a
// subscription, a client over stdio. What happens faster than it can be told
// becomes one.
type listener struct {
	view gateway.View
	wake chan struct{}
	// again is told when resources must be subscribed to anew.
	again chan struct{}

	// bytes is where the messages are counted.
	bytes account

	mu       sync.Mutex
	kinds    [gateway.KindCount]bool
	uris     []string
	messages [][]byte
	size     int // of messages
	sending  int // bytes of messages that were taken and are being written
	closed   bool
}

// mostWaiting is how much may wait for a listener that does not listen, and
// mostWaitingBytes how many bytes of messages; a larger one may wait alone.
const (
	mostWaiting      = 1000
	mostWaitingBytes = 4 << 20
)

func newListener(view gateway.View, bytes account) *listener {
	return &listener{view: view, bytes: bytes, wake: make(chan struct{}, 1), again: make(chan struct{}, 1)}
}

func (l *listener) rouse() { nudge(l.wake) }
func (l *listener) renew() { nudge(l.again) }

// nudge leaves a sign for whoever reads the channel, unless there is one.
func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// tell says that a list is another one.
func (l *listener) tell(kind gateway.Kind) {
	l.mu.Lock()
	l.kinds[sharedKind(kind)] = true
	l.mu.Unlock()
	l.rouse()
}

// sharedKind is the kind under which a change is announced: templates have no
// announcement of their own.
func sharedKind(kind gateway.Kind) gateway.Kind {
	if kind == gateway.KindTemplate {
		return gateway.KindResource
	}
	return kind
}

// update says that a resource is another one.
func (l *listener) update(uri string) {
	l.mu.Lock()
	if len(uri) <= longestName && len(l.uris) < mostWaiting && !slices.Contains(l.uris, uri) {
		l.uris = append(l.uris, uri)
	}
	l.mu.Unlock()
	l.rouse()
}

// push hands over a whole message. It reports false when too many wait, or too
// many bytes for this client.
func (l *listener) push(message []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.messages) >= mostWaiting || len(l.messages) > 0 && l.size+len(message) > mostWaitingBytes ||
		!l.bytes.take(len(message)) {
		return false
	}
	l.messages = append(l.messages, message)
	l.size += len(message)
	l.rouse()
	return true
}

// take returns what is to be sent, as notifications with the given _meta; nil
// for none. wanted says which kinds the client wants to hear of. Call sent when
// it has been written.
func (l *listener) take(meta []byte, wanted func(gateway.Kind) bool) [][]byte {
	l.mu.Lock()
	kinds, uris, out := l.kinds, l.uris, l.messages
	l.sending += l.size
	l.kinds, l.uris, l.messages, l.size = [gateway.KindCount]bool{}, nil, nil, 0
	l.mu.Unlock()
	for _, kind := range gateway.Kinds() {
		if !kinds[kind] || !wanted(kind) {
			continue
		}
		var params []byte
		if meta != nil {
			params = append(append([]byte{'{'}, meta...), '}')
		}
		out = append(out, jsonrpc.AppendNotification(nil, kind.Changed(), params))
	}
	for _, uri := range uris {
		params := jsonrpc.AppendQuoted([]byte(`{"uri":`), uri)
		if meta != nil {
			params = append(append(params, ','), meta...)
		}
		out = append(out, jsonrpc.AppendNotification(nil, "notifications/resources/updated", append(params, '}')))
	}
	return out
}

// sent gives back the memory of what was taken.
func (l *listener) sent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes.give(l.sending)
	l.sending = 0
}

// close gives back the memory of all messages, and takes no more.
func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes.give(l.size + l.sending)
	l.messages, l.size, l.sending, l.closed = nil, 0, 0, true
}

// rest takes what was not sent, but for changed lists, which are remembered
// elsewhere. Whoever takes the messages gives back their memory.
func (l *listener) rest() (uris []string, messages [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	uris, messages = l.uris, l.messages
	l.uris, l.messages, l.size = nil, nil, 0
	return uris, messages
}

// everyKind is what a legacy client hears of.
func everyKind(gateway.Kind) bool { return true }

// join adds a listener. It reports false while the server is going down.
func (s *Server) join(l *listener) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, false
	}
	s.listeners[l] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
		l.close()
	}, true
}

// connect adds the session of a client over stdio or SSE. It reports false while the
// server is going down.
func (s *Server) connect(sess *session) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, false
	}
	s.connected[sess] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.connected, sess)
	}, true
}

// Changed tells everybody who sees a view that one of its lists changed.
func (s *Server) Changed(view gateway.View, kind gateway.Kind) {
	s.mu.Lock()
	for l := range s.listeners {
		if l.view == view {
			l.tell(kind)
		}
	}
	for sess := range s.connected {
		if sess.view == view {
			sess.changed(kind)
		}
	}
	s.mu.Unlock()
	s.sessions.changed(view, kind)
}

// Views lists the views that clients are connected to, except the zero View.
func (s *Server) Views() []gateway.View {
	seen := map[gateway.View]bool{}
	s.mu.Lock()
	for l := range s.listeners {
		seen[l.view] = true
	}
	for sess := range s.connected {
		seen[sess.view] = true
	}
	s.mu.Unlock()
	s.sessions.views(seen)
	var views []gateway.View
	for view := range seen {
		if view != (gateway.View{}) {
			views = append(views, view)
		}
	}
	return views
}
