//go:build !linux && !darwin

package checkup

// freeSpace returns -1, because the free space is unknown on this system.
func freeSpace(string) int64 { return -1 }
