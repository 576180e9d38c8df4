package api

import (
	"net/http"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// server is an upstream server in REST's form. Its command, environment and
// headers stay inside: they hold secrets.
type server struct {
	Name            string     `json:"name"`
	State           string     `json:"state"`
	Era             string     `json:"era"`
	ProtocolVersion string     `json:"protocolVersion,omitempty"`
	Tools           int        `json:"tools"`
	ProcessID       int        `json:"processId,omitempty"`
	Starts          int        `json:"starts"`
	Since           time.Time  `json:"since"`
	Problem         string     `json:"problem,omitempty"`
	NextTry         *time.Time `json:"nextTry,omitempty"`
	Output          string     `json:"output,omitempty"`
}

func serverOf(s *upstream.Server, withOutput bool) server {
	st := s.Status()
	out := server{
		Name: s.Name(), State: string(st.State), Era: st.Era.String(), ProtocolVersion: st.Version,
		Tools: st.Tools, ProcessID: st.PID, Starts: st.Starts, Since: st.Since.UTC(), Problem: st.Problem,
	}
	if !st.NextTry.IsZero() {
		next := st.NextTry.UTC()
		out.NextTry = &next
	}
	if withOutput {
		out.Output = st.Output
	}
	return out
}

func (a *API) listServers(w http.ResponseWriter, _ *http.Request, _ gateway.Identity) {
	list := []server{}
	for _, s := range a.opt.House().Servers() {
		list = append(list, serverOf(s, false))
	}
	encode(w, http.StatusOK, struct {
		Servers []server `json:"servers"`
	}{list})
}

// getServer tells everything about one server. What a server writes to its
// log can hold anything, so only an admin sees it.
func (a *API) getServer(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	name := r.PathValue("name")
	for _, s := range a.opt.House().Servers() {
		if s.Name() == name {
			encode(w, http.StatusOK, serverOf(s, id.Admin))
			return
		}
	}
	a.fail(w, gateway.Errorf(gateway.CodeNotFound, "there is no server %q; /v1/servers lists them", name))
}
