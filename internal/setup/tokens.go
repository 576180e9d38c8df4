package setup

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/identity"
)

// TokenPrefix begins the vault's name of a client's token, which is needed again
// when another file of the client is connected.
const TokenPrefix = "token/"

// token returns the client's own token. If there is none, it makes one, or returns
// a placeholder if it may not.
func (s *Setup) token(ctx context.Context, client string, mayMake bool) (token gateway.Secret, err error) {
	err = s.opt.Tokens(ctx, func(k *identity.Tokens) error {
		kept, found, err := s.opt.Vault.Load(ctx, TokenPrefix+client)
		if err != nil {
			return err
		}
		if found {
			if _, err := k.Verify(ctx, kept.Reveal()); err == nil {
				token = kept
				return nil
			}
		}
		if !mayMake {
			token = "gk_…"
			return nil
		}
		// A token of this name that somebody made by hand stays.
		name := client
		for n := 2; ; n++ {
			_, token, err = k.Add(ctx, name, false)
			var e *gateway.Error
			if !errors.As(err, &e) || e.Code != gateway.CodeConflict {
				break
			}
			name = client + "-" + strconv.Itoa(n)
		}
		if err != nil {
			return err
		}
		return s.opt.Vault.Save(ctx, TokenPrefix+client, token)
	})
	return token, err
}

// revokeUnused revokes the tokens of changed files' clients that no entry uses any
// more, and returns these clients.
func (s *Setup) revokeUnused(ctx context.Context, env clients.Environment, changed []ConnectedFile) (revoked []string, err error) {
	var used []gateway.Secret
	for _, f := range clients.Find(env) {
		if imported, err := clients.Read(f); err == nil {
			for _, l := range imported.Leads {
				used = append(used, l.Token)
			}
		}
	}
	for _, f := range changed {
		if len(f.tokens) == 0 {
			continue
		}
		kept, found, err := s.opt.Vault.Load(ctx, TokenPrefix+f.Client)
		if err != nil {
			return revoked, err
		}
		if !found || !slices.Contains(f.tokens, kept) || slices.Contains(used, kept) {
			continue
		}
		if err := s.revokeToken(ctx, f.Client); err != nil {
			return revoked, err
		}
		revoked = append(revoked, f.Client)
	}
	return revoked, nil
}

// revokeToken revokes and forgets the token that was made for a client, if there
// is one.
func (s *Setup) revokeToken(ctx context.Context, client string) error {
	token, found, err := s.opt.Vault.Load(ctx, TokenPrefix+client)
	if err != nil || !found {
		return err
	}
	if err := s.opt.Tokens(ctx, func(k *identity.Tokens) error {
		id, err := k.Verify(ctx, token.Reveal())
		if err != nil {
			return nil // revoked by hand
		}
		return k.Revoke(ctx, id.ClientID)
	}); err != nil {
		return err
	}
	return s.opt.Vault.Delete(ctx, TokenPrefix+client)
}
