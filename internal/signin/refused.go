package signin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Refused reports that a server refused a request with this token. It returns nil
// if another Token is worth one more request, otherwise the error for the caller.
func (k *SignIns) Refused(ctx context.Context, s Server, token gateway.Secret, status int, header http.Header) error {
	switch {
	case status == http.StatusUnauthorized:
		k.Invalidate(s, token)
		_, err := k.Token(ctx, s)
		return err
	case status == http.StatusForbidden && ParseChallenge(header).Error == "insufficient_scope":
		return k.stepUp(ctx, s, token, ParseChallenge(header).Scopes)
	}
	return gateway.Errorf(gateway.CodeDenied, "server %s refuses this (HTTP %d), and signing in again would not help", s.Name, status)
}

// stepUp records the scopes that a call lacked. Only a person can grant them, so
// the next sign-in requests them together with the former ones.
func (k *SignIns) stepUp(ctx context.Context, s Server, token gateway.Secret, scopes []string) error {
	release, err := k.lockSignIn(ctx, s)
	if err != nil {
		return err
	}
	defer release()
	h := k.holder(s)
	g, err := k.newest(ctx, s, h)
	if err != nil {
		return err
	}
	if g == nil || !g.isFor(s) {
		return needsSignIn(s)
	}
	if g.Access != token && g.Access != "" {
		return nil // somebody has signed in or refreshed since
	}
	missing := slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool { return slices.Contains(g.Granted, scope) })
	for i := range missing {
		missing[i] = clip(missing[i])
	}
	names := strings.Join(missing, " ")
	switch {
	case len(scopes) == 0:
		return gateway.Errorf(gateway.CodeDenied, "server %s wants more permissions than its sign-in has, and does not say which; tell whoever runs it", s.Name)
	case len(missing) == 0:
		return gateway.Errorf(gateway.CodeDenied, "server %s says that its sign-in lacks permissions which it has (%s); tell whoever runs it", s.Name, clip(strings.Join(scopes, " ")))
	case !slices.ContainsFunc(missing, func(scope string) bool { return !slices.Contains(g.Requested, scope) }):
		return gateway.Errorf(gateway.CodeDenied, "server %s wants permissions (%s) that were asked for when signing in and not given; sign in as somebody who has them with `genkan login %s`", s.Name, names, s.Name)
	}
	if wider := union(g.Wanted, scopes); len(wider) != len(g.Wanted) {
		wants := *g
		wants.Wanted = wider
		if err := k.save(ctx, s, &wants); err != nil {
			return err
		}
		h.adopt(&wants, false)
	}
	return gateway.Errorf(gateway.CodeDenied, "server %s wants more permissions for this (%s); run `genkan login %s`, which asks for them", s.Name, names, s.Name)
}

// SignOut removes a sign-in and revokes its tokens.
func (k *SignIns) SignOut(ctx context.Context, s Server) error {
	release, err := k.lockSignIn(ctx, s)
	if err != nil {
		return err
	}
	defer release()
	// What cannot be read can still be forgotten.
	if g, err := k.load(ctx, s); err != nil {
		k.log.Warn("sign_in_not_read", "server", s.Name, "error", err)
	} else if g != nil {
		k.revoke(ctx, s, g)
	}
	if err := k.vault.Delete(ctx, vaultName(s)); err != nil {
		return err
	}
	k.holder(s).adopt(nil, false)
	k.log.Info("signed_out", "server", s.Name)
	return nil
}

// revoke revokes tokens (RFC 7009). Failures do not matter: the tokens are
// removed in any case.
func (k *SignIns) revoke(ctx context.Context, s Server, g *kept) {
	if g.RevocationEndpoint == "" || !g.isFor(s) {
		return
	}
	r := newReach(s, k.network)
	defer r.close()
	c := g.client(s)
	for _, t := range []struct {
		hint  string
		token gateway.Secret
	}{{"refresh_token", g.Refresh}, {"access_token", g.Access}} {
		if t.token == "" {
			continue
		}
		form := url.Values{"token": {t.token.Reveal()}, "token_type_hint": {t.hint}}
		header := c.prove(form)
		got, err := r.post(ctx, g.RevocationEndpoint, "application/x-www-form-urlencoded", gateway.Secret(form.Encode()), header)
		if err == nil && got.status != http.StatusOK {
			err = refusal(got, form, c)
		}
		if err != nil {
			k.log.Warn("not_revoked", "server", s.Name, "error", err)
			return
		}
	}
}

// Status describes a sign-in to people.
type Status struct {
	SignedIn    bool
	Refreshable bool
	Issuer      string
	Expires     time.Time // zero: unknown
	Scopes      []string
	// Wanted are scopes that calls lacked; the next sign-in requests them.
	Wanted []string
}

// Status returns the saved state of a sign-in, without network access.
func (k *SignIns) Status(ctx context.Context, s Server) (Status, error) {
	g, err := k.load(ctx, s)
	if err != nil || g == nil || !g.isFor(s) {
		return Status{}, err
	}
	return Status{
		SignedIn: g.Refresh != "" || g.isAlive(k.now()), Refreshable: g.Refresh != "",
		Issuer: g.Client.Issuer, Expires: g.Expires, Scopes: g.Granted, Wanted: g.Wanted,
	}, nil
}
