//go:build unix

package privatedir

import (
	"io/fs"
	"os"
	"syscall"
)

// NoFollow opens no symbolic link.
const NoFollow = syscall.O_NOFOLLOW

// isOurs reports whether a file belongs to the user of this process.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

func isOpenToOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
