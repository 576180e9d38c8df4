package workflow

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

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
	// gone maps the ids of deleted workflows to the time of the deletion.
	gone map[string]time.Time
	// size is about how many bytes all traces of calls have.
	size int
}

// mostTraces is how many traces of one call are kept, and of lists; mostTraceBytes is
// about how many bytes those of all calls may have. The oldest calls go first.
const mostTraces, mostTraceBytes = 100, 32 << 20

// NewTraces makes a Traces that keeps those of so many calls. redact takes secrets out
// of JSON when traces are read; nil takes out none.
func NewTraces(calls int, redact func([]byte) []byte) *Traces {
	return &Traces{most: calls, redact: redact, calls: map[string][]Trace{}, gone: map[string]time.Time{}}
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
		s.order = append(s.order, t.Call)
	}
	s.calls[t.Call] = append(kept, t)
	s.size += t.size()
	for len(s.order) > s.most || s.size > mostTraceBytes && len(s.order) > 1 {
		for _, gone := range s.calls[s.order[0]] {
			s.size -= gone.size()
		}
		delete(s.calls, s.order[0])
		s.order = s.order[1:]
	}
}

// size is about how many bytes a trace has.
func (t *Trace) size() int {
	size := 200 //nolint:mnd // what is there in any case
	for i := range t.Steps {
		s := &t.Steps[i]
		size += 200 + len(s.Error) //nolint:mnd // as above
		for _, op := range s.Patch {
			size += len(op.Path) + len(op.Value)
		}
		for _, line := range s.Console {
			size += len(line.Text)
		}
	}
	return size
}

// Encoded returns the traces of a call as JSON of at most so many bytes, for keeping them
// longer. Without redact, secrets are not taken out. It returns nil if there are none.
func (s *Traces) Encoded(call string, redact bool, most int) []byte {
	s.mu.Lock()
	kept := slices.Clone(s.calls[call])
	s.mu.Unlock()
	if len(kept) == 0 {
		return nil
	}
	if redact {
		kept = s.redacted(kept)
	}
	raw, err := encode(kept)
	for longest := most / 8; err == nil && len(raw) > most; longest /= 8 { //nolint:mnd // a few steps
		if longest == 0 {
			return nil
		}
		for i := range kept {
			kept[i] = kept[i].shortened(longest)
		}
		raw, err = encode(kept)
	}
	if err != nil {
		return nil
	}
	return raw
}

// shortened returns a copy of the trace in which no step has changes, or lines of the
// console, of more than so many bytes.
func (t Trace) shortened(longest int) Trace {
	t.Steps = slices.Clone(t.Steps)
	for i := range t.Steps {
		s := &t.Steps[i]
		patch, console := s.Patch, s.Console
		s.Patch, s.Console = nil, nil
		s.bound(patch, longest)
		if lines := (&Trace{Steps: []Step{{Console: console}}}).size(); lines <= longest {
			s.Console = console
		}
	}
	return t
}

// Decode returns the traces of what Encoded returned, without secrets; nil if they cannot
// be read.
func (s *Traces) Decode(raw []byte) []Trace {
	var kept []Trace
	if json.Unmarshal(raw, &kept) != nil {
		return nil
	}
	return s.redacted(kept)
}

func (s *Traces) redacted(kept []Trace) []Trace {
	for i := range kept {
		kept[i] = kept[i].Redacted(s.redact)
	}
	return kept
}

// Of returns the traces of a call, in the order in which its workflows ended. It
// returns nil if there are none.
func (s *Traces) Of(call string) []Trace {
	s.mu.Lock()
	kept := slices.Clone(s.calls[call])
	s.mu.Unlock()
	return s.redacted(kept)
}

// The effects of workflows on a call.
const (
	EffectDenied      = "denied"
	EffectChanged     = "changed"
	EffectWouldDeny   = "would_deny"
	EffectWouldChange = "would_change"
)

// Effect returns the strongest effect that workflows had on a call, or would have had if
// they only watch. It is empty if there was none, or if the traces of the call are gone.
func (s *Traces) Effect(call string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found [4]bool
	for _, t := range s.calls[call] {
		if t.Detached {
			continue // a hook beside the path has none
		}
		at := 0
		if t.Mode == shadow {
			at = 2
		}
		switch {
		case t.Outcome == OutcomeDenied || t.Outcome == OutcomeFailed:
			found[at] = true
		case t.Changed:
			found[at+1] = true
		}
	}
	for i, effect := range [...]string{EffectDenied, EffectChanged, EffectWouldDeny, EffectWouldChange} {
		if found[i] {
			return effect
		}
	}
	return ""
}

// Gone records that a workflow was deleted. Last leaves out its runs from then on, because a
// new workflow may have its id.
func (s *Traces) Gone(workflow string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone[workflow] = time.Now()
}

// Last returns the last traces of a workflow that want wants, the newest first, at most
// so many. A nil want wants all.
func (s *Traces) Last(workflow string, most int, want func(*Trace) bool) (found []Trace) {
	s.mu.Lock()
	take := func(of []Trace) {
		for i := len(of) - 1; i >= 0 && len(found) < most; i-- {
			if of[i].Workflow == workflow && of[i].Started.After(s.gone[workflow]) && (want == nil || want(&of[i])) {
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
	t.Masked = slices.Clone(t.Masked)
	redact = t.noting(redact)
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

// noting returns redact, and adds the rules that it names to Masked. A mark that was there
// before is the work of a workflow.
func (t *Trace) noting(redact func([]byte) []byte) func([]byte) []byte {
	return func(raw []byte) []byte {
		out := redact(raw)
		if bytes.Equal(out, raw) {
			return out
		}
		before, seen := marks(raw), map[string]int{}
		for _, mark := range maskMark.FindAllSubmatch(out, -1) {
			rule := string(mark[1])
			if seen[rule]++; seen[rule] == before[rule]+1 && !slices.Contains(t.Masked, rule) {
				t.Masked = append(t.Masked, rule)
			}
		}
		return out
	}
}

// marks counts the marks of each rule in a text.
func marks(raw []byte) map[string]int {
	counts := map[string]int{}
	for _, mark := range maskMark.FindAllSubmatch(raw, -1) {
		counts[string(mark[1])]++
	}
	return counts
}

var maskMark = regexp.MustCompile(`\[redacted:([^\]\n]{1,100})\]`)

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
