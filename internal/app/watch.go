package app

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a file must be left alone before it is read: editors
// write it in several steps.
const settle = 300 * time.Millisecond

// watch reloads when the configuration file changes. The directory is watched,
// because editors replace the file.
func (p *Process) watch(ctx context.Context) {
	path, _ := p.configFile()
	path, err := filepath.Abs(path)
	if err != nil {
		p.log.Warn("the configuration is not watched for changes; use SIGHUP", "error", err)
		return
	}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer func() { _ = watcher.Close() }()
		err = watcher.Add(filepath.Dir(path))
	}
	// If the path is a symbolic link, its target changes.
	target, linkErr := filepath.EvalSymlinks(path)
	if linkErr != nil {
		target = path
	}
	if err == nil && filepath.Dir(target) != filepath.Dir(path) {
		err = watcher.Add(filepath.Dir(target))
	}
	if err != nil {
		p.log.Warn("the configuration is not watched for changes; use SIGHUP", "error", err)
		return
	}
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case e, ok := <-watcher.Events:
			if !ok {
				return
			}
			// Kubernetes swaps a link beside the file and never touches the file
			// itself.
			name := filepath.Clean(e.Name)
			ours := name == path || name == target || filepath.Base(name) == "..data"
			if ours && !e.Has(fsnotify.Chmod) {
				quiet.Reset(settle)
			}
		case err, ok := <-watcher.Errors:
			if !ok {
				return
			}
			p.log.Warn("watching the configuration failed", "error", err)
		case <-quiet.C:
			if err := p.Reload(); err != nil {
				p.log.Error("the changed configuration is not used; the former one stays in force", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
