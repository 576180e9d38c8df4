package kb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"genkan/internal/filelock"
	"genkan/internal/kb"
	"genkan/internal/testkit"
)

// restore imports items in batches.
func (p *process) restore(t testing.TB, batches, each int) {
	t.Helper()
	for b := range batches {
		var r kb.Restoration
		for i := range each {
			r.Items = append(r.Items, kb.RestoredItem{Item: kb.Item{Type: "docs", Title: fmt.Sprintf("common item %d", b*each+i), Content: "gateway"}})
		}
		if _, err := p.Restore(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *process) caughtUp(t testing.TB) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		_, total := p.indexes.Building()
		return total == 0
	}, "the index has caught up")
}

// TestAnImportIsIndexedBesideIt: no question is asked before the first search, and
// that search reads no rows although it waits for nothing.
func TestAnImportIsIndexedBesideIt(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]func(*kb.Indexes){
		"in memory": func(x *kb.Indexes) { x.Impatient() },
		"in a file": func(x *kb.Indexes) { x.SmallLimits(); x.Impatient() },
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var told [][2]int
			p := openProcess(t, t.TempDir(), limits, func(x *kb.Indexes) {
				x.Tell(func(done, total int) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, [2]int{done, total})
				})
			})
			p.restore(t, 5, 20)
			p.caughtUp(t)
			mu.Lock()
			if len(told) < 2 || told[0][1] == 0 || told[len(told)-1] != [2]int{} {
				t.Errorf("the progress that was told: %v", told)
			}
			mu.Unlock()
			before := p.store.items.Load()
			if n := p.total(t, "common"); n != 100 {
				t.Errorf("%d items are found", n)
			}
			if after := p.store.items.Load(); after != before {
				t.Errorf("the search read %d pages of rows", after-before)
			}
			if path, ok := p.indexes.HeldFile(); !ok || (path != "") != (name == "in a file") {
				t.Errorf("the index is in %q", path)
			}
		})
	}
}

// TestFollowingDoesNotWaitForAnotherProcess that builds the file.
func TestFollowingDoesNotWaitForAnotherProcess(t *testing.T) {
	t.Parallel()
	p := openProcess(t, t.TempDir(), (*kb.Indexes).SmallLimits)
	lock := p.indexes.LockPath()
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := filelock.Take(lock)
	if err != nil {
		t.Fatal(err)
	}
	p.restore(t, 2, 20)
	p.caughtUp(t)
	filelock.Release(held)
	p.restore(t, 1, 1) // the next write builds it
	p.caughtUp(t)
	if path, _ := p.indexes.HeldFile(); path == "" {
		t.Error("no file was built")
	}
}
