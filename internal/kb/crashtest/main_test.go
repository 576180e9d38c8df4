package crashtest

import (
	"os"
	"testing"

	"genkan/internal/testkit"
)

// TestMain also is the process that writes, and the one that has a small disk.
func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case writeRole:
		os.Exit(write())
	case smallDiskRole:
		os.Exit(onSmallDisk())
	}
	testkit.Main(m)
}
