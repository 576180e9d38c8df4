package identity

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"genkan/internal/gateway"
)

const (
	// The admin token may be one that somebody put there, as long as it cannot
	// be guessed and fits a header.
	minAdminToken = 32
	maxAdminToken = 256
)

// LoadAdminToken reads the admin token from its file, or makes one and writes
// it there, readable by the owner only. Processes that start at the same time
// agree on one token.
//
// A file that others could read is closed to them, and that is worth telling:
// then the token is returned together with an error of gateway.CodeDenied.
// The caller may warn and go on, or give up; the next start finds the file in
// order.
func LoadAdminToken(path string) (gateway.Secret, error) {
	secret, err := readAdminToken(path, tighten)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := createAdminToken(path, newSecret()); err != nil {
		return "", adminFileError(err, "the admin token file cannot be written; make the data directory writable for this user")
	}
	// Whoever was first, the file has the token that counts.
	return readAdminToken(path, tighten)
}

// CheckAdminToken says what is wrong with the file of the admin token, and changes
// nothing. A file that is not there is no problem: the next start makes it.
func CheckAdminToken(path string) error {
	_, err := readAdminToken(path, func(*os.File, fs.FileMode) error { return nil })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// createAdminToken puts secret at path unless something is there already. The
// file appears with its content: no reader ever sees half a token.
func createAdminToken(path, secret string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".admin-token-*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	if err := writeAndClose(temp, secret); err != nil {
		return err
	}
	// A link, unlike a rename, never replaces what another process put there
	// and perhaps has shown to somebody already.
	err = os.Link(temp.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	// Some file systems (FAT, some network shares) have no hard links.
	direct, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return writeAndClose(direct, secret)
}

func writeAndClose(f *os.File, secret string) error {
	_, err := f.WriteString(secret + "\n")
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readAdminToken reads the token, and has tighten judge the mode of its file.
func readAdminToken(path string, tighten func(*os.File, fs.FileMode) error) (gateway.Secret, error) {
	// Lstat, because a link could make us read, and then close to others, a
	// file that is not ours to touch.
	found, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", adminFileError(err, "the admin token file cannot be read")
	}
	if !found.Mode().IsRegular() {
		return "", adminFileError(fmt.Errorf("%s is %s", path, found.Mode().Type()),
			"the admin token file is not a regular file; remove it, and the next start makes a new one")
	}
	// O_NONBLOCK, so that a FIFO put there in between does not hold us up.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", adminFileError(err, "the admin token file cannot be read; it must belong to this user")
	}
	defer func() { _ = f.Close() }()
	opened, err := f.Stat()
	if err != nil {
		return "", adminFileError(err, "the admin token file cannot be read")
	}
	if !os.SameFile(found, opened) {
		return "", adminFileError(nil, "the admin token file changed while it was read; try again")
	}
	// Room for a line end after the longest token, and one byte to notice more.
	text, err := io.ReadAll(io.LimitReader(f, maxAdminToken+3))
	if err != nil {
		return "", adminFileError(err, "the admin token file cannot be read")
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if !validAdminToken(secret) {
		return "", adminFileError(nil,
			"the admin token file does not hold a token of %d to %d letters, digits and signs on one line; remove it, and the next start makes a new one",
			minAdminToken, maxAdminToken)
	}
	return gateway.Secret(secret), tighten(f, opened.Mode().Perm())
}

// tighten closes the file to everybody but its owner. Windows has no such
// bits; there the profile folder protects the file.
func tighten(f *os.File, mode fs.FileMode) error {
	if runtime.GOOS == "windows" || mode&0o077 == 0 {
		return nil
	}
	if err := f.Chmod(0o600); err != nil {
		return adminFileError(err, "the admin token file can be read by other users, and that cannot be changed; it must belong to this user")
	}
	return adminFileError(nil,
		"the admin token file could be read by other users (mode %04o) and is now closed to them; if somebody may have seen it, remove it, and the next start makes a new one",
		mode)
}

func validAdminToken(secret string) bool {
	if len(secret) < minAdminToken || len(secret) > maxAdminToken {
		return false
	}
	for i := range len(secret) {
		if secret[i] <= ' ' || secret[i] > '~' {
			return false
		}
	}
	return true
}

// adminFileError keeps the path out of the message, which may travel; the
// cause has it.
func adminFileError(cause error, format string, values ...any) error {
	e := gateway.Errorf(gateway.CodeDenied, format, values...)
	e.Err = cause
	return e
}
