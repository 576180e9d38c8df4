package history

import (
	"bytes"
	"path/filepath"
	"sync"
	"testing"

	"genkan/internal/vault"
)

// The key is made once, by whoever needs it first.
func TestKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "vault")
	if key, err := LoadKey(t.Context(), vault.NewFile(dir, nil)); key != nil || err != nil {
		t.Fatalf("there is a key already: %v", err)
	}
	keys := make([][]byte, 8)
	var made sync.WaitGroup
	for i := range keys {
		made.Go(func() {
			key, err := Key(t.Context(), vault.NewFile(dir, nil))
			if err != nil || len(key) != KeySize {
				t.Errorf("%v: %d bytes", err, len(key))
			}
			keys[i] = key
		})
	}
	made.Wait()
	last, err := LoadKey(t.Context(), vault.NewFile(dir, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if !bytes.Equal(key, last) {
			t.Error("there are several keys")
		}
	}
}
