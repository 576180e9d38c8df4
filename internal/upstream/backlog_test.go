package upstream

import (
	"strings"
	"sync"
	"testing"

	"genkan/internal/testkit"
)

// Many large calls at once are more than a child can read at once. They wait
// for their turn; none is refused by a server that is only busy.
func TestLargeCallsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	backlog := testkit.Count(512<<10, 8<<20)
	u := openReady(t, faultChild(t), withLimits(limits{backlog: backlog}))
	large := strings.Repeat("x", backlog/4)
	var calls sync.WaitGroup
	for range 6 {
		calls.Go(func() {
			got, err := u.callText("echo", `{"text":"`+large+`"}`)
			if err != nil || len(got) != len(large) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	calls.Wait()
}
