//go:build unix

package index

import (
	"os"
	"syscall"
)

// mapFile maps a file into memory, where processes share it and the system reclaims unused
// pages.
func mapFile(f *os.File, size int64) ([]byte, func() error, error) {
	content, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return content, func() error { return os.NewSyscallError("munmap", syscall.Munmap(content)) }, nil
}
