package upstream

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// anonymous is how much memory this process has of its own, in bytes.
func anonymous(t testing.TB) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("there is no RssAnon")
	return 0
}

// maxGrowth is what a response bomb may cost.
const maxGrowth = 64 << 20

// bounded runs something that a hostile server could use to fill our memory,
// and checks what is left of it afterwards. What it took meanwhile is printed:
// it depends on when the collector runs.
func bounded(t *testing.T, explode func()) {
	t.Helper()
	if runtime.GOOS != "linux" {
		explode()
		return
	}
	debug.FreeOSMemory()
	before := anonymous(t)
	var peak int64
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticks := time.NewTicker(2 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				peak = max(peak, anonymous(t))
			case <-stop:
				return
			}
		}
	})
	explode()
	close(stop)
	watching.Wait()
	debug.FreeOSMemory()
	grown := anonymous(t) - before
	t.Logf("memory: %+d MiB afterwards, %+d MiB at the peak", grown>>20, (peak-before)>>20)
	// The race detector keeps several bytes of its own for each of ours.
	if grown > maxGrowth && !testkit.RaceDetector() {
		t.Errorf("memory grew by %d MiB, the most is %d", grown>>20, int64(maxGrowth)>>20)
	}
}
