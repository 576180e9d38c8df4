//go:build unix

package privatedir

import (
	"os"
	"syscall"

	"genkan/internal/gateway"
)

// othersWrite are the permission bits of group and others to write.
const othersWrite = 0o022

// CheckWriters refuses a file or directory that another user can change. A path that
// does not exist or cannot be read is left to whoever opens it.
func CheckWriters(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if err := CheckOwner(path); err != nil {
		return err
	}
	if info.Mode().Perm()&othersWrite != 0 {
		return gateway.Errorf(gateway.CodeDenied,
			"other users can write to %s (mode %04o), and genkan runs the commands that are configured there: "+
				"check what is in it and run `chmod go-w \"%s\"`, or name another data directory with --data",
			path, info.Mode().Perm(), path)
	}
	return nil
}

// CheckOwner refuses a file or directory of another user. Root may own it: root can
// change anything. A path that does not exist or cannot be read is left to whoever
// opens it.
func CheckOwner(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return gateway.Errorf(gateway.CodeDenied,
		"%s belongs to another user (%d), who can change what genkan runs: run genkan as that user, "+
			"run `chown %d \"%s\"` after checking what is in it, or name another data directory with --data",
		path, stat.Uid, os.Geteuid(), path)
}
