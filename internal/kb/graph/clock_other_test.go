//go:build !linux

package graph

import "time"

var start = time.Now()

// threadTime is the time of the wall where threads have no clock of their own.
func threadTime() time.Duration { return time.Since(start) }
