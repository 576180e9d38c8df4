//go:build unix

package filelock

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Release does not wait for a process that is being started and shares the file.
func TestRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := syscall.Dup(int(first.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(shared) }()
	Release(first)
	second, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	Release(second)
}
