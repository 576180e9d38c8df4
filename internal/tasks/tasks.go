// Package tasks lets clients use the tasks that servers make of their calls.
// Servers choose the ids of their tasks: two may use the same, and many can be
// guessed. So a client gets an id that contains the server and its id, signed for
// the client and the view (ids.go). No other client can use it, and it leads to the
// same task after a restart.
//
// Registry belongs to the process. Its Middleware is a step of the corridor. It
// translates ids in calls, answers, notifications and questions of external
// sources, and remembers tasks for tasks/list and for their timeouts. Resolve finds
// the source of a call about a task; the catalog does not list tasks. List asks the
// servers for the states of a page of tasks. Package upstream keeps track of which
// client a server's task belongs to.
//
// Invariants:
//
//   - An id is translated for a client only if the task is known to be that
//     client's: a signed id is permission to use the task.
//   - The registry is bounded. When it is full, the client with the most tasks
//     loses its oldest. A forgotten task can still be used by its id.
//   - Tasks that clients make of servers' questions keep the clients' ids.
package tasks

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

// Registry translates ids of tasks between clients and servers. It remembers the
// tasks that were made, for tasks/list and for their timeouts.
type Registry struct {
	sealer seal.Sealer

	mu    sync.Mutex
	tasks map[key]task
	// counts is how many tasks each client has.
	counts map[string]int
	// order lists the tasks from the oldest to the newest.
	order []key
	last  uint64
}

// New makes a Registry whose ids are signed with a secret.
func New(secret []byte) *Registry {
	return &Registry{sealer: seal.Sealer{Secret: secret}, tasks: map[key]task{}, counts: map[string]int{}}
}

// key identifies a task. Its id is the one that the client knows.
type key struct {
	client string
	view   gateway.View
	id     string
}

// task is a task that a server made.
type task struct {
	timeout time.Duration
	era     gateway.Era
	// number counts all tasks that were ever made.
	number uint64
	// state is what the server last said about the task, with the client's id; nil
	// if that is not kept.
	state []byte
}

const (
	// maxTasks is how many tasks are remembered. When there are more, the client
	// that has the most loses its oldest, so no client can make those of others
	// be forgotten.
	maxTasks = 10_000
	// pageSize is how many tasks a page of tasks/list has.
	pageSize = 50
	// maxState is how large a state may be that is kept.
	maxState = 1 << 10
	// stateTimeout is how long servers may take to report the states of a page.
	stateTimeout = 10 * time.Second
)

func (r *Registry) add(k key, timeout time.Duration, era gateway.Era) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(k) // a server may use an id again, for a new task
	if len(r.order) >= maxTasks {
		r.dropOne()
	}
	r.last++
	r.counts[k.client]++
	r.order = append(r.order, k)
	r.tasks[k] = task{number: r.last, era: era, timeout: timeout}
}

// dropOne forgets the oldest task of the client that has the most. Called with
// mu held.
func (r *Registry) dropOne() {
	most := ""
	for client, count := range r.counts {
		if most == "" || count > r.counts[most] {
			most = client
		}
	}
	if at := slices.IndexFunc(r.order, func(k key) bool { return k.client == most }); at >= 0 {
		r.drop(r.order[at])
	}
}

// drop forgets a task. Called with mu held.
func (r *Registry) drop(k key) {
	if _, known := r.tasks[k]; !known {
		return
	}
	delete(r.tasks, k)
	if r.counts[k.client]--; r.counts[k.client] == 0 {
		delete(r.counts, k.client)
	}
	if at := slices.Index(r.order, k); at == 0 {
		r.order = r.order[1:]
	} else {
		r.order = slices.Delete(r.order, at, at+1)
	}
}

func (r *Registry) forget(k key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(k)
}

func (r *Registry) find(k key) (task, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.tasks[k]
	return t, ok
}

// keep remembers what a task's server said about it.
func (r *Registry) keep(k key, state []byte) {
	if len(state) == 0 || len(state) > maxState {
		state = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// Only legacy clients list their tasks.
	if t, known := r.tasks[k]; known && t.era == gateway.EraLegacy {
		t.state = bytes.Clone(state)
		r.tasks[k] = t
	}
}

// hasAny reports whether a client has tasks that are remembered.
func (r *Registry) hasAny(client string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[client] > 0
}

// page returns a caller's tasks after a number, from the oldest to the newest, and
// the number that the next page begins after; zero for no next page.
func (r *Registry) page(caller *gateway.Call, after uint64) (page []key, next uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, view := uint64(0), viewOf(caller)
	for _, k := range r.order {
		t := r.tasks[k]
		if k.client != caller.Identity.ClientID || k.view != view || t.era != caller.Era || t.number <= after {
			continue
		}
		if len(page) == pageSize {
			return page, last
		}
		page, last = append(page, k), t.number
	}
	return page, 0
}

// List returns a page of the caller's tasks of all servers, as the result of
// tasks/list. It asks the servers for the states with get. A task that its server
// does not know is forgotten. If a server does not answer, its tasks have the state
// that it last reported.
func (r *Registry) List(ctx context.Context, caller *gateway.Call, cursor string, get gateway.Handler) ([]byte, error) {
	after, ok := parseCursor(cursor)
	if !ok {
		return nil, gateway.Errorf(gateway.CodeInvalid, "params.cursor must be a cursor of an earlier answer")
	}
	page, next := r.page(caller, after)
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	states := make([][]byte, len(page))
	var asking sync.WaitGroup
	for i, k := range page {
		asking.Go(func() { states[i] = r.state(ctx, caller, k, get) })
	}
	asking.Wait()
	states = slices.DeleteFunc(states, func(state []byte) bool { return state == nil })
	out := append([]byte(`{"tasks":[`), bytes.Join(states, []byte{','})...)
	out = append(out, ']')
	if next > 0 {
		out = jsonrpc.AppendQuoted(append(out, `,"nextCursor":`...), formatCursor(next))
	}
	return append(out, '}'), nil
}

// state asks a task's server for its state. It returns the last known state if the
// server does not answer, and nil if there is none.
func (r *Registry) state(ctx context.Context, caller *gateway.Call, k key, get gateway.Handler) []byte {
	params, err := jsonrpc.ScanParams(append(jsonrpc.AppendQuoted([]byte(`{"taskId":`), k.id), '}'))
	if err != nil {
		return nil
	}
	result, err := get.Handle(ctx, &gateway.Call{
		Method: "tasks/get", Kind: gateway.KindTask, Name: k.id, Params: params,
		Caller: caller.Caller, Parent: caller, Terms: gateway.Terms{Included: true},
	})
	if err == nil {
		return result.Raw
	}
	switch e := gateway.AsError(err); {
	case e.RPC != nil && e.Code == gateway.CodeInvalid:
		r.forget(k)
	case e.Code == gateway.CodeTimeout || e.Code == gateway.CodeUnavailable || e.Code == gateway.CodeLimited:
		t, _ := r.find(k)
		return t.state
	}
	return nil
}

// cursorPrefix begins a decoded cursor. The number of a task follows.
const cursorPrefix = "tasks behind "

func formatCursor(number uint64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + strconv.FormatUint(number, 10)))
}

func parseCursor(cursor string) (uint64, bool) {
	if cursor == "" {
		return 0, true
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	digits, ours := strings.CutPrefix(string(raw), cursorPrefix)
	number, wrong := strconv.ParseUint(digits, 10, 64)
	return number, err == nil && ours && wrong == nil
}
