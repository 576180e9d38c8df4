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
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := filelock.Take(filepath.Join(dir, pruneLock))
	if errors.Is(err, filelock.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	type file struct {
		name string
		size int64
		last time.Time
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var files []file
	var total int64
	alive := liveRuns(dir, entries)
	indexes := map[string]int64{}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue // removed meanwhile
		}
		name := entry.Name()
		if base, ok := strings.CutSuffix(name, indexSuffix); ok {
			indexes[base] = info.Size()
		}
		if strings.HasPrefix(name, ".new-") && now.Sub(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(dir, name)) // left by a crash
		}
		if _, _, ok := parseSegmentName(name); ok {
			files = append(files, file{name, info.Size(), info.ModTime()})
		}
	}
	for i := range files {
		files[i].size += indexes[strings.TrimSuffix(files[i].name, segmentSuffix)]
		total += files[i].size
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.name, b.name)) })
	for _, f := range files {
		old := keep.For > 0 && now.Sub(f.last) > keep.For
		if !old && (keep.Bytes <= 0 || total <= keep.Bytes) {
			continue
		}
		if run, number, _ := parseSegmentName(f.name); alive[run] == number {
			continue
		}
		if removed := os.Remove(filepath.Join(dir, f.name)); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
			err = removed
			continue
		}
		_ = os.Remove(indexPath(filepath.Join(dir, f.name)))
		total -= f.size
	}
	return err
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
		_ = lock.Close()
	}
	return alive
}
