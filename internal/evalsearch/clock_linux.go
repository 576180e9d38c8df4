package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// spent is the CPU time of this thread: what others do on the machine does not
// count.
func spent() time.Duration {
	var at unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at) != nil {
		return 0
	}
	return time.Duration(at.Nano())
}
