package kb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"genkan/internal/kb/index"
)

// Glance is what can be said of a knowledge base without reading it.
type Glance struct {
	// Sequence is the number of the last write.
	Sequence int64
	Items    int
	// InMemory says that the index needs no file, as there are so few items.
	InMemory bool
	// File is the file of the index; empty if the database names none.
	File string
	// Size, Built and Covers are the file's: when it was made, and the last write
	// that is in it.
	Size   int64
	Built  time.Time
	Covers int64
	// Missing says that the file is not there, and Damage what is wrong with it.
	Missing bool
	Damage  error
}

// Glance looks at the file of the index without taking it into use. A file of up to
// this many bytes is read as a whole; of a larger one its beginning.
func (x *Indexes) Glance(ctx context.Context, whole int64) (g Glance, err error) {
	if g.Sequence, err = x.store.Sequence(ctx); err != nil {
		return g, err
	}
	all, err := x.store.List(ctx, Filter{Closed: true, Limit: 1})
	if err != nil {
		return g, err
	}
	g.Items, g.InMemory = all.Total, all.Total <= x.limits.inMemory
	named, err := x.store.IndexFile(ctx)
	if err != nil || named.Token == "" || x.text.dir == "" {
		return g, err
	}
	g.File, g.Covers = x.text.path(named), named.Seq
	info, err := os.Stat(g.File)
	if errors.Is(err, fs.ErrNotExist) {
		// Another process may have put another one in its place just now.
		if now, err := x.store.IndexFile(ctx); err == nil && now != named {
			return x.Glance(ctx, whole)
		}
		g.Missing = true
		return g, nil
	}
	if err != nil {
		g.Damage = err
		return g, nil
	}
	g.Size, g.Built = info.Size(), info.ModTime()
	g.Damage = glanceAt(g.File, named.Seq, g.Sequence, whole)
	return g, nil
}

// glanceAt is what is wrong with a file.
func glanceAt(path string, covers, last, whole int64) (err error) {
	base, err := index.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	switch {
	case base.Sequence() != covers:
		return fmt.Errorf("%w: it covers write %d and should cover %d", index.ErrDamaged, base.Sequence(), covers)
	case covers > last:
		return fmt.Errorf("it covers write %d, and the last is %d", covers, last)
	case base.Size() <= whole:
		return base.Verify()
	}
	return nil
}

// Work is what is being done with what is derived from items, and how far it is.
type Work struct {
	// What is one of the words below; empty for nothing.
	What        string
	Done, Total int
}

// The kinds of work.
const (
	WorkCheck   = "check"
	WorkRebuild = "rebuild"
)
