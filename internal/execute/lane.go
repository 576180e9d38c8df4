package execute

import (
	"slices"
	"sync"

	"genkan/internal/gateway"
)

// lane is one source's queue and breaker. Its places and its queue are shared by
// the clients as in gateway.Shares: a client with many calls leaves places free
// for the others, although calls of its own wait.
type lane struct {
	breaker breaker

	mu sync.Mutex
	// free are the places, room those in the queue, that nobody has.
	free, room int
	clients    map[string]*laneClient
	// waiting are the clients with calls in the queue.
	waiting []*laneClient
}

// laneClient is what one client has of a lane.
type laneClient struct {
	name string
	// calls are all that have entered, also those that gave their place up.
	calls   int
	running int
	queue   []chan struct{} // closed when the call may run; first come first
}

// idleClients is how many clients without calls keep their entry in a lane.
const idleClients = 64

func newLane(source gateway.Source, limits Limits) *lane {
	l := &lane{
		free: limits.Concurrency, room: limits.Queue, clients: map[string]*laneClient{},
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

// leave forgets a client without calls, if many have entries.
func (l *lane) leave(c *laneClient) {
	if c.calls--; c.calls == 0 && len(l.clients) > idleClients {
		delete(l.clients, c.name)
	}
}

// run takes a place for a client, if its share allows it.
func (l *lane) run(c *laneClient) bool {
	if !gateway.WithinShare(int64(c.running), 1, int64(l.free)) {
		return false
	}
	l.free--
	c.running++
	return true
}

// stop gives a place back, and lets those run that may now.
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

// next is the waiting client with the fewest running calls; of several, the one
// that came first.
func (l *lane) next() (next *laneClient) {
	for _, c := range l.waiting {
		if next == nil || c.running < next.running {
			next = c
		}
	}
	return next
}

// enqueue puts a call of a client into the queue, if its share allows it.
func (l *lane) enqueue(c *laneClient) (turn chan struct{}, ok bool) {
	if !gateway.WithinShare(int64(len(c.queue)), 1, int64(l.room)) {
		return nil, false
	}
	l.room--
	turn = make(chan struct{})
	if len(c.queue) == 0 {
		l.waiting = append(l.waiting, c)
	}
	c.queue = append(c.queue, turn)
	return turn, true
}

// dequeue takes a client's call out of the queue. The client goes behind the
// others, so that clients with equally many running calls take turns.
func (l *lane) dequeue(c *laneClient, i int) {
	l.room++
	c.queue = slices.Delete(c.queue, i, i+1)
	at := slices.Index(l.waiting, c)
	l.waiting = slices.Delete(l.waiting, at, at+1)
	if len(c.queue) > 0 {
		l.waiting = append(l.waiting, c)
	}
}

// place is a call's place in a lane. A call gives it up while its client is
// asked something, or the people of a few callers would close a server to all
// others; afterwards it goes on in any case.
type place struct {
	lane   *lane
	client *laneClient
	mu     sync.Mutex
	held   bool
}

func (p *place) give() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		p.held = false
		p.lane.mu.Lock()
		defer p.lane.mu.Unlock()
		p.lane.stop(p.client)
	}
}

// take takes a place if the client's share allows it.
func (p *place) take() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	p.held = p.lane.run(p.client)
}

// leave is the end of the call.
func (p *place) leave() {
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

// abandon ends a call that waits for its turn.
func (p *place) abandon(turn chan struct{}) {
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	if i := slices.Index(p.client.queue, turn); i >= 0 {
		p.lane.dequeue(p.client, i)
	} else { // the turn came at the same moment
		p.lane.stop(p.client)
	}
	p.lane.leave(p.client)
}
