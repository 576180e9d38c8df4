package api

import (
	"net/http"
	"time"

	"genkan/internal/gateway"
)

// meter is the response to a caller. What is kept in memory for its request and
// its answer counts against the caller's share.
type meter struct {
	http.ResponseWriter
	api    *API
	client string
	taken  int
	// covered is how much of the answer its call has reserved already.
	covered int
}

const (
	// smallAnswer is what is not counted: a caller that has used up its share must
	// be told so.
	smallAnswer = 4 << 10
	// writeTime is how long a caller may take to read an answer.
	writeTime = 2 * time.Minute
)

// Unwrap is for http.ResponseController.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// take counts n bytes, and reports false when the caller's share does not allow
// it.
func (m *meter) take(n int) bool {
	ok := m.api.opt.Budget.Take(m.client, int64(n))
	if ok {
		m.taken += n
	}
	return ok
}

func (m *meter) release() { m.api.opt.Budget.Give(m.client, int64(m.taken)) }

// metered counts n bytes for a response, if it is a caller's.
func metered(w http.ResponseWriter, n int) bool {
	m, ok := w.(*meter)
	return !ok || m.take(n)
}

// cover notes that a call has reserved its answer.
func cover(w http.ResponseWriter, call *gateway.Call) {
	if m, ok := w.(*meter); ok {
		m.covered = call.Reserved()
	}
}

// fits counts an answer, or tells the caller that its share of the memory does
// not allow for it.
func fits(w http.ResponseWriter, n int) bool {
	m, ok := w.(*meter)
	if !ok || n <= smallAnswer+m.covered || m.take(n-m.covered) {
		return true
	}
	m.api.fail(w, &gateway.Error{
		Code: gateway.CodeLimited, RetryAfter: time.Second, Err: gateway.ErrShareUsedUp,
		Message: "the call was carried out, but its answer was too large to be kept just now: too many large calls of this client are under way",
	})
	return false
}
