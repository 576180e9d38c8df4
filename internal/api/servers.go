package api

import (
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// serverOf is a server in REST's form. Its command, environment and headers
// stay inside: they hold secrets.
func (a *API) serverOf(s *upstream.Server, withOutput bool) client.Server {
	st := s.Status()
	out := client.Server{
		Name: s.Name(), State: string(st.State), Era: st.Era.String(), ProtocolVersion: st.Version,
		Tools: st.Tools, ProcessID: st.PID, Starts: st.Starts, Since: st.Since.UTC(), Problem: a.language().Text(st.Problem),
	}
	if !st.NextTry.IsZero() {
		next := st.NextTry.UTC()
		out.NextTry = &next
	}
	out.SignIn = st.SignIn
	if !st.SignInExpires.IsZero() {
		expires := st.SignInExpires.UTC()
		out.SignInExpires = &expires
	}
	if withOutput {
		out.Output = st.Output
	}
	return out
}

func (a *API) listServers(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	list := []client.Server{}
	for _, s := range a.opt.House().Servers() {
		list = append(list, a.serverOf(s, false))
	}
	encode(w, http.StatusOK, struct {
		Servers []client.Server `json:"servers"`
	}{list})
}

// tryServer has a server that is down tried at once.
func (a *API) tryServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	if !a.isAdmin(w, id) {
		return
	}
	name := r.PathValue("name")
	for _, s := range a.opt.House().Servers() {
		if s.Name() == name {
			s.Try()
			encode(w, http.StatusAccepted, a.serverOf(s, false))
			return
		}
	}
	a.fail(w, gateway.Errorf(gateway.CodeNotFound, "there is no server %q; /v1/servers lists them", name))
}

// reload has the configuration read again.
func (a *API) reload(w http.ResponseWriter, _ *http.Request, id gateway.Identity) {
	if !a.isAdmin(w, id) {
		return
	}
	if err := a.opt.Reload(); err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, struct {
		Success bool `json:"success"`
	}{true})
}

// isAdmin answers everybody else.
func (a *API) isAdmin(w http.ResponseWriter, id gateway.Identity) bool {
	if !id.Admin {
		a.fail(w, gateway.Errorf(gateway.CodeDenied, "this needs the admin token, which is in the file admin-token of the data directory"))
	}
	return id.Admin
}

// getServer tells everything about one server. What a server writes to its
// log can hold anything, so only an admin sees it.
func (a *API) getServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	name := r.PathValue("name")
	for _, s := range a.opt.House().Servers() {
		if s.Name() == name {
			encode(w, http.StatusOK, a.serverOf(s, id.Admin))
			return
		}
	}
	a.fail(w, gateway.Errorf(gateway.CodeNotFound, "there is no server %q; /v1/servers lists them", name))
}
