package workflow

import (
	"encoding/json"
	"math"
	"slices"
	"sync"
	"time"
)

// scope is whose values they are.
type scope struct {
	workflow string
	// who is a session or a client; empty for the values of a whole workflow.
	who string
	// step is the id of a hook of a template, which has values of its own.
	step string
	// shadow is set for what runs in shadow mode keep.
	shadow bool
}

// state returns where the values of a script are kept, and within which bounds. What a replay
// keeps ends with it, and so does what a workflow keeps for one run.
func (h host) state() (*states, scope, State) {
	r := h.run
	of, options := scope{workflow: r.workflow.ID, shadow: r.dry}, r.workflow.State
	if h.hook.state.Scope != "" {
		of.step, options = h.hook.node, h.hook.state
	}
	switch {
	case r.rehearsed:
		return &r.state, of, options
	case options.Scope == scopeWorkflow:
		return &r.engine.state, of, options
	case options.Scope == scopeSession:
		// A caller without a session has one scope for all of its calls.
		of.who = "client " + r.calling.Identity.ClientID
		if session := r.calling.Session; session != nil {
			of.who = "session " + session.ID
		}
		return &r.engine.state, of, options
	default:
		return &r.state, of, options
	}
}

const (
	// mostScopes is how many scopes have values at once, and mostStates how many bytes the
	// values of all sessions and clients have. Beyond, the session or client whose values were
	// used longest ago loses them. Values of whole workflows stay, because a limit that counts
	// must not forget, and do not count, because deleting others would not make room for them.
	mostScopes, mostStates = 10_000, 64 << 20
	// mostStateKB is how many KB one scope may have.
	mostStateKB = 16 << 10
	// valueSize is how many bytes a value counts besides its key and text, about.
	valueSize = 64
	// sweepEvery is how often expired values are deleted.
	sweepEvery = time.Minute
)

// states has the values of workflows and sessions, in memory. The zero value is ready
// for use.
type states struct {
	mu     sync.Mutex
	scopes map[scope]*values
	size   int // of the values of sessions and clients
	swept  time.Time
}

// values are those of a scope.
type values struct {
	byKey map[string]value
	size  int
	// idle is when values without an end of their own expire, and used when a value was last
	// read or changed.
	idle, used time.Time
}

// value is a value of the state. It expires at until, or with the scope's idle time if until is
// zero. An evictable one may be deleted before, to make room.
type value struct {
	raw       json.RawMessage
	until     time.Time
	evictable bool
}

// live reports whether one of the values has not expired.
func (v *values) live(one value, at time.Time) bool {
	until := one.until
	if until.IsZero() {
		until = v.idle
	}
	return one.raw != nil && at.Before(until)
}

// find returns a scope's values and the live value of key; both are empty if absent.
func (s *states) find(of scope, key string, at time.Time) (*values, value) {
	v := s.scopes[of]
	if v == nil {
		return nil, value{}
	}
	v.used = at
	if found := v.byKey[key]; v.live(found, at) {
		return v, found
	}
	return v, value{}
}

func (s *states) get(of scope, key string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.find(of, key, time.Now())
	return found.raw
}

// set keeps a value for ttl, or until the scope's idle time if ttl is 0; nil deletes it. A value
// with a ttl is evictable.
func (s *states) set(of scope, options State, key string, raw json.RawMessage, ttl time.Duration) error {
	return s.change(of, options, key, func(_ value, at time.Time) (value, error) {
		if ttl == 0 {
			return value{raw: raw}, nil
		}
		return value{raw, at.Add(ttl), true}, nil
	})
}

// add adds to a number, which is 0 at first and again ttl after it was first added to. It
// returns the sum. The number is not evictable: what it counts would begin anew.
func (s *states) add(of scope, options State, key string, by float64, ttl time.Duration) (sum float64, err error) {
	err = s.change(of, options, key, func(was value, at time.Time) (now value, err error) {
		now.until = was.until
		if was.raw == nil && ttl > 0 {
			now.until = at.Add(ttl)
		}
		if was.raw != nil && json.Unmarshal(was.raw, &sum) != nil {
			return now, failure("state.add needs a number, and the value is none")
		}
		if sum += by; math.IsInf(sum, 0) {
			return now, failure("state.add: the sum is too large")
		}
		now.raw, err = json.Marshal(sum)
		return now, err
	})
	return sum, err
}

