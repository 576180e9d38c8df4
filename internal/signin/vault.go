package signin

import (
	"context"

	"genkan/internal/gateway"
)

// Vault keeps secrets by name, beyond the end of the process. Whoever calls
// Save may forget the value that was there before: it must be as good as
// written when Save returns.
type Vault interface {
	Load(ctx context.Context, name string) (value gateway.Secret, found bool, err error)
	Save(ctx context.Context, name string, value gateway.Secret) error
	// Delete is content when there is nothing.
	Delete(ctx context.Context, name string) error
}

// Locker is a Vault that several processes share. A refresh token may be used
// once only, so who refreshes holds the lock from Load to Save.
type Locker interface {
	Lock(ctx context.Context, name string) (unlock func(), err error)
}
