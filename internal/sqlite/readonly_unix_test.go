//go:build unix

package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadOnlyDirectory opens databases where nothing can be written. The
// other process does it, because permissions do not bind root: then it runs
// as a user that they do bind.
func TestReadOnlyDirectory(t *testing.T) {
	const nobody = 65534
	const says = "unavailable the data directory cannot be written"

	// The directories that t.TempDir makes are closed to other users.
	top, err := os.MkdirTemp("", "readonly")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	if err := os.Chmod(top, 0o755); err != nil { // another user looks in
		t.Fatal(err)
	}
	binary := self(t)
	root := os.Geteuid() == 0
	if root {
		binary = copySelf(t, top)
	}
	sealed := filepath.Join(top, "sealed")
	database := filepath.Join(sealed, "genkan.db")
	if err := openAndClose(t, database); err != nil {
		t.Fatal(err)
	}
	give := func(path string, mode os.FileMode) {
		t.Helper()
		if root {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	give(database, 0o600)
	give(sealed, 0o500)
	t.Cleanup(func() { give(sealed, 0o700) }) // so that it can be removed

	for name, path := range map[string]string{
		"existing database": database,
		"no database":       filepath.Join(sealed, "other.db"),
		"no directory":      filepath.Join(sealed, "deeper", "genkan.db"),
		"file in the way":   filepath.Join(database, "genkan.db"),
	} {
		t.Run(name, func(t *testing.T) {
			other := otherProcess(t, binary, "refused", path)
			if root {
				other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			out, err := other.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if !strings.HasPrefix(string(out), says) {
				t.Errorf("got %q, want %q", out, says)
			}
		})
	}
}

func openAndClose(t *testing.T, path string) error {
	t.Helper()
	s, err := Open(t.Context(), path, testLogger(t))
	if err != nil {
		return err
	}
	return s.Close()
}
