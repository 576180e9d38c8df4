package main

import (
	"syscall"
	"time"
	"unsafe"
)

// threadCPU is the processor time of this thread: what an operation costs,
// however busy the machine is. Whoever compares two must stay on one thread.
func threadCPU() time.Duration { return clockNow(3) } // CLOCK_THREAD_CPUTIME_ID

// processCPU is that of all threads of this process, the garbage collector's too.
func processCPU() time.Duration { return clockNow(2) } // CLOCK_PROCESS_CPUTIME_ID

func clockNow(clock uintptr) time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(t.Nano())
}
