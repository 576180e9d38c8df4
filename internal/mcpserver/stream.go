package mcpserver

import (
	"net/http"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// get opens the stream on which a legacy session hears of changes.
func (s *Server) get(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	p := s.newReply(w, r)
	if r.Header.Get("Mcp-Session-Id") == "" {
		w.Header().Set("Allow", "POST")
		s.plainError(w, http.StatusMethodNotAllowed, invalidRequest("GET opens the stream of a legacy session and needs its Mcp-Session-Id"))
		return
	}
	sess, ok := s.session(p, r, nil, id)
	if !ok {
		return
	}
	if !acceptsStream(r.Header) {
		s.plainError(w, http.StatusNotAcceptable, invalidRequest("the Accept header must allow text/event-stream"))
		return
	}
	st := sess.open()
	defer sess.shut(st)
	startStream(w)
	flusher := http.NewResponseController(w)
	_ = flusher.Flush()
	message := jsonrpc.AppendSSE(nil, jsonrpc.AppendNotification(nil, "notifications/tools/list_changed", nil))
	alive := time.NewTicker(keepAliveEvery)
	defer alive.Stop()
	for {
		event := message
		select {
		case <-st.changed:
		case <-alive.C:
			event = []byte(": keep-alive\n\n")
		case <-st.replaced:
			return
		case <-s.drain:
			return
		case <-r.Context().Done():
			return
		}
		if _, err := w.Write(event); err != nil {
			return
		}
		if err := flusher.Flush(); err != nil {
			return
		}
	}
}

// subscription is what a modern client asked to hear of, and how it is told.
type subscription struct {
	id    []byte
	tools bool
}

func newSubscription(msg *jsonrpc.Message) subscription {
	filter := jsonrpc.Lookup(msg.Params.Raw, "notifications")
	return subscription{
		id:    msg.ID,
		tools: string(jsonrpc.Lookup(filter, "toolsListChanged")) == "true",
	}
}

func (s subscription) meta() []byte {
	return append(append([]byte(`"_meta":{"`+jsonrpc.MetaSubscriptionID+`":`), s.id...), '}')
}

// acknowledged says which of the wishes are honoured.
func (s subscription) acknowledged() []byte {
	params := append([]byte{'{'}, s.meta()...)
	params = append(params, `,"notifications":{`...)
	if s.tools {
		params = append(params, `"toolsListChanged":true`...)
	}
	return jsonrpc.AppendNotification(nil, "notifications/subscriptions/acknowledged", append(params, "}}"...))
}

func (s subscription) toolsChanged() []byte {
	params := append(append([]byte{'{'}, s.meta()...), '}')
	return jsonrpc.AppendNotification(nil, "notifications/tools/list_changed", params)
}

// ended is the answer to the request, when the server ends the stream.
func (s subscription) ended() []byte {
	result := append([]byte(`{"resultType":"complete",`), s.meta()...)
	return jsonrpc.AppendResult(nil, s.id, append(result, '}'))
}

// listen serves subscriptions/listen over HTTP, until the client closes it.
func (s *Server) listen(p *reply, r *http.Request, msg *jsonrpc.Message) {
	sub := newSubscription(msg)
	if !p.mayStream {
		p.refuse(http.StatusNotAcceptable, msg.ID, invalidRequest("the Accept header must allow text/event-stream"))
		return
	}
	l, leave, ok := s.join()
	if !ok {
		p.fail(msg.ID, &gateway.Error{
			Code: gateway.CodeUnavailable, RetryAfter: time.Second,
			Message: "genkan is going down: no stream can be opened",
		})
		return
	}
	defer leave()
	startStream(p.w)
	flusher := http.NewResponseController(p.w)
	alive := time.NewTicker(keepAliveEvery)
	defer alive.Stop()
	event := jsonrpc.AppendSSE(nil, sub.acknowledged())
	for {
		if _, err := p.w.Write(event); err != nil {
			return
		}
		if err := flusher.Flush(); err != nil {
			return
		}
		event = []byte(": keep-alive\n\n")
		select {
		case <-l.changed:
			if sub.tools {
				event = jsonrpc.AppendSSE(nil, sub.toolsChanged())
			}
		case <-alive.C:
		case <-s.drain:
			_, _ = p.w.Write(jsonrpc.AppendSSE(nil, sub.ended()))
			return
		case <-r.Context().Done():
			return
		}
	}
}
