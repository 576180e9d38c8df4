package signin

import (
	"context"
	"net/http"

	"genkan/internal/gateway"
)

// Bearer is the Keeper for one server, in the shape that whoever sends its
// requests needs: a token before, and a word afterwards if it was refused.
//
//	token, err := b.Token(ctx)          // unauthenticated: send without
//	…                                   // 401 or 403:
//	err = b.Refused(ctx, token, status, header)
//	…                                   // nil: once more, with another Token
type Bearer struct {
	keeper *Keeper
	server Server
}

// Bearer is the Keeper for the server as the configuration has it now.
func (k *Keeper) Bearer(s Server) *Bearer { return &Bearer{k, s} }

// Token is Keeper.Token.
func (b *Bearer) Token(ctx context.Context) (gateway.Secret, error) {
	return b.keeper.Token(ctx, b.server)
}

// Refused is Keeper.Refused. After a request without a token, token is empty.
func (b *Bearer) Refused(ctx context.Context, token gateway.Secret, status int, header http.Header) error {
	return b.keeper.Refused(ctx, b.server, token, status, header)
}
