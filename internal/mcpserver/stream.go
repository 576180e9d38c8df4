package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// get opens the notification stream of a legacy session, or resumes the stream of
// a call.
func (s *Server) get(w http.ResponseWriter, r *http.Request, id visitor) {
	p := s.newReply(w, r)
	if r.Header.Get("Mcp-Session-Id") == "" {
		w.Header().Set("Allow", "POST")
		s.plainError(w, r, http.StatusMethodNotAllowed, invalidRequest("GET opens the stream of a legacy session and needs its Mcp-Session-Id"))
		return
	}
	sess, ok := s.session(p, r, nil, id)
	if !ok {
		return
	}
	if !acceptsStream(r.Header) {
		s.plainError(w, r, http.StatusNotAcceptable, invalidRequest("the Accept header must allow text/event-stream"))
		return
	}
	closeStream, err := s.openStream(id.ClientID, headerSize(r))
	if err != nil {
		p.fail(nil, err)
		return
	}
	defer closeStream()
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		s.resume(w, r, sess, last)
		return
	}
	st := sess.open()
	defer sess.shut(st)
	startStream(w)
	flusher := http.NewResponseController(w)
	_ = flusher.Flush()
	alive := time.NewTicker(keepAliveEvery)
	defer alive.Stop()
	for {
		var events []byte
		select {
		case <-st.queue.wake:
			for _, message := range st.take(nil, everyKind) {
				events = jsonrpc.AppendSSE(events, message)
			}
		case <-alive.C:
			events = []byte(keepAliveComment)
		case <-st.replaced:
			return
		case <-s.drain:
			return
		case <-r.Context().Done():
			return
		}
		if !s.recognizes(r) {
			return
		}
		if err := writeEvents(w, events); err != nil {
			return
		}
		st.sent()
	}
}

// writeEvents writes to a stream with a deadline: a client that does not read must
// not keep the events in memory for ever.
func writeEvents(w http.ResponseWriter, events []byte) error {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	if _, err := w.Write(events); err != nil {
		return err
	}
	return control.Flush()
}

// mostStreams is the default number of open streams.
const mostStreams = 20_000

// openStream counts an open stream and its bytes against the client's shares until
// closeStream is called.
func (s *Server) openStream(client string, bytes int) (closeStream func(), err error) {
	if !s.streams.Take(client, 1) {
		return nil, &gateway.Error{
			Code: gateway.CodeLimited, RetryAfter: time.Minute,
			Message: "this client has %d streams open, which is as many as it may have now; close some, or try again later",
			Values:  []any{s.streams.Held(client)},
		}
	}
	memory := s.account(client)
	if !memory.take(bytes) {
		s.streams.Give(client, 1)
		return nil, gateway.ErrShareUsedUp
	}
	return func() {
		memory.give(bytes)
		s.streams.Give(client, 1)
	}, nil
}

// headerSize returns the bytes to count for a stream's request headers, which are
// kept until it ends.
func headerSize(r *http.Request) int {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return 2 * size // the connection's buffers hold about as much again
}

// subscription is a subscriptions/listen request of a modern client.
type subscription struct {
	id       []byte
	listener *listener
	caller   *gateway.Call // the common part of the calls for its topics
	kinds    [gateway.KindCount]bool
	topics   []topic
	cost     int // bytes that the topics take
	stops    []func()
}

// topic is a resource or a task that a client subscribes to.
type topic struct {
	kind gateway.Kind
	name string
}

// filterFields are the names of the kinds in a subscription's filter.
var filterFields = map[gateway.Kind]string{
	gateway.KindTool: "toolsListChanged", gateway.KindPrompt: "promptsListChanged", gateway.KindResource: "resourcesListChanged",
}

