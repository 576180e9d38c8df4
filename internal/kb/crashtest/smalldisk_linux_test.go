package crashtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"genkan/internal/kb"
	"genkan/internal/sqlite"
)

// cannotMount is the status of a process that was not allowed to.
const cannotMount = 77

// TestSmallDisk: a disk that is really full. It belongs to a process that has its
// own mounts, which most systems allow anybody; where not, the store's own tests
// with a bounded database stand for it.
func TestSmallDisk(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), roleVariable+"="+smallDiskRole, ordersVariable+"="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skipf("no process may have mounts of its own here: %v", err)
	}
	err = cmd.Wait()
	t.Log(out.String())
	if cmd.ProcessState.ExitCode() == cannotMount {
		t.Skip("it may not mount anything here")
	}
	if err != nil {
		t.Error(err)
	}
}

// onSmallDisk is what the process does. It says what happens, and why it fails.
func onSmallDisk() int {
	dir := os.Getenv(ordersVariable)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		fmt.Println(err)
		return cannotMount
	}
	ctx := context.Background()
	for _, try := range []func(context.Context, string) error{fillAndFree, startOnFull} {
		if err := try(ctx, dir); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return 0
}

// startOnFull opens databases when the disk is full already: one that is there,
// and one that is not. Both are refused with the reason, or can be read, and
// opened when there is space again.
func startOnFull(ctx context.Context, dir string) error {
	filler := filepath.Join(dir, "filler")
	if err := fill(filler); err != nil {
		return err
	}
	paths := []string{filepath.Join(dir, "data", "genkan.db"), filepath.Join(dir, "fresh", "genkan.db")}
	open := func(path string) error {
		store, err := sqlite.Open(ctx, path, slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		_, err = newBase(store.Knowledge()).List(ctx, kb.Filter{})
		return errors.Join(err, store.Close())
	}
	for _, path := range paths {
		err := open(path)
		fmt.Printf("%s, when the disk is full: %v\n", path, err)
		if err != nil && !strings.Contains(err.Error(), "the disk is full") {
			return errors.New("this is not the reason")
		}
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	for _, path := range paths {
		if err := open(path); err != nil {
			return fmt.Errorf("after space was made: %w", err)
		}
		if err := sound(ctx, path, true); err != nil {
			return err
		}
	}
	return nil
}

// fillAndFree fills the disk under four writers and frees it again, with one
// process all along.
func fillAndFree(ctx context.Context, dir string) (err error) {
	path := filepath.Join(dir, "data", "genkan.db")
	store, err := sqlite.Open(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	d := &disk{base: newBase(store.Knowledge()), path: path, there: map[int64]string{}}
	for n := range 3 {
		if refused, err := d.write(ctx, 5); err != nil || refused > 0 {
			return fmt.Errorf("with space, %d were refused: %w", refused, err)
		}
		filler := filepath.Join(dir, "filler")
		if err := fill(filler); err != nil {
			return err
		}
		// What the log has room for is written still.
		refused := 0
		for range 20 {
			more, err := d.write(ctx, 5)
			if err != nil {
				return err
			}
			refused += more
		}
		fmt.Printf("round %d: %d writes were refused\n", n, refused)
		if refused == 0 {
			return errors.New("the disk was never full: nothing is proved")
		}
		if err := d.check(ctx); err != nil {
			return fmt.Errorf("while the disk is full: %w", err)
		}
		// Somebody who comes now can read, or is told why not.
		other, err := sqlite.Open(ctx, path, slog.New(slog.DiscardHandler))
		if err == nil {
			mine := disk{base: newBase(other.Knowledge()), path: path, there: d.there}
			err = errors.Join(mine.check(ctx), other.Close())
		}
		if err != nil && !strings.Contains(err.Error(), "the disk is full") {
			return fmt.Errorf("who opens the database on a full disk: %w", err)
		}
		fmt.Printf("round %d: who opens it then: %v\n", n, err)
		if err := os.Remove(filler); err != nil {
			return err
		}
		if refused, err := d.write(ctx, 5); err != nil || refused > 0 {
			return fmt.Errorf("after space was made, %d were refused: %w", refused, err)
		}
		if err := d.check(ctx); err != nil {
			return fmt.Errorf("after space was made: %w", err)
		}
	}
	return sound(ctx, path, true)
}

// fill takes all the space that is left.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 64<<10); len(block) > 0; {
		n, err := f.Write(block)
		if errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2] // to the last byte
		} else if err != nil || n == 0 {
			return err
		}
	}
	return nil
}

// disk is a knowledge base on a small disk, with what was acknowledged.
type disk struct {
	base *kb.Base
	path string

	mu    sync.Mutex
	n     int
	there map[int64]string
}

// write creates items with four writers. It tells how many were refused, and
// fails when the refusal was not the right one.
func (d *disk) write(ctx context.Context, each int) (refused int, err error) {
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				d.mu.Lock()
				d.n++
				text := newText(d.n, 3000)
				d.mu.Unlock()
				made, failed := d.base.Create(ctx, "docs", kb.Patch{
					Title: new(title("x", text)), Content: new(content("x", text)), Tags: &[]string{"all"},
				})
				d.mu.Lock()
				var own *kb.Error
				switch {
				case failed == nil:
					d.there[made.ID] = text
				case errors.As(failed, &own) && own.Code == kb.CodeDatabase &&
					strings.Contains(own.Details.Hint.String(), "the disk is full") && strings.Contains(own.Details.Hint.String(), "free some space"):
					refused++
				default:
					err = errors.Join(err, failed)
				}
				d.mu.Unlock()
			}
		})
	}
	wg.Wait()
	return refused, err
}

// check reads everything: what was acknowledged is there, and what was refused is
// not.
func (d *disk) check(ctx context.Context) error {
	for id, text := range d.there {
		found, err := d.base.Get(ctx, kb.Ref{Type: "docs", ID: id})
		if err != nil {
			return err
		}
		if found.Item.Title != title("x", text) || found.Item.Content != content("x", text) {
			return fmt.Errorf("item %d is not what was acknowledged", id)
		}
	}
	page, err := d.base.List(ctx, kb.Filter{Closed: true, Limit: 1})
	if err != nil {
		return err
	}
	tags, err := d.base.Tags(ctx)
	if err != nil {
		return err
	}
	if page.Total != len(d.there) || tags[0].Count != len(d.there) {
		return fmt.Errorf("%d items, %d with the tag, but %d were acknowledged", page.Total, tags[0].Count, len(d.there))
	}
	return nil
}
