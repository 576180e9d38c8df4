package index

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpu is the processor time of this thread: what a search costs, however busy
// the machine is.
func cpu() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// processCPU is that of all threads: what a build costs, with its garbage
// collection.
func processCPU() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
