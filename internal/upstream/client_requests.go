package upstream

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// A legacy server asks its client by sending requests of its own. On a shared
// connection nothing says which call such a request belongs to. It goes to the
// client whose calls are in flight if there is only one, and is refused
// otherwise: a question must never reach the wrong person.

// capabilityOf returns the client capability that a server's request needs.
func capabilityOf(method string) string {
	switch method {
	case "sampling/createMessage":
		return "sampling"
	case "elicitation/create":
		return "elicitation"
	case "roots/list":
		return "roots"
	default:
		return ""
	}
}

// canAnswer reports whether the caller's client announced that it can answer a
// request.
func canAnswer(call *gateway.Call, method string, params []byte) bool {
	need := capabilityOf(method)
	if need == "" {
		return false
	}
	capability := jsonrpc.Lookup(call.Capabilities(), need)
	switch {
	case capability == nil:
		return false
	case need == "elicitation" && jsonrpc.LookupText(params, "mode") == "url":
		return jsonrpc.Lookup(capability, "url") != nil
	case need == "elicitation":
		// An empty capability means forms, as before modes existed.
		return jsonrpc.Lookup(capability, "form") != nil || jsonrpc.Lookup(capability, "url") == nil
	case need == "sampling" && jsonrpc.Lookup(params, "tools") != nil:
		return jsonrpc.Lookup(capability, "tools") != nil
	default:
		return true
	}
}

// answersQuestions reports whether a client announced anything that servers ask
// for during calls.
func answersQuestions(capabilities []byte) bool {
	return jsonrpc.Lookup(capabilities, "elicitation") != nil || jsonrpc.Lookup(capabilities, "sampling") != nil
}

// soleOwner returns the newest call if all calls in flight belong to one client,
// and nil otherwise.
func soleOwner(calls func(yield func(*inFlightCall) bool)) *inFlightCall {
	var owner *inFlightCall
	for u := range calls {
		switch {
		case u.call == nil:
		case owner == nil:
			owner = u
		case !sameClient(owner.call, u.call):
			return nil
		case u.number > owner.number:
			owner = u
		}
	}
	return owner
}

func sameClient(a, b *gateway.Call) bool {
	// A modern client answers a question in the call it belongs to, so that call
	// must be known.
	return a.Era != gateway.EraModern && b.Era != gateway.EraModern &&
		a.Session != nil && b.Session != nil && a.Session.ID == b.Session.ID
}

// inFlightCall is a request that the server has not answered yet.
type inFlightCall struct {
	call   *gateway.Call // nil for requests of our own
	ctx    context.Context
	number uint64
	// left is closed when the server has answered or the cancellation was sent.
	left chan struct{}
}

// questions are the server's requests that clients have not answered yet.
type questions struct {
	mu   sync.Mutex
	open map[string]context.CancelCauseFunc // by the server's request id
}

// errWithdrawn cancels a question that the server has cancelled.
var errWithdrawn = errors.New("the server has taken its question back")

// begin registers a request, so that cancel can end it.
func (q *questions) begin(ctx context.Context, id string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == nil {
		q.open = map[string]context.CancelCauseFunc{}
	}
	q.open[id] = cancel
	return ctx, func() {
		cancel(nil)
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.open, id)
	}
}

func (q *questions) cancel(id string) {
	q.mu.Lock()
	cancel := q.open[id]
	q.mu.Unlock()
	if cancel != nil {
		cancel(errWithdrawn)
	}
}

// clientState is the state of a connection beside the calls: questions to
// clients, tasks and roots. All transports share it.
type clientState struct {
	questions questions
	tasks     taskTable
	// roots is the answer to roots/list.
	roots atomic.Pointer[[]byte]
	// server filters the roots that clients state.
	server *Server
	// answering counts the server's requests that are not answered yet.
	answering atomic.Int64
}

// maxAnswering is how many requests of a server are answered at once on each
// connection. A request may wait for a person, and its answer for a server that
// does not accept it.
const maxAnswering = 256

// beginAnswer counts a request that is to be answered. It reports false when
// there are too many; otherwise endAnswer must be called.
func (d *clientState) beginAnswer() bool {
	if d.answering.Add(1) <= maxAnswering {
		return true
	}
	d.answering.Add(-1)
	return false
}

func (d *clientState) endAnswer() { d.answering.Add(-1) }

