package history

import (
	"context"
	"crypto/rand"
	"encoding/base64"

	"genkan/internal/gateway"
)

// Vault keeps the key of the history.
type Vault interface {
	Load(ctx context.Context, name string) (value gateway.Secret, found bool, err error)
	Save(ctx context.Context, name string, value gateway.Secret) error
	Lock(ctx context.Context, name string) (unlock func(), err error)
}

// keyName is the vault's name of the key that bodies are encrypted with.
const keyName = "history/key"

// Key returns the key that bodies are encrypted with, and makes it if there is none.
func Key(ctx context.Context, v Vault) ([]byte, error) {
	if key, err := LoadKey(ctx, v); key != nil || err != nil {
		return key, err
	}
	unlock, err := v.Lock(ctx, keyName)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if key, err := LoadKey(ctx, v); key != nil || err != nil {
		return key, err
	}
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails
	return key, v.Save(ctx, keyName, gateway.Secret(base64.StdEncoding.EncodeToString(key)))
}

// LoadKey returns the key that bodies are encrypted with; nil if there is none.
func LoadKey(ctx context.Context, v Vault) ([]byte, error) {
	text, found, err := v.Load(ctx, keyName)
	if err != nil || !found {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text.Reveal())
}
