package kb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"genkan/internal/filelock"
	"genkan/internal/kb/index"
)

// The index folder has one file, which the database names, and a lock for the process
// that builds the next file. The holder of the lock may remove everything else:
// leftovers of a killed build, and files that the database no longer names. A process
// that has such a file open can use it until it closes it.

const buildLock = "lock"

// fileName includes the write that the file covers, so that people can tell files apart.
func (f IndexFile) fileName() string { return fmt.Sprintf("%012d-%s.index", f.Seq, f.Token) }

func (t *textIndex) path(f IndexFile) string { return filepath.Join(t.dir, f.fileName()) }

// open opens the file that the database names, or starts an index in memory. It
// returns nil if there is no file and too many items for memory.
func (t *textIndex) open(ctx context.Context) (*heldIndex, error) {
	h, err := t.openNamed(ctx, IndexFile{})
	if h != nil || err != nil {
		return h, err
	}
	all, err := t.indexes.store.List(ctx, Filter{Closed: true, Limit: 1})
	if err != nil || all.Total > t.indexes.limits.inMemory {
		return nil, err
	}
	return &heldIndex{Index: index.New(nil)}, nil
}

// openNamed opens the file that the database names, unless it is the one in use. It
// returns nil if there is no usable file.
func (t *textIndex) openNamed(ctx context.Context, other IndexFile) (*heldIndex, error) {
	if t.dir == "" {
		return nil, nil
	}
	file, err := t.indexes.store.IndexFile(ctx)
	if err != nil || file == other || file.Token == "" || t.build.isBad(file.Token) {
		return nil, err
	}
	seq, err := t.indexes.store.Sequence(ctx)
	if err != nil {
		return nil, err
	}
	h, err := t.openFile(file)
	if err == nil && file.Seq > seq {
		_ = h.close()
		err = fmt.Errorf("it covers write %d, and the last is %d", file.Seq, seq)
	}
	if err != nil {
		t.build.setBad(file.Token, err) // if the file was just replaced, the new one has a different token
		t.indexes.log.WarnContext(ctx, "the text index cannot be used and is built anew", slog.Any("error", err))
		return nil, nil
	}
	return h, nil
}

func (t *textIndex) openFile(file IndexFile) (*heldIndex, error) {
	base, err := index.Open(t.path(file))
	if err != nil {
		return nil, err
	}
	h := &heldIndex{Index: index.New(base), file: file, size: base.Size()}
	if base.Sequence() != file.Seq {
		_ = h.close()
		return nil, fmt.Errorf("%w: it covers write %d and should cover %d", index.ErrDamaged, base.Sequence(), file.Seq)
	}
	if h.size <= t.indexes.limits.verifyFirst {
		if err := base.Verify(); err != nil {
			_ = h.close()
			return nil, err
		}
		return h, nil
	}
	h.verifying.Add(1)
	started := t.indexes.start(func() {
		err := base.Verify()
		h.verifying.Done()
		if err == nil {
			return
		}
		t.damaged(h, err)
	})
	if !started {
		h.verifying.Done()
	}
	return h, nil
}

// renew builds a new file in the background, unless a build is running or the index
// that needs one, old, has been replaced. Old is nil if there is no index.
func (t *textIndex) renew(old *heldIndex) {
	if t.dir == "" || !t.build.mayTry() {
		return
	}
	t.builder.join(t.indexes, func(ctx context.Context) error {
		if t.held() != old {
			return nil // a build that just ended has replaced it
		}
		err := t.rebuild(ctx, false, nil)
		switch {
		case err == nil || errors.Is(err, context.Canceled):
			return nil
		case errors.Is(err, filelock.ErrTaken):
			return nil // another process builds it, and the next question finds the file
		}
		t.build.failed(t.indexes.limits.again)
		t.indexes.log.WarnContext(ctx, "the text index could not be built; searches read every item where it is needed", slog.Any("error", err))
		return err
	})
}

