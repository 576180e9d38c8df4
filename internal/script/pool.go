package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// Options configure a pool. Zero means the default.
type Options struct {
	// Running is how many scripts run at once: as many as there are cores. Those that
	// wait for their host do not count, and neither do those that have been running
	// for longer than most do.
	Running int
	// Processes is how many worker processes there may be: four times as many. One
	// program may hold three quarters of them.
	Processes int
	// Queue is how many runs may wait for a worker: 256, and QueueTime how long: 2 s.
	Queue     int
	QueueTime time.Duration
	// Idle is how long an unused worker is kept: one minute.
	Idle time.Duration
	// A program that was killed Kills times (5) within KillWindow (1 minute) is
	// refused for Pause (30 s).
	Kills             int
	KillWindow, Pause time.Duration
}

// Pool runs programs in worker processes.
type Pool struct {
	opts Options
	file string
	err  error // why no worker can be started

	mu     sync.Mutex
	closed bool
	free   int // running slots
	procs  int // processes, also those that start or end
	parked int // processes whose script waits for its host
	// woken counts the waits that have ended, and checking is set while it is to be seen
	// whether one ends.
	woken    int
	checking bool
	// starting are processes that have not said hello yet.
	starting int
	idle     []*worker
	active   map[*run]struct{}
	held     map[string]int // processes by program
	kills    map[string][]time.Duration
	// resuming are runs that have a worker and an answer for it. They come first.
	resuming, queue []*waiter
	watching        bool
	reaper          *time.Timer
	stats           PoolStats

	background sync.WaitGroup // runs, workers and the watch
}

// PoolStats describe a pool.
type PoolStats struct {
	// Processes are those that exist, Running those that run a script, Waiting those
	// whose script waits for its host, and Queued the runs that wait for a worker.
	Processes, Running, Waiting, Queued int
	// Started and Killed count processes since the pool was made.
	Started, Killed int
	// Tripped are the ids of the programs that are refused, with the time at which
	// they run again.
	Tripped map[string]time.Time
}

// NewPool makes a pool. It starts workers when they are needed.
func NewPool(opts Options) *Pool {
	running := cmp.Or(opts.Running, runtime.GOMAXPROCS(0))
	p := &Pool{
		opts: Options{
			Running: running, Processes: cmp.Or(opts.Processes, 4*running),
			Queue: cmp.Or(opts.Queue, 256), QueueTime: cmp.Or(opts.QueueTime, 2*time.Second),
			Idle:  cmp.Or(opts.Idle, time.Minute),
			Kills: cmp.Or(opts.Kills, 5), KillWindow: cmp.Or(opts.KillWindow, time.Minute), Pause: cmp.Or(opts.Pause, 30*time.Second),
		},
		free: running, active: map[*run]struct{}{}, held: map[string]int{}, kills: map[string][]time.Duration{},
	}
	p.file, p.err = executable()
	p.reaper = time.AfterFunc(p.opts.Idle, p.reap)
	p.reaper.Stop()
	return p
}

// Close ends all runs and workers and waits for their end.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.reaper.Stop()
	for r := range p.active {
		r.end(Canceled)
	}
	p.fail(&p.queue, errClosed)
	for _, w := range p.idle {
		w.kill()
	}
	p.idle = nil
	p.mu.Unlock()
	p.background.Wait()
}

var errClosed = errors.New("the scripts' workers are being stopped")

// Stats returns what the pool does.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Processes, s.Waiting, s.Queued, s.Running = p.procs, p.parked, len(p.queue), len(p.active)-p.parked
	s.Tripped = map[string]time.Time{}
	for id := range p.kills {
		if left := p.pause(id); left > 0 {
			s.Tripped[id] = time.Now().Add(left)
		}
	}
	return s
}

// Warm starts a worker if there is none, so that the first run need not wait for it.
func (p *Pool) Warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && p.procs == 0 {
		p.start()
	}
}

