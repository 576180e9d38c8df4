package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"genkan/internal/api"
	"genkan/internal/gateway"
	"genkan/internal/sqlite"
)

// Backup copies the database of a data directory into a file and returns the size
// of the copy. Another process may have the database open.
func Backup(ctx context.Context, dataDir, into string, replace bool, progress func(done, total int64)) (int64, error) {
	return sqlite.Backup(ctx, databaseFile(dataDir), into, replace, progress)
}

// backup copies the database into a folder of the data directory, so that the copy
// is on the same disk and has the same permissions.
func (p *Process) backup(ctx context.Context) (api.Backup, error) {
	if !p.backingUp.TryLock() {
		return nil, gateway.Errorf(gateway.CodeConflict, "a backup is being made or downloaded already; wait until that is done")
	}
	made := false
	defer func() {
		if !made {
			p.backingUp.Unlock()
		}
	}()
	dir, err := os.MkdirTemp(p.opt.DataDir, ".backup-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "genkan.db")
	w := p.works.Begin("backup", 0)
	size, err := sqlite.Backup(ctx, databaseFile(p.opt.DataDir), file, false, w.Report)
	w.Report(size, size)
	w.End(err)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	opened, err := os.Open(file)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	// Where an open file can be removed, nothing is left even by a crash.
	_ = os.RemoveAll(dir)
	made = true
	return &copied{opened, size, dir, p.backingUp.Unlock}, nil
}

// copied is a copy of the database. Closing it removes it and lets the next backup
// begin.
type copied struct {
	*os.File
	size int64
	dir  string
	done func()
}

// Size returns the size of the copy in bytes.
func (c *copied) Size() int64 { return c.size }

// Close removes the copy.
func (c *copied) Close() error {
	defer c.done()
	return errors.Join(c.File.Close(), os.RemoveAll(c.dir))
}
