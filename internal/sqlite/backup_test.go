package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/workflow"
)

// A backup that is taken while others write has all that was written before it
// began, and of each write all or nothing.
func TestBackupWhileOthersWrite(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	base := kb.New(store.Knowledge(), kb.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var written atomic.Int64
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			var last *[]kb.Ref
			for n := 0; ctx.Err() == nil; n++ {
				title := strconv.Itoa(n)
				item, err := base.Create(context.Background(), "notes", kb.Patch{Title: &title, Related: last})
				if err != nil {
					t.Error(err)
					return
				}
				last = &[]kb.Ref{item.Ref()}
				written.Add(1)
			}
		})
	}
	folder := t.TempDir()
	for n := range 3 {
		before := written.Load()
		into := filepath.Join(folder, strconv.Itoa(n)+".db")
		size, err := Backup(t.Context(), store.path, into, false, nil)
		if err != nil || size == 0 {
			t.Fatalf("%d bytes, %v", size, err)
		}
		info, err := os.Stat(into)
		if err != nil || info.Size() != size || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		restored, err := Open(t.Context(), into, store.log)
		if err != nil {
			t.Fatal(err)
		}
		page, err := restored.Knowledge().List(t.Context(), kb.Filter{Limit: 1})
		if err != nil || int64(page.Total) < before {
			t.Errorf("%d items, of %d that had been written: %v", page.Total, before, err)
		}
		counted := 0
		err = kb.New(restored.Knowledge(), kb.Options{}).Every(t.Context(), func(i kb.Item, _ []kb.Ref) error {
			counted++
			if i.Title != "0" && len(i.Related) == 0 {
				t.Errorf("%s has lost its relation", i.Ref())
			}
			return nil
		})
		if err != nil || counted != page.Total {
			t.Errorf("%d items of %d: %v", counted, page.Total, err)
		}
		if err := restored.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
	writers.Wait()
}

func TestBackupRefuses(t *testing.T) {
	store := newStore(t)
	folder := t.TempDir()
	there := filepath.Join(folder, "there.db")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(folder, "damaged.db")
	if err := os.WriteFile(damaged, []byte(strings.Repeat("no database", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link.db")
	if err := os.Symlink(store.path, link); err != nil {
		t.Skip(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx        context.Context //nolint:containedctx // a table's
		from, into string
		replace    bool
		code       gateway.Code
		says       string
	}{
		"a file that is there":   {from: store.path, into: there, code: gateway.CodeConflict, says: "is there already"},
		"the database":           {from: store.path, into: store.path, replace: true, code: gateway.CodeInvalid, says: "the database itself"},
		"its log":                {from: store.path, into: store.path + "-wal", replace: true, code: gateway.CodeInvalid, says: "the database itself"},
		"the database by a link": {from: store.path, into: link, replace: true, code: gateway.CodeInvalid, says: "the database itself"},
		"a folder":               {from: store.path, into: folder, replace: true, code: gateway.CodeConflict, says: "no regular file"},
		"a folder that is not":   {from: store.path, into: filepath.Join(folder, "no", "x.db"), code: gateway.CodeInvalid, says: "cannot be written"},
		"a database that is not": {from: filepath.Join(folder, "no.db"), into: filepath.Join(folder, "x.db"), code: gateway.CodeNotFound, says: "no database"},
		"a damaged database":     {from: damaged, into: filepath.Join(folder, "x.db"), code: gateway.CodeUnavailable, says: "damaged"},
		"one that was canceled":  {ctx: canceled, from: store.path, into: filepath.Join(folder, "x.db"), code: gateway.CodeCanceled, says: "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			_, err := Backup(ctx, c.from, c.into, c.replace, nil)
			var e *gateway.Error
			if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Text(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
	if raw, err := os.ReadFile(there); err != nil || string(raw) != "mine" {
		t.Errorf("what was there is %q, %v", raw, err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 3 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if size, err := Backup(t.Context(), store.path, there, true, nil); err != nil || size < 4096 {
		t.Errorf("replaced: %d, %v", size, err)
	}
}

func TestBackupHasWorkflows(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for version := range 3 {
		must(store.PutWorkflow(t.Context(), &workflow.Definition{ID: "w", Version: version + 1}, "", 0))
	}
	must(store.RunWorkflow(t.Context(), "w", 2, 0))
	must(store.PutTests(t.Context(), "w", []workflow.Test{{ID: "t"}}))
	must(store.PutModule(t.Context(), workflow.Module{ID: "m", Version: 1}))
	into := filepath.Join(t.TempDir(), "copy.db")
	_, err := Backup(t.Context(), store.path, into, false, nil)
	must(err)
	restored := openStore(t, into)
	w, err := restored.Workflow(t.Context(), "w", 0)
	must(err)
	versions, err := restored.Versions(t.Context(), "w")
	must(err)
	tests, err := restored.Tests(t.Context(), "w")
	must(err)
	modules, err := restored.Modules(t.Context())
	must(err)
	if w.Version != 3 || w.Running != 2 || len(versions) != 3 || len(tests) != 1 || len(modules) != 1 {
		t.Errorf("%+v, %d versions, %v, %v", w, len(versions), tests, modules)
	}
}
