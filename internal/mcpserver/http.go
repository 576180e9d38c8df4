package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// ServeHTTP is the MCP endpoint, for both eras.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := s.opt.Admit(w, r)
	if !ok {
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(w, r, id)
	case http.MethodGet:
		s.get(w, r, id)
	case http.MethodDelete:
		s.delete(w, r, id)
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		plainError(w, http.StatusMethodNotAllowed, "use POST for messages, GET for a legacy session's stream, DELETE to end a session")
	}
}

func plainError(w http.ResponseWriter, status int, text string) {
	p := &reply{w: w}
	p.finish(status, rpcErrorMessage(nil, jsonrpc.CodeInvalidRequest, text))
}

// post takes one message.
func (s *Server) post(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	if !isJSON(r.Header.Get("Content-Type")) {
		plainError(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return
	}
	p := newReply(w, r)
	// A body that does not say how large it is counts as what the smallest
	// buffer for it would be; most are small.
	size := r.ContentLength
	if size < 0 {
		size = 64 << 10
	}
	if !s.opt.Budget.Take(size) {
		p.fail(nil, &gateway.Error{Code: gateway.CodeLimited, RetryAfter: time.Second,
			Message: "too many large calls are under way; try again in a moment"})
		return
	}
	defer s.opt.Budget.Give(size)
	body, err := jsonrpc.ReadBody(r.Body, r.ContentLength)
	if errors.Is(err, jsonrpc.ErrTooLarge) {
		w.Header().Set("Connection", "close")
		plainError(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	if err != nil {
		plainError(w, http.StatusBadRequest, "the body could not be read")
		return
	}
	msg, err := jsonrpc.Scan(body)
	switch {
	case err != nil:
		p.finish(http.StatusBadRequest, scanErrorMessage(msg.ID, err))
	case isModern(&msg) || r.Header.Get("Mcp-Protocol-Version") == modernVersion:
		s.postModern(p, r, &msg, id)
	default:
		s.postLegacy(p, r, &msg, id)
	}
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

func acceptsStream(h http.Header) bool {
	accept := h.Get("Accept")
	return accept == "" || strings.Contains(accept, "text/event-stream") || strings.Contains(accept, "*/*")
}

// postModern serves a request that stands alone.
func (s *Server) postModern(p *reply, r *http.Request, msg *jsonrpc.Message, id gateway.Identity) {
	switch msg.Kind {
	case jsonrpc.Notification:
		p.w.WriteHeader(http.StatusAccepted)
		return
	case jsonrpc.Request:
	default:
		p.finish(http.StatusBadRequest, rpcErrorMessage(nil, jsonrpc.CodeInvalidRequest, "a client sends requests and notifications only"))
		return
	}
	err := checkMeta(msg)
	if err == nil {
		err = checkHeaders(r.Header, msg)
	}
	if err != nil {
		message, _, _ := errorMessage(msg.ID, err)
		p.finish(http.StatusBadRequest, message)
		return
	}
	switch msg.Method {
	case "tools/call":
		call, err := newCall(msg, gateway.EraModern, id, "http")
		if err != nil {
			p.fail(msg.ID, err)
			return
		}
		call.ParamHeaders = paramHeaders(r.Header)
		// Closing the connection is how a modern client cancels.
		s.call(r.Context(), p, msg.ID, call)
	case "subscriptions/listen":
		s.listen(p, r, msg)
	default:
		result, err := s.modernResult(r.Context(), msg)
		if err != nil {
			message, status, _ := errorMessage(msg.ID, err)
			if gateway.AsError(err).Code == gateway.CodeNotFound {
				status = http.StatusNotFound
			}
			p.finish(status, message)
			return
		}
		p.result(msg.ID, result)
	}
}

// postLegacy serves a message of a session, or opens one.
func (s *Server) postLegacy(p *reply, r *http.Request, msg *jsonrpc.Message, id gateway.Identity) {
	if v := r.Header.Get("Mcp-Protocol-Version"); v != "" && !slices.Contains(legacyVersions, v) {
		data := append([]byte(`{"supported":`+supportedVersions+`,"requested":`), jsonrpc.AppendQuoted(nil, v)...)
		message, _, _ := errorMessage(msg.ID, protocolError(jsonrpc.CodeUnsupportedVersion, "Unsupported protocol version", append(data, '}')))
		p.finish(http.StatusBadRequest, message)
		return
	}
	if msg.Kind == jsonrpc.Request && msg.Method == "initialize" {
		version := negotiate(msg.Params.Raw)
		name, err := s.sessions.add(id.ClientID, version)
		if err != nil {
			p.fail(msg.ID, err)
			return
		}
		p.w.Header()["Mcp-Session-Id"] = []string{name}
		p.result(msg.ID, s.initializeResult(version))
		return
	}
	sess, ok := s.session(p, r, msg.ID, id)
	if !ok {
		return
	}
	switch msg.Kind {
	case jsonrpc.Notification:
		if msg.Method == "notifications/cancelled" {
			sess.cancel(string(jsonrpc.Lookup(msg.Params.Raw, "requestId")))
		}
		p.w.WriteHeader(http.StatusAccepted)
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		// Answers to what we asked the client. We ask nothing yet.
		p.w.WriteHeader(http.StatusAccepted)
	case jsonrpc.Request:
		if msg.Method == "tools/call" {
			s.callLegacy(p, msg, sess, id)
			return
		}
		result, err := s.legacyResult(r.Context(), msg)
		if err != nil {
			p.fail(msg.ID, err)
			return
		}
		p.result(msg.ID, result)
	}
}

// session finds the session that a legacy request names, or says what is
// wrong with it.
func (s *Server) session(p *reply, r *http.Request, requestID []byte, id gateway.Identity) (*session, bool) {
	name := r.Header.Get("Mcp-Session-Id")
	if name == "" {
		p.finish(http.StatusBadRequest, rpcErrorMessage(requestID, jsonrpc.CodeInvalidRequest,
			"the Mcp-Session-Id header is missing: send initialize first, or "+jsonrpc.MetaVersion+" in _meta"))
		return nil, false
	}
	sess, ok := s.sessions.get(name, id.ClientID)
	if !ok {
		p.finish(http.StatusNotFound, rpcErrorMessage(requestID, jsonrpc.CodeInvalidRequest,
			"this session does not exist or has ended: send initialize to begin a new one"))
		return nil, false
	}
	sess.mu.Lock()
	sess.lastSeen = time.Now()
	sess.mu.Unlock()
	return sess, true
}

// callLegacy runs a call that outlives its connection: a legacy client that
// goes away has not canceled, it says so if it does.
func (s *Server) callLegacy(p *reply, msg *jsonrpc.Message, sess *session, id gateway.Identity) {
	call, err := newCall(msg, gateway.EraLegacy, id, "http")
	if err != nil {
		p.fail(msg.ID, err)
		return
	}
	ctx, cancel := context.WithCancelCause(s.life)
	defer cancel(nil)
	name := string(msg.ID)
	if err := sess.begin(name, cancel); err != nil {
		p.fail(msg.ID, err)
		return
	}
	defer sess.finish(name)
	s.call(ctx, p, msg.ID, call)
}

// call walks the corridor and answers.
func (s *Server) call(ctx context.Context, p *reply, id []byte, call *gateway.Call) {
	call.Peer = p
	call.Budget = s.opt.Budget
	p.keepAlive()
	result, err := s.opt.House().Handle(ctx, call)
	defer call.Release()
	if err != nil {
		p.fail(id, err)
		return
	}
	p.result(id, result.Raw)
}

// delete ends a legacy session.
func (s *Server) delete(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	p := newReply(w, r)
	if _, ok := s.session(p, r, nil, id); ok {
		s.sessions.remove(r.Header.Get("Mcp-Session-Id"))
		w.WriteHeader(http.StatusNoContent)
	}
}
