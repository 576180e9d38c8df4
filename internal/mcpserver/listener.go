package mcpserver

import (
	"slices"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// listener receives notifications that belong to no call: for an open stream, a
// subscription or a client over stdio. Repeated changes of a list or a resource
// are merged until they are sent.
type listener struct {
	view gateway.View
	// queue holds whole messages.
	queue outbox
	// again is signaled when resources must be subscribed to again.
	again chan struct{}

	mu    sync.Mutex
	kinds [gateway.KindCount]bool
	uris  []string
}

// mostWaiting and mostWaitingBytes bound the messages that wait for a client that
// does not read. A larger message may wait alone.
const (
	mostWaiting      = 1000
	mostWaitingBytes = 4 << 20
)

func newListener(view gateway.View, bytes account) *listener {
	return &listener{
		view: view, again: make(chan struct{}, 1),
		queue: outbox{account: bytes, most: mostWaiting, mostBytes: mostWaitingBytes, wake: make(chan struct{}, 1)},
	}
}

func (l *listener) renew() { signal(l.again) }

// signal wakes the reader of a channel with a buffer of one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// tell records that a list changed.
func (l *listener) tell(kind gateway.Kind) {
	l.mu.Lock()
	l.kinds[sharedKind(kind)] = true
	l.mu.Unlock()
	signal(l.queue.wake)
}

// sharedKind returns the kind whose notification announces a change. Resource
// templates share that of resources.
func sharedKind(kind gateway.Kind) gateway.Kind {
	if kind == gateway.KindTemplate {
		return gateway.KindResource
	}
	return kind
}

// update records that a resource changed.
func (l *listener) update(uri string) {
	l.mu.Lock()
	if len(uri) <= longestName && len(l.uris) < mostWaiting && !slices.Contains(l.uris, uri) {
		l.uris = append(l.uris, uri)
	}
	l.mu.Unlock()
	signal(l.queue.wake)
}

// push queues a whole message. It returns false when too many wait, or too many
// bytes for this client.
func (l *listener) push(message []byte) bool {
	return l.queue.offer(outgoing{event: "message", data: message, counted: len(message)})
}

// take returns the messages to send. Changes become notifications with the given
// _meta, which may be nil. wanted selects the kinds of lists that the client
// subscribed to. Call sent when the messages are written.
func (l *listener) take(meta []byte, wanted func(gateway.Kind) bool) [][]byte {
	l.mu.Lock()
	kinds, uris := l.kinds, l.uris
	l.kinds, l.uris = [gateway.KindCount]bool{}, nil
	l.mu.Unlock()
	out := dataOf(l.queue.take())
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

func dataOf(batch []outgoing) (data [][]byte) {
	for _, m := range batch {
		data = append(data, m.data)
	}
	return data
}

// sent gives back the memory of the messages that were taken.
func (l *listener) sent() { l.queue.release() }

// close gives back the memory of all messages. Later messages are refused.
func (l *listener) close() { l.queue.close() }

// rest takes the unsent changes and messages, except changed lists, which the
// session remembers. The caller gives back the memory of the messages.
func (l *listener) rest() (uris []string, messages [][]byte) {
	l.mu.Lock()
	uris, l.uris = l.uris, nil
	l.mu.Unlock()
	return uris, dataOf(l.queue.handOver())
}

// everyKind selects all lists, for legacy clients.
func everyKind(gateway.Kind) bool { return true }

// join adds a listener. It reports false while the server shuts down.
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

// connect adds the session of a client over stdio or SSE. It reports false while
// the server shuts down.
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

// Changed notifies all clients of a view that one of its lists changed.
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
