package upstream

import (
	"bytes"
	"crypto/rand"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// In MCP 2025-11-25 the receiver of a request may answer with a task, the server
// as well as the client, and the sender then follows the task by its id. Ids are
// unique on one connection only: another process, or another session at the
// server, may use the same.

const (
	statusOfTask = "notifications/tasks/status"
	// maxTasks is how many tasks of each side a connection remembers.
	maxTasks = 1000
	// maxEarly is how many statuses of unknown tasks are kept, and maxEarlySize
	// the size of the largest. Real statuses are much smaller.
	maxEarly, maxEarlySize = 64, 16 << 10
	// maxTaskID is the length of the longest id that is remembered.
	maxTaskID = 1 << 10
)

// taskTable holds the tasks of one connection.
type taskTable struct {
	mu sync.Mutex
	// serverTasks are the tasks that the server made, with the session whose call
	// made the task or asked for it first.
	serverTasks recent[*gateway.Session]
	// owners are the ClientIDs of the callers whose calls made the server's
	// tasks, by the server's id. A restarted server may use an id again.
	owners recent[string]
	// early are statuses of tasks that were not known yet: a status may be read
	// before the answer that names its task is forwarded.
	early []earlyStatus
	// clientTasks are the tasks that clients made, by the id that the server
	// knows.
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

// recent is a map that drops its oldest entry when it is full.
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

// ownedByAnother reports whether a call names a task that another client's call
// made on this connection. The caller may have had a task with the same id before
// the server restarted.
func (t *taskTable) ownedByAnother(call *gateway.Call) bool {
	if call.Kind != gateway.KindTask {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, known := t.owners.byID[call.Tool.Name]
	return known && owner != call.Identity.ClientID
}

// note records the owner of a task that the server made of a call, or that a call
// asks for. Statuses that came early are forwarded once the client has the id.
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

// sessionOf returns the session whose call made a task of the server, or nil if
// it is not known.
func (t *taskTable) sessionOf(id string) *gateway.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.serverTasks.byID[id]
}

// status forwards a status of a task to the client whose call made the task, and
// to nobody else. on is the call on whose stream it came, or nil.
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

// addClientTask records the task that a client answers with, and returns the
// answer for the server. If the id is in use by another client's task, the server
// gets a new one.
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

// findClientTask returns the client's task with the id that the server knows.
func (t *taskTable) findClientTask(id string) (clientTask, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	task, ok := t.clientTasks.byID[id]
	return task, ok
}

// serverID returns the id by which the server knows a client's task.
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

// reset removes all tasks, for a server that has forgotten its session.
func (t *taskTable) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serverTasks, t.clientTasks, t.early, t.owners = recent[*gateway.Session]{}, recent[clientTask]{}, nil, recent[string]{}
}

// renamed replaces the task id in a message, wherever it has one.
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

// spanOf returns the span of a value in nested objects.
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

// isAboutTask reports whether a server follows a client's task with the method.
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
