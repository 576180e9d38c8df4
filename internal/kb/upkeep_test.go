package kb_test

import (
	"fmt"
	"slices"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/kb"
)

// noted is the progress of tasks, as texts.
type noted struct{ lines []string }

func (n *noted) Report(done, total int64) { n.lines = append(n.lines, fmt.Sprint(done, "/", total)) }
func (n *noted) End(err error)            { n.lines = append(n.lines, fmt.Sprint("end ", err)) }

// Upkeep does one task at a time, shows it, and reports how far it is.
func TestUpkeepDoesOneTaskAtATime(t *testing.T) {
	t.Parallel()
	p := openProcess(t, t.TempDir())
	p.fill(t, 10)
	n := &noted{}
	u := kb.NewUpkeep(p.indexes, func(what string) kb.Progress {
		n.lines = append(n.lines, what)
		return n
	})
	refused := 0
	p.store.afterItems = func() {
		refused++
		if err := u.Rebuild(t.Context()); gateway.AsError(err).Code != gateway.CodeConflict {
			t.Errorf("a second task began: %v", err)
		}
		if _, work, err := u.Look(t.Context()); err != nil || work.What != kb.WorkCheck {
			t.Errorf("%v: the task is %+v", err, work)
		}
	}
	if _, err := u.Check(t.Context()); err != nil || refused == 0 {
		t.Fatalf("%v, refused %d times", err, refused)
	}
	p.store.afterItems = nil
	if n.lines[0] != kb.WorkCheck || !slices.Contains(n.lines, "0/10") || n.lines[len(n.lines)-1] != "end <nil>" {
		t.Errorf("reported %q", n.lines)
	}
	if _, work, err := u.Look(t.Context()); err != nil || work != (kb.Work{}) {
		t.Errorf("%v: the task is %+v", err, work)
	}
	if err := u.Rebuild(t.Context()); err != nil {
		t.Error(err)
	}
}
