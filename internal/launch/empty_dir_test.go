package launch

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func emptyLauncher(t *testing.T, dataDir string) *Launcher {
	t.Helper()
	l := New(Options{DataDir: dataDir, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(l.Close)
	return l
}

// Every start gets an empty folder of its own, which nobody else may enter, in the
// data directory. It goes with the server.
func TestAnEmptyFolderForEachStart(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("data", 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Abs("data")
	if err != nil {
		t.Fatal(err)
	}
	l := emptyLauncher(t, "data") // as `genkan serve --data data` names it
	seen := map[string]bool{}
	for range 2 {
		dir, remove, err := l.EmptyDir("files")
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(dir)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 || !strings.HasPrefix(dir, data) || seen[dir] {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
		if inside, err := os.ReadDir(dir); err != nil || len(inside) > 0 {
			t.Errorf("%s has %v: %v", dir, inside, err)
		}
		if info, err := os.Stat(filepath.Join(dir, "..", "node_modules")); err != nil || !info.IsDir() {
			t.Errorf("npm looks for a project above %s: %v", dir, err)
		}
		seen[dir] = true
		if err := os.MkdirAll(filepath.Join(dir, "node_modules"), 0o700); err != nil {
			t.Fatal(err)
		}
		remove()
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
	}
}

// What another user could have put there is not used: a link, or a folder that is
// open to others is closed.
func TestAPlantedFolderIsNotUsed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there the profile folder protects what is in it")
	}
	data, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(data, "empty")); err != nil {
		t.Fatal(err)
	}
	if dir, _, err := emptyLauncher(t, data).EmptyDir("files"); err == nil {
		t.Errorf("got %s through a link", dir)
	}
	data = t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(data, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, _, err := emptyLauncher(t, data).EmptyDir("files"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(data, "empty")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder stays open: %v, %v", info.Mode(), err)
	}
}

// The folders of a process that was killed are removed by the next one; those of
// one that lives are not.
func TestFoldersThatAreLeftOver(t *testing.T) {
	data := t.TempDir()
	lives, _, err := emptyLauncher(t, data).EmptyDir("a")
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(data, "empty", "LEFTOVER", "a-1")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := emptyLauncher(t, data).EmptyDir("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("a folder of a process that is gone stays")
	}
	if _, err := os.Lstat(lives); err != nil {
		t.Error("a folder that is in use was removed")
	}
}
