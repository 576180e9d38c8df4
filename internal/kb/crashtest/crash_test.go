package crashtest

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"genkan/internal/testkit"
)

var (
	cycles = flag.Int("crash.cycles", testkit.Count(8, 40), "how often processes are killed while they write")
	seed   = flag.Uint64("crash.seed", 1, "decides what is written and when processes are killed")
)

const writers = 4

func someCycles() int {
	if testing.Short() {
		return min(*cycles, 5)
	}
	return *cycles
}

// TestKilledWhileWriting: four writers, in one process or in two, are killed at
// any moment, and whoever comes next goes on in the same data directory.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*seed, 0))
	d := newDirectory(t)
	d.createHub()
	opening := time.Duration(0)
	for cycle := range someCycles() {
		var processes []*process
		o := orders{Path: d.path, Seed: *seed, Cycle: cycle, Checkpoints: random.IntN(4) == 0}
		for _, group := range groups(random) {
			o.Writers = group
			// By what it has said, so that a slow machine gets as far as a fast one,
			// and then at any moment.
			m := moment{lines: 1 + random.IntN(40), more: time.Duration(random.IntN(3000)) * time.Microsecond}
			if random.IntN(8) == 0 { // while it opens the database
				m = moment{more: time.Duration(random.Float64() * float64(opening))}
			}
			processes = append(processes, start(t, o, d.hear, m))
		}
		for _, p := range processes {
			p.wait()
			opening = max(opening, p.opening)
		}
		thorough := cycle%25 == 24 || cycle == someCycles()-1
		d.reckon(fmt.Sprintf("cycle %d", cycle), thorough)
		// Somebody may have the database open all the time: then nobody recovers the
		// log.
		if random.IntN(3) > 0 {
			d.close()
		}
	}
	d.tell(t)
	for _, kind := range []string{opCreate, opUpdate, opBulk, opRetype, opDelete} {
		if d.ledger.acknowledged[kind] == 0 && someCycles() >= 20 {
			t.Errorf("no %s was ever acknowledged: nothing is proved", kind)
		}
	}
}

// groups are the writers of each process: all in one, or two and two.
func groups(random *rand.Rand) [][]int {
	if random.IntN(4) == 0 {
		return [][]int{{0, 1}, {2, 3}}
	}
	return [][]int{{0, 1, 2, 3}}
}

// TestKilledWhileOpening: a data directory whose first process was killed while
// it made the database is as good as new.
func TestKilledWhileOpening(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(*seed, 1))
	whole := newDirectory(t)
	p := start(t, orders{Path: whole.path, Seed: *seed, Writers: []int{0}, Writes: 1}, whole.hear, never)
	p.wait()
	opening := p.opening
	early := 0
	for n := range someCycles()/10 + 1 {
		d := newDirectory(t)
		for cycle := range 2 {
			m := moment{more: time.Duration(random.Float64() * float64(opening))}
			p := start(t, orders{Path: d.path, Seed: *seed, Cycle: cycle, Writers: []int{0, 1, 2, 3}}, d.hear, m)
			p.wait()
			if p.opening == 0 {
				early++ // and the next process finds what this one has left
			} else {
				d.reckon(fmt.Sprintf("directory %d", n), true)
				d.close()
			}
		}
		p := start(t, orders{Path: d.path, Seed: *seed, Cycle: 2, Writers: []int{0, 1, 2, 3}, Writes: 8}, d.hear, never)
		p.wait()
		d.reckon(fmt.Sprintf("directory %d", n), true)
		d.close()
	}
	if early == 0 && someCycles() >= 20 {
		t.Error("nobody was killed before the database was open: nothing is proved")
	}
	t.Logf("%d processes were killed before they had opened the database", early)
}

// TestTwoProcesses: what two processes write at the same time is all there.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	each := int64(testkit.Count(50, 1000))
	if testing.Short() {
		each = 50
	}
	d := newDirectory(t)
	d.createHub()
	begun := time.Now()
	one := start(t, orders{Path: d.path, Seed: *seed, Writers: []int{0, 1, 2, 3}, Writes: each}, d.hear, never)
	two := start(t, orders{Path: d.path, Seed: *seed, Writers: []int{4, 5, 6, 7}, Writes: each}, d.hear, never)
	one.wait()
	two.wait()
	took := time.Since(begun)
	d.reckon("at the end", true)
	sum := 0
	for n := range maps.Values(d.ledger.acknowledged) {
		sum += n
	}
	if int64(sum) != 2*each {
		t.Errorf("%d writes were acknowledged, want %d", sum, 2*each)
	}
	d.tell(t)
	t.Logf("%d writes in %v", sum, took.Round(time.Millisecond))
}

// tell says what was proved.
func (d *directory) tell(t *testing.T) {
	for _, kind := range slices.Sorted(maps.Keys(d.ledger.acknowledged)) {
		t.Logf("%6d × %s acknowledged", d.ledger.acknowledged[kind], kind)
	}
	t.Logf("writes under way: %d were made, %d not; the slowest opening took %v (seed %d)",
		d.ledger.made, d.ledger.unmade, d.slowest.Round(time.Millisecond), *seed)
}

func newDirectory(t *testing.T) *directory {
	d := &directory{
		t: t, path: filepath.Join(t.TempDir(), "data", "genkan.db"),
		ledger: newLedger(), follower: newFollower(), mu: &sync.Mutex{},
	}
	t.Cleanup(d.close)
	return d
}