// newSubscription reads a subscription's filter. It counts against the client's rate
// limit.
func (s *Server) newSubscription(msg *jsonrpc.Message, id visitor, session *gateway.Session) (*subscription, error) {
	if err := s.opt.House().Count(id.Identity); err != nil {
		return nil, err
	}
	filter := jsonrpc.Lookup(msg.Params.Raw, "notifications")
	sub := &subscription{id: msg.ID, listener: newListener(id.view, s.account(id.ClientID))}
	sub.caller = &gateway.Call{
		Method: msg.Method, Params: msg.Params,
		Caller: gateway.Caller{View: id.view, Era: gateway.EraModern, Identity: id.Identity, Session: session},
	}
	for kind, word := range filterFields {
		sub.kinds[kind] = string(jsonrpc.Lookup(filter, word)) == "true"
	}
	if !sub.addTopics(gateway.KindResource, jsonrpc.Lookup(filter, topicFields[gateway.KindResource])) {
		return nil, gateway.Errorf(gateway.CodeInvalid, "resourceSubscriptions must be a list of at most %d URIs of at most %d bytes, and %d bytes in all", mostSubscriptions, longestName, mostTopicBytes)
	}
	tasks := jsonrpc.Lookup(filter, topicFields[gateway.KindTask])
	if tasks != nil && !knowsTasks(sub.caller) {
		because := gateway.Errorf(gateway.CodeInvalid, "taskIds are for clients that announce the extension %s", tasksExtension)
		return nil, &refusal{because, jsonrpc.CodeMissingCapability, []byte(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)}
	}
	if !sub.addTopics(gateway.KindTask, tasks) {
		return nil, gateway.Errorf(gateway.CodeInvalid, "taskIds must be a list of at most %d ids of at most %d bytes, and %d bytes in all", mostSubscriptions, longestName, mostTopicBytes)
	}
	return sub, nil
}

// topicFields are the names of the lists of topics in a subscription's filter.
var topicFields = map[gateway.Kind]string{gateway.KindResource: "resourceSubscriptions", gateway.KindTask: "taskIds"}

const tasksExtension = "io.modelcontextprotocol/tasks"

func knowsTasks(caller *gateway.Call) bool {
	return jsonrpc.Lookup(jsonrpc.Lookup(caller.Capabilities(), "extensions"), tasksExtension) != nil
}

// addTopics adds a list of topics, which may be nil. It returns false if the list
// is malformed or too long.
func (s *subscription) addTopics(kind gateway.Kind, list []byte) bool {
	if list == nil {
		return true
	}
	count, bytes, fits := 0, 0, true
	err := jsonrpc.Elements(list, func(value []byte) bool {
		bytes += len(value)
		if fits = count < mostSubscriptions && len(value) <= longestName && bytes <= mostTopicBytes; !fits {
			return false
		}
		if text, ok := jsonrpc.Unquote(value); ok && len(text) > 0 {
			s.topics = append(s.topics, topic{kind, string(text)})
			s.cost += watchCost(len(text))
			count++
		}
		return true
	})
	return err == nil && fits
}

// open subscribes to the topics. The acknowledgement omits a topic that no server
// accepts a subscription to.
func (s *subscription) open(ctx context.Context, server *Server) {
	topics := s.topics
	s.topics = nil
	for _, w := range topics {
		stop, err := s.ask(ctx, server, w)
		if err != nil {
			server.opt.Log.Debug("a subscription is not honoured", "error", err)
			continue
		}
		s.topics = append(s.topics, w)
		s.stops = append(s.stops, stop)
	}
}

// renew subscribes to the topics again, in the current house.
func (s *subscription) renew(ctx context.Context, server *Server) {
	former := s.stops
	s.stops = nil
	for _, w := range s.topics {
		stop, err := s.ask(ctx, server, w)
		if err != nil {
			server.opt.Log.Debug("a subscription was lost with its server", "error", err)
			continue
		}
		s.stops = append(s.stops, stop)
	}
	for _, stop := range former {
		stop()
	}
}

// ask subscribes to one topic in the current house.
func (s *subscription) ask(ctx context.Context, server *Server, w topic) (stop func(), err error) {
	c := s.caller
	told := s.listener.update
	if w.kind == gateway.KindTask {
		told = s.progressed
	}
	return server.opt.House().Subscribe(ctx, &gateway.Call{
		Method: c.Method, Params: c.Params, Kind: w.kind, Name: w.name, Caller: c.Caller,
	}, told)
}

