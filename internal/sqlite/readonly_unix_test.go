//go:build unix

package sqlite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nobody = 65534

// boundByPermissions is a directory that every user can look into, and how to run
// the other process there as one that permissions bind.
func boundByPermissions(t *testing.T) (top string, other func(role, path string) *exec.Cmd) {
	t.Helper()
	// The directories that t.TempDir makes are closed to other users.
	top, err := os.MkdirTemp("", "readonly")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	if err := os.Chmod(top, 0o755); err != nil { // another user looks in
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return top, func(role, path string) *exec.Cmd { return otherProcess(t, self(t), role, path) }
	}
	binary := copySelf(t, top)
	return top, func(role, path string) *exec.Cmd {
		cmd := otherProcess(t, binary, role, path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return cmd
	}
}

// TestReadOnlyDirectory opens databases where nothing can be written. The
// other process does it, because permissions do not bind root: then it runs
// as a user that they do bind.
func TestReadOnlyDirectory(t *testing.T) {
	const says = "unavailable the data directory cannot be written"

	top, other := boundByPermissions(t)
	root := os.Geteuid() == 0
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
			out, err := other("refused", path).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if !strings.HasPrefix(string(out), says) {
				t.Errorf("got %q, want %q", out, says)
			}
		})
	}
}

// TestDirectoryBecomesReadOnly: the knowledge base refuses what it cannot do any
// more, and goes on by itself when it can again.
func TestDirectoryBecomesReadOnly(t *testing.T) {
	top, other := boundByPermissions(t)
	dir := filepath.Join(top, "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := other("sealed", filepath.Join(dir, "genkan.db")).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
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
