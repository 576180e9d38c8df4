//go:build !linux

package crashtest

// onSmallDisk needs a file system that only Linux lets anybody make.
func onSmallDisk() int { return 2 }
