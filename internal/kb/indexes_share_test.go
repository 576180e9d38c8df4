package kb_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"genkan/internal/kb"
	"genkan/internal/testkit"
)

// TestIndexesShareScans: callers with the same question share one reading of the rows
// while there is no index. A caller that has written meanwhile reads them again.
func TestIndexesShareScans(t *testing.T) {
	dir := t.TempDir()
	p := openProcess(t, dir)
	p.fill(t, 10)
	p.indexes.InMemory(0)
	p.indexes.Impatient()
	if err := os.WriteFile(filepath.Join(dir, "kb-index"), nil, 0o600); err != nil { // so that no file can be made
		t.Fatal(err)
	}
	p.total(t, "common")
	let := make(chan struct{})
	p.store.afterItems = func() { <-let }
	p.store.items.Store(0)
	var all sync.WaitGroup
	ask := func(want int) {
		all.Go(func() {
			if got := p.total(t, "common"); got != want {
				t.Errorf("%d found, want %d", got, want)
			}
		})
	}
	for range 5 {
		ask(10)
	}
	testkit.Eventually(t, func() bool { return p.indexes.Waiting() == 5 && p.store.items.Load() == 1 }, "five wait")
	other := openProcess(t, dir)
	if _, err := other.Create(t.Context(), "type1", kb.Patch{Title: new("another"), Description: new("common")}); err != nil {
		t.Fatal(err)
	}
	ask(11)
	// It reads when a slot is free: on a small machine after the others.
	testkit.Eventually(t, func() bool { return p.indexes.Waiting() == 6 }, "the sixth waits, too")
	close(let)
	all.Wait()
	if n := p.store.items.Load(); n != 2 {
		t.Errorf("the rows were read %d times", n)
	}
}