// start starts a worker beside the runs. A run that waits gets the first worker that is
// free, which may be another one.
func (p *Pool) start() {
	p.procs++
	p.starting++
	p.background.Go(func() {
		w, err := (*worker)(nil), p.err
		if err == nil {
			w, err = startWorker(p.file)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		defer p.grant()
		p.starting--
		if err != nil {
			p.procs--
			if len(p.queue) > 0 {
				p.queue[0].ready <- &startError{err}
				p.queue = slices.Delete(p.queue, 0, 1)
			}
			return
		}
		p.stats.Started++
		p.background.Go(func() {
			<-w.exited
			p.gone(w)
		})
		p.putBack(w)
	})
}

// startError is why a worker could not be started.
type startError struct{ error }

// gone forgets a process that ended.
func (p *Pool) gone(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.procs--
	p.idle = slices.DeleteFunc(p.idle, func(i *worker) bool { return i == w })
	p.grant()
}

// putBack keeps a worker for the next run.
func (p *Pool) putBack(w *worker) {
	select {
	case <-w.exited:
		return
	default:
	}
	if p.closed || w.grown > DefaultMemory/2 {
		w.kill()
		return
	}
	w.since = monotonic()
	if p.idle = append(p.idle, w); len(p.idle) == 1 {
		p.reaper.Reset(p.opts.Idle)
	}
}

// reap ends workers that are idle for long.
func (p *Pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.opts.Idle
	p.idle = slices.DeleteFunc(p.idle, func(w *worker) bool {
		left := p.opts.Idle - (monotonic() - w.since)
		if left <= 0 {
			w.kill()
			return true
		}
		next = min(next, left)
		return false
	})
	if len(p.idle) > 0 && !p.closed {
		p.reaper.Reset(next)
	}
}

// waiter is a run that waits for a worker, or for its turn.
type waiter struct {
	run   *run
	ready chan error // has room for one
}

// acquire waits for a turn and, if the run has no worker yet, for one.
func (p *Pool) acquire(ctx context.Context, r *run, queue *[]*waiter, patience time.Duration) error {
	w := &waiter{r, make(chan error, 1)}
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return errClosed
	case queue == &p.queue && len(p.queue) >= p.opts.Queue:
		p.mu.Unlock()
		return fmt.Errorf("%d runs of scripts wait already", p.opts.Queue)
	}
	*queue = append(*queue, w)
	p.grant()
	p.mu.Unlock()

	select {
	case err := <-w.ready:
		return err
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		var err error
		select {
		case err := <-w.ready:
			return err
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-timer.C:
			err = errors.New(gateway.Textf("no worker for scripts was free for %v", patience).String())
		}
		p.mu.Lock()
		if ctx.Err() == nil && p.starting > 0 { // which takes long on a busy machine
			p.mu.Unlock()
			timer.Reset(patience)
			continue
		}
		i := slices.Index(*queue, w)
		if i >= 0 {
			*queue = slices.Delete(*queue, i, i+1)
		}
		p.mu.Unlock()
		if i < 0 {
			err = <-w.ready // it was this run's turn meanwhile
		}
		return err
	}
}

// grant gives free slots to those that wait.
func (p *Pool) grant() {
	for p.free > 0 && len(p.resuming) > 0 {
		p.free--
		p.resuming[0].run.slot = true
		p.resuming[0].ready <- nil
		p.resuming = slices.Delete(p.resuming, 0, 1)
	}
	most := max(1, p.opts.Processes*3/4)
	next := func(from int) int {
		i := slices.IndexFunc(p.queue[from:], func(w *waiter) bool { return p.held[w.run.id] < most })
		if i < 0 {
			return -1
		}
		return from + i
	}
	i := next(0)
	for ; p.free > 0 && i >= 0 && len(p.idle) > 0; i = next(i) {
		r, n := p.queue[i].run, len(p.idle)
		r.worker, p.idle = p.idle[n-1], p.idle[:n-1]
		p.free--
		p.held[r.id]++
		p.active[r] = struct{}{}
		p.background.Add(1)
		r.slot = true
		p.queue[i].ready <- nil
		p.queue = slices.Delete(p.queue, i, i+1)
	}
	// Those that could run if there were workers.
	for wanted := 1; wanted <= p.free && i >= 0; wanted, i = wanted+1, next(i+1) {
		switch {
		case p.starting >= wanted:
		case p.procs < p.opts.Processes:
			p.start()
		case p.parked == p.procs:
			p.checkParked()
			return
		}
	}
}

