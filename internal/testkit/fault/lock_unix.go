//go:build unix

package fault

import (
	"os"
	"syscall"
)

// lockFile waits for the exclusive lock, which ends when the file is closed.
func lockFile(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX) }