func (d *clientState) taskTable() *taskTable { return &d.tasks }

func (d *clientState) setRoots(roots []byte) {
	if roots == nil {
		roots = []byte(noRoots)
	}
	d.roots.Store(&roots)
}

// callers finds the client that a message without a call belongs to.
type callers interface {
	// owner returns the newest call if all calls in flight belong to one client.
	owner() *inFlightCall
	// ownerInSession returns a stand-in for a call, by which the client of the
	// session can be asked.
	ownerInSession(session *gateway.Session) *inFlightCall
}

// ownerOf returns the call whose client is to answer a request of the server, or
// nil. on is the call on whose stream the request came, or nil. A request about a
// client's task goes to that client; a request that is related to a server's task
// goes to the client whose call made the task.
func (d *clientState) ownerOf(msg *jsonrpc.Message, on *inFlightCall, among callers) *inFlightCall {
	if isAboutTask(msg.Method) {
		task, known := d.tasks.findClientTask(jsonrpc.LookupText(msg.Params.Raw, "taskId"))
		switch {
		case !known || on != nil && !isOf(on.call, task.session):
			return nil
		case on != nil:
			return on
		default:
			return among.ownerInSession(task.session)
		}
	}
	if on != nil {
		return on
	}
	related := jsonrpc.Lookup(jsonrpc.Lookup(msg.Params.Raw, "_meta"), jsonrpc.MetaRelatedTask)
	if session := d.tasks.sessionOf(jsonrpc.LookupText(related, "taskId")); session != nil {
		return among.ownerInSession(session)
	}
	return among.owner()
}

// outsideCalls returns a stand-in for a call, by which the client of a session
// can be asked until the connection ends, even if its calls end before.
func outsideCalls(life context.Context, session *gateway.Session, calls iter.Seq[*inFlightCall]) *inFlightCall {
	var newest *inFlightCall
	for u := range calls {
		if u.call != nil && u.call.Era == gateway.EraLegacy && isOf(u.call, session) && (newest == nil || u.number > newest.number) {
			newest = u
		}
	}
	peer := outsidePeer{Peer: session.Peer}
	if newest != nil {
		peer.call = newest.call
	}
	outside := &inFlightCall{
		call: &gateway.Call{Caller: gateway.Caller{Era: gateway.EraLegacy, Identity: session.Identity, Session: session, Peer: peer}},
		ctx:  life, left: make(chan struct{}),
	}
	close(outside.left)
	return outside
}

// outsidePeer asks a client outside its calls. The timeout of the client's newest
// call is suspended meanwhile, because the server may be waiting for the answer.
type outsidePeer struct {
	gateway.Peer
	call *gateway.Call // nil for none
}

// Ask asks on the session's stream or, if none is open, on that of the call.
func (p outsidePeer) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	if p.call == nil {
		return p.Peer.Ask(ctx, method, params)
	}
	defer p.call.PauseClock()()
	answer, err := p.Peer.Ask(ctx, method, params)
	if err != nil && p.call.Peer != nil && gateway.AsError(err).Code == gateway.CodeUnavailable {
		return p.call.Peer.Ask(ctx, method, params)
	}
	return answer, err
}

// noOwner returns the answer to a request that no client can be found for.
func noOwner(msg *jsonrpc.Message) []byte {
	if isAboutTask(msg.Method) {
		return jsonrpc.AppendErrorObject(nil, msg.ID, jsonrpc.ErrorObject(jsonrpc.CodeInvalidParams,
			"no client has a task of this id here, or its session has ended", nil))
	}
	return refusal(msg, "calls of several clients are under way, and nothing says whose this request is")
}

// adapted returns the params of a server's request for the client. It reports
// false, and the reason, if the client did not announce that it can answer.
func (d *clientState) adapted(call *gateway.Call, msg *jsonrpc.Message) (params []byte, ok bool, missing string) {
	params = paramsOrEmpty(msg)
	switch {
	case msg.Method == "tasks/cancel" && jsonrpc.Lookup(jsonrpc.Lookup(call.Capabilities(), "tasks"), "cancel") == nil:
		return nil, false, "the client of this task did not announce that its tasks can be cancelled"
	case isAboutTask(msg.Method):
		id := jsonrpc.LookupText(params, "taskId")
		task, known := d.tasks.findClientTask(id)
		return renamed(params, id, task.id), known, "this task was forgotten: there are too many"
	case !canAnswer(call, msg.Method, params):
		return nil, false, gateway.NotAnnounced + msg.Method
	case !makesTasks(call, msg.Method):
		// A client without tasks answers at once.
		return jsonrpc.Without(params, "task"), true, ""
	default:
		return params, true, ""
	}
}

