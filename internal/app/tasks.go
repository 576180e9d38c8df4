package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// tasks remember which server made a task of a call, and whose call that was:
// later requests name only the task.
type tasks struct {
	mu     sync.Mutex
	byName map[taskName]knownTask
	// owners counts the callers that know an id, and many the tasks of a client.
	owners, many map[string]int
	// order is that in which they came, for forgetting the oldest.
	order []taskName
	last  uint64
}

// knownTask is a task that a server made.
type knownTask struct {
	// server is the name of who made it: the server itself may be replaced.
	server  string
	timeout time.Duration
	era     gateway.Era
	// number is its place among all that ever came.
	number uint64
}

// taskName is a task as one caller knows it. Another caller's is as good as
// none.
type taskName struct{ client, view, id string }

const (
	// mostTasks is how many tasks are remembered. When there are more, who has
	// the most loses the oldest: nobody can make others' tasks be forgotten.
	mostTasks = 10_000
	// longestTaskID is more than any server needs to tell its tasks apart.
	longestTaskID = 1 << 10
	// tasksPage is how many tasks stand on a page of their list.
	tasksPage = 50
	// taskPatience is how long a server may take to say how a task is that is
	// listed.
	taskPatience = 10 * time.Second
)

// remember notes the tasks that servers make.
func (t *tasks) remember(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		result, err := next.Handle(ctx, call)
		if err != nil || call.Kind != gateway.KindTool {
			return result, err
		}
		id := ""
		switch {
		case result.Type == gateway.ResultOther:
			id = jsonrpc.LookupText(result.Raw, "taskId")
		case call.Params.Task.Present():
			id = jsonrpc.LookupText(jsonrpc.Lookup(result.Raw, "task"), "taskId")
		}
		if id != "" && len(id) <= longestTaskID {
			t.add(taskName{call.Identity.ClientID, call.View, id}, call.Tool, call.Era)
		}
		return result, err
	})
}

func (t *tasks) add(name taskName, made *gateway.Tool, era gateway.Era) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName, t.owners, t.many = map[taskName]knownTask{}, map[string]int{}, map[string]int{}
	}
	t.drop(name) // an id that is used again is another task
	if len(t.order) >= mostTasks {
		t.dropOne()
	}
	t.last++
	t.owners[name.id]++
	t.many[name.client]++
	t.order = append(t.order, name)
	t.byName[name] = knownTask{number: t.last, era: era, server: made.Source.Name(), timeout: made.Timeout}
}

// dropOne forgets the oldest task of the client that has the most. Called with
// mu held.
func (t *tasks) dropOne() {
	most := ""
	for client, count := range t.many {
		if most == "" || count > t.many[most] {
			most = client
		}
	}
	if at := slices.IndexFunc(t.order, func(name taskName) bool { return name.client == most }); at >= 0 {
		t.drop(t.order[at])
	}
}

// drop forgets a task. Called with mu held.
func (t *tasks) drop(name taskName) {
	if _, known := t.byName[name]; !known {
		return
	}
	delete(t.byName, name)
	if t.owners[name.id]--; t.owners[name.id] == 0 {
		delete(t.owners, name.id)
	}
	if t.many[name.client]--; t.many[name.client] == 0 {
		delete(t.many, name.client)
	}
	if at := slices.Index(t.order, name); at == 0 {
		t.order = t.order[1:]
	} else {
		t.order = slices.Delete(t.order, at, at+1)
	}
}

func (t *tasks) forget(name taskName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(name)
}

// page are a caller's tasks behind a number, in the order in which they came,
// and the number to go on from; zero when there are no more.
func (t *tasks) page(of *gateway.Call, behind uint64) (names []taskName, next uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := uint64(0)
	for _, name := range t.order {
		task := t.byName[name]
		if name.client != of.Identity.ClientID || name.view != of.View || task.era != of.Era || task.number <= behind {
			continue
		}
		if len(names) == tasksPage {
			return names, last
		}
		names, last = append(names, name), task.number
	}
	return names, 0
}

