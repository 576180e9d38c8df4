package app

import (
	"context"
	"sync"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// tasks remember which server made a task of a call, and whose call that was:
// later requests name only the task.
type tasks struct {
	mu     sync.Mutex
	byName map[taskName]*gateway.Tool
	// owners counts the callers that know an id.
	owners map[string]int
	// order is that in which they came, for forgetting the oldest.
	order []taskName
}

// taskName is a task as one caller knows it. Another caller's is as good as
// none.
type taskName struct{ client, view, id string }

// mostTasks is how many tasks are remembered.
const mostTasks = 10_000

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
		if id != "" {
			t.add(taskName{call.Identity.ClientID, call.View, id}, call.Tool)
		}
		return result, err
	})
}

func (t *tasks) add(name taskName, made *gateway.Tool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName, t.owners = map[taskName]*gateway.Tool{}, map[string]int{}
	}
	if _, known := t.byName[name]; !known {
		if len(t.order) >= mostTasks {
			oldest := t.order[0]
			delete(t.byName, oldest)
			if t.owners[oldest.id]--; t.owners[oldest.id] == 0 {
				delete(t.owners, oldest.id)
			}
			t.order = t.order[1:]
		}
		t.owners[name.id]++
		t.order = append(t.order, name)
	}
	t.byName[name] = &gateway.Tool{
		Kind: gateway.KindTask, Name: name.id, Exposed: name.id,
		Source: made.Source, Timeout: made.Timeout,
	}
}

// owner finds what a request about a task is for; nil when the caller has no
// such task. After a restart nothing is remembered: then the only server that
// makes tasks is asked, if there is only one.
func (t *tasks) owner(call *gateway.Call, h *house) *gateway.Tool {
	t.mu.Lock()
	made := t.byName[taskName{call.Identity.ClientID, call.View, call.Name}]
	others := t.owners[call.Name] > 0
	t.mu.Unlock()
	view, ok := h.view(call.View)
	if !ok || made == nil && others {
		return nil
	}
	var found *gateway.Tool
	for _, s := range h.servers {
		era, makes := s.Tasks()
		switch {
		case made != nil && made.Source.Name() == s.Name():
			// The server that is there now, should it have been replaced.
			tool := *made
			tool.Source, tool.ReadOnly = s, call.Method == "tasks/get" || call.Method == "tasks/result"
			return &tool
		case made != nil || !makes || era != call.Era || !view.Has(s.Name()):
		case found != nil:
			return nil
		default:
			found = &gateway.Tool{Kind: gateway.KindTask, Name: call.Name, Exposed: call.Name, Source: s}
		}
	}
	return found
}
