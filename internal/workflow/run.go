package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/script"
)

// Run is one run of a workflow, for one call.
type Run struct {
	engine   *Engine
	workflow *Workflow
	// ctx is that of the call, and calling the call itself. It is not changed until it
	// is sent on.
	ctx     context.Context //nolint:containedctx // a run is as short as its call
	calling *gateway.Call
	// chain is shared by the workflows of a call.
	chain *chain
	// draft has the params as the run has changed them.
	draft   gateway.Call
	changed bool
	// response is the answer as the run has changed it; nil before there is one.
	response []byte
	// answer and callErr are what the call itself brought.
	answer  *gateway.Result
	callErr error
	// stand is the response that stands for callErr.
	stand []byte
	vars  map[string]json.RawMessage
	// state has the values that end with the run.
	state states
	// forward sends the call on.
	forward func(ctx context.Context, r *Run) (*gateway.Result, error)

	called, finished bool
	// partial is set while a hook runs that may leave out members of structuredContent.
	partial bool
	// detached is set for a hook that runs beside the path, and dry for a run that
	// changes nothing. rehearsed is set if it is no run of a call that is made now.
	detached, dry, rehearsed bool

	// reason is why a person has denied the call; empty if nobody has, or said why.
	reason string

	began        time.Time
	asked, spent time.Duration
	at           *step
	entry        *Step
	trace        Trace
}

func (e *Engine) newRun(ctx context.Context, w *Workflow, call *gateway.Call, c *chain) *Run {
	r := &Run{
		engine: e, workflow: w, ctx: ctx, calling: call, chain: c, began: time.Now(),
		vars:  maps.Clone(w.vars),
		trace: Trace{Workflow: w.ID, Name: w.Name, Version: w.Version, Mode: w.Mode, Call: call.RequestID, Client: call.Identity.ClientID, Started: time.Now()},
	}
	if call.Tool != nil && call.Tool.Kind == gateway.KindTool { // URIs can contain secrets
		r.trace.Tool = call.Tool.Exposed
	}
	if r.vars == nil {
		r.vars = map[string]json.RawMessage{}
	}
	r.draft.Params = call.Params
	if call.Method != ResourcesRead && !call.Params.Arguments.Present() {
		r.draft.SetRawArguments([]byte("{}")) // for scripts; it is not sent
	}
	return r
}

// walk goes from the start to an end.
func (r *Run) walk() error {
	for s := r.workflow.start; s != nil; {
		way, err := r.step(s)
		if err != nil {
			way = handleError
			r.detachAll(s, way)
		}
		switch {
		case err == nil && (r.finished || s.Role == RoleEnd):
			r.detachAll(s, way)
			return nil
		case err == nil:
		case r.ctx.Err() != nil || isDenial(err) || s.Role == RoleEnd || s.OnError == onErrorFail || s.OnError == "":
			return err
		case s.OnError == onErrorContinue:
			ways := s.ways()
			way = ways[len(ways)-1] // out, or else
		}
		if way != handleError {
			r.detachAll(s, way)
		}
		s = s.next[way]
	}
	return nil
}

// step runs one node within what is left of the budget, and traces it.
func (r *Run) step(s *step) (handle string, err error) {
	r.at = s
	if s.Run == nil {
		return handleOut, nil
	}
	r.trace.Steps = append(r.trace.Steps, Step{Node: s.id, Type: s.kind, Label: s.label})
	r.entry = &r.trace.Steps[len(r.trace.Steps)-1]
	ctx, cancel := r.ctx, context.CancelFunc(func() {})
	// The call has its own clock, and people have none.
	timed := s.Role != RoleCall && s.kind != "approve"
	if timed {
		ctx, cancel = context.WithTimeoutCause(r.ctx, r.left(), failure("the workflow took longer than it may"))
	}
	began := time.Now()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else {
		handle, err = s.Run(ctx, r)
	}
	cancel()
	took := time.Since(began)
	if timed {
		r.spent += took
		r.calling.Timing.Hooks += took
	}
	if handle == "" {
		handle = handleOut
	}
	r.entry.finish(handle, took, err)
	if errors.Is(err, errSkipped) {
		err = nil
	}
	if s.Role != RoleEnd && !r.rehearsed {
		if r.detached { // nobody waited while it was queued
			took = r.entry.Run
		}
		r.engine.stats.add(r.workflow.ID, s.id, took, err)
	}
	return handle, err
}

// left is how long the nodes of a run may still take: what is left of the workflow's
// own time, and of the time that the caller has stated.
func (r *Run) left() time.Duration {
	total := time.Duration(r.workflow.Limits.TotalMs) * time.Millisecond
	if total == 0 {
		total = defaultTotal
	}
	left := total - r.spent
	if stated := r.calling.Options.Timeout; stated > 0 {
		left = min(left, stated-(time.Since(r.began)-r.asked))
	}
	return left
}

