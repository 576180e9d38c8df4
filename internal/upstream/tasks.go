package upstream

import (
	"bytes"
	"crypto/rand"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// In MCP 2025-11-25 whoever is asked may make a task of it, the server as well
// as the client, and whoever asked follows the task by its id. An id means
// something on one connection only: another child, or another session at the
// server, may use the same.

const (
	statusOfTask = "notifications/tasks/status"
	// maxTasks is how many tasks of each side a connection remembers.
	maxTasks = 1000
	// maxEarly is how much of what a server says about tasks is kept until it
	// is known whose they are, and maxEarlySize how long each may be: no state of
	// a task is.
	maxEarly, maxEarlySize = 64, 16 << 10
	// maxTaskID is more than anybody needs to tell tasks apart.
	maxTaskID = 1 << 10
)

// taskTable knows the tasks of one connection.
type taskTable struct {
	mu sync.Mutex
	// serverTasks are the server's: whose call each was made of, or who has asked for it
	// since.
	serverTasks recent[*gateway.Session]
	// owners are the clients of all tasks that were made on this connection, by
	// the server's id. A server that was started anew may use an id again.
	owners recent[string]
	// early is what the server said of tasks that were not known yet: a child's
	// next line may be read before the answer that came before it is sent on.
	early []earlyStatus
	// clientTasks are the clients', by the id that the server knows.
	clientTasks recent[clientTask]
}

type earlyStatus struct {
	id     string
	params []byte
}

// clientTask is a task that a client made of a server's request.
type clientTask struct {
	session *gateway.Session
	// id is the client's own.
	id string
}

// recent is a map that forgets the oldest.
type recent[V any] struct {
	byID  map[string]V
	order []string
}

func (r *recent[V]) put(id string, value V) {
	if r.byID == nil {
		r.byID = map[string]V{}
	}
	if _, known := r.byID[id]; !known {
		if len(r.order) >= maxTasks {
			delete(r.byID, r.order[0])
			r.order = r.order[1:]
		}
		r.order = append(r.order, id)
	}
	r.byID[id] = value
}

// ownedByAnother reports whether a call asks for a task that another client's call
// serverTasks on this connection. The caller's own had the same id before.
func (t *taskTable) ownedByAnother(call *gateway.Call) bool {
	if call.Kind != gateway.KindTask {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, known := t.owners.byID[call.Tool.Name]
	return known && owner != call.Identity.ClientID
}

// note remembers whose a task is that the server made of a call, or that a call
// asks for. What it says about the task is passed on when the client knows of it.
func (t *taskTable) note(call *gateway.Call, result *gateway.Result) {
	id, isNew := "", true
	switch {
	case call.Kind == gateway.KindTask:
		id, isNew = call.Tool.Name, false
	case result.Type == gateway.ResultOther:
		id = jsonrpc.LookupText(result.Raw, "taskId")
	case call.Params.Task.Present():
		id = jsonrpc.LookupText(jsonrpc.Lookup(result.Raw, "task"), "taskId")
	}
	if id == "" || len(id) > maxTaskID {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if isNew {
		t.owners.put(id, call.Identity.ClientID)
	}
	session := call.Session
	if call.Era != gateway.EraLegacy || session == nil || session.Peer == nil || !isNew && t.serverTasks.byID[id] != nil {
		return
	}
	call.OnAnswered(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.serverTasks.put(id, session)
		var rest []earlyStatus
		for _, said := range t.early {
			if said.id == id {
				session.Peer.Notify(statusOfTask, said.params)
			} else {
				rest = append(rest, said)
			}
		}
		t.early = rest
	})
}

// sessionOf is the session whose call the server has made a task of; nil when that
// is not known.
func (t *taskTable) sessionOf(id string) *gateway.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.serverTasks.byID[id]
}

// status hands on what the server says of a task, to the client whose call it
// was made of and to nobody else. on is the call on whose stream it came, nil
// for none.
func (t *taskTable) status(params []byte, on *gateway.Call) {
	id := jsonrpc.LookupText(params, "taskId")
	t.mu.Lock()
	defer t.mu.Unlock()
	session := t.serverTasks.byID[id]
	switch {
	case on != nil && (session != nil && isOf(on, session) || on.Kind == gateway.KindTask && on.Tool.Name == id):
		forwardNotification(on, statusOfTask, params)
	case session != nil:
		session.Peer.Notify(statusOfTask, params)
	case len(params) <= maxEarlySize:
		if len(t.early) >= maxEarly {
			t.early = t.early[1:]
		}
		t.early = append(t.early, earlyStatus{id, bytes.Clone(params)})
	}
}

func isOf(call *gateway.Call, session *gateway.Session) bool {
	return call.Session != nil && call.Session.ID == session.ID
}

// addClientTask remembers the task that a client answers with, and returns the answer as
// the server is to see it: of two clients that use the same id, the second one's
// gets another.
func (t *taskTable) addClientTask(session *gateway.Session, answer []byte) []byte {
	own := jsonrpc.LookupText(jsonrpc.Lookup(answer, "task"), "taskId")
	if own == "" || len(own) > maxTaskID {
		return answer
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	id := own
	if other, taken := t.clientTasks.byID[id]; taken && (other.session.ID != session.ID || other.id != own) {
		id = rand.Text()
	}
	t.clientTasks.put(id, clientTask{session, own})
	return renamed(answer, own, id)
}

// findClientTask finds the client's task that the server knows under an id.
func (t *taskTable) findClientTask(id string) (clientTask, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	task, ok := t.clientTasks.byID[id]
	return task, ok
}

// serverID is the id under which the server knows a client's task.
func (t *taskTable) serverID(session, own string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, task := range t.clientTasks.byID {
		if task.session.ID == session && task.id == own {
			return id, true
		}
	}
	return "", false
}

// reset forgets everything: the server has.
func (t *taskTable) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serverTasks, t.clientTasks, t.early, t.owners = recent[*gateway.Session]{}, recent[clientTask]{}, nil, recent[string]{}
}

// renamed puts another id into a message about a task, wherever it has one.
func renamed(raw []byte, from, to string) []byte {
	if from == to {
		return raw
	}
	for _, path := range [][]string{
		{"taskId"}, {"task", "taskId"}, {"_meta", jsonrpc.MetaRelatedTask, "taskId"},
	} {
		at := spanOf(raw, path)
		if text, ok := jsonrpc.Unquote(raw[at.Start:at.End]); ok && string(text) == from {
			raw = jsonrpc.Splice(nil, raw, jsonrpc.Edit{At: at, With: jsonrpc.AppendQuoted(nil, to)})
		}
	}
	return raw
}

// spanOf is the place of a value in an object, through the objects around it.
func spanOf(raw []byte, path []string) gateway.Span {
	whole := gateway.Span{End: uint32(len(raw))} //nolint:gosec // at most MaxMessage
	for _, key := range path {
		at := jsonrpc.LookupSpan(raw[whole.Start:whole.End], key)
		if !at.Present() {
			return gateway.Span{}
		}
		whole = gateway.Span{Start: whole.Start + at.Start, End: whole.Start + at.End}
	}
	return whole
}

// isAboutTask tells the requests by which a server follows a client's task.
func isAboutTask(method string) bool {
	return method == "tasks/get" || method == "tasks/result" || method == "tasks/cancel"
}

// makesTasks reports whether the caller's client can make a task of a request.
func makesTasks(call *gateway.Call, method string) bool {
	if call.Era != gateway.EraLegacy || call.Session == nil || call.Session.Peer == nil {
		return false
	}
	requests := jsonrpc.Lookup(jsonrpc.Lookup(call.Capabilities(), "tasks"), "requests")
	switch method {
	case "sampling/createMessage":
		return jsonrpc.Lookup(jsonrpc.Lookup(requests, "sampling"), "createMessage") != nil
	case "elicitation/create":
		return jsonrpc.Lookup(jsonrpc.Lookup(requests, "elicitation"), "create") != nil
	default:
		return false
	}
}
