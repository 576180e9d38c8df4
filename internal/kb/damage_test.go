package kb_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"genkan/internal/kb"
	"genkan/internal/testkit"
)

// smallFile gives an index a file from the eleventh item on, and long waits.
func smallFile(k *kb.Indexes) {
	k.Patient()
	k.InMemory(10)
}

// filledDirectory returns a data directory of 60 items that no process has open, and the
// name of its index file.
func filledDirectory(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	p := openProcess(t, dir, smallFile)
	p.fill(t, 60)
	file = filepath.Base(p.built(t, ""))
	p.close()
	return dir, file
}

// TestIndexesDamage: after any damage of the file, answers are right at once, and a good
// file is built.
func TestIndexesDamage(t *testing.T) {
	t.Parallel()
	good, file := filledDirectory(t)
	rewrite := func(change func(content []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			// Replace the file, so that a process that has the old one open can still read it.
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, damage := range map[string]func(t *testing.T, path string){
		"removed":   func(_ *testing.T, path string) { _ = os.Remove(path) },
		"empty":     rewrite(func([]byte) []byte { return nil }),
		"truncated": rewrite(func(b []byte) []byte { return b[:len(b)*2/3] }),
		"longer":    rewrite(func(b []byte) []byte { return append(b, 0) }),
		"foreign":   rewrite(func([]byte) []byte { return bytes.Repeat([]byte("not an index\n"), 500) }),
		"header":    rewrite(func(b []byte) []byte { b[20] ^= 1; return b }),
		"lists":     rewrite(func(b []byte) []byte { b[len(b)-9] ^= 0x40; return b }),
		"columns":   rewrite(func(b []byte) []byte { b[600] ^= 2; return b }),
		"folder": func(t *testing.T, path string) {
			_ = os.Remove(path)
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for when, more := range map[string][]func(*kb.Indexes){
			"": nil, "/verified later": {(*kb.Indexes).VerifyLater},
		} {
			// All others are found when the file is opened.
			if when != "" && name != "lists" && name != "columns" && !testkit.Full() {
				continue
			}
			t.Run(name+when, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, "kb-index", file)
				damage(t, path)
				p := openProcess(t, dir, append(more, smallFile)...)
				if when == "" { // or the damage is found out while it is used
					sameAsRows(t, p, kb.Query{Text: "common", Limit: 100})
				}
				p.built(t, path)
				wantHealthy(t, p, 60)
			})
		}
	}
}

// TestIndexesDamageInUse: the file of an index in use loses its pages (it is truncated, or
// the disk fails), or other bytes are written into it. Lost pages do not end the process:
// the rows answer, and a good file is built. A check detects other bytes and takes the
// file out of use.
func TestIndexesDamageInUse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the file is read into memory there")
	}
	cut := func(t *testing.T, path string) {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	flip := func(t *testing.T, path string) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)-9] ^= 0x40
		if err := os.WriteFile(path, content, 0o600); err != nil { // into the same file
			t.Fatal(err)
		}
	}
	t.Parallel()
	good, _ := filledDirectory(t)
	title := "Gateway of a later day"
	for name, test := range map[string]struct {
		damage func(*testing.T, string)
		ask    func(*testing.T, *process)
	}{
		"cut, search": {cut, func(t *testing.T, p *process) {
			sameAsRows(t, p, kb.Query{Text: "common", Limit: 100})
		}},
		"cut, suggestion": {cut, func(t *testing.T, p *process) {
			if titles, err := p.indexes.Suggest(t.Context(), kb.Query{Text: "item", Limit: 5}); err != nil || len(titles) != 5 {
				t.Errorf("%q, %v", titles, err)
			}
		}},
		"cut, write": {cut, func(t *testing.T, p *process) {
			if _, err := p.Update(t.Context(), kb.Ref{Type: "type0", ID: 1}, kb.Patch{Title: &title}); err != nil {
				t.Fatal(err)
			}
			sameAsRows(t, p, kb.Query{Text: "later", Limit: 100})
		}},
		"cut, check": {cut, func(t *testing.T, p *process) {
			if _, err := p.indexes.Check(t.Context()); err != nil {
				t.Error(err)
			}
		}},
		"flipped, check": {flip, func(t *testing.T, p *process) {
			if h, err := p.indexes.Check(t.Context()); err != nil || h.Good() {
				t.Errorf("%+v, %v", h, err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
				t.Fatal(err)
			}
			p := openProcess(t, dir, smallFile)
			path := p.built(t, "")
			test.damage(t, path)
			test.ask(t, p)
			p.built(t, path)
			wantHealthy(t, p, 60)
		})
	}
}