// send sends the call on, once.
func (r *Run) send(ctx context.Context, timeout time.Duration) error {
	if r.called {
		return failure("the call was sent already")
	}
	r.called = true
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, failure("the call took longer than the workflow allows"))
		defer cancel()
	}
	r.answer, r.callErr = r.forward(ctx, r)
	if r.callErr == nil {
		r.response = r.answer.Raw
		return nil
	}
	if cause := context.Cause(ctx); cause != nil && r.ctx.Err() == nil {
		r.callErr = &gateway.Error{
			Code: gateway.CodeTimeout, Err: r.callErr, Values: []any{r.calling.Tool.Exposed, r.workflow.title(), timeout.Milliseconds()},
			Message: "%s gave no answer within the time that workflow %q allows, which is %d ms; the call may have been carried out",
		}
	}
	r.stand = standFor(gateway.AsError(r.callErr))
	r.response = r.stand
	return r.callErr
}

// standFor returns the response that nodes see of a failed call. An error of the server
// that has data is there as a whole, because the data goes to the client, too.
func standFor(e *gateway.Error) []byte {
	b := bytes.TrimSuffix(textAnswer(e.Text()), []byte("}"))
	if jsonrpc.Lookup(e.RPC, "data") != nil {
		b = append(append(b, `,"structuredContent":`...), e.RPC...)
	}
	return append(b, `,"isError":true}`...)
}

// rewritten returns the error of a call as nodes have changed the response that stands for
// it. Only tools have results that say that they are errors.
func (r *Run) rewritten() *gateway.Error {
	was := gateway.AsError(r.callErr)
	var text string
	_ = jsonrpc.Elements(jsonrpc.Lookup(r.response, "content"), func(item []byte) bool {
		text = jsonrpc.LookupText(item, "text")
		return false
	})
	now := gateway.Errorf(was.Code, "%s", text)
	if code := jsonrpc.Lookup(was.RPC, "code"); code != nil {
		if now.RPC = jsonrpc.Lookup(r.response, "structuredContent"); jsonrpc.Lookup(now.RPC, "code") == nil {
			now.RPC = append(jsonrpc.AppendQuoted(append(append([]byte(`{"code":`), code...), `,"message":`...), text), '}')
		}
	}
	return now
}

// isStand reports whether a response has the form of the one that stands for an error.
func (r *Run) isStand(response []byte) bool {
	return r.callErr != nil && string(jsonrpc.Lookup(response, "isError")) == "true"
}

// complete checks that there is something to answer with.
func (r *Run) complete() error {
	if r.response == nil {
		return failure("the path ends without an answer: it does not call the tool (mcp-call), and no script (hook) has answered")
	}
	return nil
}

// result is what the run answers with.
func (r *Run) result() (*gateway.Result, error) {
	switch {
	case r.callErr != nil && string(r.response) == string(r.stand):
		return nil, r.callErr
	case r.answer != nil && string(r.response) == string(r.answer.Raw):
		return r.answer, nil
	case r.calling.Method != ToolsCall && r.isStand(r.response):
		r.callErr = r.rewritten()
		return nil, r.callErr
	}
	found := members4(r.response, "isError", "_meta", "resultType")
	made := &gateway.Result{Raw: r.response, IsError: string(found[0]) == "true", HasMeta: found[1] != nil}
	switch string(found[2]) {
	case `"complete"`:
		made.Type = gateway.ResultComplete
	case "":
		if r.calling.Era == gateway.EraModern {
			made = made.Complete()
		}
	default:
		return nil, failure("the workflow changed resultType, which is not its own")
	}
	if r.answer != nil {
		made.Notice = r.answer.Notice
	}
	return made, nil
}

// changeRequest takes over what a node made of the request.
func (r *Run) changeRequest(is []byte) error {
	if r.called || is == nil {
		return nil // it was sent already
	}
	out, patch, err := splice(r.request(), is)
	if err != nil || len(patch) == 0 {
		return err
	}
	const changeable = "/params/arguments"
	for _, op := range patch {
		if op.Path != changeable && !strings.HasPrefix(op.Path, changeable+"/") {
			return failure("a hook changed request%s, and may change request%s only", gateway.Short(op.Path), changeable)
		}
	}
	arguments := jsonrpc.Lookup(jsonrpc.Lookup(out, "params"), "arguments")
	if len(arguments) == 0 || arguments[0] != '{' {
		return failure("a hook left arguments that are not an object")
	}
	r.draft.SetRawArguments(arguments)
	r.changed = true
	r.entry.add("/request", patch)
	return nil
}

