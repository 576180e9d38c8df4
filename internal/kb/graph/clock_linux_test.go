package graph

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time of this thread: what a walk costs, however busy
// the machine is.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
