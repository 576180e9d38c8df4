package mcpserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// ServeHTTP is the MCP endpoint, for both eras. The URL selects the view: the path
// values server and profile, and the query parameter mode.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r, requestedView(r)) }

// requestedView returns the view that the URL of a request selects.
func requestedView(r *http.Request) gateway.View {
	view := gateway.View{Profile: r.PathValue("profile")}
	if server := r.PathValue("server"); server != "" {
		view.Servers = gateway.NewServerSet(server)
	}
	if r.URL.RawQuery != "" {
		view.Mode = r.URL.Query().Get("mode")
	}
	return view
}

// visitor is the sender of an HTTP request and the view that it sees.
type visitor struct {
	gateway.Identity
	view gateway.View
}

// admit identifies the sender of a request to a view. When it reports false, the
// request has been answered.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, view gateway.View) (visitor, bool) {
	who, ok := s.opt.Admit(w, r)
	if ok && s.opt.Instance != "" && r.Header.Get("Genkan-Instance") == s.opt.Instance {
		s.plainError(w, r, http.StatusLoopDetected, invalidRequest("this is genkan calling itself: its own address stands among its servers; take it out of mcpServers"))
		return visitor{}, false
	}
	if ok && s.opt.Place != nil {
		view = s.opt.Place(who, view)
	}
	if ok && view != (gateway.View{}) {
		if ok = s.opt.House().Has(view); !ok {
			s.plainError(w, r, http.StatusNotFound, invalidRequest("there is no server or profile of this name, or no such mode (there are all and search); `genkan servers` lists the servers"))
		}
	}
	return visitor{who, view}, ok
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, view gateway.View) {
	id, ok := s.admit(w, r, view)
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
		s.plainError(w, r, http.StatusMethodNotAllowed, invalidRequest("use POST for messages, GET for a legacy session's stream, DELETE to end a session"))
	}
}

func (s *Server) plainError(w http.ResponseWriter, r *http.Request, status int, err error) {
	p := &reply{server: s, w: w, r: r}
	p.refuse(status, nil, err)
}

// post serves a POST, which holds one message or an array.
func (s *Server) post(w http.ResponseWriter, r *http.Request, id visitor) {
	p := s.newReply(w, r)
	p.quota.account = s.account(id.ClientID)
	defer p.quota.release()
	body, ok := s.body(p, r)
	if !ok {
		return
	}
	if jsonrpc.IsBatch(body) && r.Header.Get("Mcp-Session-Id") != "" {
		s.postBatch(p, r, body, id)
		return
	}
	msg, err := jsonrpc.Scan(body)
	switch {
	case err != nil:
		p.refuse(http.StatusBadRequest, msg.ID, unreadable(err))
	case isModern(&msg) || r.Header.Get("Mcp-Protocol-Version") == gateway.ModernVersion:
		s.postModern(p, r, &msg, id)
	default:
		s.postLegacy(p, r, &msg, id)
	}
}

// body reads the body of a POST. When it reports false, the request has been
// answered.
func (s *Server) body(p *reply, r *http.Request) ([]byte, bool) {
	w := p.w
	if !jsonrpc.IsJSON(r.Header.Get("Content-Type")) {
		s.plainError(w, r, http.StatusUnsupportedMediaType, invalidRequest("the Content-Type must be application/json, in UTF-8"))
		return nil, false
	}
	// A writer without deadlines is not a connection, and does not block.
	controller := http.NewResponseController(w)
	_ = controller.SetReadDeadline(time.Now().Add(bodyPatience))
	body, err := p.quota.read(r.Body, r.ContentLength)
	_ = controller.SetReadDeadline(time.Time{})
	switch {
	case errors.Is(err, jsonrpc.ErrTooLarge):
		w.Header().Set("Connection", "close")
		s.plainError(w, r, http.StatusRequestEntityTooLarge, tooLarge())
		// Read on for a while. A client that is still sending would otherwise see a
		// broken connection instead of the answer.
		_ = controller.Flush()
		_ = controller.SetReadDeadline(time.Now().Add(lastBodyPatience))
		_, _ = io.CopyN(io.Discard, r.Body, jsonrpc.MaxMessage)
		return nil, false
	case errors.Is(err, gateway.ErrShareUsedUp):
		p.fail(nil, err)
		return nil, false
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		s.plainError(w, r, http.StatusRequestTimeout, invalidRequest("the body did not come in time"))
		return nil, false
	case err != nil:
		s.plainError(w, r, http.StatusBadRequest, invalidRequest("the body could not be read"))
		return nil, false
	}
	return body, true
}