func wantHealthy(t *testing.T, p *process, items int) {
	t.Helper()
	for _, query := range []string{"common", "gateway", "設計", "number7"} {
		sameAsRows(t, p, kb.Query{Text: query, Limit: 100})
	}
	h, err := p.indexes.Check(t.Context())
	if err != nil || !h.Good() || !h.Indexed || h.Items != items {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestIndexesLeftovers: a build removes the leftovers of a killed build, and files that the
// database does not name.
func TestIndexesLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openProcess(t, dir, (*kb.Indexes).Patient, func(k *kb.Indexes) { k.InMemory(10) })
	p.fill(t, 60)
	folder := filepath.Join(dir, "kb-index")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"000000000001-abc.index.new-123", "000000000001-abc.index.run-9", "000000000009-old.index"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := p.built(t, "")
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if want := []string{path, filepath.Join(folder, "lock")}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%v, %v", left, err)
	}
	wantHealthy(t, p, 60)
}

// TestIndexesRestored: a database that was restored from a backup does not use a file that
// was built after the backup, even when it has more writes than the file by now.
func TestIndexesRestored(t *testing.T) {
	t.Parallel()
	dir, backup := t.TempDir(), t.TempDir()
	add := func(p *process, title string) {
		t.Helper()
		if _, err := p.Create(t.Context(), "docs", kb.Patch{Title: &title}); err != nil {
			t.Fatal(err)
		}
	}
	p := openProcess(t, dir, smallFile)
	p.fill(t, 60)
	p.close()
	copyDatabase(t, dir, backup)

	p = openProcess(t, dir, smallFile)
	for range 20 {
		add(p, "lost common")
	}
	path := p.built(t, "")
	p.close()

	for _, writes := range []int{0, 5, 30} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			restored := t.TempDir()
			copyDatabase(t, backup, restored)
			if err := os.CopyFS(filepath.Join(restored, "kb-index"), os.DirFS(filepath.Dir(path))); err != nil {
				t.Fatal(err)
			}
			p := openProcess(t, restored, smallFile)
			for range writes {
				add(p, "new common")
			}
			sameAsRows(t, p, kb.Query{Text: "lost", Limit: 100})
			sameAsRows(t, p, kb.Query{Text: "common", Limit: 100})
			p.built(t, path)
			wantHealthy(t, p, 60+writes)
		})
	}

	// With the file that belongs to it, a copy needs no other.
	t.Run("whole", func(t *testing.T) {
		whole := t.TempDir()
		if err := os.CopyFS(whole, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		p := openProcess(t, whole, smallFile)
		if n := p.total(t, "lost"); n != 20 || p.store.items.Load() != 0 {
			t.Errorf("%d found, and %d pages of items were read", n, p.store.items.Load())
		}
	})
}

// copyDatabase copies a database that no process has open.
func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(from, "genkan.db"))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "genkan.db"), content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// behind changes the database without the knowledge of the store.
func behind(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "genkan.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIndexesCheck finds differences of index and graph from the rows.
func TestIndexesCheck(t *testing.T) {
	t.Parallel()
	for name, items := range map[string]int{"memory": 9, "file": 60} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := openProcess(t, dir, (*kb.Indexes).Patient, func(k *kb.Indexes) { k.InMemory(10) })
			p.fill(t, items)
			if items > 10 {
				p.built(t, "")
			}
			wantHealthy(t, p, items)
			behind(t, dir,
				`UPDATE kb_items SET title = 'other' WHERE id = 3`,
				`UPDATE kb_items SET content = content || ' and more' WHERE id = 5`,
				`DELETE FROM kb_relations WHERE src = 7 AND dst = 8`)
			h, err := p.indexes.Check(t.Context())
			if err != nil || h.Good() || !slices.Equal(h.MissingTexts, []int64{3, 5}) ||
				!slices.Equal(h.MissingLinks, []int64{7, 8}) || h.ExtraRelations != 1 || h.ExtraTexts != 0 {
				t.Errorf("%+v, %v", h, err)
			}
			if err := p.indexes.Rebuild(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			wantHealthy(t, p, items)
		})
	}
}

