package tasks

import (
	"context"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Servers choose the ids of their tasks: two servers may use the same, and many can
// be guessed. An id that a client gets contains the server's name and the server's
// id, and is signed for the client and the view of the call that made the task.
//
// Tasks that clients make of servers' questions keep the clients' ids: only the
// server that asked learns of them, and its requests about them go to the session
// that made them.

const (
	purpose = "task"
	// maxServerID is how long a server's id may be, which is more than any server
	// needs.
	maxServerID = 1 << 10
)

// viewOf returns the view that a caller's tasks belong to. The tools for searching
// call tools of the view that they search.
func viewOf(call *gateway.Call) gateway.View { return call.View.Unsearched() }

// translator translates ids of tasks between a client and a server.
type translator struct {
	registry *Registry
	client   string
	view     gateway.View
	server   string
	// task is the server's id of the task that the call is about; empty for none.
	task string
}

func (r *Registry) translator(call *gateway.Call) translator {
	t := translator{registry: r, client: call.Identity.ClientID, view: viewOf(call), server: call.Tool.Source.Name()}
	if call.Kind == gateway.KindTask {
		t.task = call.Tool.Name
	}
	return t
}

// seal returns the client's id for a server's id.
func (t translator) seal(id string) string {
	return t.registry.sealer.Seal(purpose, []byte(t.server+"\x00"+id), []byte(t.client), []byte(t.view.String()))
}

// open returns the server and the server's id for a client's id.
func (r *Registry) open(client string, view gateway.View, id string) (server, serverID string, ok bool) {
	payload, ok := r.sealer.Open(purpose, id, []byte(client), []byte(view.String()))
	if !ok {
		return "", "", false
	}
	return strings.Cut(string(payload), "\x00")
}

// ownedByClient reports whether a task of the server is known to be the client's.
// A server may mention tasks of others, and a client that gets a signed id of a task
// may use it.
func (t translator) ownedByClient(id string) bool {
	if id == t.task {
		return id != ""
	}
	_, known := t.registry.find(key{t.client, t.view, t.seal(id)})
	return known
}

// Resolve returns the target of a call about a task, and nil if the caller has no
// such task. source finds a server by its name.
func (r *Registry) Resolve(call *gateway.Call, source func(name string) gateway.Source) *gateway.Tool {
	server, id, ok := r.open(call.Identity.ClientID, viewOf(call), call.Name)
	if !ok {
		return nil
	}
	s := source(server)
	if s == nil {
		return nil
	}
	made, _ := r.find(key{call.Identity.ClientID, viewOf(call), call.Name})
	// The source replaces the span of the name by its own id.
	call.Params.Name = jsonrpc.LookupSpan(call.Params.Raw, "taskId")
	return &gateway.Tool{
		Kind: gateway.KindTask, Name: id, Exposed: call.Name, Source: s, Timeout: made.timeout,
		ReadOnly: call.Method == "tasks/get" || call.Method == "tasks/result",
	}
}

// States returns a function that translates the states of the task that a call
// subscribes to.
func (r *Registry) States(call *gateway.Call) func(state string) string {
	t := r.translator(call)
	return func(state string) string { return string(t.outward([]byte(state), "taskId", "result")) }
}

// Middleware translates ids of tasks in calls and answers of external sources, and
// remembers the tasks that they make.
func (r *Registry) Middleware(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if !gateway.IsExternal(call.Tool.Source) {
			return next.Handle(ctx, call)
		}
		t := r.translator(call)
		// Most callers have no tasks, and their calls are not searched.
		mayRefer := t.task != "" || call.Params.Task.Present() || r.hasAny(t.client)
		if mayRefer {
			if err := t.prepare(call); err != nil {
				return nil, err
			}
		}
		result, err := next.Handle(ctx, call)
		switch {
		case err != nil:
		case call.Kind == gateway.KindTool && (result.Type == gateway.ResultOther || call.Params.Task.Present()):
			t.created(call, result)
		case mayRefer:
			result.Raw = t.outward(result.Raw, "taskId", "task", "result")
			if call.Method == "tasks/get" || call.Method == "tasks/cancel" {
				r.keep(key{t.client, t.view, call.Tool.Exposed}, result.Raw)
			}
		}
		return result, err
	})
}

