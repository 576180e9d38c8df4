//go:build linux || darwin

package checkup

import "syscall"

// freeSpace returns how many bytes this user has left on the disk of a folder;
// negative if unknown.
func freeSpace(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:gosec,unconvert // no disk is that large; the types differ between systems
}
