package upstream

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// requestTimeout is how long a server may take to accept a subscription or a log
// level.
const requestTimeout = 30 * time.Second

// watches are subscriptions to resources and tasks of a server. The server is
// sent one request for each topic, however many subscribe to it, and again on
// every new connection.
type watches struct {
	mu      sync.Mutex
	byTopic map[topic]*watched
	last    int
}

// topic is what can be subscribed to: a resource, by its URI, or a task of the
// modern era, by its id.
type topic struct {
	isTask bool
	name   string
}

// filter returns the filter of subscriptions/listen for the topic.
func (t topic) filter() string {
	word := "resourceSubscriptions"
	if t.isTask {
		word = "taskIds"
	}
	return string(append(jsonrpc.AppendQuoted([]byte(`"notifications":{"`+word+`":[`), t.name), "]}"...))
}

// announcesTopic reports whether the server offers subscriptions to the topic.
func (p protocol) announcesTopic(of topic) bool {
	if of.isTask {
		return p.tasks && p.era == gateway.EraModern
	}
	return p.watches
}

type watched struct {
	notify map[int]func(what string)
	// turn serializes requests about the topic: an unsubscribe request must not
	// overtake the subscribe request.
	turn chan struct{}
	// on is the connection that has the subscription, or nil, and stop ends it
	// there. Both are guarded by turn.
	on   conn
	stop func()
}

// Subscribe calls notify when the resource or task that the call names changes,
// until stop is called. It uses the connection that the calls of the caller use.
// If the server is down, the subscription begins when it is ready.
func (s *Server) Subscribe(ctx context.Context, call *gateway.Call, notify func(what string)) (stop func(), err error) {
	at, err := s.acquire(ctx, call, forWatch)
	switch {
	case err != nil && s.mayIsolate.Load():
		return nil, err
	case err != nil: // it is down
		at = lease{watched: &s.watched, release: func() {}}
	}
	if call.Kind == gateway.KindTask {
		if at.conn != nil && at.taskTable().ownedByAnother(call) {
			at.release()
			return nil, noTask(call)
		}
		notify = s.ownTask(at, call, notify)
	}
	leave, err := s.watchAt(ctx, at, topicOf(call), notify)
	if err != nil || at.watched == &s.watched {
		return leave, err
	}
	// The supervisor renews subscriptions on the shared connection only.
	b := &s.pool
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return leave, nil
	}
	done, end := context.WithCancel(s.life)
	b.open.Go(func() { s.follow(done, at, leave, call, notify) })
	return end, nil
}

// ownTask wraps notify so that it is called only while the task is the caller's.
// A restarted server may use the same id for a task of another client.
func (s *Server) ownTask(at lease, call *gateway.Call, notify func(what string)) func(what string) {
	return func(what string) {
		c := at.conn
		if at.pooled == nil { // the shared connection may have been replaced
			s.mu.Lock()
			c = s.conn
			s.mu.Unlock()
		}
		if c == nil || !c.taskTable().ownedByAnother(call) {
			notify(what)
		}
	}
}

// noTask is the error of a call that names an unknown task or one of another
// client.
func noTask(call *gateway.Call) error {
	return gateway.Errorf(gateway.CodeNotFound, "Task not found: %s. It has ended long ago, or another client's call made it", call.Name)
}

func topicOf(call *gateway.Call) topic {
	if call.Kind == gateway.KindTask {
		return topic{true, call.Tool.Name} // the server's own id
	}
	return topic{false, call.Name}
}