// rebuild puts a file into use that covers the current items: its own, or one that
// another process has built since, unless anew is set. It fails with
// filelock.ErrTaken while another process builds.
func (t *textIndex) rebuild(ctx context.Context, anew bool, progress func(done, total int)) error {
	if !anew {
		if done, err := t.adopt(ctx); done || err != nil {
			return err
		}
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return err
	}
	lock, err := filelock.Take(filepath.Join(t.dir, buildLock))
	if err != nil {
		return err
	}
	defer filelock.Release(lock)
	if !anew {
		// Try again: another process may have just released the lock.
		if done, err := t.adopt(ctx); done || err != nil {
			return err
		}
	}
	named, err := t.indexes.store.IndexFile(ctx)
	if err != nil {
		return err
	}
	t.sweep(named)
	file, err := t.write(ctx, progress)
	if err != nil {
		return err
	}
	next, err := t.openFile(file)
	if err == nil {
		err = t.indexes.store.SetIndexFile(ctx, file)
		if err != nil {
			_ = next.close()
		}
	}
	if err != nil {
		_ = os.Remove(t.path(file))
		return err
	}
	t.sweep(file)
	t.build.setBad("", nil)
	// Apply the changes since, so that no search waits for them.
	if _, err := t.follow(ctx, next); err != nil {
		_ = next.close()
		return err
	}
	return t.put(next)
}

// adopt puts the file of another process into use, and reports whether no build is
// needed.
func (t *textIndex) adopt(ctx context.Context) (bool, error) {
	var own IndexFile
	if h := t.held(); h != nil {
		own = h.file
	}
	next, err := t.openNamed(ctx, own)
	if next == nil || err != nil {
		return false, err
	}
	done, err := t.follow(ctx, next)
	if err != nil {
		_ = next.close()
		return false, err
	}
	enough := done && !t.due(next)
	return enough, t.put(next)
}

// write builds a file from the rows. The file has each item as it was read. An item
// that changes during the build is also among the changes after the write that names
// the file.
func (t *textIndex) write(ctx context.Context, progress func(done, total int)) (file IndexFile, err error) {
	store := t.indexes.store
	file = IndexFile{Token: strings.ToLower(rand.Text())}
	if file.Seq, err = store.Sequence(ctx); err != nil {
		return file, err
	}
	all, err := store.List(ctx, Filter{Closed: true, Limit: 1})
	if err != nil {
		return file, err
	}
	began := time.Now()
	if progress == nil {
		progress = t.indexes.building
		progress(0, max(1, all.Total))
		defer progress(0, 0)
	}
	t.build.progress(0, max(1, all.Total))
	defer t.build.progress(0, 0)
	err = index.Build(ctx, t.path(file), file.Seq, all.Total, documents(ctx, store), func(done int) {
		t.build.progress(done, max(done, all.Total))
		progress(done, max(done, all.Total))
	})
	if err == nil {
		t.indexes.log.InfoContext(ctx, "text index built", slog.Int("items", all.Total), slog.Int64("sequence", file.Seq),
			slog.Duration("took", time.Since(began)))
	}
	return file, err
}

func documents(ctx context.Context, store Store) iter.Seq2[index.Document, error] {
	return func(yield func(index.Document, error) bool) {
		for item, err := range allItems(ctx, store, scanPage) {
			if err != nil {
				yield(index.Document{}, err)
				return
			}
			if !yield(documentOf(item), nil) {
				return
			}
		}
	}
}

// sweep removes unneeded files. The caller holds the lock. A file that cannot be
// removed, such as one that another process has open on Windows, is left to the next
// sweep.
func (t *textIndex) sweep(keep IndexFile) {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		ours := strings.Contains(name, ".index")
		if ours && name != keep.fileName() && !e.IsDir() {
			_ = os.Remove(filepath.Join(t.dir, name))
		}
	}
}

func (b *buildState) isBad(token string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bad == token
}

func (b *buildState) setBad(token string, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad, b.why = token, why
}

// reason returns why the file that the database names is not used.
func (b *buildState) reason() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why
}

func (b *buildState) mayTry() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !time.Now().Before(b.notBefore)
}

func (b *buildState) failed(again time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notBefore = time.Now().Add(again)
}

func (b *buildState) progress(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done, b.total = done, total
}
