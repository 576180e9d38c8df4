package vault

import (
	"context"
	"sync"

	"genkan/internal/gateway"
)

// Memory is a vault that is lost at the end of the process.
type Memory struct {
	mu     sync.Mutex
	values map[string]gateway.Secret
}

// NewMemory returns an empty vault.
func NewMemory() *Memory { return &Memory{values: map[string]gateway.Secret{}} }

// Load returns a secret.
func (v *Memory) Load(_ context.Context, name string) (value gateway.Secret, found bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	value, found = v.values[name]
	return value, found, nil
}

// Save stores a secret.
func (v *Memory) Save(_ context.Context, name string, value gateway.Secret) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[name] = value
	return nil
}

// Delete deletes a secret.
func (v *Memory) Delete(_ context.Context, name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.values, name)
	return nil
}
