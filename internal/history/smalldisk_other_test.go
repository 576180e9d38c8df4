//go:build !linux

package history

const smallDiskEnv = "GENKAN_TEST_SMALL_DISK"

func onSmallDisk(string) int { return 0 }