// askClient asks the client of a call and returns the message that answers the
// server. It returns nil when the server has cancelled its request.
func (d *clientState) askClient(ctx context.Context, owner *inFlightCall, msg *jsonrpc.Message) []byte {
	call := owner.call
	params, ok, missing := d.adapted(call, msg)
	if !ok {
		return refusal(msg, missing)
	}
	ctx, done := d.questions.begin(ctx, string(msg.ID))
	defer done()
	call.SignOfLife()
	result, err := call.Ask(ctx, msg.Method, jsonrpc.WithoutMeta(params, gateway.MetaPrefix))
	call.SignOfLife()
	if err == nil {
		switch {
		case msg.Method == "roots/list":
			result = d.server.permitted(call.Identity, result, nil)
		case isAboutTask(msg.Method):
			result = renamed(result, jsonrpc.LookupText(params, "taskId"), jsonrpc.LookupText(msg.Params.Raw, "taskId"))
		case jsonrpc.Lookup(params, "task") != nil:
			result = d.tasks.addClientTask(call.Session, result)
		}
		return jsonrpc.AppendResult(nil, msg.ID, result)
	}
	if errors.Is(context.Cause(ctx), errWithdrawn) {
		return nil
	}
	if owner.ctx.Err() != nil {
		// The cancellation of the call must arrive first: otherwise the server
		// takes the following error for its client's answer and goes on.
		<-owner.left
	}
	if e := gateway.AsError(err); e.RPC != nil {
		return jsonrpc.AppendErrorObject(nil, msg.ID, e.RPC)
	}
	return jsonrpc.AppendErrorObject(nil, msg.ID, jsonrpc.ErrorObject(jsonrpc.CodeInternal,
		"the client could not be asked: "+gateway.AsError(err).Text(), nil))
}

func paramsOrEmpty(msg *jsonrpc.Message) []byte {
	if msg.Params.Raw == nil {
		return []byte("{}")
	}
	return msg.Params.Raw
}

// refusal returns an error response to a request of the server.
func refusal(msg *jsonrpc.Message, text string) []byte {
	return jsonrpc.AppendErrorObject(nil, msg.ID, jsonrpc.ErrorObject(jsonrpc.CodeMethodNotFound, text, nil))
}

// noRoots is the answer to roots/list on shared connections.
const noRoots = `{"roots":[]}`

// wantsLog reports whether a caller wants log messages of this level.
func wantsLog(call *gateway.Call, params []byte) bool {
	level, wanted := call.LogLevel()
	if !wanted {
		return false
	}
	if level == "" {
		return true
	}
	return gateway.Quietness(jsonrpc.LookupText(params, "level")) >= gateway.Quietness(level)
}

// forwardNotification forwards a notification to the client of the call that it
// belongs to.
func forwardNotification(call *gateway.Call, method string, params []byte) {
	params = jsonrpc.WithoutMeta(params, gateway.MetaPrefix)
	switch {
	case method == "notifications/progress":
		forwardProgress(call, params)
	case call.Peer == nil:
	case method == "notifications/message":
		call.SignOfLife()
		if wantsLog(call, params) {
			call.Peer.Notify(method, params)
		}
	default:
		call.SignOfLife()
		call.Peer.Notify(method, params)
	}
}

// asked returns the error of a request of genkan's own, including one that the
// server answered with.
func asked(msg jsonrpc.Message, err error) error {
	if err == nil && msg.Kind == jsonrpc.ErrorResponse {
		return rpcError(msg.Error)
	}
	return err
}

// checkState refuses a requestState that a server of this era cannot have sent.
// States of genkan's own are removed before.
func (p protocol) checkState(in *gateway.Params) error {
	if p.era == gateway.EraModern || !in.RequestState.Present() {
		return nil
	}
	return gateway.Errorf(gateway.CodeInvalid,
		"this requestState is not known: it was used already, has expired, or belongs to another call. Call again without it")
}
