package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// bar shows progress, on terminals only. It is safe for concurrent use.
type bar struct {
	mu    sync.Mutex
	line  progressLine
	label string
	total int
	done  int
	last  time.Time
}

func newBar(c *command, label string, total int) *bar {
	return &bar{line: progressLine{c: c}, label: label, total: total}
}

// barPace is the shortest time between two writes of the line, because a terminal
// may be slower than the work.
const barPace = 50 * time.Millisecond

// at shows that done units are done.
func (b *bar) at(done int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show(done)
}

// outOf shows progress with a total that is only now known.
func (b *bar) outOf(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total = total
	b.show(done)
}

// step shows that one more unit is done.
func (b *bar) step() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show(b.done + 1)
}

func (b *bar) show(done int) {
	b.done = done
	if time.Since(b.last) < barPace {
		return
	}
	b.last = time.Now()
	b.line.show(b.text())
}

func (b *bar) text() string {
	if b.total <= 0 {
		return fmt.Sprintf("%s  %d", b.label, b.done)
	}
	const columns = 30
	done := min(b.done, b.total)
	filled := done * columns / b.total
	return fmt.Sprintf("%s  [%s%s] %3d%%  %d/%d", b.label, strings.Repeat("#", filled), strings.Repeat("-", columns-filled), done*100/b.total, done, b.total)
}

func (b *bar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.line.clear()
}
