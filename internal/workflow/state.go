package workflow

import (
	"encoding/json"
	"maps"
	"sync"
	"time"
)

// scope is whose values they are. who is empty for those of a whole workflow.
type scope struct{ workflow, who string }

// scope returns where the values of a run are kept, and whether they outlive it. A caller
// without a session has one scope for all of its calls.
func (r *Run) scope() (scope, bool) {
	s := scope{workflow: r.workflow.ID}
	switch r.workflow.State.Scope {
	case scopeWorkflow:
		return s, true
	case scopeSession:
		s.who = "client " + r.calling.Identity.ClientID
		if session := r.calling.Session; session != nil {
			s.who = "session " + session.ID
		}
		return s, true
	default:
		return s, false
	}
}

// mostScopes is how many scopes have values at once. The one that was used longest ago
// loses its values first.
const mostScopes = 10_000

// states has the values of workflows and sessions, in memory. The zero value is ready
// for use.
type states struct {
	mu     sync.Mutex
	scopes map[scope]*values
}

type values struct {
	byKey map[string]json.RawMessage
	size  int
	ttl   time.Duration
	used  time.Time
}

func (s *states) get(of scope, key string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.scopes[of]
	if v == nil || time.Since(v.used) > v.ttl {
		return nil
	}
	return v.byKey[key]
}

func (s *states) set(of scope, options State, key string, value json.RawMessage) error {
	ttl, most := time.Duration(options.TTLS)*time.Second, options.MaxKB*kilobyte
	if ttl == 0 {
		ttl = defaultStateTTL
	}
	if most == 0 {
		most = defaultStateSize
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.scopes[of]
	if v == nil || time.Since(v.used) > v.ttl {
		if s.scopes == nil {
			s.scopes = map[scope]*values{}
		}
		v = &values{byKey: map[string]json.RawMessage{}}
		s.makePlace()
		s.scopes[of] = v
	}
	size := v.size
	if old, ok := v.byKey[key]; ok {
		size -= len(key) + len(old)
	}
	if value != nil {
		size += len(key) + len(value)
	}
	if size > most && value != nil {
		return failure("the state of this workflow may have %d KB (state.maxKB), and this value is too much", most/kilobyte)
	}
	v.size, v.ttl, v.used = size, ttl, time.Now()
	if value == nil {
		delete(v.byKey, key)
	} else {
		v.byKey[key] = value
	}
	return nil
}

// makePlace forgets values that are too old, and the oldest if there are too many.
func (s *states) makePlace() {
	if len(s.scopes) < mostScopes {
		return
	}
	maps.DeleteFunc(s.scopes, func(_ scope, v *values) bool { return time.Since(v.used) > v.ttl })
	var oldest scope
	for of, v := range s.scopes {
		if first := s.scopes[oldest]; first == nil || v.used.Before(first.used) {
			oldest = of
		}
	}
	if len(s.scopes) >= mostScopes {
		delete(s.scopes, oldest)
	}
}

// keep forgets the values of workflows that are not known.
func (s *states) keep(known func(id string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.scopes, func(of scope, _ *values) bool { return !known(of.workflow) })
}
