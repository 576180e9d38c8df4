package gateway

import (
	"sync"
	"time"
)

// Shares divides a fixed amount of something among clients: bytes, sessions,
// streams. A client may hold at most three times what is still free (dynamic
// thresholds, Choudhury and Hahne 1998). So one greedy client gets three
// quarters of the whole, n of them 3/(3n+1) each, and something is left for the
// next one.
type Shares struct {
	limit int64

	mu   sync.Mutex
	used int64
	peak int64
	held map[string]*int64
}

// shareFactor is how many times the free amount one client may hold.
const shareFactor = 3

// idleAccounts is how many clients that hold nothing may keep their entry, so
// that a client with one small call after the other does not pay for a new entry
// each time.
const idleAccounts = 64

// ErrShareUsedUp is the error for a client that holds its whole share of the bytes
// in flight, and among the causes of errors that say more about it.
var ErrShareUsedUp = &Error{
	Code: CodeLimited, RetryAfter: time.Second,
	Message: "too many large calls of this client are under way; try again in a moment",
}

// NewShares makes shares of limit units.
func NewShares(limit int64) *Shares { return &Shares{limit: limit, held: map[string]*int64{}} }

// WithinShare reports whether a client that holds some units may take n of those
// that are free.
func WithinShare(held, n, free int64) bool { return held+n <= shareFactor*(free-n+1) }

// Take takes n units for a client. It reports false, and takes nothing, when
// that is more than the client's share. Nil shares have no bounds.
func (s *Shares) Take(client string, n int64) bool {
	if s == nil || n <= 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[client]
	if held == nil {
		if !WithinShare(0, n, s.limit-s.used) {
			return false
		}
		held = new(int64)
		s.held[client] = held
	} else if !WithinShare(*held, n, s.limit-s.used) {
		return false
	}
	*held += n
	s.used += n
	s.peak = max(s.peak, s.used)
	return true
}

// Give returns n units of a client.
func (s *Shares) Give(client string, n int64) {
	if s == nil || n <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[client]
	if held == nil {
		return
	}
	*held -= n
	s.used -= n
	if *held <= 0 && len(s.held) > idleAccounts {
		delete(s.held, client)
	}
}

// Used is what all clients hold now.
func (s *Shares) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Peak is the most that all clients have held at one time.
func (s *Shares) Peak() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// Held is what one client holds now.
func (s *Shares) Held(client string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.held[client]; held != nil {
		return *held
	}
	return 0
}

// Reserve takes n bytes of the caller's share for this call, until Release. A
// call that another call made reserves for that one, whose answer it becomes.
func (c *Call) Reserve(n int) error {
	c = c.outermost()
	if !c.Budget.Take(c.Identity.ClientID, int64(n)) {
		return ErrShareUsedUp
	}
	c.reserved.Add(int64(n))
	return nil
}

// Borrow is Reserve for what is not needed until the answer has been sent.
func (c *Call) Borrow(n int) (giveBack func(), err error) {
	if err := c.Reserve(n); err != nil {
		return nil, err
	}
	c = c.outermost()
	return func() {
		c.reserved.Add(-int64(n))
		c.Budget.Give(c.Identity.ClientID, int64(n))
	}, nil
}

// outermost is the call that an edge has made.
func (c *Call) outermost() *Call {
	for c.Parent != nil {
		c = c.Parent
	}
	return c
}

// uncounted is how many bytes of an answer may go uncounted: sources count what
// they receive, and a few bytes are added to that on the way.
const uncounted = 4 << 10

// ReserveAnswer makes sure that an answer of n bytes is reserved: a source that
// makes its answers itself has not done so.
func (c *Call) ReserveAnswer(n int) error {
	c = c.outermost()
	reserved := c.Reserved()
	if n <= reserved+uncounted {
		return nil
	}
	if err := c.Reserve(n - reserved); err != nil {
		return &Error{
			Code: CodeLimited, RetryAfter: ErrShareUsedUp.RetryAfter, Err: err,
			Message: "the call was carried out, but its answer was too large to be kept just now: too many large calls of this client are under way",
		}
	}
	return nil
}

// Reserved is what the call has reserved.
func (c *Call) Reserved() int { return int(c.reserved.Load()) }

// Release returns what the call reserved, and does what waits for the answer.
// The edge calls it when the answer has been sent.
func (c *Call) Release() {
	c.Budget.Give(c.Identity.ClientID, c.reserved.Swap(0))
	if f := c.answered.Swap(nil); f != nil {
		(*f)()
	}
}

// OnAnswered sets what is done when the answer has been sent: what is said about
// it must not overtake it.
func (c *Call) OnAnswered(f func()) {
	c.outermost().answered.Store(&f)
}
