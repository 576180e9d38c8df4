package signin

import (
	"context"

	"genkan/internal/gateway"
)

// Vault stores secrets by name, beyond the end of the process. When Save returns,
// the value must be on disk: the caller may forget the former one.
type Vault interface {
	Load(ctx context.Context, name string) (value gateway.Secret, found bool, err error)
	Save(ctx context.Context, name string, value gateway.Secret) error
	// Delete returns no error if there is nothing.
	Delete(ctx context.Context, name string) error
}

// Locker is a Vault that several processes share. A refresh token may be used
// only once, so the process that refreshes holds the lock from Load to Save.
type Locker interface {
	Lock(ctx context.Context, name string) (unlock func(), err error)
}