// prepare gives references to tasks in a call the server's ids, and those in the
// server's messages to the client the client's ids.
func (t translator) prepare(call *gateway.Call) error {
	if raw := t.inward(call.Params.Raw); len(raw) != len(call.Params.Raw) {
		params, err := jsonrpc.ScanParams(raw)
		if err != nil {
			return err
		}
		if !call.Params.Name.Present() {
			params.Name = gateway.Span{}
		} else if call.Kind == gateway.KindTask {
			params.Name = jsonrpc.LookupSpan(raw, "taskId")
		}
		call.Params = params
	}
	if call.Peer != nil {
		call.Peer = peer{call.Peer, t}
	}
	if session := call.Session; session != nil && session.Peer != nil {
		known := *session
		known.Peer = peer{session.Peer, t}
		call.Session = &known
	}
	return nil
}

// created puts the client's id into the result of a call that became a task, and
// remembers the task.
func (t translator) created(call *gateway.Call, result *gateway.Result) {
	path := []string{"taskId"}
	if result.Type != gateway.ResultOther {
		path = []string{"task", "taskId"}
	}
	serverID, at := jsonrpc.TextAt(result.Raw, path...)
	if serverID == "" || len(serverID) > maxServerID {
		return
	}
	id := t.seal(serverID)
	result.Raw = jsonrpc.Splice(nil, result.Raw, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, id)})
	k := key{t.client, t.view, id}
	t.registry.add(k, call.Tool.Timeout, call.Era)
	t.registry.keep(k, jsonrpc.Lookup(result.Raw, "task"))
	result.Raw = t.outward(result.Raw)
}

// relatedTask is the path of the task that a message belongs to.
var relatedTask = []string{"_meta", jsonrpc.MetaRelatedTask, "taskId"}

// outward replaces the server's ids of the client's tasks in a message from the
// server: the related task's, and those at the keys of states.
func (t translator) outward(raw []byte, states ...string) []byte {
	paths := [][]string{relatedTask}
	for _, key := range states {
		switch key {
		case "taskId":
			paths = append(paths, []string{key})
		case "result": // of a modern task that is done
			paths = append(paths, append([]string{key}, relatedTask...))
		default:
			paths = append(paths, []string{key, "taskId"})
		}
	}
	for _, path := range paths {
		if id, at := jsonrpc.TextAt(raw, path...); id != "" && t.ownedByClient(id) {
			raw = jsonrpc.Splice(nil, raw, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, t.seal(id))})
		}
	}
	return raw
}

// inward replaces the client's id of the related task in a message from the client,
// if the task is this server's.
func (t translator) inward(raw []byte) []byte {
	id, at := jsonrpc.TextAt(raw, relatedTask...)
	if id == "" {
		return raw
	}
	server, serverID, ok := t.registry.open(t.client, t.view, id)
	if !ok || server != t.server {
		return raw
	}
	return jsonrpc.Splice(nil, raw, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, serverID)})
}

// peer translates ids of tasks on the way back to a client.
type peer struct {
	gateway.Peer
	translator translator
}

// Notify passes a notification on. A server's states of tasks reach only the client
// whose tasks they are, so these ids need no check.
func (p peer) Notify(method string, params []byte) {
	if id, at := jsonrpc.TextAt(params, "taskId"); id != "" && method == "notifications/tasks/status" {
		id = p.translator.seal(id)
		params = jsonrpc.Splice(nil, params, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, id)})
		p.translator.registry.keep(key{p.translator.client, p.translator.view, id}, params)
	}
	p.Peer.Notify(method, p.translator.outward(params))
}

// Ask passes a question on. Ids of the client's own tasks stay as they are.
func (p peer) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	answer, err := p.Peer.Ask(ctx, method, p.translator.outward(params))
	if err != nil {
		return nil, err
	}
	return p.translator.inward(answer), nil
}

// Prolong passes on that the answer will take its time.
func (p peer) Prolong() {
	if prolonger, ok := p.Peer.(gateway.Prolonger); ok {
		prolonger.Prolong()
	}
}
