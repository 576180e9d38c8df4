//go:build unix

package privatedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// Make closes a folder of this user's to others, and takes no link for a folder.
func TestMake(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "folder")
	for _, mode := range []os.FileMode{0o700, 0o750, 0o777} {
		if err := Make(dir); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(dir); err != nil || info.Mode() != 0o700|os.ModeDir {
			t.Errorf("the folder is %v, %v", info, err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := Check(dir); errors.Is(err, ErrOpen) != (mode != 0o700) {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := Make(link); err == nil {
		t.Error("a link was taken for a folder")
	}
}

// Files that other users can write, or that belong to another user, are refused
// with the command that mends that. Others may read them.
func TestFilesThatOthersCanChange(t *testing.T) {
	t.Parallel()
	file := func(mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "file")
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	isDenied := func(err error, command string) bool {
		return err != nil && gateway.AsError(err).Code == gateway.CodeDenied && strings.Contains(gateway.AsError(err).Text(), command)
	}
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o620: true, 0o602: true} {
		path := file(mode)
		if err := CheckWriters(path); isDenied(err, "chmod go-w") != refused || err != nil != refused {
			t.Errorf("mode %v: %v", mode, err)
		}
		if err := CheckOwner(path); err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if err := errors.Join(CheckWriters(missing), CheckOwner(missing)); err != nil {
		t.Errorf("a missing file: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := file(0o600)
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for name, check := range map[string]func(string) error{"CheckWriters": CheckWriters, "CheckOwner": CheckOwner} {
		if err := check(path); !isDenied(err, "chown") {
			t.Errorf("%s of another user's file: %v", name, err)
		}
	}
}