// standstill is how long all processes may wait before the queue is refused. A short request,
// such as one for state, ends long before.
const standstill = 500 * time.Millisecond

// checkParked refuses those in the queue if all processes wait, and go on waiting.
func (p *Pool) checkParked() {
	if p.checking {
		return
	}
	p.checking = true
	woken := p.woken
	time.AfterFunc(standstill, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.checking = false
		if p.woken == woken && p.parked == p.procs {
			p.fail(&p.queue, fmt.Errorf("all %d workers for scripts wait for calls, requests or approvals", p.procs))
		} else if !p.closed {
			p.grant()
		}
	})
}

func (p *Pool) fail(queue *[]*waiter, err error) {
	for _, w := range *queue {
		w.ready <- err
	}
	*queue = nil
}

// giveUp returns a run's slot.
func (p *Pool) giveUp(r *run) {
	if r.slot {
		r.slot = false
		p.free++
		p.grant()
	}
}

// release ends a run. A worker that cannot be used again is already ending.
func (p *Pool) release(r *run, killed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.background.Done()
	delete(p.active, r)
	if p.held[r.id]--; p.held[r.id] == 0 {
		delete(p.held, r.id)
	}
	switch {
	case r.ended():
		p.stats.Killed++
	case r.limits.Memory > DefaultMemory && !r.worker.isSmall():
		r.worker.kill()
	default:
		p.putBack(r.worker)
	}
	if killed && r.id != "" {
		p.kills[r.id] = append(p.recent(r.id), monotonic())
	}
	p.giveUp(r)
	p.grant()
}

// recent returns when a program was killed, forgetting what was long ago.
func (p *Pool) recent(id string) []time.Duration {
	if len(p.kills) > 1000 {
		clear(p.kills)
	}
	kills := p.kills[id]
	if len(kills) >= p.opts.Kills { // its pause is over, or this run began before it
		kills = nil
	}
	return slices.DeleteFunc(kills, func(at time.Duration) bool { return monotonic()-at > p.opts.KillWindow })
}

// pause returns for how long a program is refused.
func (p *Pool) pause(id string) time.Duration {
	kills := p.kills[id]
	if len(kills) < p.opts.Kills {
		return 0
	}
	return max(0, kills[len(kills)-1]+p.opts.Pause-monotonic())
}

// tripped returns why a program is refused.
func (p *Pool) tripped(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.pause(id); left > 0 {
		return errors.New(gateway.Textf("the script was stopped %d times within %v, because it ran too long, took too much memory or crashed its worker; it may run again in %v",
			p.opts.Kills, p.opts.KillWindow, left.Round(time.Second)).String())
	}
	return nil
}

// handOver is how long a run keeps others from running. After it the cores are shared.
const handOver = 50 * time.Millisecond

// keepWatch starts the watch if it does not run.
func (p *Pool) keepWatch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.watching && !p.closed {
		p.watching = true
		p.background.Go(p.watch)
	}
}

// watch ends runs that take too long or too much memory, as long as there are runs.
func (p *Pool) watch() {
	for last := monotonic(); ; {
		time.Sleep(tick)
		p.mu.Lock()
		now := monotonic()
		if len(p.active) > 0 {
			last = now
		}
		if now-last > time.Second || p.closed && len(p.active) == 0 {
			p.watching = false
			p.mu.Unlock()
			return
		}
		for r := range p.active {
			r.check(now)
		}
		p.mu.Unlock()
	}
}
