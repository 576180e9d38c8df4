package kb_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/kb"
)

// slowRows is a store without items whose reads take a second.
type slowRows struct {
	kb.Store

	mu            sync.Mutex
	readers, most int
}

func (s *slowRows) Items(context.Context, int64, int) ([]kb.Item, error) {
	s.count(1)
	defer s.count(-1)
	time.Sleep(time.Second)
	return nil, nil
}

func (s *slowRows) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers += n
	s.most = max(s.most, s.readers)
}

// TestScansLeaveRoom: any number of scans leave half of the cores free, and a waiting
// caller can give up.
func TestScansLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := &slowRows{}
		scan := kb.NewScan(rows)
		slots := max(1, runtime.GOMAXPROCS(0)/2)
		var all sync.WaitGroup
		for range 4 * slots {
			all.Go(func() {
				if _, err := scan.Search(t.Context(), kb.Query{Text: "!?", Limit: 1}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		hurried, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := scan.Suggest(hurried, kb.Query{Text: "!?", Limit: 1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who has no time was told %v", err)
		}
		all.Wait()
		if rows.most != slots {
			t.Errorf("%d read at once, and there are %d slots", rows.most, slots)
		}
	})
}
