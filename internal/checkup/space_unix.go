//go:build linux || darwin

package checkup

import "syscall"

// freeSpace is how many bytes the disk of a folder has left for this user;
// negative when nobody knows.
func freeSpace(dir string) int64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:gosec,unconvert // no disk is that large; the types differ between systems
}