// setArguments sets some arguments and leaves the others.
func (r *Run) setArguments(values map[string]json.RawMessage) error {
	merged := map[string]json.RawMessage{}
	if err := json.Unmarshal(r.arguments(), &merged); err != nil {
		return err
	}
	maps.Copy(merged, values)
	raw, err := encode(merged)
	if err != nil {
		return err
	}
	is := append([]byte(`{"method":`), jsonrpc.AppendQuoted(nil, r.calling.Method)...)
	draft := gateway.Call{Params: r.draft.Params}
	draft.SetRawArguments(raw)
	return r.changeRequest(append(append(append(is, `,"params":`...), draft.Params.Raw...), '}'))
}

// answerPart is the member that an answer must have, by method.
var answerPart = map[string]string{ToolsCall: "content", PromptsGet: "messages", ResourcesRead: "contents", ToolsList: "tools"}

// changeResponse takes over what a node made of the response.
func (r *Run) changeResponse(is []byte) error {
	if is == nil || string(is) == "null" {
		if r.response != nil && is != nil {
			return failure("a hook removed the response; to refuse a call return {action: \"deny\", reason: …}")
		}
		return nil
	}
	if text, ok := jsonrpc.Unquote(is); ok && r.calling.Method == ToolsCall {
		is = textAnswer(string(text))
	}
	part := answerPart[r.calling.Method]
	if r.isStand(is) {
		part = answerPart[ToolsCall]
	}
	if list := jsonrpc.Lookup(is, part); len(list) == 0 || list[0] != '[' {
		return failure("a hook left a response that is no answer to %s: it must be an object with an array %q", r.calling.Method, part)
	}
	if r.response == nil {
		if err := checkContent(nil, is); err != nil {
			return err
		}
		r.entry.add("", []Op{{"add", "/response", is}})
		r.response = is
		return nil
	}
	out, patch, err := splice(r.response, is)
	if err != nil || len(patch) == 0 {
		return err
	}
	if err := r.checkOutput(out); err != nil {
		return err
	}
	if err := checkContent(r.response, out); err != nil {
		return err
	}
	r.response = out
	r.entry.add("/response", patch)
	return nil
}

// contentTexts are the members that must be strings, by the type of a content item.
var contentTexts = map[string][]string{"text": {"text"}, "image": {"data", "mimeType"}, "audio": {"data", "mimeType"}, "resource_link": {"uri", "name"}}

// checkContent checks the content items that a response has and did not have before. Clients
// refuse a whole answer for one that breaks the protocol. What the server itself left out of an
// item may stay left out.
func checkContent(was, is []byte) error {
	before := contentOf(was)
	var known map[string]bool
	for i, item := range contentOf(is) {
		var old []byte
		if i < len(before) {
			old = before[i]
		}
		if bytes.Equal(old, item) {
			continue
		}
		if known == nil {
			known = map[string]bool{}
			for _, one := range before {
				known[string(one)] = true
			}
		}
		if known[string(item)] {
			continue
		}
		kind := jsonrpc.LookupText(item, "type")
		isSame := old != nil && jsonrpc.LookupText(old, "type") == kind
		for _, name := range append([]string{"type"}, contentTexts[kind]...) {
			if !isText(item, name) && (!isSame || isText(old, name) || jsonrpc.Lookup(item, name) != nil) {
				return failure("a hook left a response that clients cannot read: content[%d].%s must be a string", i, name)
			}
		}
	}
	return nil
}

func isText(object []byte, key string) bool {
	return bytes.HasPrefix(jsonrpc.Lookup(object, key), []byte{'"'})
}

// contentOf returns the content items of a response.
func contentOf(response []byte) (items [][]byte) {
	_ = jsonrpc.Elements(jsonrpc.Lookup(response, "content"), func(item []byte) bool { items = append(items, item); return true })
	return items
}

// textAnswer is the result of a tool that says a text.
func textAnswer(text string) []byte {
	return append(jsonrpc.AppendQuoted([]byte(`{"content":[{"type":"text","text":`), text), "}]}"...)
}

// checkOutput checks structuredContent against the tool's outputSchema.
func (r *Run) checkOutput(response []byte) error {
	const structured = "structuredContent"
	check, tool := r.engine.opt.CheckOutput, r.calling.Tool
	if check == nil || tool == nil || r.calling.Method != ToolsCall {
		return nil
	}
	found := members4(response, "isError", structured)
	was, is := jsonrpc.Lookup(r.response, structured), found[1]
	switch {
	case string(found[0]) == "true" || string(was) == string(is):
		return nil
	case is == nil && jsonrpc.Lookup(tool.Definition, "outputSchema") != nil:
		return failure("a hook removed structuredContent, which the tool's outputSchema asks for")
	case is == nil:
		return nil
	case r.partial && (r.dry || r.calling.Audience() == ""): // no client checks it
		return nil
	}
	if err := check(tool, is); err != nil {
		if r.partial {
			return failure("the hook left out what the tool's outputSchema asks for: %s. Enable the tools/list workflow that belongs to this one, which tells clients so", gateway.AsError(err))
		}
		return failure("a hook left structuredContent that breaks the tool's outputSchema: %s", gateway.AsError(err))
	}
	return nil
}

