//go:build unix

package bridge

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The log is neither written nor emptied through a link.
func TestTheLogFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir, precious := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	content := strings.Repeat("x", maxLog+1)
	if err := errors.Join(os.WriteFile(precious, []byte(content), 0o600), os.Symlink(precious, LogFile(dir))); err != nil {
		t.Fatal(err)
	}
	if f, err := OpenLog(dir); err == nil {
		_ = f.Close()
		t.Error("the log was opened through a link")
	}
	owner, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Release()
	_ = owner.TrimLog()
	if info, err := os.Stat(precious); err != nil || info.Size() != int64(len(content)) {
		t.Errorf("the link's target was changed: %v", err)
	}
}

// An owner whose data directory was replaced leaves the next owner's socket alone.
func TestAnOwnerLeavesAReplacedPlaceAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	listen := func() *Owner {
		t.Helper()
		o, err := Claim(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Listen(t.Context()); err != nil {
			t.Fatal(err)
		}
		return o
	}
	old := listen()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	next := listen()
	defer next.Release()
	old.Release()
	for _, file := range []string{next.runDir.addressFile(), next.listener.Addr().String()} {
		if _, err := os.Lstat(file); err != nil {
			t.Errorf("the old owner removed it: %v", err)
		}
	}
}