// change replaces the value of key with become(old). An error leaves all values as they were.
func (s *states) change(of scope, options State, key string, become func(was value, at time.Time) (value, error)) error {
	ttl, most := time.Duration(options.TTLS)*time.Second, min(options.MaxKB, mostStateKB)*kilobyte
	if ttl == 0 {
		ttl = defaultStateTTL
	}
	if most == 0 {
		most = defaultStateSize
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Now()
	s.sweep(at)
	if v := s.scopes[of]; v != nil && !at.Before(v.idle) {
		s.expire(of, at) // the values would live again
	}
	v, was := s.find(of, key, at)
	now, err := become(was, at)
	if err != nil || v == nil && now.raw == nil {
		return err
	}
	if v == nil {
		v = &values{byKey: map[string]value{}, used: at}
	}
	before := v.size
	if now.raw != nil && !v.evictValues(key, most-sizeOf(key, now), at) {
		return failure("the state of this workflow may have %d KB (state.maxKB), and this value is too much", most/kilobyte)
	}
	if s.scopes == nil {
		s.scopes = map[scope]*values{}
	}
	s.scopes[of] = v
	v.delete(key)
	if now.raw != nil {
		v.byKey[key] = now
		v.size += sizeOf(key, now)
	}
	v.idle = at.Add(ttl)
	s.resized(of, v.size-before)
	s.evictScopes(of)
	return nil
}

// resized counts the bytes by which the values of a scope have grown. A scope without values is
// deleted.
func (s *states) resized(of scope, by int) {
	if of.who != "" {
		s.size += by
	}
	if len(s.scopes[of].byKey) == 0 {
		delete(s.scopes, of)
	}
}

func sizeOf(key string, v value) int { return len(key) + len(v.raw) + valueSize }

func (v *values) delete(key string) {
	if old, ok := v.byKey[key]; ok {
		v.size -= sizeOf(key, old)
		delete(v.byKey, key)
	}
}

// evictValues deletes values besides that of key, until they have no more than most bytes:
// expired and evictable ones, those that end first. It reports false, and deletes nothing, if
// that is not enough. It makes more room than is needed, so that it is seldom needed.
func (v *values) evictValues(key string, most int, at time.Time) bool {
	size := v.size
	if old, ok := v.byKey[key]; ok {
		size -= sizeOf(key, old)
	}
	if size <= most {
		return true
	}
	var evictable []string
	left := size
	for other, one := range v.byKey {
		if other != key && (one.evictable || !v.live(one, at)) {
			evictable = append(evictable, other)
			left -= sizeOf(other, one)
		}
	}
	if left > most {
		return false
	}
	slices.SortFunc(evictable, func(a, b string) int { return v.byKey[a].until.Compare(v.byKey[b].until) })
	for _, other := range evictable {
		if size <= most/10*9 {
			break
		}
		size -= sizeOf(other, v.byKey[other])
		v.delete(other)
	}
	return true
}

// evictScopes deletes the values of the sessions and clients that were used longest ago, if all
// have too many, but not those of keep. As above, it makes more room than is needed.
func (s *states) evictScopes(keep scope) {
	if len(s.scopes) <= mostScopes && s.size <= mostStates {
		return
	}
	var others []scope
	for of := range s.scopes {
		if of.who != "" && of != keep {
			others = append(others, of)
		}
	}
	slices.SortFunc(others, func(a, b scope) int { return s.scopes[a].used.Compare(s.scopes[b].used) })
	for _, of := range others {
		if len(s.scopes) <= mostScopes/10*9 && s.size <= mostStates/10*9 {
			return
		}
		s.drop(of)
	}
}

// sweep deletes expired values, once in a while.
func (s *states) sweep(at time.Time) {
	if at.Sub(s.swept) < sweepEvery {
		return
	}
	s.swept = at
	for of := range s.scopes {
		s.expire(of, at)
	}
}

// expire deletes the expired values of a scope.
func (s *states) expire(of scope, at time.Time) {
	v := s.scopes[of]
	before := v.size
	for key, one := range v.byKey {
		if !v.live(one, at) {
			v.delete(key)
		}
	}
	s.resized(of, v.size-before)
}

func (s *states) drop(of scope) {
	v := s.scopes[of]
	clear(v.byKey)
	s.resized(of, -v.size)
}

// keep forgets the values of workflows that are not known.
func (s *states) keep(known func(id string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of := range s.scopes {
		if !known(of.workflow) {
			s.drop(of)
		}
	}
}
