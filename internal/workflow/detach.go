package workflow

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Bounds of what runs beside calls.
const (
	mostDetached = 8               // how many run at once
	drainTime    = 5 * time.Second // how long they may go on at shutdown
)

// queue runs what nobody waits for, a few at a time and in order.
type queue struct {
	mu      sync.Mutex
	jobs    []job
	waiting map[string]int // by workflow
	running int
	closed  bool
	idle    *sync.Cond
	life    context.Context //nolint:containedctx // that of all jobs
	cancel  context.CancelFunc
}

type job struct {
	workflow  string
	run       func(ctx context.Context)
	abandoned func()
}

func (q *queue) open() {
	q.waiting = map[string]int{}
	q.idle = sync.NewCond(&q.mu)
	q.life, q.cancel = context.WithCancel(context.Background())
}

// add queues a job. If there is no place for it, it is abandoned.
func (q *queue) add(w *Workflow, run func(ctx context.Context), abandoned func()) {
	most := w.Limits.DetachedMax
	if most == 0 {
		most = defaultDetached
	}
	q.mu.Lock()
	full := q.closed || q.waiting[w.ID] >= most
	if !full {
		q.jobs = append(q.jobs, job{w.ID, run, abandoned})
		q.waiting[w.ID]++
		if q.running < mostDetached {
			q.running++
			go q.work()
		}
	}
	q.mu.Unlock()
	if full {
		abandoned()
	}
}

// work runs jobs until there are none.
func (q *queue) work() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.jobs) > 0 {
		next := q.jobs[0]
		q.jobs = q.jobs[1:]
		if q.waiting[next.workflow]--; q.waiting[next.workflow] == 0 {
			delete(q.waiting, next.workflow)
		}
		q.mu.Unlock()
		next.run(q.life)
		q.mu.Lock()
	}
	q.running--
	q.idle.Broadcast()
}

// Close waits for the hooks that run beside calls, for five seconds at most or until
// ctx ends. What is left then is abandoned.
func (e *Engine) Close(ctx context.Context) {
	q := &e.detached
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		left := q.jobs
		q.jobs, q.waiting = nil, map[string]int{}
		q.mu.Unlock()
		q.cancel() // those that run
		for _, j := range left {
			j.abandoned()
		}
	})
	defer stop()
	q.mu.Lock()
	q.closed = true
	for q.running > 0 {
		q.idle.Wait()
	}
	q.mu.Unlock()
	q.cancel()
}

// detachAll starts the hooks beside a way out. A dry run has none.
func (r *Run) detachAll(s *step, way string) {
	if r.dry {
		return
	}
	for _, beside := range s.beside[way] {
		r.detach(beside)
	}
}

// detach runs a hook beside the path, on the call and the answer as they are now.
func (r *Run) detach(s *step) {
	d := &Run{
		engine: r.engine, workflow: r.workflow, calling: callCopy(r.calling), chain: &chain{},
		response: r.response, vars: maps.Clone(r.vars),
		detached: true, called: r.called, began: time.Now(),
		trace: Trace{Workflow: r.trace.Workflow, Name: r.trace.Name, Version: r.trace.Version, Mode: r.trace.Mode, Call: r.trace.Call, Client: r.trace.Client, Tool: r.trace.Tool, Detached: true},
	}
	d.draft.Params = r.draft.Params
	d.at = s
	r.engine.detached.add(r.workflow, func(ctx context.Context) {
		d.ctx, d.began = withDepth(ctx, depth(r.ctx)), time.Now()
		defer d.calling.Release()
		d.trace.Started = d.began
		d.trace.Outcome = OutcomeOK
		if _, err := d.step(s); err != nil {
			d.trace.Outcome = OutcomeFailed
		}
		d.report()
	}, d.dropped)
}

// dropped reports a run that did not take place.
func (r *Run) dropped() {
	r.trace.Outcome = StatusDropped
	node := Step{Status: StatusDropped}
	if r.at != nil {
		node.Node, node.Type, node.Label = r.at.id, r.at.kind, r.at.label
	}
	r.trace.Steps = append(r.trace.Steps, node)
	r.report()
}
