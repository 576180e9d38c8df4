package filelock

import (
	"errors"
	"os"
	"syscall"
)

// errorSharingViolation is what opening a file fails with that another process
// has opened for itself.
const errorSharingViolation = syscall.Errno(32)

// Take opens a file for this process alone, until Release or the end of the process.
// ErrTaken: somebody else has it.
func Take(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const shareWithNobody = 0
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, shareWithNobody,
		nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errorSharingViolation) {
		return nil, ErrTaken
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// Release releases the lock.
func Release(f *os.File) { _ = f.Close() }
