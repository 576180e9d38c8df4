package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"genkan/internal/kb"
)

// wantRefusal checks that somebody who writes hears DATABASE_ERROR and what to do.
func wantRefusal(err error, says string) error {
	var own *kb.Error
	if !errors.As(err, &own) || own.Code != kb.CodeDatabase || !strings.HasPrefix(own.Details.Hint.String(), says) {
		return fmt.Errorf("the refusal is %w, want %q", err, says)
	}
	return nil
}

// TestKnowledgeOnAFullDisk: every kind of write is refused with the reason and
// leaves nothing behind, reads go on, and so does everything when there is space.
// The database is bounded, which SQLite reports as it does a full disk; crashtest
// has a disk that is full.
func TestKnowledgeOnAFullDisk(t *testing.T) {
	const full = "the disk is full, and nothing was saved: free some space"
	s := newStore(t)
	base := kb.New(s.Knowledge(), kb.Options{})
	ctx := t.Context()
	first, err := base.Create(ctx, "docs", kb.Patch{Title: new("first"), Tags: &[]string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := base.Create(ctx, "docs", kb.Patch{Title: new("second"), Tags: &[]string{"all"}, Related: &[]kb.Ref{first.Ref()}})
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", kb.MaxContent)
	writes := map[string]func() error{
		"create": func() error {
			_, err := base.Create(ctx, "docs", kb.Patch{Title: new("big"), Content: &big, Tags: &[]string{"all", "new"}, Related: &[]kb.Ref{first.Ref()}})
			return err
		},
		"update": func() error {
			_, err := base.Update(ctx, first.Ref(), kb.Patch{Content: &big, Tags: &[]string{"new"}, Related: &[]kb.Ref{}})
			return err
		},
		"bulk update": func() error {
			_, err := base.BulkUpdate(ctx, []kb.Edit{
				{Ref: second.Ref(), Patch: kb.Patch{Title: new("changed")}},
				{Ref: first.Ref(), Patch: kb.Patch{Content: &big}},
			})
			return err
		},
		"state": func() error {
			_, _, err := base.SetState(ctx, kb.StatePatch{Content: big})
			return err
		},
	}
	seq, err := s.Knowledge().Sequence(ctx)
	if err != nil {
		t.Fatal(err)
	}
	run(t, s.writer, "PRAGMA max_page_count = 1") // SQLite makes it what there is
	var wg sync.WaitGroup
	for name, write := range writes { // all at once: they share commits
		for range 4 {
			wg.Go(func() {
				if err := wantRefusal(write(), full); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	wg.Wait()
	for want, read := range map[string]func() (any, error){
		"first docs-2": func() (any, error) {
			f, err := base.Get(ctx, first.Ref())
			return fmt.Sprint(f.Item.Title, " ", f.Item.Related[0], f.Item.Content), err
		},
		"second docs-1": func() (any, error) {
			f, err := base.Get(ctx, second.Ref())
			return fmt.Sprint(f.Item.Title, " ", f.Item.Related[0]), err
		},
		"[{all 2}]":     func() (any, error) { return base.Tags(ctx) },
		"2 items":       func() (any, error) { return fmt.Sprint(itemCount(t, s), " items"), nil },
		fmt.Sprint(seq): func() (any, error) { return s.Knowledge().Sequence(ctx) },
		"no state":      func() (any, error) { state, err := base.State(ctx); return "no state" + state.Content, err },
	} {
		if got, err := read(); err != nil || fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s: %v", got, want, err)
		}
	}
	run(t, s.writer, "PRAGMA max_page_count = 100000")
	for name, write := range writes {
		if err := write(); err != nil {
			t.Errorf("%s, when there is space again: %v", name, err)
		}
	}
}

// sealAndUnseal is what the other process does: it takes itself the right to
// write, and gives it back.
func sealAndUnseal(ctx context.Context, path string) error {
	s, err := Open(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	// As after a minute without work: open files would go on working.
	s.writer.SetMaxIdleConns(0)
	s.reader.SetMaxIdleConns(0)
	base := kb.New(s.Knowledge(), kb.Options{})
	create := func(title string) error {
		_, err := base.Create(ctx, "docs", kb.Patch{Title: &title, Tags: &[]string{"all"}})
		return err
	}
	if err := create("before"); err != nil {
		return err
	}
	for range 2 {
		if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
			return err
		}
		if err := wantRefusal(create("refused"), "the data directory cannot be written"); err != nil {
			return err
		}
		if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := create("after"); err != nil {
			return fmt.Errorf("when it can be written again: %w", err)
		}
	}
	page, err := base.ByTag(ctx, "all", nil, 10, 0)
	if err != nil || page.Total != 3 {
		return fmt.Errorf("%d items, want 3: %w", page.Total, err)
	}
	return nil
}
