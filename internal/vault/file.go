// Package vault keeps secrets for this machine: the tokens of sign-ins, the values
// that the configuration refers to with ${secret:NAME}, the tokens of connected
// clients, and copies of clients' files that may contain secrets.
//
// A File is the vault of a data directory. Package app opens it; signin, registry,
// clients and setup use it through interfaces of their own. The prefix of a name
// tells who a secret belongs to (signin.VaultPrefix, registry.SecretPrefix,
// setup.TokenPrefix, clients.BackupPrefix). Each secret is an age-encrypted file
// whose name is a hash of the secret's name, so processes that save different
// secrets never write the same file. Memory is a vault for tests.
//
// The key is in the machine's keyring, or in a file that only the user can read
// where there is no keyring (key.go). It is looked for at the first use and not
// before, because a keyring may ask a person to unlock it.
//
// Invariants:
//
//   - When Save returns, the value is on disk. A crash leaves the former value or
//     the new one.
//   - A new key is never made while encrypted files exist: they would be lost even
//     if the old key came back.
//   - A keyring is used only if it returns the key that it was given.
//   - Lock is held across processes and released by a crash.
//   - No error contains plain text.
package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"filippo.io/age"

	"genkan/internal/filelock"
	"genkan/internal/gateway"
)

// File stores each secret in its own age-encrypted file, so that processes that save
// different secrets never write the same file. The key is in the machine's keyring, or
// beside the files if there is none.
type File struct {
	dir  string
	ring Keyring // nil if there is none

	mu       sync.Mutex
	identity *age.X25519Identity // nil until the first use
}

// NewFile returns the vault of a directory, which need not exist. It touches nothing
// before the first secret is saved or loaded, because a keyring may prompt the user. If
// ring is nil, the key is in a file.
func NewFile(dir string, ring Keyring) *File {
	return &File{dir: dir, ring: ring}
}

// entry is the encrypted content. It includes the name, so that a file that was copied
// over another is not mistaken for it.
type entry struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// maxEntryBytes is more than any secret or client file needs.
const maxEntryBytes = 64 << 20

// path returns the path of a secret. Names are hashed, because a file system may not
// allow all their characters, or may treat different names as equal.
func (v *File) path(name, suffix string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(v.dir, hex.EncodeToString(sum[:16])+suffix)
}

// Load returns a secret.
func (v *File) Load(ctx context.Context, name string) (value gateway.Secret, found bool, err error) {
	e, err := v.open(ctx, v.path(name, ".age"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, err
	case e.Name != name:
		return "", false, v.damaged(v.path(name, ".age"), errors.New("the file holds something else"))
	}
	return gateway.Secret(e.Value), true, nil
}

// open reads and decrypts a file. It returns fs.ErrNotExist if there is none.
func (v *File) open(ctx context.Context, path string) (entry, error) {
	var e entry
	sealed, err := readCapped(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, err
	case err != nil:
		return e, v.damaged(path, err)
	}
	identity, err := v.key(ctx)
	if err != nil {
		return e, err
	}
	plain, err := age.Decrypt(bytes.NewReader(sealed), identity)
	if err != nil {
		return e, v.damaged(path, err)
	}
	raw, err := io.ReadAll(io.LimitReader(plain, maxEntryBytes))
	if err != nil {
		return e, v.damaged(path, err)
	}
	// The error of a failed decoding may quote the plain text, so it is left out.
	if json.Unmarshal(raw, &e) != nil {
		return entry{}, v.damaged(path, errors.New("the file holds something else"))
	}
	return e, nil
}

// Save stores a secret.
func (v *File) Save(ctx context.Context, name string, value gateway.Secret) error {
	identity, err := v.key(ctx)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(entry{Name: name, Value: value.Reveal()})
	if err != nil {
		return v.unwritable(err)
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, identity.Recipient())
	if err != nil {
		return v.unwritable(err)
	}
	if _, err := w.Write(raw); err != nil {
		return v.unwritable(err)
	}
	if err := w.Close(); err != nil {
		return v.unwritable(err)
	}
	if err := replaceFile(v.path(name, ".age"), sealed.Bytes()); err != nil {
		return v.unwritable(err)
	}
	return nil
}

// Names lists the secrets whose names begin with a prefix, without it, sorted.
func (v *File) Names(ctx context.Context, prefix string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(v.dir, "*.age"))
	if err != nil {
		return nil, v.unreadable(err)
	}
	names := []string{}
	for _, path := range files {
		e, err := v.open(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		if name, ok := strings.CutPrefix(e.Name, prefix); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Delete deletes a secret. It needs no key.
func (v *File) Delete(_ context.Context, name string) error {
	if err := os.Remove(v.path(name, ".age")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return v.unwritable(err)
	}
	return nil
}

// lockPace is the interval between two attempts to take a lock. The system's own wait
// could not be canceled.
const lockPace = 20 * time.Millisecond

// Lock waits until no other process or goroutine holds the lock of the name.
func (v *File) Lock(ctx context.Context, name string) (unlock func(), err error) {
	return v.lock(ctx, v.path(name, ".lock"))
}

func (v *File) lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return nil, v.unwritable(err)
	}
	for {
		f, err := filelock.Take(path)
		switch {
		case err == nil:
			return func() { filelock.Release(f) }, nil
		case !errors.Is(err, filelock.ErrTaken):
			return nil, v.unwritable(err)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockPace):
		}
	}
}

// unreadable returns the error of an unreadable key or folder. It does not suggest to
// remove them, because they also hold the original versions of client files.
func (v *File) unreadable(err error) error {
	return because(err, gateway.Errorf(gateway.CodeInternal,
		"the kept secrets in %s cannot be read; put that folder back from a backup, or move it away (do not remove it: what `genkan undo` puts back is in it), sign in to servers again, and set the secrets of the configuration again", v.dir))
}

// damaged returns the error of one unreadable secret. The others are still good.
func (v *File) damaged(path string, err error) error {
	return because(err, gateway.Errorf(gateway.CodeInternal,
		"%s, a kept secret, cannot be read; put that file back from a backup, or move it away (leave the others where they are), and sign in or set the secret again", path))
}

func (v *File) unwritable(err error) error {
	return because(err, gateway.Errorf(gateway.CodeInternal,
		"secrets cannot be kept in %s; check that genkan may write there and that the disk is not full", v.dir))
}

func readCapped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Size() > 2*maxEntryBytes {
		return nil, fmt.Errorf("%s is no file of ours", path)
	}
	return io.ReadAll(f)
}

// replaceFile replaces a file atomically, also in case of a crash.
func replaceFile(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".new-*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err == nil {
		err = temp.Sync()
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// because adds the cause, for the log.
func because(cause error, e *gateway.Error) *gateway.Error {
	e.Err = cause
	return e
}
