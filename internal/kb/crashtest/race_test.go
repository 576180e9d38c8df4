//go:build race

package crashtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"genkan/internal/testkit"
)

const withRaceDetector = true

// TestWithoutRaceDetector runs all of this in a binary without the race detector:
// SQLite is ten times slower with it, and what is proved here is about processes.
// The detector gets a few cycles of its own.
func TestWithoutRaceDetector(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "crashtest.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-race=false", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, "genkan/internal/kb/crashtest")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := exec.CommandContext(t.Context(), binary, "-test.v", "-test.run=^(TestKilled|TestTwoProcesses)",
		fmt.Sprint("-crash.cycles=", min(*cycles, testkit.Count(10, *cycles))), fmt.Sprint("-crash.seed=", *seed))
	out, err := all.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
