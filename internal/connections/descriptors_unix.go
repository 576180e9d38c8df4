//go:build unix

package connections

import (
	"math"
	"syscall"
)

// maxDescriptors returns the number of files and connections this process may have open.
func maxDescriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}
