package app

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Memory is returned once for each time that the process was busy.
func TestMemoryIsReturnedWhenQuiet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		allocated []int64 // MiB in each interval
		want      []int   // intervals after which memory is returned
	}{
		"after the start":           {[]int64{10, 0, 0, 0}, []int{1}},
		"not while it is busy":      {[]int64{10, 10, 10, 0}, []int{3}},
		"again after busy times":    {[]int64{10, 0, 0, 20, 1, 0}, []int{1, 4}},
		"not for a few allocations": {[]int64{2, 0, 2, 0, 2, 0}, nil},
		"for many of few":           {[]int64{2, 0, 3, 0, 3, 0, 0}, []int{5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var sum, interval atomic.Int64
				var got []int
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go releaseWhenQuiet(ctx, func() uint64 { return uint64(sum.Load()) }, func() { got = append(got, int(interval.Load())) })
				for i, mib := range test.allocated {
					synctest.Wait()
					interval.Store(int64(i))
					sum.Add(mib << 20)
					time.Sleep(quietCheck)
				}
				synctest.Wait()
				if !slices.Equal(got, test.want) {
					t.Errorf("returned after %v, want %v", got, test.want)
				}
			})
		})
	}
}
