package signin

import (
	"context"
	"sync"

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

// MemoryVault forgets everything at the end of the process.
type MemoryVault struct {
	mu     sync.Mutex
	values map[string]gateway.Secret
}

// NewMemoryVault makes an empty one.
func NewMemoryVault() *MemoryVault { return &MemoryVault{values: map[string]gateway.Secret{}} }

// Load finds a value.
func (v *MemoryVault) Load(_ context.Context, name string) (value gateway.Secret, found bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	value, found = v.values[name]
	return value, found, nil
}

// Save keeps a value.
func (v *MemoryVault) Save(_ context.Context, name string, value gateway.Secret) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[name] = value
	return nil
}

// Delete forgets a value.
func (v *MemoryVault) Delete(_ context.Context, name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.values, name)
	return nil
}
