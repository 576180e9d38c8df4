package clients

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"genkan/internal/gateway"
)

// mayChange returns an error if the file is read-only. The folder may still allow
// to replace the file, but a person has protected it.
func mayChange(path string) error {
	const ownerWrites = 0o200
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&ownerWrites == 0 {
		return gateway.Errorf(gateway.CodeDenied, "%s is read-only, so it was left alone; to have it changed, run `chmod u+w %s` first", path, path)
	}
	return nil
}

// replace writes a file atomically. It keeps the file's mode, and changes the
// target of a symbolic link rather than the link. It writes nothing if the file has
// changed since it was read.
func replace(path string, was []byte, missing bool, out []byte) error {
	target, mode := path, os.FileMode(0o600)
	if missing {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return unwritable(path, err)
		}
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSymlink {
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return unwritable(path, err) // a dangling link
		}
	}
	if info, err := os.Stat(target); err == nil {
		if !info.Mode().IsRegular() {
			return gateway.Errorf(gateway.CodeInvalid, "%s is not a regular file, so it was left alone", path)
		}
		if err := mayChange(path); err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(filepath.Dir(target), ".genkan-*")
	if err != nil {
		return unwritable(path, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // already renamed on success
	_, err = temp.Write(out)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return unwritable(path, err)
	}
	now, gone, err := Contents(path)
	if err != nil {
		return err
	}
	if gone != missing || !bytes.Equal(now, was) {
		return gateway.Errorf(gateway.CodeConflict, "%s was changed by another program just now, so it was left alone; try again", path)
	}
	if err := os.Rename(temp.Name(), target); err != nil {
		return unwritable(path, err)
	}
	return nil
}