// message reads one message from a POST, as body does.
func (s *Server) message(p *reply, r *http.Request) (jsonrpc.Message, bool) {
	body, ok := s.body(p, r)
	if !ok {
		return jsonrpc.Message{}, false
	}
	msg, err := jsonrpc.Scan(body)
	if err != nil {
		p.refuse(http.StatusBadRequest, msg.ID, unreadable(err))
	}
	return msg, err == nil
}

func acceptsStream(h http.Header) bool {
	accept := strings.Join(h["Accept"], ",") // a header may be repeated
	return accept == "" || strings.Contains(accept, "text/event-stream") || strings.Contains(accept, "*/*")
}

// wantsStream reports whether the client accepts an event stream by name.
func wantsStream(h http.Header) bool {
	return slices.ContainsFunc(h["Accept"], func(line string) bool { return strings.Contains(line, "text/event-stream") })
}

// postModern serves a modern request, which needs no session.
func (s *Server) postModern(p *reply, r *http.Request, msg *jsonrpc.Message, id visitor) {
	switch msg.Kind {
	case jsonrpc.Notification:
		p.w.WriteHeader(http.StatusAccepted)
		return
	case jsonrpc.Request:
	default:
		p.refuse(http.StatusBadRequest, nil, invalidRequest("a client sends requests and notifications only"))
		return
	}
	err := checkVersion(r.Header, msg)
	if err == nil {
		err = checkMeta(msg)
	}
	if err == nil {
		err = checkHeaders(r.Header, msg)
	}
	if err != nil {
		p.refuse(http.StatusBadRequest, msg.ID, err)
		return
	}
	switch {
	case isCall(msg.Method, gateway.EraModern):
		call, err := newCall(msg, gateway.EraModern, id.Identity, "http")
		if err != nil {
			p.fail(msg.ID, err)
			return
		}
		call.View = id.view
		call.ParamHeaders = paramHeaders(r.Header)
		// A modern client cancels by closing the connection.
		s.call(r.Context(), p, msg.ID, call, func() {})
	case msg.Method == "subscriptions/listen":
		s.listen(p, r, msg, id)
	default:
		s.introduced(id.Identity, msg.Params.Get(msg.Params.ClientInfo))
		result, err := s.modernResult(r.Context(), msg, id.view)
		if err != nil {
			message, status, e := s.errorMessage(msg.ID, err)
			if e.Code == gateway.CodeNotFound {
				status = http.StatusNotFound
			}
			p.noteFailure(status, e)
			p.finish(status, message)
			return
		}
		p.answer(msg, result)
	}
}

// postLegacy serves a message of a session, or opens a session.
func (s *Server) postLegacy(p *reply, r *http.Request, msg *jsonrpc.Message, id visitor) {
	if v := r.Header.Get("Mcp-Protocol-Version"); v != "" && !slices.Contains(gateway.LegacyVersions(), v) {
		p.refuse(http.StatusBadRequest, msg.ID, unsupportedVersion(jsonrpc.AppendQuoted(nil, v)))
		return
	}
	if msg.Kind == jsonrpc.Request && msg.Method == "initialize" {
		s.initialize(p, msg, id)
		return
	}
	sess, ok := s.session(p, r, msg.ID, id)
	if !ok {
		return
	}
	switch msg.Kind {
	case jsonrpc.Notification:
		s.notified(sess, msg)
		p.w.WriteHeader(http.StatusAccepted)
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		sess.answered(msg)
		p.w.WriteHeader(http.StatusAccepted)
	case jsonrpc.Request:
		if isCall(msg.Method, gateway.EraLegacy) {
			s.callLegacy(p, msg, sess, id)
			return
		}
		result, err := s.legacyResult(r.Context(), msg, sess)
		if err != nil {
			p.fail(msg.ID, err)
			return
		}
		p.answer(msg, result)
	}
}