// owner finds what a request about a task is for; nil when the caller has no
// such task. After a restart nothing is remembered: then the only server that
// makes tasks is asked, if there is only one.
func (t *tasks) owner(call *gateway.Call, h *house) *gateway.Tool {
	t.mu.Lock()
	made, known := t.byName[taskName{call.Identity.ClientID, call.View, call.Name}]
	others := t.owners[call.Name] > 0
	t.mu.Unlock()
	view, ok := h.view(call.View)
	if !ok || !known && others {
		return nil
	}
	var found *gateway.Tool
	for _, s := range h.servers {
		era, makes := s.Tasks()
		switch {
		case known && made.server == s.Name():
			// The server that is there now, should it have been replaced.
			return &gateway.Tool{
				Kind: gateway.KindTask, Name: call.Name, Exposed: call.Name, Source: s, Timeout: made.timeout,
				ReadOnly: call.Method == "tasks/get" || call.Method == "tasks/result",
			}
		case known || !makes || era != call.Era || !view.Has(s.Name()):
		case found != nil:
			return nil
		default:
			found = &gateway.Tool{Kind: gateway.KindTask, Name: call.Name, Exposed: gateway.Short(call.Name), Source: s}
		}
	}
	return found
}

// Tasks lists the caller's tasks, those of all servers: each server is asked how
// its own are. What a server does not know any more is forgotten; a task whose
// server cannot be asked is left out.
func (h *house) Tasks(ctx context.Context, caller *gateway.Call, cursor string) ([]byte, error) {
	behind, ok := numberOf(cursor)
	if !ok {
		return nil, gateway.Errorf(gateway.CodeInvalid, "params.cursor must be a cursor of an earlier answer")
	}
	if err := h.limit.admit(caller.Identity); err != nil { // one for all that it makes
		return nil, err
	}
	names, next := h.tasks.page(caller, behind)
	ctx, cancel := context.WithTimeout(ctx, taskPatience)
	defer cancel()
	states := make([][]byte, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() { states[i] = h.taskState(ctx, caller, name) })
	}
	asking.Wait()
	states = slices.DeleteFunc(states, func(state []byte) bool { return state == nil })
	out := append([]byte(`{"tasks":[`), bytes.Join(states, []byte{','})...)
	out = append(out, ']')
	if next > 0 {
		out = jsonrpc.AppendQuoted(append(out, `,"nextCursor":`...), cursorOf(next))
	}
	return append(out, '}'), nil
}

// taskState asks a task's server how it is; nil when it does not say.
func (h *house) taskState(ctx context.Context, caller *gateway.Call, name taskName) []byte {
	params, err := jsonrpc.ScanParams(append(jsonrpc.AppendQuoted([]byte(`{"taskId":`), name.id), '}'))
	if err != nil {
		return nil
	}
	call := &gateway.Call{
		Method: "tasks/get", Kind: gateway.KindTask, Name: name.id, Params: params, Parent: caller,
		View: caller.View, Era: caller.Era, Identity: caller.Identity, Session: caller.Session, Via: caller.Via,
	}
	result, err := h.arrival.Handle(ctx, call)
	if err == nil {
		return result.Raw
	}
	if e := gateway.AsError(err); e.RPC != nil && e.Code == gateway.CodeInvalid {
		h.tasks.forget(name)
	}
	return nil
}

// A cursor of the list of tasks says behind which one it goes on.
const tasksCursor = "tasks behind "

func cursorOf(number uint64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(tasksCursor + strconv.FormatUint(number, 10)))
}

func numberOf(cursor string) (uint64, bool) {
	if cursor == "" {
		return 0, true
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	digits, ours := strings.CutPrefix(string(raw), tasksCursor)
	number, wrong := strconv.ParseUint(digits, 10, 64)
	return number, err == nil && ours && wrong == nil
}
