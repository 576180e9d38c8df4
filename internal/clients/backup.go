package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// Backups keeps the contents of files from before each change, so that changes can
// be undone.
type Backups struct {
	// Dir holds a record of each change. It is created when needed.
	Dir string
	// Vault keeps the contents, which may hold secrets.
	Vault Vault
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Vault stores secrets.
type Vault interface {
	Load(ctx context.Context, name string) (value gateway.Secret, found bool, err error)
	Save(ctx context.Context, name string, value gateway.Secret) error
	Delete(ctx context.Context, name string) error
}

// Change is one change of one file.
type Change struct {
	// ID is unique. Later changes sort after earlier ones.
	ID     string
	Client string
	Path   string
	Time   time.Time
	// Created says that there was no file before.
	Created bool

	before, after string // digests
	// real is Path without symbolic links at the time of the change; empty in
	// records of earlier versions.
	real string
	// file locates the entries.
	file File
	// added are the names of the entries that the change added.
	added []string
}

// record is a change as JSON.
type record struct {
	Client  string    `json:"client"`
	Path    string    `json:"path"`
	Real    string    `json:"real,omitempty"`
	Time    time.Time `json:"time"`
	Created bool      `json:"created,omitempty"`
	Before  string    `json:"before,omitempty"`
	After   string    `json:"after"`
	// Keys and Sections say where the file's servers are.
	Keys     []string `json:"keys"`
	Sections string   `json:"sections,omitempty"`
	// Added is null in records of earlier versions.
	Added []string `json:"added"`
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Connect changes a file according to a plan and keeps a backup. It reports false
// if there is nothing to change.
func (b Backups) Connect(f File, plan Plan) (Change, bool, error) {
	if err := f.staysInProject(); err != nil {
		return Change{}, false, err
	}
	src, created, err := Contents(f.Path)
	if err != nil {
		return Change{}, false, err
	}
	if plan.Token != "" && !f.Bridged() && !plan.Bridge {
		if err := f.MayHoldToken(); err != nil {
			return Change{}, false, err
		}
	}
	out, err := f.Connect(src, plan)
	if err != nil || bytes.Equal(src, out) {
		return Change{}, false, err
	}
	c, err := b.write(f, src, out, created)
	return c, err == nil, err
}

// Contents returns the contents of a file, and whether it is missing.
func Contents(path string) (src []byte, missing bool, err error) {
	src, err = load(path)
	var e *gateway.Error
	if errors.As(err, &e) && e.Code == gateway.CodeNotFound {
		return nil, true, nil
	}
	return src, false, err
}

func (b Backups) write(f File, src, out []byte, created bool) (Change, error) {
	now := time.Now
	if b.Now != nil {
		now = b.Now
	}
	c := Change{Client: f.Client, Path: f.Path, Time: now().UTC(), Created: created, after: digest(out), real: resolved(f.Path, maxLinks), file: f, added: f.addedNames(src, out)}
	if !created {
		c.before = digest(src)
	}
	if err := b.keep(&c, src); err != nil {
		e := gateway.Errorf(gateway.CodeUnavailable, "no backup can be kept in %s, so %s was not changed", b.Dir, f.Path)
		e.Err = err
		return Change{}, e
	}
	if err := replace(f.Path, src, created, out); err != nil {
		b.forget(c)
		return Change{}, err
	}
	return c, nil
}

// keep stores the contents and then the record. The record is written to a
// temporary file first, so that a crash leaves no incomplete record; that file also
// reserves the id.
func (b Backups) keep(c *Change, src []byte) error {
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return err
	}
	id := c.Time.Format("20060102T150405.000000000Z") + "-" + c.Client
	data, err := json.Marshal(record{c.Client, c.Path, c.real, c.Time, c.Created, c.before, c.after, c.file.keys, c.file.sections, c.added})
	if err != nil {
		return err
	}
	for c.ID == "" {
		unfinished := b.record(id) + ".new"
		file, err := os.OpenFile(unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			id += "+"
			continue
		}
		if err != nil {
			return err
		}
		if _, err := os.Lstat(b.record(id)); err == nil {
			_ = errors.Join(file.Close(), os.Remove(unfinished)) // it is empty
			id += "+"
			continue
		}
		c.ID = id
		if err = b.Vault.Save(context.Background(), backupName(id), gateway.Secret(src)); err == nil {
			_, err = file.Write(data)
		}
		if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
			err = os.Rename(unfinished, b.record(id))
		}
		if err != nil {
			_ = os.Remove(unfinished)
			b.forget(*c)
			return err
		}
	}
	return nil
}

// BackupPrefix begins the vault's name of a backup.
const BackupPrefix = "backup/"

func backupName(id string) string { return BackupPrefix + id }

// ErrLost is the cause of an error about a backup that is missing or damaged.
var ErrLost = errors.New("the backup cannot be read")

