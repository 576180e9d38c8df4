package signin

import (
	"context"
	"errors"
	"net/url"
	"time"

	"genkan/internal/gateway"
)

// failurePause is how long a failed refresh is not repeated: calls meanwhile get
// the same error.
const failurePause = 5 * time.Second

// failurePardon is after how long a token that cannot be renewed is tried again
// with a server that refused it.
const failurePardon = time.Minute

// Token returns an access token for the server that is not known to be refused.
// Concurrent callers share one refresh. The error says which command to run if a
// person is needed.
func (k *SignIns) Token(ctx context.Context, s Server) (gateway.Secret, error) {
	h := k.holder(s)
	for {
		h.mu.Lock()
		token, ok := h.usable(s, k.now())
		if ok && (!h.unsaved || k.now().Before(h.until)) {
			h.mu.Unlock()
			return token, nil
		}
		f := h.flight
		if f == nil {
			f = &flight{server: s, doubts: h.doubts, done: make(chan struct{})}
			// The refresh is shared: it must not end with the call that started
			// it, or a token that may be used once would be lost.
			if !k.start(func() { k.fly(s, h, f) }) {
				h.mu.Unlock()
				return "", gateway.Errorf(gateway.CodeUnavailable, "genkan is stopping")
			}
			h.flight = f
		}
		answers := f.answers(s, h.doubts)
		h.mu.Unlock()
		if ok { // only the keeping is late, and nobody need wait for that
			return token, nil
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if answers {
			return f.token, f.err
		}
	}
}

// Invalidate reports that the server refused the token. The next Token returns
// another. A token that is not the current one is ignored.
func (k *SignIns) Invalidate(s Server, token gateway.Secret) {
	h := k.holder(s)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept != nil && h.kept.Access == token && h.refused != token {
		h.refused, h.refusedAt = token, k.now()
	}
}

// Doubt reports that another process has signed in or out. The next Token reads
// the vault, even if the token in memory is valid.
func (k *SignIns) Doubt(s Server) {
	h := k.holder(s)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doubts++
}

func (k *SignIns) start(work func()) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	k.working.Go(work)
	return true
}

func (k *SignIns) fly(s Server, h *holder, f *flight) {
	f.token, f.err = k.renew(k.life, s, h)
	h.mu.Lock()
	h.flight = nil
	h.mu.Unlock()
	close(f.done)
}

// renew returns a valid token: from the vault, where another process may have put
// it, or by a refresh.
func (k *SignIns) renew(ctx context.Context, s Server, h *holder) (gateway.Secret, error) {
	// Most servers need no sign-in, and asking for their tokens costs no lock.
	if g, err := k.load(ctx, s); err == nil && g == nil && !h.isKept() {
		return "", needsSignIn(s)
	}
	release, err := k.lockSignIn(ctx, s)
	if err != nil {
		return "", err
	}
	defer release()
	g, err := k.newest(ctx, s, h)
	if err != nil {
		return "", err
	}
	now := k.now()
	h.mu.Lock()
	token, ok := h.usable(s, now)
	refused, refusedAt, failure, until := h.refused, h.refusedAt, h.failure, h.until
	h.mu.Unlock()
	switch {
	case ok:
		return token, nil
	case g == nil || !g.isFor(s):
		return "", needsSignIn(s)
	case g.Access != "" && g.Access == refused && g.isYoung(now):
		return "", gateway.Errorf(gateway.CodeUnauthenticated,
			"server %s does not take the token that it was just given; run `genkan login %s`, and if that does not help, tell whoever runs the server", s.Name, s.Name)
	case g.Refresh == "" && g.isAlive(now) && !now.Before(refusedAt.Add(failurePardon)):
		// There is no other, and servers have been wrong before.
		h.mu.Lock()
		h.refused = ""
		h.mu.Unlock()
		return g.Access, nil
	case g.Refresh == "":
		return "", ended(s, nil)
	case failure != nil && now.Before(until):
		return stillAlive(g, refused, now, failure)
	}
	return k.refresh(ctx, s, h, g)
}

