package workflow

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// RunStats are figures about the runs of a workflow, in one mode.
type RunStats struct {
	// Runs are all runs. Each has one of the outcomes that follow, or was ok.
	Runs, Denied, Failed, Passed, CallFailed int64
	// Changed are runs that changed the call or its answer.
	Changed int64
	// Dropped are runs beside calls that did not take place, because too many waited.
	// They are not among Runs.
	Dropped int64
	// Total is how long the nodes of all runs took together, and Buckets how many runs
	// took no longer than each of RunBuckets.
	Total   time.Duration
	Buckets [len(runBuckets)]uint64
	// P50 and P95 are of the last runs.
	P50, P95 time.Duration
}

// runBuckets are the upper bounds of RunStats.Buckets.
var runBuckets = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// RunBuckets returns the upper bounds of RunStats.Buckets.
func RunBuckets() []time.Duration { return runBuckets[:] }

// Add adds the figures of another workflow. P50 and P95 stay.
func (s *RunStats) Add(o *RunStats) {
	s.Runs, s.Denied, s.Failed, s.Passed = s.Runs+o.Runs, s.Denied+o.Denied, s.Failed+o.Failed, s.Passed+o.Passed
	s.CallFailed, s.Changed, s.Dropped, s.Total = s.CallFailed+o.CallFailed, s.Changed+o.Changed, s.Dropped+o.Dropped, s.Total+o.Total
	for i := range s.Buckets {
		s.Buckets[i] += o.Buckets[i]
	}
}

// WorkflowAndMode is what runs are counted by.
type WorkflowAndMode struct {
	Workflow string
	Shadow   bool
}

// runStatistics counts the runs of workflows.
type runStatistics struct {
	mu   sync.Mutex
	kept map[WorkflowAndMode]*runFigures
}

type runFigures struct {
	RunStats
	last [256]time.Duration // a ring
}

// add counts a run. Hooks beside the path are a part of another run.
func (s *runStatistics) add(t *Trace) {
	if t.Detached && t.Outcome != StatusDropped {
		return
	}
	took := t.Took()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := WorkflowAndMode{t.Workflow, t.Mode == shadow}
	f := s.kept[key]
	if f == nil {
		if s.kept == nil {
			s.kept = map[WorkflowAndMode]*runFigures{}
		}
		f = &runFigures{}
		s.kept[key] = f
	}
	switch t.Outcome {
	case StatusDropped:
		f.Dropped++
		return
	case OutcomeDenied:
		f.Denied++
	case OutcomeFailed:
		f.Failed++
	case OutcomePassed:
		f.Passed++
	case OutcomeCall:
		f.CallFailed++
	}
	if t.Changed {
		f.Changed++
	}
	f.last[f.Runs%int64(len(f.last))] = took
	f.Runs++
	f.Total += took
	for i := len(runBuckets) - 1; i >= 0 && took <= runBuckets[i]; i-- {
		f.Buckets[i]++
	}
}

// keep forgets the workflows that are not known.
func (s *runStatistics) keep(known func(id string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.kept, func(k WorkflowAndMode, _ *runFigures) bool { return !known(k.Workflow) })
}

// Runs returns figures about the runs of the workflows that are enabled, since they
// were. Runs on calls of the history and on tests do not count.
func (e *Engine) Runs() map[WorkflowAndMode]RunStats {
	s := &e.runs
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[WorkflowAndMode]RunStats, len(s.kept))
	for key, f := range s.kept {
		out := f.RunStats
		if n := min(f.Runs, int64(len(f.last))); n > 0 {
			sorted := slices.Sorted(slices.Values(f.last[:n]))
			out.P50, out.P95 = sorted[n*50/100], sorted[n*95/100]
		}
		all[key] = out
	}
	return all
}

// Waiting returns how many runs beside calls wait, and how many run.
func (e *Engine) Waiting() (waiting, running int) {
	e.detached.mu.Lock()
	defer e.detached.mu.Unlock()
	return len(e.detached.jobs), e.detached.running
}
