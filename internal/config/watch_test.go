package config

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// A change is seen if the file is written, made or replaced, if the target of its link is
// written, and if a link on the way is swapped, as Kubernetes does.
func TestWatch(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	replace := func(t *testing.T, old, path string) {
		t.Helper()
		if err := os.Rename(old, path); err != nil {
			t.Fatal(err)
		}
	}
	link := func(t *testing.T, to, path string) {
		t.Helper()
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(t *testing.T, dir, file string) (then func()){
		"written": func(t *testing.T, _, file string) func() {
			write(t, file, "a")
			return func() { write(t, file, "b") }
		},
		"made": func(t *testing.T, _, file string) func() { return func() { write(t, file, "a") } },
		"replaced": func(t *testing.T, dir, file string) func() {
			write(t, file, "a")
			write(t, filepath.Join(dir, "new"), "b")
			return func() { replace(t, filepath.Join(dir, "new"), file) }
		},
		"target": func(t *testing.T, _, file string) func() {
			target := filepath.Join(t.TempDir(), "target")
			write(t, target, "a")
			link(t, target, file)
			return func() { write(t, target, "b") }
		},
		"swapped": func(t *testing.T, dir, file string) func() {
			for _, version := range []string{"1", "2"} {
				if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, version, "genkan.yaml"), version)
			}
			link(t, "1", filepath.Join(dir, "..data"))
			link(t, filepath.Join("..data", "genkan.yaml"), file)
			link(t, "2", filepath.Join(dir, "..new"))
			return func() { replace(t, filepath.Join(dir, "..new"), filepath.Join(dir, "..data")) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && (name == "target" || name == "swapped") {
				t.Skip("symbolic links need a privilege there")
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "genkan.yaml")
			then := change(t, dir, file)
			w, err := newFileWatch(file)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			changed, ended := make(chan struct{}, 10), make(chan struct{})
			go func() {
				defer close(ended)
				w.run(ctx, slog.New(slog.DiscardHandler), func() { changed <- struct{}{} })
			}()
			then()
			<-changed
			cancel()
			<-ended
		})
	}
}

// A file that cannot be watched is no reason to fail.
func TestWatchWithoutADirectory(t *testing.T) {
	t.Parallel()
	log := &testkit.Buffer{}
	Watch(t.Context(), filepath.Join(t.TempDir(), "missing", "genkan.yaml"), slog.New(slog.NewTextHandler(log, nil)), func() { t.Error("it changed") })
	if !strings.Contains(log.String(), "use SIGHUP") {
		t.Errorf("logged %s", log)
	}
}
