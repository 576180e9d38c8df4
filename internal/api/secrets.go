package api

import (
	"context"
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/registry"
)

// Secrets keeps the secrets that the configuration refers to.
type Secrets interface {
	// Names lists the secrets with the servers that refer to each.
	Names(ctx context.Context) ([]registry.SecretName, error)
	Set(ctx context.Context, name string, value gateway.Secret) error
	Remove(ctx context.Context, name string) error
	// UsersOf returns the names of the servers that refer to a secret.
	UsersOf(name string) []string
}

func (a *API) secretRoutes() []route {
	badName := restErrorOf(gateway.CodeInvalid)
	list := []route{
		{
			method: "GET", path: "/v1/secrets", id: "listSecrets", summary: "List the names of the kept secrets",
			about:  "No route shows a value.",
			answer: client.SecretList{}, serve: a.listSecrets,
		},
		{
			method: "PUT", path: "/v1/secrets/{name}", id: "setSecret", summary: "Keep a secret",
			about: "It replaces the former value, and the configuration is read again: servers that refer to it are restarted with it.",
			body:  client.NewSecret{}, answer: client.SecretChanged{}, failures: []restError{badName, restErrorOf(gateway.CodeNotFound)}, serve: a.setSecret,
		},
		{
			method: "DELETE", path: "/v1/secrets/{name}", id: "removeSecret", summary: "Forget a secret",
			about:  "Servers that refer to it do not start without it; the answer names them.",
			answer: client.SecretChanged{}, failures: []restError{badName, restErrorOf(gateway.CodeNotFound)}, serve: a.removeSecret,
		},
	}
	for i := range list {
		list[i].who = forAdmins
	}
	return list
}

func (a *API) listSecrets(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	names, err := a.opt.Secrets.Names(r.Context())
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.SecretList{Secrets: []client.Secret{}}
	for _, one := range names {
		out.Secrets = append(out.Secrets, client.Secret{Name: one.Name, Servers: append([]string{}, one.Servers...)})
	}
	encode(w, http.StatusOK, out)
}

func (a *API) setSecret(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.NewSecret
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if err := a.opt.Secrets.Set(r.Context(), r.PathValue("name"), gateway.Secret(in.Value)); err != nil {
		a.fail(w, err)
		return
	}
	a.secretChanged(w, r.PathValue("name"))
}

func (a *API) removeSecret(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	if err := a.opt.Secrets.Remove(r.Context(), r.PathValue("name")); err != nil {
		a.fail(w, err)
		return
	}
	a.secretChanged(w, r.PathValue("name"))
}

// secretChanged reloads the configuration. The secret stays changed even if that
// fails.
func (a *API) secretChanged(w http.ResponseWriter, name string) {
	out := client.SecretChanged{Secret: client.Secret{Name: name, Servers: append([]string{}, a.opt.Secrets.UsersOf(name)...)}}
	if err := a.opt.Reload(); err != nil {
		out.Problem = a.language().Error(gateway.AsError(err))
	}
	encode(w, http.StatusOK, out)
}
