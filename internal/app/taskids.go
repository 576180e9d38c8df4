package app

import (
	"context"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// A server's ids of tasks are its own: two servers may use the same, and many can
// be guessed. Clients therefore get ids that are made here. Such an id names the
// server and the server's own id, and is sealed for the client and the view whose
// call made the task. Another client's id, or one that is made up, is as good as
// none, also after a restart.
//
// Tasks that clients make of servers' questions keep the clients' ids: only the
// server that asked is told of them, and upstream sends its requests about them to
// the session that made them and to no other.

const (
	taskPurpose = "task"
	// longestTaskID is how long a server's id may be. It is more than any server
	// needs to tell its tasks apart.
	longestTaskID = 1 << 10
)

// taskView is the view that a caller's tasks belong to. The tools for searching
// call tools of the view that they search.
func taskView(call *gateway.Call) gateway.View { return call.View.Unsearched() }

// taskNames translates the ids of tasks between a call's client and its server.
type taskNames struct {
	tasks  *tasks
	client string
	view   gateway.View
	server string
	// own is the server's id of the task that the call is about; empty for none.
	own string
}

func (t *tasks) namesOf(call *gateway.Call, server string) taskNames {
	return taskNames{tasks: t, client: call.Identity.ClientID, view: taskView(call), server: server}
}

// ours is the id that the client knows for one of the server's.
func (n taskNames) ours(own string) string {
	return n.tasks.sealer.Seal(taskPurpose, []byte(n.server+"\x00"+own), []byte(n.client), []byte(n.view.String()))
}

// isClients reports whether a task is known to be the client's. A server may speak
// of others' tasks, and whoever gets an id of ours for a task may use it.
func (n taskNames) isClients(own string) bool {
	if own == n.own {
		return own != ""
	}
	_, known := n.tasks.known(taskName{n.client, n.view, n.ours(own)})
	return known
}

// openTask finds the server and the server's id of a task that a caller names.
func (t *tasks) openTask(call *gateway.Call, id string) (server, own string, ok bool) {
	payload, ok := t.sealer.Open(taskPurpose, id, []byte(call.Identity.ClientID), []byte(taskView(call).String()))
	if !ok {
		return "", "", false
	}
	return strings.Cut(string(payload), "\x00")
}

// owner finds what a request about a task is for; nil when the caller has no such
// task.
func (t *tasks) owner(call *gateway.Call, h *house) *gateway.Tool {
	server, own, ok := t.openTask(call, call.Name)
	if !ok {
		return nil
	}
	made, _ := t.known(taskName{call.Identity.ClientID, taskView(call), call.Name})
	for _, s := range h.sources() {
		if s.Name() == server {
			// Where the id stands, upstream puts the server's own.
			call.Params.Name = jsonrpc.LookupSpan(call.Params.Raw, "taskId")
			return &gateway.Tool{
				Kind: gateway.KindTask, Name: own, Exposed: call.Name, Source: s, Timeout: made.timeout,
				ReadOnly: call.Method == "tasks/get" || call.Method == "tasks/result",
			}
		}
	}
	return nil
}

// translate is the step of the corridor that puts our ids in the place of servers'
// and back, and remembers the tasks that servers make.
func (t *tasks) translate(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if !gateway.IsExternal(call.Tool.Source) {
			return next.Handle(ctx, call)
		}
		names := t.namesOf(call, call.Tool.Source.Name())
		if call.Kind == gateway.KindTask {
			names.own = call.Tool.Name
		}
		// Most callers have no tasks, and nothing is looked for in their calls.
		mayRefer := names.own != "" || call.Params.Task.Present() || t.hasAny(names.client)
		if mayRefer {
			if err := names.inside(call); err != nil {
				return nil, err
			}
		}
		result, err := next.Handle(ctx, call)
		switch {
		case err != nil:
		case call.Kind == gateway.KindTool && (result.Type == gateway.ResultOther || call.Params.Task.Present()):
			names.created(call, result)
		case mayRefer:
			result.Raw = names.outward(result.Raw, "taskId", "task", "result")
		}
		return result, err
	})
}