// progressed sends the state of a task.
func (s *subscription) progressed(state string) {
	params := append(append([]byte{'{'}, s.meta()...), ',')
	params = append(params, jsonrpc.Without([]byte(state), "_meta")[1:]...)
	s.listener.push(jsonrpc.AppendNotification(nil, "notifications/tasks", params))
}

// end unsubscribes from all topics.
func (s *subscription) end() {
	for _, stop := range s.stops {
		stop()
	}
}

func (s *subscription) wants(kind gateway.Kind) bool { return s.kinds[kind] }

func (s *subscription) meta() []byte {
	return append(append([]byte(`"_meta":{"`+jsonrpc.MetaSubscriptionID+`":`), s.id...), '}')
}

// acknowledged returns the notification that lists the topics in force.
func (s *subscription) acknowledged() []byte {
	honoured := []byte{}
	for _, kind := range gateway.Kinds() {
		if s.kinds[kind] {
			honoured = append(honoured, `,"`+filterFields[kind]+`":true`...)
		}
	}
	for _, kind := range []gateway.Kind{gateway.KindResource, gateway.KindTask} {
		names := []byte{}
		for _, w := range s.topics {
			if w.kind == kind {
				names = jsonrpc.AppendQuoted(append(names, ','), w.name)
			}
		}
		if len(names) > 0 {
			honoured = append(honoured, `,"`+topicFields[kind]+`":[`...)
			honoured = append(append(honoured, names[1:]...), ']')
		}
	}
	params := append(append([]byte{'{'}, s.meta()...), `,"notifications":{`...)
	params = append(params, bytes.TrimPrefix(honoured, []byte{','})...)
	return jsonrpc.AppendNotification(nil, "notifications/subscriptions/acknowledged", append(params, "}}"...))
}

// news returns the notifications to send now.
func (s *subscription) news() [][]byte { return s.listener.take(s.meta(), s.wants) }

// ended returns the answer to the request, for when the server ends the stream.
func (s *subscription) ended() []byte {
	result := append([]byte(`{"resultType":"complete",`), s.meta()...)
	return jsonrpc.AppendResult(nil, s.id, append(result, '}'))
}

// listen serves subscriptions/listen over HTTP, until the client closes it.
func (s *Server) listen(p *reply, r *http.Request, msg *jsonrpc.Message, id visitor) {
	if !p.mayStream {
		p.refuse(http.StatusNotAcceptable, msg.ID, invalidRequest("the Accept header must allow text/event-stream"))
		return
	}
	sub, err := s.newSubscription(msg, id, nil)
	if err != nil {
		message, status, e := s.errorMessage(msg.ID, err)
		var refused *refusal
		if errors.As(err, &refused) {
			status = http.StatusBadRequest
		}
		p.failWith(status, message, e)
		return
	}
	closeStream, err := s.openStream(id.ClientID, headerSize(r)+sub.cost)
	if err != nil {
		p.fail(msg.ID, err)
		return
	}
	defer closeStream()
	leave, ok := s.join(sub.listener)
	if !ok {
		p.fail(msg.ID, &gateway.Error{
			Code: gateway.CodeUnavailable, RetryAfter: time.Second,
			Message: "genkan is going down: no stream can be opened",
		})
		return
	}
	defer leave()
	// Subscribe only after join. A reload before join would not renew the
	// subscription.
	defer sub.end()
	sub.open(r.Context(), s)
	startStream(p.w)
	alive := time.NewTicker(keepAliveEvery)
	defer alive.Stop()
	events := jsonrpc.AppendSSE(nil, sub.acknowledged())
	for s.recognizes(r) {
		if err := writeEvents(p.w, events); err != nil {
			return
		}
		sub.listener.sent()
		events = nil
		select {
		case <-sub.listener.queue.wake:
			for _, message := range sub.news() {
				events = jsonrpc.AppendSSE(events, message)
			}
		case <-sub.listener.again:
			sub.renew(r.Context(), s)
		case <-alive.C:
			events = append(events, keepAliveComment...)
		case <-s.drain:
			_, _ = p.w.Write(jsonrpc.AppendSSE(nil, sub.ended()))
			return
		case <-r.Context().Done():
			return
		}
	}
}