// watchAt subscribes on a leased connection. stop also releases the lease.
func (s *Server) watchAt(ctx context.Context, at lease, of topic, notify func(what string)) (stop func(), err error) {
	mute := gateway.Errorf(gateway.CodeNotFound,
		"server %s does not tell when its resources change, so %s cannot be subscribed to", s.set.Name, gateway.Short(of.name))
	if of.isTask {
		mute = gateway.Errorf(gateway.CodeNotFound,
			"server %s does not tell how its tasks are; ask with tasks/get", s.set.Name)
	}
	if at.conn != nil && !at.protocol().announcesTopic(of) {
		at.release()
		return nil, mute
	}
	w := at.watched
	entry, number := w.add(of, notify)
	stop = sync.OnceFunc(func() {
		w.drop(of, entry, number)
		at.release()
	})
	if at.conn == nil {
		return stop, nil
	}
	if err := w.reconcile(ctx, of, entry, at.conn, false); err != nil && at.cause() == nil {
		stop()
		if errors.Is(err, errNoStream) {
			err = mute
		}
		return nil, err
	}
	return stop, nil
}

// follow keeps a subscription on a pooled connection until ctx ends. When the
// connection is lost, it subscribes on the next one.
func (s *Server) follow(ctx context.Context, at lease, stop func(), call *gateway.Call, notify func(what string)) {
	for {
		select {
		case <-ctx.Done():
			stop()
			return
		case <-at.lost():
		}
		stop()
		for {
			const pause = time.Second
			timer := time.NewTimer(pause)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			var err error
			if at, err = s.acquire(ctx, call, forWatch); err != nil {
				continue
			}
			if stop, err = s.watchAt(ctx, at, topicOf(call), notify); err == nil {
				if !topicOf(call).isTask {
					notify(call.Name) // it may have changed while nobody listened
				}
				break
			}
		}
	}
}

func (w *watches) add(of topic, notify func(what string)) (*watched, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byTopic == nil {
		w.byTopic = map[topic]*watched{}
	}
	entry := w.byTopic[of]
	if entry == nil {
		entry = &watched{notify: map[int]func(string){}, turn: make(chan struct{}, 1)}
		w.byTopic[of] = entry
	}
	w.last++
	entry.notify[w.last] = notify
	return entry, w.last
}

func (w *watches) drop(of topic, entry *watched, number int) {
	w.mu.Lock()
	delete(entry.notify, number)
	unwanted := len(entry.notify) == 0
	w.mu.Unlock()
	if unwanted {
		// Do not wait for the server.
		go func() { _ = w.reconcile(context.Background(), of, entry, nil, false) }()
	}
}