// inside makes a call one that its server understands: references to tasks get the
// server's ids, and what the server says to the client on the way gets ours.
func (n taskNames) inside(call *gateway.Call) error {
	if raw := n.inward(call.Params.Raw); len(raw) != len(call.Params.Raw) {
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
		call.Peer = taskPeer{call.Peer, n}
	}
	if session := call.Session; session != nil && session.Peer != nil {
		known := *session
		known.Peer = taskPeer{session.Peer, n}
		call.Session = &known
	}
	return nil
}

// created puts our id into the result of a call that became a task, and remembers
// the task.
func (n taskNames) created(call *gateway.Call, result *gateway.Result) {
	path := []string{"taskId"}
	if result.Type != gateway.ResultOther {
		path = []string{"task", "taskId"}
	}
	own, at := textAt(result.Raw, path...)
	if own == "" || len(own) > longestTaskID {
		return
	}
	id := n.ours(own)
	result.Raw = jsonrpc.Splice(nil, result.Raw, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, id)})
	n.tasks.add(taskName{n.client, n.view, id}, call.Tool, call.Era)
	result.Raw = n.outward(result.Raw)
}

// relatedTask is where a message says which task it is for.
var relatedTask = []string{"_meta", jsonrpc.MetaRelatedTask, "taskId"}

// outward puts our ids of the client's tasks into something that a server says:
// where it refers to a task, and at the places named in states.
func (n taskNames) outward(raw []byte, states ...string) []byte {
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
		if own, at := textAt(raw, path...); own != "" && n.isClients(own) {
			raw = jsonrpc.Splice(nil, raw, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, n.ours(own))})
		}
	}
	return raw
}

// inward puts the server's id into something that a client says, where it refers
// to a task of that server.
func (n taskNames) inward(raw []byte) []byte {
	id, at := textAt(raw, relatedTask...)
	if id == "" {
		return raw
	}
	server, own, ok := n.tasks.openTask(&gateway.Call{Caller: gateway.Caller{Identity: gateway.Identity{ClientID: n.client}, View: n.view}}, id)
	if !ok || server != n.server {
		return raw
	}
	return jsonrpc.Splice(nil, raw, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, own)})
}

// taskPeer is the way back to a client that knows tasks by our ids.
type taskPeer struct {
	gateway.Peer
	names taskNames
}

// Notify passes a notification on. The state of a task is only ever passed to the
// client whose task it is, so its id needs no further check.
func (p taskPeer) Notify(method string, params []byte) {
	if own, at := textAt(params, "taskId"); own != "" && method == "notifications/tasks/status" {
		params = jsonrpc.Splice(nil, params, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, p.names.ours(own))})
	}
	p.Peer.Notify(method, p.names.outward(params))
}

// Ask passes a question on. What it is about may be a task of the client's own,
// whose id stays.
func (p taskPeer) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	answer, err := p.Peer.Ask(ctx, method, p.names.outward(params))
	if err != nil {
		return nil, err
	}
	return p.names.inward(answer), nil
}

// Prolong passes on that the answer will take its time.
func (p taskPeer) Prolong() {
	if peer, ok := p.Peer.(gateway.Prolonger); ok {
		peer.Prolong()
	}
}

// textAt is a text in an object, through the objects around it, and its place.
func textAt(raw []byte, path ...string) (string, gateway.Span) {
	at := gateway.Span{End: uint32(len(raw))} //nolint:gosec // at most MaxMessage
	for _, key := range path {
		inner := jsonrpc.LookupSpan(raw[at.Start:at.End], key)
		if !inner.Present() {
			return "", gateway.Span{}
		}
		at = gateway.Span{Start: at.Start + inner.Start, End: at.Start + inner.End}
	}
	text, _ := jsonrpc.Unquote(raw[at.Start:at.End])
	return string(text), at
}
