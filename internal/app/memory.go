package app

import (
	"context"
	"runtime/metrics"
	"time"
)

const (
	// quietCheck is how often the process looks whether it has become quiet.
	quietCheck = 10 * time.Second
	// quietBytes is how much a quiet process allocates between two checks at most.
	quietBytes = 1 << 20
	// worthwhileBytes is how much must have been allocated before memory is returned.
	worthwhileBytes = 8 << 20
)

// releaseWhenQuiet returns memory to the operating system when the process has become
// quiet after it was busy. Go's runtime would keep the garbage of the last calls for
// minutes, and most of the time nobody calls a tool. It returns when ctx ends.
func releaseWhenQuiet(ctx context.Context, allocated func() uint64, release func()) {
	ticker := time.NewTicker(quietCheck)
	defer ticker.Stop()
	var released uint64 // what was allocated when memory was returned last
	for before := allocated(); ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := allocated()
		if now-before <= quietBytes && now-released >= worthwhileBytes {
			release()
			released = now
		}
		before = now
	}
}

// allocatedBytes returns how much memory the process has allocated since its start.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
