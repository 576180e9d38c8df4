package filelock

import (
	"errors"
	"path/filepath"
	"testing"
)

// One has the lock, until it lets go.
func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take(path); !errors.Is(err, ErrTaken) {
		t.Errorf("a second one: %v", err)
	}
	Release(first)
	second, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	Release(second)
	if _, err := Take(filepath.Join(path, "below")); err == nil || errors.Is(err, ErrTaken) {
		t.Errorf("where no file can be: %v", err)
	}
}
