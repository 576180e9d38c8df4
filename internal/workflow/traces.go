package workflow

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"genkan/internal/jsonrpc"
)

// Traces is a Sink that keeps the traces of the last calls, without secrets. It is safe
// for concurrent use.
type Traces struct {
	most   int
	redact func([]byte) []byte

	mu    sync.Mutex
	calls map[string][]Trace
	// order has the ids of the calls, the oldest first.
	order []string
	// lists are the traces of the last lists, which have no call, the oldest first.
	lists []Trace
}

// mostTraces is how many traces of one call are kept, and of lists.
const mostTraces = 100

// NewTraces makes a Traces that keeps those of so many calls. redact takes secrets out
// of JSON when traces are read; nil takes out none.
func NewTraces(calls int, redact func([]byte) []byte) *Traces {
	return &Traces{most: calls, redact: redact, calls: map[string][]Trace{}}
}

// Trace keeps a trace.
func (s *Traces) Trace(t Trace) {
	if s.most < 1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Call == "" {
		if len(s.lists) >= mostTraces {
			s.lists = slices.Delete(s.lists, 0, 1)
		}
		s.lists = append(s.lists, t)
		return
	}
	kept, known := s.calls[t.Call]
	if len(kept) >= mostTraces {
		return
	}
	if !known {
		if len(s.order) >= s.most {
			delete(s.calls, s.order[0])
			s.order = s.order[1:]
		}
		s.order = append(s.order, t.Call)
	}
	s.calls[t.Call] = append(kept, t)
}

// Of returns the traces of a call, in the order in which its workflows ended. It
// returns nil if there are none.
func (s *Traces) Of(call string) []Trace {
	s.mu.Lock()
	kept := slices.Clone(s.calls[call])
	s.mu.Unlock()
	for i := range kept {
		kept[i] = kept[i].Redacted(s.redact)
	}
	return kept
}

// Last returns the last traces of a workflow that want wants, the newest first, at most
// so many. A nil want wants all.
func (s *Traces) Last(workflow string, most int, want func(*Trace) bool) (found []Trace) {
	s.mu.Lock()
	take := func(of []Trace) {
		for i := len(of) - 1; i >= 0 && len(found) < most; i-- {
			if of[i].Workflow == workflow && (want == nil || want(&of[i])) {
				found = append(found, of[i])
			}
		}
	}
	take(s.lists)
	listed := len(found)
	for i := len(s.order) - 1; i >= 0 && len(found) < most; i-- {
		take(s.calls[s.order[i]])
	}
	s.mu.Unlock()
	if listed > 0 {
		slices.SortStableFunc(found, func(a, b Trace) int { return b.Started.Compare(a.Started) })
	}
	for i := range found {
		found[i] = found[i].Redacted(s.redact)
	}
	return found
}

// Redacted returns a copy of the trace without what redact takes out of JSON.
func (t Trace) Redacted(redact func([]byte) []byte) Trace {
	if redact == nil {
		return t
	}
	text := func(s string) string { return string(redact([]byte(s))) }
	t.Steps = slices.Clone(t.Steps)
	for i := range t.Steps {
		s := &t.Steps[i]
		s.Error = text(s.Error)
		s.Patch = slices.Clone(s.Patch)
		for j := range s.Patch {
			s.Patch[j] = s.Patch[j].redacted(redact)
		}
		s.Console = slices.Clone(s.Console)
		for j := range s.Console {
			s.Console[j].Text = text(s.Console[j].Text)
		}
	}
	return t
}

// redacted returns a copy of the change without secrets. A value may be secret because
// of its key.
func (o Op) redacted(redact func([]byte) []byte) Op {
	key := o.Path[strings.LastIndexByte(o.Path, '/')+1:]
	key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
	if o.Value != nil {
		object := append(append(append(jsonrpc.AppendQuoted([]byte{'{'}, key), ':'), o.Value...), '}')
		if o.Value = bytes.Clone(jsonrpc.Lookup(redact(object), key)); o.Value == nil { // the key is secret itself
			o.Value = []byte(`"[redacted]"`)
		}
	}
	o.Path = string(redact([]byte(o.Path)))
	return o
}
