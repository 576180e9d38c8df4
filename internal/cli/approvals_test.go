package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/api/client"
)

// waiting are the approvals that are pending.
type waiting struct {
	atomic.Pointer[[]client.Approval]
}

func (w *waiting) Approvals(context.Context) (client.ApprovalList, error) {
	return client.ApprovalList{Approvals: *w.Load()}, nil
}

// Who calls a tool from the command line is told once that the call waits for a person,
// and with which commands to decide. Other calls are not theirs.
func TestACallThatWaitsForAPersonSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		c := &command{std: Streams{In: os.Stdin, Out: &bytes.Buffer{}, Err: &said}}
		now := time.Now()
		var pending waiting
		earlier := client.Approval{ID: "EARLIER", Tool: "a__echo", AskedAt: now.Add(-time.Second)}
		pending.Store(&[]client.Approval{earlier})
		answered := c.tellWaiting(t.Context(), &pending, "a__echo")
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if said.Len() > 0 {
			t.Errorf("nothing waits, and it says %s", &said)
		}
		now = time.Now()
		pending.Store(&[]client.Approval{
			earlier,
			{ID: "OTHER", Tool: "a__add", AskedAt: now},
			{ID: "THIS", Tool: "a__echo", Workflow: "ask", AskedAt: now, ExpiresAt: now.Add(time.Minute)},
		})
		time.Sleep(5 * time.Second)
		answered()
		text := said.String()
		if strings.Count(text, "\n") != 1 || !strings.Contains(text, `"ask"`) || !strings.Contains(text, "`genkan approvals approve THIS`") || !strings.Contains(text, "`genkan approvals deny THIS`") {
			t.Errorf("it says %s", text)
		}
	})
}
