package gateway

import "sync/atomic"

// Budget bounds the bytes that are in flight in the whole process, so that
// many large calls at once are refused instead of exhausting its memory.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget makes a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Take takes n bytes, or reports that they are not to be had. A nil budget has
// no bounds.
func (b *Budget) Take(n int64) bool {
	if b == nil {
		return true
	}
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

// Give returns n bytes.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}

// Used is what is taken now.
func (b *Budget) Used() int64 { return b.used.Load() }

// Reserve takes n bytes for this call, until Release.
func (c *Call) Reserve(n int) error {
	if !c.Budget.Take(int64(n)) {
		return &Error{
			Code: CodeLimited, Message: "too many large calls are under way; try again in a moment",
			RetryAfter: budgetRetryAfter,
		}
	}
	c.reserved.Add(int64(n))
	return nil
}

// Reserved is what the call has reserved.
func (c *Call) Reserved() int { return int(c.reserved.Load()) }

// Release returns what the call reserved, and does what waits for the answer.
// The edge calls it when the answer has been sent.
func (c *Call) Release() {
	c.Budget.Give(c.reserved.Swap(0))
	if f := c.answered.Swap(nil); f != nil {
		(*f)()
	}
}

// OnAnswered sets what is done when the answer has been sent: what is said about
// it must not overtake it.
func (c *Call) OnAnswered(f func()) { c.answered.Store(&f) }
