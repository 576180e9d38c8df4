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
	"genkan/internal/seal"
)

// tasks remember the tasks that servers have made of calls, for tasks/list and for
// their timeouts. Whose a task is says its id (taskids.go), so that it is found
// after a restart as well.
type tasks struct {
	sealer seal.Sealer

	mu     sync.Mutex
	byName map[taskName]knownTask
	// many counts the tasks of a client.
	many map[string]int
	// order is that in which they came, for forgetting the oldest.
	order []taskName
	last  uint64
}

// knownTask is a task that a server made.
type knownTask struct {
	timeout time.Duration
	era     gateway.Era
	// number is its place among all that ever came.
	number uint64
}

// taskName is a task as one caller knows it. The id is ours.
type taskName struct {
	client string
	view   gateway.View
	id     string
}

const (
	// mostTasks is how many tasks are remembered. When there are more, who has
	// the most loses the oldest: nobody can make others' tasks be forgotten.
	mostTasks = 10_000
	// tasksPage is how many tasks stand on a page of their list.
	tasksPage = 50
	// taskPatience is how long a server may take to say how a task is that is
	// listed.
	taskPatience = 10 * time.Second
)

func (t *tasks) add(name taskName, made *gateway.Tool, era gateway.Era) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName, t.many = map[taskName]knownTask{}, map[string]int{}
	}
	t.drop(name) // an id that is used again is another task
	if len(t.order) >= mostTasks {
		t.dropOne()
	}
	t.last++
	t.many[name.client]++
	t.order = append(t.order, name)
	t.byName[name] = knownTask{number: t.last, era: era, timeout: made.Timeout}
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
	last, view := uint64(0), taskView(of)
	for _, name := range t.order {
		task := t.byName[name]
		if name.client != of.Identity.ClientID || name.view != view || task.era != of.Era || task.number <= behind {
			continue
		}
		if len(names) == tasksPage {
			return names, last
		}
		names, last = append(names, name), task.number
	}
	return names, 0
}

// known finds a task that is remembered.
func (t *tasks) known(name taskName) (knownTask, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	task, ok := t.byName[name]
	return task, ok
}

// hasAny reports whether a client has tasks that are remembered.
func (t *tasks) hasAny(client string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.many[client] > 0
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
		Method: "tasks/get", Kind: gateway.KindTask, Name: name.id, Params: params,
		Caller: caller.Caller, Parent: caller, Terms: gateway.Terms{Included: true},
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
