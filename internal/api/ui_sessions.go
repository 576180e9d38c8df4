package api

import (
	"context"
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/identity"
)

// UISessions are the browsers that have signed in to the web UI.
type UISessions interface {
	// List returns them. secret is that of the session that asks; empty if none does.
	List(ctx context.Context, secret string) ([]identity.SignedIn, error)
	// EndID ends one, and EndOthers all but the one with a secret.
	EndID(ctx context.Context, id string) error
	EndOthers(ctx context.Context, secret string) (int, error)
}

func (a *API) uiSessionRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/ui-sessions", who: forAdmins, id: "listUISessions", summary: "List the browsers that have signed in to the web UI",
			about:  "Without what a browser signs in with.",
			answer: client.UISessionList{}, serve: a.listUISessions,
		},
		{
			method: "DELETE", path: "/v1/ui-sessions", who: forAdmins, id: "endOtherUISessions", summary: "Sign all browsers out but the one that asks",
			about:  "A program with a token signs all of them out.",
			answer: client.EndedUISessions{}, serve: a.endOtherUISessions,
		},
		{
			method: "DELETE", path: "/v1/ui-sessions/{id}", who: forAdmins, id: "endUISession", summary: "Sign a browser out",
			about:  "When it answers, the browser is refused here. Other processes of the data directory refuse it within a second.",
			answer: client.Done{}, failures: []restError{restErrorOf(gateway.CodeNotFound)}, serve: a.endUISession,
		},
	}
}

// sessionOf returns the secret of the session that a request comes with; empty if it comes
// with a token.
func (a *API) sessionOf(r *http.Request, id gateway.Identity) string {
	if !id.Page {
		return ""
	}
	secret, _ := a.opt.Session(r)
	return secret
}

func (a *API) listUISessions(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	list, err := a.opt.UISessions.List(r.Context(), a.sessionOf(r, id))
	out := client.UISessionList{Sessions: []client.UISession{}}
	for _, one := range list {
		out.Sessions = append(out.Sessions, client.UISession{
			ID: one.ID, Client: one.Client, CreatedAt: one.CreatedAt.UTC(), UsedAt: one.UsedAt.UTC(), EndsAt: one.EndsAt.UTC(), Current: one.Current,
		})
	}
	a.respond(w, out, err)
}

func (a *API) endOtherUISessions(w http.ResponseWriter, r *http.Request, id gateway.Identity) {
	n, err := a.opt.UISessions.EndOthers(r.Context(), a.sessionOf(r, id))
	a.respond(w, client.EndedUISessions{Ended: n}, err)
}

func (a *API) endUISession(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	concerns(w, r.PathValue("id"))
	a.respond(w, client.Done{Success: true}, a.opt.UISessions.EndID(r.Context(), r.PathValue("id")))
}
