package reception

import (
	"os"
	"strconv"
	"strings"
)

// BuildID returns a version that differs between builds. Builds during development
// all have the same version, so it adds the time of the binary to theirs.
func BuildID(version string) string {
	if version != "dev" && !strings.HasSuffix(version, "-dirty") {
		return version
	}
	self, err := os.Executable()
	if err != nil {
		return version
	}
	info, err := os.Stat(self)
	if err != nil {
		return version
	}
	return version + "+" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}
