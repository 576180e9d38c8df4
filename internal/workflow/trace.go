package workflow

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/script"
)

// The statuses of a step.
const (
	StatusOK      = "ok"
	StatusError   = "error"
	StatusTimeout = "timeout"
	StatusOOM     = "oom"
	StatusCrashed = "crashed"
	StatusSkipped = "skipped"
	StatusDenied  = "denied"
	StatusDropped = "dropped"
)

// The outcomes of a run.
const (
	OutcomeOK     = "ok"
	OutcomeDenied = "denied"
	OutcomeFailed = "failed"
	// OutcomePassed is that of a call whose workflow failed open.
	OutcomePassed = "passed"
	// OutcomeCall is that of a call that itself failed or was canceled.
	OutcomeCall = "call_failed"
)

// Trace is what a run did.
type Trace struct {
	Workflow string
	// Name is what the workflow was called when it ran. It may be gone by now.
	Name    string `json:",omitempty"`
	Version int
	Mode    string
	// Call is the RequestID of the call, and Client is who made it. A list that is made
	// for a client has no call.
	Call, Client string
	// Tool is the tool's exposed name, if the call is one of a tool.
	Tool string

	Started time.Time
	Outcome string
	// Changed is set if the run changed the call or its answer, and Sent if it came to
	// the call.
	Changed, Sent bool
	// Detached is set for a hook that ran beside the path.
	Detached bool
	// Masked are the rules by which Redacted took something out.
	Masked []string `json:",omitempty"`
	Steps  []Step
}

// Incomplete reports whether a script failed in a replay because it needed what a replay does
// not do. What becomes of such a call is not known, wherever the workflow went on.
func (t *Trace) Incomplete() bool {
	return slices.ContainsFunc(t.Steps, func(s Step) bool {
		return s.Status == StatusError && strings.Contains(s.Error, errSkipped.Error())
	})
}

// Took is how long the nodes took, without the call and without people. Of a hook beside
// the path it is without the time in a queue, for which nobody waited.
func (t *Trace) Took() (took time.Duration) {
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Type == callType || s.Type == approveType {
			continue
		}
		took += s.Run
		if !t.Detached {
			took += s.Queue
		}
	}
	return took
}

// Effect returns what the run did to the call, or would have done if the workflow only
// watches: EffectDenied and so on. It is empty for nothing.
func (t *Trace) Effect() string {
	denied := t.Outcome == OutcomeDenied || t.Outcome == OutcomeFailed
	switch {
	case t.Detached || !denied && !t.Changed:
		return ""
	case denied && t.Mode == shadow:
		return EffectWouldDeny
	case denied:
		return EffectDenied
	case t.Mode == shadow:
		return EffectWouldChange
	default:
		return EffectChanged
	}
}

// Step is what one node did. It is not redacted.
type Step struct {
	Node, Type string
	// Label is what people called the node when it ran; empty if they did not name it.
	Label  string `json:",omitempty"`
	Status string
	Handle string
	// Queue is how long the node waited for a worker, Run how long it took, and Wait
	// how long it waited for what it had asked for.
	Queue, Run, Wait time.Duration
	// In and Out are the bytes that a script got and left.
	In, Out int
	Patch   []Op
	Console []script.Line
	Error   string
	// Line and Column are places in the script, from 1; 0 if unknown.
	Line, Column int
}

// notKept stands for a value of a call whose bodies are not kept.
const notKept = "[not kept]"

// WithoutBodies returns a copy of the trace without what the call's client sent and got:
// without changed values, names below the members that MCP defines, lines of the console, and
// errors, which may repeat any of these.
func (t Trace) WithoutBodies() Trace {
	t.Steps = slices.Clone(t.Steps)
	for i := range t.Steps {
		s := &t.Steps[i]
		s.Console = nil
		if s.Error != "" {
			s.Error = notKept
		}
		patch := make([]Op, 0, len(s.Patch))
		for _, op := range s.Patch {
			op = op.withoutBody()
			if !slices.ContainsFunc(patch, func(one Op) bool { return one.Op == op.Op && one.Path == op.Path }) {
				patch = append(patch, op)
			}
		}
		s.Patch = patch
	}
	return t
}