// newest returns the later of the sign-ins in memory and in the vault.
func (k *SignIns) newest(ctx context.Context, s Server, h *holder) (*kept, error) {
	h.mu.Lock()
	own, unsaved, doubts := h.kept, h.unsaved, h.doubts
	h.mu.Unlock()
	found, err := k.load(ctx, s)
	if err == nil {
		h.mu.Lock()
		h.settled = doubts // whoever doubts from here on wants another look
		h.mu.Unlock()
	}
	if unsaved && (err != nil || found == nil || !found.Obtained.After(own.Obtained)) {
		k.keep(ctx, s, h, own)
		return own, nil
	}
	if err != nil {
		return nil, err
	}
	h.adopt(found, false)
	return found, nil
}

// keep makes a sign-in the current one and saves it. If the vault fails, it stays
// in memory, and a later call tries again.
func (k *SignIns) keep(ctx context.Context, s Server, h *holder, g *kept) {
	err := k.save(ctx, s, g)
	h.adopt(g, err != nil)
	if err != nil {
		k.log.Error("sign_in_not_kept", "server", s.Name, "error", err)
		h.mu.Lock()
		h.until = k.now().Add(failurePause)
		h.mu.Unlock()
	}
}

// refresh exchanges the refresh token for new tokens. The caller has the holder's
// turn.
func (k *SignIns) refresh(ctx context.Context, s Server, h *holder, g *kept) (gateway.Secret, error) {
	// Not even Close ends it: a refresh token that was sent may be worthless, and
	// its successor is in the answer.
	ctx = context.WithoutCancel(ctx)
	r := newReach(s, k.network)
	defer r.close()
	t, err := r.requestToken(ctx, g.TokenEndpoint, g.client(s), url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh.Reveal()}, "resource": {g.Resource},
	})
	now := k.now()
	var refused *oauthError
	switch {
	case err == nil:
		renewed := *g
		renewed.take(t, now)
		k.keep(ctx, s, h, &renewed) // before anybody uses it
		k.log.Info("token_refreshed", "server", s.Name, "expires", renewed.Expires, "rotated", t.refresh != "")
		return renewed.Access, nil
	case errors.As(err, &refused) && isFinal(refused.code):
		k.log.Warn("sign_in_ended", "server", s.Name, "reason", refused.code)
		return "", k.drop(ctx, s, h, g, refused)
	case errors.As(err, &refused):
		err = because(refused, gateway.Errorf(gateway.CodeUnavailable,
			"the sign-in to %s could not be renewed (%s); try again later, or run `genkan login %s`", s.Name, refused.reason(), s.Name))
	}
	k.log.Warn("refresh_failed", "server", s.Name, "error", err)
	h.mu.Lock()
	h.failure, h.until = err, now.Add(failurePause)
	bad := h.refused
	h.mu.Unlock()
	return stillAlive(g, bad, now, err)
}

// isFinal reports whether a refusal is permanent.
func isFinal(code string) bool {
	switch code {
	case "invalid_grant", "invalid_client", "unauthorized_client":
		return true
	default:
		return false
	}
}

// drop removes tokens that are no longer valid. The registration and the scopes
// are kept for the next sign-in, unless the client itself is unknown.
func (k *SignIns) drop(ctx context.Context, s Server, h *holder, g *kept, refused *oauthError) error {
	rest := *g
	rest.Access, rest.Refresh = "", ""
	if refused.code == "invalid_client" {
		rest.Client.RedirectURI = "" // so that genkan registers itself again
	}
	k.keep(ctx, s, h, &rest)
	return ended(s, refused)
}

// stillAlive returns a token that has not expired when no other can be had.
func stillAlive(g *kept, refused gateway.Secret, now time.Time, err error) (gateway.Secret, error) {
	if g.Access != refused && g.isAlive(now) {
		return g.Access, nil
	}
	return "", err
}

func needsSignIn(s Server) error {
	return gateway.Errorf(gateway.CodeUnauthenticated, "server %s needs sign-in; run `genkan login %s`", s.Name, s.Name)
}

func ended(s Server, cause error) error {
	return because(cause, gateway.Errorf(gateway.CodeUnauthenticated, "the sign-in to %s has ended; run `genkan login %s`", s.Name, s.Name))
}
