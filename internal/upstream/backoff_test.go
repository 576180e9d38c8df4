package upstream

import (
	"testing"
	"time"
)

// Doubling with jitter to 30 s, and from the beginning again after a minute of
// health, but not after a slow start that came to nothing.
func TestRestartBackoff(t *testing.T) {
	t.Parallel()
	within := func(got, about time.Duration) {
		t.Helper()
		if got < about*8/10 || got > about*12/10 {
			t.Errorf("waits %v, want about %v", got, about)
		}
	}
	p := newRestartBackoff()
	wait := 160 * time.Millisecond
	for range 12 {
		within(p.next(0), min(wait, 30*time.Second))
		wait *= 2
	}
	within(p.next(healthyAfter), 30*time.Second)
	within(p.next(healthyAfter+1), 160*time.Millisecond)
	within(p.next(0), 320*time.Millisecond)
}
