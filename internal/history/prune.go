package history

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"genkan/internal/filelock"
)

// Keep says how much of the history is kept. Zero values mean no limit.
type Keep struct {
	For   time.Duration
	Bytes int64
}

// pruneLock is held while segments are removed, so that one process does it at a time.
const pruneLock = "prune" + lockSuffix

// Prune removes whole segments: those whose last entry is older than wanted, and the
// oldest until the rest is small enough. Segments that a process writes stay.
func Prune(dir string, keep Keep, now time.Time) error {
	unlock, ok := lockPruning(dir)
	if !ok {
		return nil
	}
	defer unlock()
	files, total, err := prunable(dir, now)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !f.isOld(keep, now) && (keep.Bytes <= 0 || total <= keep.Bytes) {
			continue
		}
		if removed := os.Remove(f.path); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
			err = removed
			continue
		}
		_ = os.Remove(indexPath(f.path))
		total -= f.size
	}
	return err
}

// makeRoom keeps the history within its limit when a segment is added. It returns the
// path of an old segment whose file the new one may take over, and a function that lets
// others prune again; an empty path if there is room.
func makeRoom(dir string, keep Keep, now time.Time) (old string, release func()) {
	nothing := func() {}
	if keep.Bytes <= 0 {
		return "", nothing
	}
	unlock, ok := lockPruning(dir)
	if !ok {
		return "", nothing
	}
	files, total, err := prunable(dir, now)
	if err != nil || len(files) == 0 || total+maxSegment <= keep.Bytes {
		unlock()
		return "", nothing
	}
	_ = os.Remove(indexPath(files[0].path))
	return files[0].path, unlock
}

// lockPruning lets one process prune at a time. It reports false if there is nothing to
// prune, or if another process does it.
func lockPruning(dir string) (unlock func(), ok bool) {
	if _, err := os.Stat(dir); err != nil {
		return nil, false
	}
	lock, err := filelock.Take(filepath.Join(dir, pruneLock))
	if err != nil {
		return nil, false
	}
	return func() { filelock.Release(lock) }, true
}

// finished is a segment that no process writes.
type finished struct {
	path string
	size int64 // with its index
	last time.Time
}

func (f finished) isOld(keep Keep, now time.Time) bool {
	return keep.For > 0 && now.Sub(f.last) > keep.For
}

// prunable returns the segments that no process writes, the oldest first, and how many
// bytes all segments take.
func prunable(dir string, now time.Time) (files []finished, total int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	alive := liveRuns(dir, entries)
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // removed meanwhile
		}
		name := entry.Name()
		if strings.HasPrefix(name, ".new-") && now.Sub(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(dir, name)) // left by a crash
		}
		run, number, ok := parseSegmentName(name)
		if !ok || !info.Mode().IsRegular() {
			continue
		}
		f := finished{filepath.Join(dir, name), info.Size(), info.ModTime()}
		if index, err := os.Stat(indexPath(f.path)); err == nil {
			f.size += index.Size()
		}
		if total += f.size; alive[run] != number {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b finished) int { return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.path, b.path)) })
	return files, total, nil
}

func indexPath(segment string) string {
	return strings.TrimSuffix(segment, segmentSuffix) + indexSuffix
}

// liveRuns returns the runs whose processes live, with the number of the segment that
// each of them may be writing. It removes the locks of others.
func liveRuns(dir string, entries []os.DirEntry) map[string]int {
	newest := map[string]int{}
	for _, e := range entries {
		if run, number, ok := parseSegmentName(e.Name()); ok {
			newest[run] = max(newest[run], number)
		}
	}
	alive := map[string]int{}
	for _, e := range entries {
		run, ok := strings.CutSuffix(e.Name(), lockSuffix)
		if !ok || e.Name() == pruneLock {
			continue
		}
		lock, err := filelock.Take(filepath.Join(dir, e.Name()))
		if err != nil {
			alive[run] = newest[run]
			continue
		}
		_ = os.Remove(lock.Name())
		filelock.Release(lock)
	}
	return alive
}
