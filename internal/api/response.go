package api

import (
	"net/http"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// response is the writer of a request whose caller is known. It counts what is
// kept in memory for the request and its answer against the caller's share, and it
// remembers what the log of refusals and changes says.
type response struct {
	http.ResponseWriter
	api    *API
	r      *http.Request
	client string

	// taken is what this request holds of the client's share, in bytes; covered is
	// how much of the answer its call has reserved already.
	taken, covered int

	status int
	// about names what a change is about, where the path does not.
	about string
	// unchanged says that a request to change something asked for a dry run.
	unchanged bool
	// recorded says that the corridor has recorded the failure of a call, so it is
	// not noted as a refusal.
	recorded bool
}

const (
	// smallAnswer is what is not counted: a caller that has used up its share must
	// be told so.
	smallAnswer = 4 << 10
	// writeTime is how long a caller may take to read an answer.
	writeTime = 2 * time.Minute
)

// WriteHeader remembers the status.
func (w *response) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// take counts n bytes, and reports false when the caller's share does not allow
// it.
func (w *response) take(n int) bool {
	ok := w.api.opt.Budget.Take(w.client, int64(n))
	if ok {
		w.taken += n
	}
	return ok
}

func (w *response) release() { w.api.opt.Budget.Give(w.client, int64(w.taken)) }

// metered counts n bytes for a response, if it is a caller's.
func metered(w http.ResponseWriter, n int) bool {
	m, ok := w.(*response)
	return !ok || m.take(n)
}

// recorded notes that the answer is that of a call, which the corridor has
// recorded.
func recorded(w http.ResponseWriter) {
	if one, ok := w.(*response); ok {
		one.recorded = true
	}
}

// cover notes that a call has reserved memory for its answer.
func cover(w http.ResponseWriter, call *gateway.Call) {
	if one, ok := w.(*response); ok {
		one.covered = call.Reserved()
	}
}

// fits counts an answer, or tells the caller that its share of the memory does
// not allow for it.
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

// noteRefusal notes an answer that refuses a request.
func (a *API) noteRefusal(w http.ResponseWriter, rest restError) {
	one, ok := w.(*response)
	if ok && a.opt.Refused != nil && !one.recorded && isRefusal(rest.status) {
		a.opt.Refused(one.r, rest.status, strings.ToLower(rest.code))
	}
}

// isRefusal reports whether a status refuses what was asked for. That a call took
// too long, or was given up, does not.
func isRefusal(status int) bool {
	return status >= 400 && status < 499 && status != http.StatusRequestTimeout
}

// concerns names what a change is about.
func concerns(w http.ResponseWriter, name string) {
	if one, ok := w.(*response); ok {
		one.about = name
	}
}

// changes reports whether a route changes what an administrator is responsible for.
func (r *route) changes() bool {
	return r.method != http.MethodGet && (r.who == forAdmins || r.id == "forgetLearned")
}

// logChanges logs what an administrator has changed: names, never values.
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
