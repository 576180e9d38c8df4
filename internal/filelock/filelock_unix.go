//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Take takes the exclusive lock of a file without waiting. It ends with Release, or when
// the process does. ErrTaken: somebody else has it. No link is followed: it could have a
// file made elsewhere.
func Take(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrTaken
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}

// Release releases the lock at once. Closing the file alone would not while a process is
// being started: until it runs its program, it shares the files of this one.
func Release(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}