// reconcile sends the server what the topic needs now: a subscription on
// connection c if anybody is subscribed, otherwise its end. renewed is set when
// the server has forgotten the subscription.
func (w *watches) reconcile(ctx context.Context, of topic, entry *watched, c conn, renewed bool) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	select {
	case entry.turn <- struct{}{}:
		defer func() { <-entry.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if renewed {
		entry.on, entry.stop = nil, nil
	}
	w.mu.Lock()
	wanted := len(entry.notify) > 0
	w.mu.Unlock()
	switch {
	case !wanted:
		if entry.stop != nil {
			entry.stop()
		}
		entry.on, entry.stop = nil, nil
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(entry.notify) == 0 && w.byTopic[of] == entry {
			delete(w.byTopic, of)
		}
	case c != nil && entry.on != c:
		stop, err := c.watch(ctx, of)
		if err != nil {
			return err
		}
		entry.on, entry.stop = c, stop
	}
	return nil
}

// renew subscribes to all topics on a new connection.
func (w *watches) renew(ctx context.Context, c conn, log *slog.Logger) {
	w.mu.Lock()
	entries := maps.Clone(w.byTopic)
	w.mu.Unlock()
	for of, entry := range entries {
		if !c.protocol().announcesTopic(of) {
			continue
		}
		if err := w.reconcile(ctx, of, entry, c, true); err != nil {
			log.Warn("a subscription could not be renewed", "error", err)
			continue
		}
		if !of.isTask {
			w.updated(of.name) // it may have changed while nobody listened
		}
	}
}

// updated notifies the subscribers of a resource and of those that contain it.
func (w *watches) updated(uri string) {
	w.mu.Lock()
	var notify []func(string)
	for watching, entry := range w.byTopic {
		if !watching.isTask && (uri == watching.name || strings.HasPrefix(uri, strings.TrimSuffix(watching.name, "/")+"/")) {
			notify = slices.AppendSeq(notify, maps.Values(entry.notify))
		}
	}
	w.mu.Unlock()
	for _, f := range notify {
		f(uri)
	}
}

// progressed notifies the subscribers of a task of its state.
func (w *watches) progressed(state []byte) {
	w.mu.Lock()
	var notify []func(string)
	if entry := w.byTopic[topic{true, jsonrpc.LookupText(state, "taskId")}]; entry != nil {
		notify = slices.Collect(maps.Values(entry.notify))
	}
	w.mu.Unlock()
	for _, f := range notify {
		f(string(state))
	}
}

// SetLogLevel sets the most verbose level that any client wants, and sends it to
// a legacy server in the background. A modern server gets the level with each
// call instead.
func (s *Server) SetLogLevel(ctx context.Context, level string) {
	s.mu.Lock()
	s.logLevel = level
	c := s.conn
	s.mu.Unlock()
	if c != nil && level != "" {
		go s.syncLogLevel(ctx, c)
	}
	for _, one := range s.pool.of(poolKey.isShared) {
		go func() {
			if <-one.opened; one.err == nil && level != "" {
				s.sendLogLevel(ctx, one.conn, level)
			}
		}()
	}
}

// raiseLogLevel raises a legacy server's log level to what the call asks for.
// Modern callers state the level in the call, where legacy servers do not look.
func (s *Server) raiseLogLevel(ctx context.Context, c conn, call *gateway.Call) {
	level, _ := call.LogLevel()
	if call.Era != gateway.EraModern || level == "" || c.protocol().era != gateway.EraLegacy {
		return
	}
	s.mu.Lock()
	loud := s.logLevel != "" && gateway.Quietness(s.logLevel) <= gateway.Quietness(level)
	if !loud {
		s.logLevel = level
	}
	s.mu.Unlock()
	if !loud {
		s.syncLogLevel(ctx, c)
	}
}

// sentLevel is the last level that was sent to the server, and the connection.
type sentLevel struct {
	sync.Mutex
	conn  conn
	level string
}

// syncLogLevel sends the wanted level to the server unless it has it. Only one
// request is sent at a time, so that an older level cannot replace a newer one.
func (s *Server) syncLogLevel(ctx context.Context, c conn) {
	s.sentLevel.Lock()
	defer s.sentLevel.Unlock()
	s.mu.Lock()
	level := s.logLevel
	s.mu.Unlock()
	if level == "" || s.sentLevel.conn == c && s.sentLevel.level == level {
		return
	}
	s.sentLevel.conn, s.sentLevel.level = c, level
	s.sendLogLevel(ctx, c, level)
}

func (s *Server) sendLogLevel(ctx context.Context, c conn, level string) {
	p := c.protocol()
	if !p.logs || p.era != gateway.EraLegacy || gateway.Quietness(level) < 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	params := append(jsonrpc.AppendQuoted([]byte(`{"level":`), level), '}')
	if _, err := c.ask(ctx, "logging/setLevel", params); err != nil {
		s.log.Debug("the log level could not be set", "error", err)
	}
}

// acknowledgeTimeout is how long a modern server may take to acknowledge a
// subscription. Some servers never do; after that the subscription counts as
// open.
const acknowledgeTimeout = 5 * time.Second

// awaitStream waits until a subscription is open. ended receives the server's
// answer, or the error, if the stream ends before.
func awaitStream(ctx context.Context, opened <-chan struct{}, ended <-chan answer) error {
	patience := time.NewTimer(acknowledgeTimeout)
	defer patience.Stop()
	select {
	case <-opened:
		return nil
	case <-patience.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case a := <-ended:
		if err := asked(a.msg, a.err); err != nil {
			return err
		}
		return errNoStream
	}
}

// uriParams are the params of a request about one resource.
func uriParams(uri string) []byte {
	return append(jsonrpc.AppendQuoted([]byte(`{"uri":`), uri), '}')
}
