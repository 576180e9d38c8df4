package signin

import (
	"context"
	"net/http"
	"time"

	"genkan/internal/gateway"
)

// Bearer is the SignIns for one server, in the shape that whoever sends its
// requests needs: a token before, and a word afterwards if it was refused.
//
//	token, err := b.Token(ctx)          // unauthenticated: send without
//	…                                   // 401 or 403:
//	err = b.Refused(ctx, token, status, header)
//	…                                   // nil: once more, with another Token
type Bearer struct {
	signIns *SignIns
	server  Server
}

// Bearer returns the Bearer of a server with its current configuration.
func (k *SignIns) Bearer(s Server) *Bearer { return &Bearer{k, s} }

// Doubt is SignIns.Doubt.
func (b *Bearer) Doubt() { b.signIns.Doubt(b.server) }

// Known returns what this process remembers of the sign-in, without I/O: whether
// there is one, and when its token expires (zero if that is not known or the
// token is renewed).
func (b *Bearer) Known() (signedIn bool, expires time.Time) {
	h := b.signIns.holder(b.server)
	h.mu.Lock()
	defer h.mu.Unlock()
	if g := h.kept; g != nil && !h.isDoubted() && g.isFor(b.server) {
		return g.Refresh != "" || g.isAlive(b.signIns.now()), g.Expires
	}
	return false, time.Time{}
}

// SignIn identifies the sign-in of the tokens, as this process remembers it;
// empty for none. Renewed tokens belong to the same sign-in.
func (b *Bearer) SignIn() string {
	h := b.signIns.holder(b.server)
	h.mu.Lock()
	defer h.mu.Unlock()
	if g := h.kept; g != nil && g.isFor(b.server) {
		return "sign-in " + g.ID // those of before there were names have none
	}
	return ""
}

// Token is SignIns.Token.
func (b *Bearer) Token(ctx context.Context) (gateway.Secret, error) {
	return b.signIns.Token(ctx, b.server)
}

// Refused is SignIns.Refused. After a request without a token, token is empty.
func (b *Bearer) Refused(ctx context.Context, token gateway.Secret, status int, header http.Header) error {
	return b.signIns.Refused(ctx, b.server, token, status, header)
}
