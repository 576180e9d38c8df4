package execute

import (
	"slices"
	"sync"
	"time"

	"genkan/internal/gateway"
)

// lane is the queue and the breaker of a source. Clients share the slots and the
// queue as in gateway.Shares: a client with many calls leaves slots free for the
// others, even while its own calls wait.
type lane struct {
	breaker breaker

	mu sync.Mutex
	// free is the number of free slots, and freeEntries that of free entries in the
	// queue.
	free, freeEntries int
	clients           map[string]*laneClient
	// waiting are the clients with queued calls.
	waiting []*laneClient
}

// laneClient is a client's use of a lane.
type laneClient struct {
	name string
	// calls counts the client's calls in the lane, also those that gave up their
	// slot.
	calls   int
	running int
	queue   []chan struct{} // closed when the call may run; first come first
}

// idleClients is how many clients without calls keep their entries.
const idleClients = 64

func newLane(source gateway.Source, limits Limits) *lane {
	l := &lane{
		free: limits.Concurrency, freeEntries: limits.Queue, clients: map[string]*laneClient{},
		breaker: breaker{failures: limits.BreakerFailures, pause: limits.BreakerPause},
	}
	// A breaker lets a call through as soon as its source is back.
	l.breaker.starts = func() uint64 { return gateway.ReadyCount(source) }
	return l
}

// The methods below are called with mu held.

// enter counts a call of a client, until leave.
func (l *lane) enter(client string) *laneClient {
	c := l.clients[client]
	if c == nil {
		c = &laneClient{name: client}
		l.clients[client] = c
	}
	c.calls++
	return c
}

// leave removes a client without calls if there are many entries.
func (l *lane) leave(c *laneClient) {
	if c.calls--; c.calls == 0 && len(l.clients) > idleClients {
		delete(l.clients, c.name)
	}
}

// run takes a slot for a client if its share allows it.
func (l *lane) run(c *laneClient) bool {
	if !gateway.WithinShare(int64(c.running), 1, int64(l.free)) {
		return false
	}
	l.free--
	c.running++
	return true
}

// stop returns a slot and starts queued calls.
func (l *lane) stop(c *laneClient) {
	l.free++
	c.running--
	for {
		next := l.next()
		if next == nil || !l.run(next) {
			break
		}
		close(next.queue[0])
		l.dequeue(next, 0)
	}
}

// next returns the waiting client with the fewest running calls; of several, the
// first that came.
func (l *lane) next() (next *laneClient) {
	for _, c := range l.waiting {
		if next == nil || c.running < next.running {
			next = c
		}
	}
	return next
}

// enqueue queues a call of a client if its share allows it.
func (l *lane) enqueue(c *laneClient) (turn chan struct{}, ok bool) {
	if !gateway.WithinShare(int64(len(c.queue)), 1, int64(l.freeEntries)) {
		return nil, false
	}
	l.freeEntries--
	turn = make(chan struct{})
	if len(c.queue) == 0 {
		l.waiting = append(l.waiting, c)
	}
	c.queue = append(c.queue, turn)
	return turn, true
}

// dequeue removes a client's call from the queue. The client moves behind the
// others, so that clients with equally many running calls take turns.
func (l *lane) dequeue(c *laneClient, i int) {
	l.freeEntries++
	c.queue = slices.Delete(c.queue, i, i+1)
	at := slices.Index(l.waiting, c)
	l.waiting = slices.Delete(l.waiting, at, at+1)
	if len(c.queue) > 0 {
		l.waiting = append(l.waiting, c)
	}
}

// slot is a call's slot in a lane. A call gives it up while its client is asked
// something: otherwise a few unanswered questions would block the server for all.
// Afterwards the call goes on in any case.
type slot struct {
	lane   *lane
	client *laneClient
	// latest is when the call ends, if its caller says so; zero otherwise. It is used
	// between attempts, and each attempt adds the time of questions to the client.
	latest time.Time
	mu     sync.Mutex
	held   bool
}

func (p *slot) give() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		p.held = false
		p.lane.mu.Lock()
		defer p.lane.mu.Unlock()
		p.lane.stop(p.client)
	}
}

// take takes the slot again if the client's share allows it.
func (p *slot) take() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	p.held = p.lane.run(p.client)
}

// leave ends the call's use of the lane.
func (p *slot) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	if p.held {
		p.held = false
		p.lane.stop(p.client)
	}
	p.lane.leave(p.client)
}

// abandon removes a call from the queue.
func (p *slot) abandon(turn chan struct{}) {
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	if i := slices.Index(p.client.queue, turn); i >= 0 {
		p.lane.dequeue(p.client, i)
	} else { // the turn came at the same moment
		p.lane.stop(p.client)
	}
	p.lane.leave(p.client)
}
