package api

import (
	"context"
	"errors"
	"net/http"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/identity"
)

// Tokens makes, lists and revokes the tokens of clients.
type Tokens interface {
	List(ctx context.Context) ([]identity.Token, error)
	Add(ctx context.Context, name string, admin bool) (identity.Token, gateway.Secret, error)
	Revoke(ctx context.Context, name string) error
}

func (a *API) tokenRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/tokens", who: forAdmins, id: "listTokens", summary: "List the tokens of clients, without the tokens",
			about:  "The admin token is a file of the data directory and is not among them.",
			answer: client.TokenList{}, serve: a.listTokens,
		},
		{
			method: "POST", path: "/v1/tokens", who: forAdmins, id: "addToken", summary: "Make a token for a client",
			about: "The answer has the token. It is shown once.",
			body:  client.NewToken{}, answer: client.MadeToken{}, status: http.StatusCreated,
			failures: []restError{restErrorOf(gateway.CodeConflict)}, serve: a.addToken,
		},
		{
			method: "DELETE", path: "/v1/tokens/{name}", who: forAdmins, id: "revokeToken", summary: "Take a client's token back",
			about:  "When it answers, the token is refused here. Other processes of the data directory refuse it within a second.",
			answer: client.Done{}, failures: []restError{restErrorOf(gateway.CodeNotFound)}, serve: a.revokeToken,
		},
		limitRoute(a),
	}
}

// TokenOf returns a token in REST's form.
func TokenOf(t identity.Token) client.Token {
	out := client.Token{Name: t.Name, Admin: t.Admin, CreatedAt: t.CreatedAt.UTC(), LastClient: t.LastClient}
	if !t.LastUsed.IsZero() {
		seen := t.LastUsed.UTC()
		out.LastSeen = &seen
	}
	return out
}

func (a *API) listTokens(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	list, err := a.opt.Tokens.List(r.Context())
	if err != nil {
		a.fail(w, err)
		return
	}
	out := client.TokenList{Tokens: []client.Token{}}
	for _, t := range list {
		one := TokenOf(t)
		one.Limit, one.Profile = a.limitInForce(t.Name), a.opt.Config().Client(t.Name).Profile
		out.Tokens = append(out.Tokens, one)
	}
	encode(w, http.StatusOK, out)
}

func (a *API) addToken(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	var in client.NewToken
	if status, wrong := decodeBody(w, r, &in); wrong != nil {
		a.refuseBody(w, status, wrong)
		return
	}
	if in.Name == "" {
		a.fail(w, refused(gateway.MissingField(nil, "name")))
		return
	}
	concerns(w, in.Name)
	if err := a.checkLimit(in.Limit); err != nil {
		a.fail(w, err)
		return
	}
	token, secret, err := a.opt.Tokens.Add(r.Context(), in.Name, false)
	if err == nil {
		// Nobody knows the token yet. One that cannot be limited is not handed out.
		if err = a.limit(r.Context(), in.Name, in.Limit); err != nil {
			err = errors.Join(err, a.opt.Tokens.Revoke(r.Context(), in.Name))
		}
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusCreated, client.MadeToken{Name: token.Name, Token: secret.Reveal()})
}

func (a *API) revokeToken(w http.ResponseWriter, r *http.Request, _ gateway.Identity) {
	name := r.PathValue("name")
	err := a.opt.Tokens.Revoke(r.Context(), name)
	if err == nil {
		err = a.limit(r.Context(), name, client.TokenLimit{})
	}
	if err != nil {
		a.fail(w, err)
		return
	}
	encode(w, http.StatusOK, client.Done{Success: true})
}