// TestIndexesBack: when the rows go back in time, index and graph are built again.
func TestIndexesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openProcess(t, dir, (*kb.Indexes).Patient)
	p.fill(t, 60)
	title := "lost common"
	for range 10 {
		if _, err := p.Create(t.Context(), "docs", kb.Patch{Title: &title, Related: &[]kb.Ref{{Type: "type0", ID: 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	around := func() int {
		t.Helper()
		found, err := p.indexes.Related(t.Context(), 1, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Nodes)
	}
	if n, m := p.total(t, "lost"), around(); n != 10 || m != 12 {
		t.Fatalf("%d found, %d around", n, m)
	}
	behind(t, dir, `DELETE FROM kb_relations WHERE dst > 60`, `DELETE FROM kb_items WHERE id > 60`, `UPDATE kb_sequence SET value = 1`)
	if n, m := p.total(t, "lost"), around(); n != 0 || m != 2 {
		t.Errorf("%d found, %d around", n, m)
	}
	wantHealthy(t, p, 60)
}

// TestIndexesReadOnly: where no file can be created, the rows answer.
func TestIndexesReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kb-index"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := openProcess(t, dir, (*kb.Indexes).TryAlways, func(k *kb.Indexes) { k.InMemory(10) })
	p.fill(t, 60)
	for range 5 {
		if n := p.total(t, "common"); n != 60 {
			t.Errorf("%d found", n)
		}
	}
	if err := p.indexes.Rebuild(t.Context(), nil); err == nil {
		t.Error("Rebuild has succeeded")
	}
}

// TestIndexesCrowd: many callers ask two processes while others write and files are built.
// Each answer includes what was written before the question.
func TestIndexesCrowd(t *testing.T) {
	dir := t.TempDir()
	small := func(k *kb.Indexes) { k.SmallLimits() }
	two := []*process{openProcess(t, dir, small), openProcess(t, dir, small, (*kb.Indexes).VerifyLater)}
	two[0].fill(t, 30)
	var written atomic.Int64
	written.Store(30)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var crowd sync.WaitGroup
	for i := range 6 {
		p := two[i%2]
		crowd.Go(func() {
			for ctx.Err() == nil {
				least := written.Load()
				found, err := p.indexes.Search(t.Context(), kb.Query{Text: "common", Limit: 3})
				if err != nil || int64(found.Total) < least || len(found.Each) != 3 {
					t.Errorf("%d of %d found: %v, %v", found.Total, least, found.Each, err)
					return
				}
				around, err := p.indexes.Related(t.Context(), 1, 1, 1000)
				if err != nil || int64(len(around.Nodes)) < least-30 {
					t.Errorf("%d around: %v", len(around.Nodes), err)
					return
				}
			}
		})
	}
	title, related := "common "+strings.Repeat("設計 ", 9), []kb.Ref{{Type: "type0", ID: 1}}
	writes := testkit.Count(30, 60)
	for i := range writes {
		if _, err := two[i%2].Create(t.Context(), "docs", kb.Patch{Title: &title, Related: &related}); err != nil {
			t.Error(err)
		}
		written.Add(1)
		if i%20 == 10 {
			_ = two[i%2].indexes.Rebuild(t.Context(), nil) // the other may be building
		}
	}
	cancel()
	crowd.Wait()
	for _, p := range two {
		h, err := p.indexes.Check(t.Context())
		if err != nil || !h.Good() || h.Items != 30+writes {
			t.Errorf("%+v, %v", h, err)
		}
	}
}