func (o Op) withoutBody() Op {
	names := strings.Split(o.Path, "/") // "", "request", "params", "arguments", …
	known := 3
	if len(names) > 1 && names[1] == "request" {
		known = 4
	}
	o.Path = strings.Join(names[:min(len(names), known)], "/")
	if o.Value != nil {
		o.Value = []byte(`"` + notKept + `"`)
	}
	return o
}

// Sink keeps traces. It takes secrets out, and it does not block.
type Sink interface {
	Trace(t Trace)
}

// add adds changes below a path.
func (s *Step) add(below string, patch []Op) {
	for i := range patch {
		patch[i].Path = below + patch[i].Path
	}
	s.bound(patch, longestPatch)
}

// longestPatch is how many bytes of changes a step has, and mostOps how many changes.
const longestPatch, mostOps = 64 << 10, 1000

// tooLong stands for a value that is not kept. A part of it could be a part of a secret.
const tooLong = `"[too long to be kept]"`

// bound adds changes, and leaves out the values of those that have too many bytes together
// and the changes that are too many.
func (s *Step) bound(patch []Op, longest int) {
	for _, op := range patch[:min(len(patch), mostOps)] {
		if longest -= len(op.Path) + len(op.Value); longest >= 0 || op.Value == nil {
			op.Value = slices.Clone(op.Value)
		} else {
			longest += len(op.Value)
			op.Value = []byte(tooLong)
		}
		s.Patch = append(s.Patch, op)
	}
}

// finish says how a step ended.
func (s *Step) finish(handle string, took time.Duration, err error) {
	s.Status, s.Run = statusOf(err), took-s.Queue
	if err == nil {
		s.Handle = handle
		return
	}
	s.Error = err.Error()
	if e := (*script.Error)(nil); errors.As(err, &e) {
		s.Line, s.Column = e.Line, e.Column
	}
}

// PatchJSON is the patch as a JSON Patch document.
func (s *Step) PatchJSON() json.RawMessage {
	raw, _ := encode(s.Patch)
	return raw
}

// NodeStats are figures about a node.
type NodeStats struct {
	Runs, Errors int64
	// Killed are errors: its script ran too long, took too much memory, or crashed.
	Killed int64
	// P50 and P95 are of the last runs.
	P50, P95 time.Duration
}

// statistics counts the runs of nodes.
type statistics struct {
	mu    sync.Mutex
	nodes map[string]map[string]*figures
}

// figures are those of one node. last is a ring.
type figures struct {
	runs, errors, killed int64
	last                 [256]time.Duration
}

func (s *statistics) add(workflow, node string, took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes == nil {
		s.nodes = map[string]map[string]*figures{}
	}
	nodes := s.nodes[workflow]
	if nodes == nil {
		nodes = map[string]*figures{}
		s.nodes[workflow] = nodes
	}
	f := nodes[node]
	if f == nil {
		f = &figures{}
		nodes[node] = f
	}
	f.last[f.runs%int64(len(f.last))] = took
	f.runs++
	switch statusOf(err) {
	case StatusTimeout, StatusOOM, StatusCrashed, StatusError:
		f.errors++
	}
	if e := (*script.Error)(nil); errors.As(err, &e) && e.Killed {
		f.killed++
	}
}

// keep forgets the workflows that are not among ids.
func (s *statistics) keep(known func(id string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.nodes, func(id string, _ map[string]*figures) bool { return !known(id) })
}

// Stats returns the figures of a workflow's nodes, by their ids.
func (e *Engine) Stats(workflow string) map[string]NodeStats {
	s := &e.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]NodeStats{}
	for node, f := range s.nodes[workflow] {
		n := min(f.runs, int64(len(f.last)))
		sorted := slices.Sorted(slices.Values(f.last[:n]))
		all[node] = NodeStats{f.runs, f.errors, f.killed, sorted[n*50/100], sorted[n*95/100]}
	}
	return all
}
