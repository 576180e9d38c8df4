package config

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a file must be left alone before it is read: editors
// write it in several steps.
const settle = 300 * time.Millisecond

// Watch calls changed when a configuration file was changed. It returns when ctx ends. If
// it cannot watch, it says so in the log and returns.
func Watch(ctx context.Context, file string, log *slog.Logger, changed func()) {
	w, err := newFileWatch(file)
	if err != nil {
		log.Warn("the configuration is not watched for changes; use SIGHUP", "error", err)
		return
	}
	w.run(ctx, log, changed)
}

// fileWatch watches the directory of a file, because editors replace the file. If the
// file is a symbolic link, it watches the directory of its target, too.
type fileWatch struct {
	path, target string
	*fsnotify.Watcher
}

func newFileWatch(file string) (*fileWatch, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	err = watcher.Add(filepath.Dir(path))
	if err == nil && filepath.Dir(target) != filepath.Dir(path) {
		err = watcher.Add(filepath.Dir(target))
	}
	if err != nil {
		_ = watcher.Close()
		return nil, err
	}
	return &fileWatch{path, target, watcher}, nil
}

// run calls changed after changes until ctx ends. Then it closes the watch.
func (w *fileWatch) run(ctx context.Context, log *slog.Logger, changed func()) {
	defer func() { _ = w.Close() }()
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			// Kubernetes swaps a link beside the file and never touches the file
			// itself.
			name := filepath.Clean(e.Name)
			ours := name == w.path || name == w.target || filepath.Base(name) == "..data"
			if ours && !e.Has(fsnotify.Chmod) {
				quiet.Reset(settle)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			log.Warn("watching the configuration failed", "error", err)
		case <-quiet.C:
			changed()
		case <-ctx.Done():
			return
		}
	}
}
