package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"filippo.io/age"

	"genkan/internal/gateway"
)

// The vault's folder records where its key is: in keyFile itself, or in the keyring
// under the account that ringFile names. The account is a random number and not the
// folder's path, so that the folder may move.
const (
	keyFile  = "key"
	ringFile = "keyring"
)

// key returns the key. It creates one for a new vault.
func (v *File) key(ctx context.Context) (*age.X25519Identity, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.identity != nil {
		return v.identity, nil
	}
	identity, err := v.findKey(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		identity, err = v.makeKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	v.identity = identity
	return identity, nil
}

// findKey returns fs.ErrNotExist for a vault without a key.
func (v *File) findKey(ctx context.Context) (*age.X25519Identity, error) {
	path := filepath.Join(v.dir, keyFile)
	raw, err := readCapped(path)
	if err == nil {
		if err := v.private(path); err != nil {
			return nil, err
		}
		return v.parseKey(gateway.Secret(raw))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, v.unreadable(err)
	}
	account, err := readCapped(filepath.Join(v.dir, ringFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, v.unreadable(err)
	}
	if v.ring == nil {
		return nil, v.unreachable(errNoKeyring)
	}
	key, err := v.ring.Get(ctx, strings.TrimSpace(string(account)))
	if err != nil {
		return nil, v.unreachable(err)
	}
	return v.parseKey(key)
}

// KeyPlace returns the place of the key: keyring, file, or empty if there is no key yet.
// It does not read the key.
func (v *File) KeyPlace() string {
	for _, place := range []struct{ file, name string }{{keyFile, "file"}, {ringFile, "keyring"}} {
		if _, err := os.Stat(filepath.Join(v.dir, place.file)); err == nil {
			return place.name
		}
	}
	return ""
}

// makeKey creates the key of a new vault. Two processes may do so at the same time.
func (v *File) makeKey(ctx context.Context) (*age.X25519Identity, error) {
	unlock, err := v.lock(ctx, filepath.Join(v.dir, keyFile+".lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if identity, err := v.findKey(ctx); !errors.Is(err, fs.ErrNotExist) {
		return identity, err
	}
	// With a second key, the files of the lost key would stay unreadable even after that key
	// is found again.
	if locked, err := filepath.Glob(filepath.Join(v.dir, "*.age")); err == nil && len(locked) > 0 {
		return nil, gateway.Errorf(gateway.CodeInternal,
			"the key of the kept secrets in %s is gone; put it back from a backup of that folder, or, if there is none, move the folder away, sign in to servers again, and set the secrets of the configuration again", v.dir)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, v.unwritable(err)
	}
	if account := rand.Text(); v.ringTakes(ctx, account, gateway.Secret(identity.String())) {
		err = replaceFile(filepath.Join(v.dir, ringFile), []byte(account+"\n"))
	} else {
		err = replaceFile(filepath.Join(v.dir, keyFile), []byte(identity.String()+"\n"))
	}
	if err != nil {
		return nil, v.unwritable(err)
	}
	return identity, nil
}

// ringTakes tests the keyring. A keyring that accepts a key but does not return it would
// lose every sign-in.
func (v *File) ringTakes(ctx context.Context, account string, key gateway.Secret) bool {
	if v.ring == nil || v.ring.Set(ctx, account, key) != nil {
		return false
	}
	kept, err := v.ring.Get(ctx, account)
	return err == nil && kept == key
}

func (v *File) parseKey(key gateway.Secret) (*age.X25519Identity, error) {
	identity, err := age.ParseX25519Identity(strings.TrimSpace(key.Reveal()))
	if err != nil {
		return nil, v.unreadable(errors.New("what is kept as the key is none")) // the cause may quote the key
	}
	return identity, nil
}

// private refuses a key that other users of this machine can read.
func (v *File) private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return v.unreadable(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return gateway.Errorf(gateway.CodeInternal, "others can read %s, the key of the kept secrets; run `chmod 600 %s`, and make new ones if this is a machine that you share", path, path)
	}
	return nil
}

func (v *File) unreachable(err error) error {
	return because(err, gateway.Errorf(gateway.CodeUnavailable,
		"the key of the kept secrets is in this machine's keyring, which does not give it out; unlock the keyring, or move %s away (do not remove it: what `genkan undo` puts back is in it), sign in to servers again, and set the secrets of the configuration again", v.dir))
}
