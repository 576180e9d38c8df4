package api

import (
	"net/http"
	"strings"

	"genkan/internal/gateway"
)

// audited is the writer of a request that is known to come from a client: what is
// refused is noted, and what an administrator changes.
type audited struct {
	http.ResponseWriter
	r      *http.Request
	status int
	// about names what a change is about, where the path does not.
	about string
}

// WriteHeader remembers the status.
func (w *audited) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *audited) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// noteRefusal notes an answer that refuses a request.
func (a *API) noteRefusal(w http.ResponseWriter, rest restError) {
	refused, ok := w.(*audited)
	if !ok || a.opt.Refused == nil || !isRefusal(rest.status) {
		return
	}
	a.opt.Refused(refused.r, rest.status, strings.ToLower(rest.code))
}

// isRefusal reports whether a status refuses what was asked for. That a call took
// too long, or was given up, does not.
func isRefusal(status int) bool {
	return status >= 400 && status < 499 && status != http.StatusRequestTimeout
}

// recorded returns the writer for the answer to a call. The corridor has recorded
// the call, so its failure is not noted again.
func recorded(w http.ResponseWriter) http.ResponseWriter {
	if one, ok := w.(*audited); ok {
		return one.ResponseWriter
	}
	return w
}

// concerns names what a change is about.
func concerns(w http.ResponseWriter, name string) {
	if one, ok := w.(*audited); ok {
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
		if done, ok := w.(*audited); ok && done.status < http.StatusBadRequest {
			a.opt.Log.Info("a change was made over REST", "operation", one.id, "name", gateway.Short(done.about),
				"client", id.ClientID, "admin", id.Admin, "remote_address", r.RemoteAddr)
		}
	}
}
