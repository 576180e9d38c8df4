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

// Glance describes a knowledge base without reading its items.
type Glance struct {
	// Sequence is the number of the last write.
	Sequence int64
	Items    int
	// Types are the most used types, at most GlanceTypes.
	Types []Type
	// InMemory is set if there are so few items that the index needs no file.
	InMemory bool
	// File is the index file, or empty if the database names none.
	File string
	// Size, Built and Covers are the size of the file, the time when it was built and
	// the last write that it includes.
	Size   int64
	Built  time.Time
	Covers int64
	// Missing is set if the file does not exist. Damage describes a damaged file.
	Missing bool
	Damage  error
}

// GlanceTypes is the maximum number of types that a Glance names.
const GlanceTypes = 100

// Glance examines the index file without using it. It reads a file of up to whole
// bytes completely, and only the beginning of a larger one.
func (x *Indexes) Glance(ctx context.Context, whole int64) (g Glance, err error) {
	if g.Sequence, err = x.store.Sequence(ctx); err != nil {
		return g, err
	}
	all, err := x.store.List(ctx, Filter{Closed: true, Limit: 1})
	if err != nil {
		return g, err
	}
	g.Items, g.InMemory = all.Total, all.Total <= x.limits.inMemory
	if g.Types, err = x.store.Types(ctx, GlanceTypes); err != nil {
		return g, err
	}
	named, err := x.store.IndexFile(ctx)
	if err != nil || named.Token == "" || x.text.dir == "" {
		return g, err
	}
	g.File, g.Covers = x.text.path(named), named.Seq
	info, err := os.Stat(g.File)
	if errors.Is(err, fs.ErrNotExist) {
		// Another process may have just replaced the file.
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

// glanceAt returns an error that describes the damage of a file.
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

// Work is a job that builds or checks derived data, with its progress.
type Work struct {
	// What is one of the constants below, or empty if no job runs.
	What        string
	Done, Total int
}

// These are the kinds of work.
const (
	WorkCheck   = "check"
	WorkRebuild = "rebuild"
)
