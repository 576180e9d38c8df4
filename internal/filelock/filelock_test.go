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
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Close()
	if _, err := Take(filepath.Join(path, "below")); err == nil || errors.Is(err, ErrTaken) {
		t.Errorf("where no file can be: %v", err)
	}
}