// Before returns the contents of a file before a change.
func (b Backups) Before(c Change) ([]byte, error) {
	kept, found, err := b.Vault.Load(context.Background(), backupName(c.ID))
	before := []byte(kept.Reveal())
	if err != nil || !found || !c.Created && digest(before) != c.before {
		e := gateway.Errorf(gateway.CodeUnavailable,
			"the backup %s is gone or damaged, so %s was left alone; change it by hand, and move %s away to have that change forgotten", c.ID, c.Path, b.record(c.ID))
		e.Err = errors.Join(ErrLost, err)
		return nil, e
	}
	return before, nil
}

// Forget deletes the record of a change and its backup.
func (b Backups) Forget(c Change) { b.forget(c) }

func (b Backups) forget(c Change) {
	_ = os.Remove(b.record(c.ID))
	_ = b.Vault.Delete(context.Background(), backupName(c.ID))
}

func (b Backups) record(id string) string { return filepath.Join(b.Dir, id+".json") }

// List returns the changes that can be undone, the newest first, and the paths of
// unreadable records.
func (b Backups) List() (all []Change, unreadable []string, err error) {
	files, err := os.ReadDir(b.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e := gateway.Errorf(gateway.CodeUnavailable, "%s, where changes of files are remembered, cannot be read", b.Dir)
		e.Err = err
		return nil, nil, e
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		data, err := os.ReadFile(b.record(id))
		var r record
		if err != nil || json.Unmarshal(data, &r) != nil {
			unreadable = append(unreadable, b.record(id))
			continue
		}
		file := File{Client: r.Client, Path: r.Path, Format: formatOf(r.Path), keys: r.Keys, sections: r.Sections}
		if r.Added == nil {
			r.Added = []string{aggregateName, addedPrefix + knowledgeServer}
		}
		all = append(all, Change{id, r.Client, r.Path, r.Time, r.Created, r.Before, r.After, r.Real, file, r.Added})
	}
	slices.SortFunc(all, func(x, y Change) int { return strings.Compare(y.ID, x.ID) })
	return all, unreadable, nil
}

// Restorable reports whether the backup of a file's first change can be read. known
// is false if there is no record of a change.
func (b Backups) Restorable(path string) (known, restorable bool) {
	all, _, err := b.List()
	if err != nil {
		return false, false
	}
	for _, c := range all { // the last is the oldest
		if c.Path == path {
			_, err := b.Before(c)
			known, restorable = true, err == nil
		}
	}
	return known, restorable
}

// Undo restores the contents from before a change and reports true. If the file has
// been changed since, Undo restores only the entries that still lead to genkan, removes
// those that the change added, and reports false, or fails if it cannot. With force, it overwrites the file. It never
// follows a symbolic link that was not there at the time of the change.
func (b Backups) Undo(c Change, force bool) (exact bool, err error) {
	now, missing, err := Contents(c.Path)
	if err != nil {
		return false, err
	}
	byHand := c.Created && missing || !c.Created && !missing && digest(now) == c.before
	if byHand {
		b.forget(c)
		return true, nil
	}
	if target := resolved(c.Path, maxLinks); c.real != "" && target != c.real && target != c.Path {
		return false, gateway.Errorf(gateway.CodeDenied,
			"%s leads to %s now, and was %s when genkan connected it, so it was left alone; `genkan undo --show %s` prints the file from before", c.Path, target, c.real, c.ID)
	}
	before, err := b.Before(c)
	if err != nil {
		return false, err
	}
	switch {
	case !force && (missing || digest(now) != c.after):
		out, ok := []byte(nil), false
		if !missing {
			out, ok = c.file.restored(now, before, b.addedSince(c))
		}
		if !ok {
			return false, gateway.Errorf(gateway.CodeConflict,
				"%s was changed after genkan had connected it, so it was left alone; `genkan undo --show %s` prints the file from before, and --force puts it back", c.Path, c.ID)
		}
		if err := replace(c.Path, now, missing, out); err != nil {
			return false, err
		}
		b.forget(c)
		return false, nil
	case c.Created:
		if err := os.Remove(c.Path); err != nil && !missing {
			return false, unwritable(c.Path, err)
		}
	default:
		if err := replace(c.Path, now, missing, before); err != nil {
			return false, err
		}
	}
	b.forget(c)
	return true, nil
}

// addedSince returns the names of the entries that a change and later ones of the file
// added. A later change whose backup is lost cannot be undone by itself.
func (b Backups) addedSince(c Change) []string {
	added := c.added
	all, _, _ := b.List() // without it, the change's own names are still right
	for _, later := range all {
		if later.Path == c.Path && later.ID > c.ID {
			added = slices.Concat(added, later.added)
		}
	}
	return added
}

func unwritable(path string, err error) *gateway.Error {
	e := gateway.Errorf(gateway.CodeUnavailable, "the file %s cannot be written", path)
	e.Err = err
	return e
}
