package api

import (
	"net/http"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// response is the writer of a request with a known caller. It counts the memory of
// the request and its answer against the caller's share, and holds the details for
// the log of refusals and changes.
type response struct {
	http.ResponseWriter
	api *API
	r   *http.Request
	id  gateway.Identity
	// began is when the request of a route came whose answer tells how long it took.
	began time.Time

	// largest is the largest body that the route takes, in bytes; 0 for maxBody.
	largest int64

	// taken is the part of the client's share that this request holds, in bytes.
	// covered is the part of the answer that its call has reserved already.
	taken, covered int

	status int
	// about names the subject of a change if the path does not.
	about string
	// unchanged is set if the request asked for a dry run.
	unchanged bool
	// recorded is set if the corridor has recorded the failure of a call. It is not
	// recorded again as a refusal.
	recorded bool
}

const (
	// smallAnswer is the size up to which answers are not counted, in bytes. A
	// caller that has used up its share must still get the error that says so.
	smallAnswer = 4 << 10
	// writeTime is how long a caller may take to read an answer.
	writeTime = 2 * time.Minute
)

// WriteHeader remembers the status.
func (w *response) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap supports http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// take counts n bytes. It reports false if they exceed the caller's share.
func (w *response) take(n int) bool {
	ok := w.api.opt.Budget.Take(w.id.ClientID, int64(n))
	if ok {
		w.taken += n
	}
	return ok
}

func (w *response) release() { w.api.opt.Budget.Give(w.id.ClientID, int64(w.taken)) }

// executionTime returns the milliseconds since a request came whose answer tells how
// long it took; nil for other requests.
func executionTime(w http.ResponseWriter) *float64 {
	one, ok := w.(*response)
	if !ok || one.began.IsZero() {
		return nil
	}
	ms := float64(time.Since(one.began).Microseconds()) / 1000
	return &ms
}

// metered counts n bytes if the response has a known caller.
func metered(w http.ResponseWriter, n int) bool {
	m, ok := w.(*response)
	return !ok || m.take(n)
}

// recorded marks the answer of a call, which the corridor has recorded.
func recorded(w http.ResponseWriter) {
	if one, ok := w.(*response); ok {
		one.recorded = true
	}
}

// cover records that a call has reserved memory for its answer.
func cover(w http.ResponseWriter, call *gateway.Call) {
	if one, ok := w.(*response); ok {
		one.covered = call.Reserved()
	}
}

// fits counts an answer. If it exceeds the caller's share of the memory, it answers
// with an error.
func fits(w http.ResponseWriter, n int) bool {
	m, ok := w.(*response)
	if !ok || n <= smallAnswer+m.covered || m.take(n-m.covered) {
		return true
	}
	m.api.fail(w, &gateway.Error{
		Code: gateway.CodeLimited, RetryAfter: time.Second, Err: gateway.ErrShareUsedUp,
		Message: "the call was carried out, but its answer was too large to be kept just now: too many large calls of this client are under way",
	})
	return false
}

// noteRefusal records an answer that refuses a request.
func (a *API) noteRefusal(w http.ResponseWriter, rest restError) {
	one, ok := w.(*response)
	if ok && a.opt.Refused != nil && !one.recorded && isRefusal(rest.status) {
		a.opt.Refused(one.r, rest.status, strings.ToLower(rest.code))
	}
}

// isRefusal reports whether a status refuses a request. A timeout or a canceled
// call is not a refusal.
func isRefusal(status int) bool {
	return status >= 400 && status < 499 && status != http.StatusRequestTimeout
}

// concerns sets the subject of a change.
func concerns(w http.ResponseWriter, name string) {
	if one, ok := w.(*response); ok {
		one.about = name
	}
}

// changes reports whether a route changes something that an administrator is
// responsible for.
func (r *route) changes() bool {
	return r.method != http.MethodGet && (r.who == forAdmins || r.id == "forgetLearned" || r.id == "cancelCall")
}

// logChanges logs the changes of an administrator: names, never values.
func (a *API) logChanges(one route, serve handler) handler {
	if !one.changes() {
		return serve
	}
	return func(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
		concerns(w, r.PathValue("name"))
		serve(w, r, id)
		if done, ok := w.(*response); ok && done.status < http.StatusBadRequest && !done.unchanged {
			a.opt.Log.Info("a change was made over REST", "operation", one.id, "name", gateway.Short(done.about),
				"client", id.ClientID, "admin", id.Admin, "remote_address", r.RemoteAddr)
		}
	}
}