// arguments are those that the call has now.
func (r *Run) arguments() []byte {
	if raw := r.draft.Params.Get(r.draft.Params.Arguments); raw != nil {
		return raw
	}
	return []byte("{}")
}

// request is what scripts see as request.
func (r *Run) request() []byte {
	b := append([]byte(`{"method":`), jsonrpc.AppendQuoted(nil, r.calling.Method)...)
	b = append(b, `,"params":`...)
	if len(r.draft.Params.Raw) == 0 {
		return append(b, "{}}"...)
	}
	return append(append(b, r.draft.Params.Raw...), '}')
}

// context is what scripts see as context.
func (r *Run) context(node string) []byte {
	b := append([]byte(`{"request":`), r.request()...)
	if r.response != nil {
		b = append(append(b, `,"response":`...), r.response...)
	}
	return append(append(append(b, `,"metadata":`...), r.metadata(node)...), '}')
}

// metadata says who calls what, and where the run is.
func (r *Run) metadata(node string) []byte {
	call := r.calling
	b := jsonrpc.AppendQuoted([]byte(`{"clientId":`), call.Identity.ClientID)
	text := func(key, value string) {
		if value != "" {
			b = jsonrpc.AppendQuoted(append(append(append(b, `,"`...), key...), `":`...), value)
		}
	}
	raw := func(key string, value []byte) {
		if value != nil {
			b = append(append(append(append(b, `,"`...), key...), `":`...), value...)
		}
	}
	if call.Tool != nil {
		text("serverName", call.Tool.Source.Name())
		text("toolName", call.Tool.Name)
		raw("annotations", Annotations(call.Tool))
	}
	text("workflowId", r.workflow.ID)
	text("nodeId", node)
	text("requestId", call.RequestID)
	if info := call.Params.Get(call.Params.ClientInfo); info != nil {
		raw("clientInfo", info)
	} else if call.Session != nil && call.Session.Client != "" {
		b = append(jsonrpc.AppendQuoted(append(b, `,"clientInfo":{"name":`...), call.Session.Client), '}')
	}
	return append(b, '}')
}

// variables are what scripts see as vars.
func (r *Run) variables() []byte {
	if len(r.vars) == 0 {
		return []byte("{}")
	}
	raw, _ := encode(r.vars)
	return raw
}

func (w *Workflow) title() string { return or(w.Name, w.ID) }

// payload is how large what a hook sees may be, in bytes.
func (w *Workflow) payload() int {
	if w.Limits.PayloadKB > 0 {
		return w.Limits.PayloadKB * kilobyte
	}
	return defaultPayload
}

// errSkipped is returned by a node that does nothing in a dry run.
var errSkipped = failure("not run, because a trial sends nothing; what would come of it is not known")

// denial is the error of a node that refuses a call. The call may be sent again unchanged
// after again; 0 is never.
type denial struct {
	reason gateway.Text
	again  time.Duration
}

func (d *denial) Error() string { return d.reason.String() }

// Deny returns the error with which a node refuses the call.
func Deny(reason string) error { return deny(reason, 0) }

func deny(reason string, again time.Duration) error {
	// The message in which it stands goes on with a full stop.
	reason = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(reason), "."), "。")
	if reason == "" {
		return &denial{gateway.Textf("no reason was given"), again}
	}
	return &denial{gateway.Textf("%s", shortReason(reason)), again}
}

func isDenial(err error) bool {
	var d *denial
	return errors.As(err, &d)
}

// failure is an error of a node.
func failure(format string, values ...any) error {
	return gateway.Errorf(gateway.CodeInternal, format, values...)
}

// statusOf is the status of a step that ended with an error.
func statusOf(err error) string {
	var e *script.Error
	switch {
	case err == nil:
		return StatusOK
	case errors.Is(err, errSkipped):
		return StatusSkipped
	case isDenial(err):
		return StatusDenied
	case !errors.As(err, &e):
		return StatusError
	}
	switch e.Kind {
	case script.Timeout:
		return StatusTimeout
	case script.Memory:
		return StatusOOM
	case script.Crashed:
		return StatusCrashed
	default:
		return StatusError
	}
}