// initialize opens a session. It counts against the client's rate limit.
func (s *Server) initialize(p *reply, msg *jsonrpc.Message, id visitor) {
	if err := s.opt.House().Count(id.Identity); err != nil {
		p.fail(msg.ID, err)
		return
	}
	version := negotiate(msg.Params.Raw)
	name, err := s.sessions.add(id.Identity, id.view, version, clientCapabilities(msg))
	if err != nil {
		p.fail(msg.ID, err)
		return
	}
	client := s.introduced(id.Identity, jsonrpc.Lookup(msg.Params.Raw, "clientInfo"))
	if sess, ok := s.sessions.get(name, id.Identity, id.view); ok {
		sess.learn(func(known *gateway.Session) { known.Client = client })
	}
	p.w.Header()["Mcp-Session-Id"] = []string{name}
	p.answer(msg, s.initializeResult(version, id.view))
}

// session returns the session that a legacy request names, or answers with an
// error.
func (s *Server) session(p *reply, r *http.Request, requestID []byte, id visitor) (*session, bool) {
	name := r.Header.Get("Mcp-Session-Id")
	if name == "" {
		p.refuse(http.StatusBadRequest, requestID, invalidRequest(
			"the Mcp-Session-Id header is missing: send initialize first, or %s in _meta", jsonrpc.MetaVersion))
		return nil, false
	}
	sess, ok := s.sessions.get(name, id.Identity, id.view)
	if !ok {
		p.refuse(http.StatusNotFound, requestID, invalidRequest(
			"this session does not exist or has ended: send initialize to begin a new one"))
		return nil, false
	}
	return sess, true
}

// callLegacy runs a call that outlives its connection. A legacy client that
// disconnects has not canceled: it cancels with a notification.
func (s *Server) callLegacy(p *reply, msg *jsonrpc.Message, sess *session, id visitor) {
	call, err := newCall(msg, gateway.EraLegacy, id.Identity, "http")
	if err != nil {
		p.fail(msg.ID, err)
		return
	}
	call.View, call.Session = sess.view, sess.known.Load()
	ctx, cancel := context.WithCancelCause(s.life)
	defer cancel(nil)
	name := string(msg.ID)
	if err := sess.begin(name, cancel); err != nil {
		p.fail(msg.ID, err)
		return
	}
	p.sess, p.cancel = sess, cancel
	// The id is freed before the answer is sent, because a client that has its
	// answer may reuse the id at once.
	freeID := sync.OnceFunc(func() { sess.finish(name) })
	defer freeID()
	s.call(ctx, p, msg.ID, call, freeID)
}

// call passes a call through the corridor, calls freeID, and answers.
func (s *Server) call(ctx context.Context, p *reply, id []byte, call *gateway.Call, freeID func()) {
	call.Budget = s.opt.Budget
	p.keepAlive()
	defer p.abandon()
	result, release, err := s.handle(ctx, call, p)
	freeID()
	defer p.sent(release)
	if err != nil {
		p.noteLimit(err)
		message, status, e := s.callErrorMessage(id, call, err)
		if call.Era == gateway.EraModern {
			status = modernStatus(status, e)
		}
		p.failWith(status, message, e)
		return
	}
	p.result(id, jsonrpc.WithNotice(result.Raw, s.language().Text(result.Notice)))
}

// delete ends a legacy session.
func (s *Server) delete(w http.ResponseWriter, r *http.Request, id visitor) {
	p := s.newReply(w, r)
	if _, ok := s.session(p, r, nil, id); ok {
		if sess := s.sessions.remove(r.Header.Get("Mcp-Session-Id")); sess != nil {
			s.endSession(sess)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}
