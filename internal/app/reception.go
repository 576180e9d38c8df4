package app

import (
	"context"
	"io"
	"sync"
	"time"

	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/mcpserver"
)

const (
	// handOverTime is how long processes that have joined may take to find
	// another owner, before this one stops to listen to them.
	handOverTime = 5 * time.Second
	// successorPatience is how long a process that asked this one to go may
	// take until it serves.
	successorPatience = 10 * time.Second
)

// reception is where other genkan processes of the data directory come in.
type reception struct {
	p     *Process
	owner *bridge.Owner
	// idle is how long nobody may be here before it closes; 0 is for ever.
	idle time.Duration
	// givesWay: a process that serves HTTP may take the place.
	givesWay bool
	// welcome tells visitors about this process.
	welcome bridge.Welcome
	// handedOver is closed when those who joined have left or were given up
	// waiting for.
	handedOver chan struct{}
	rest       *handedListener

	// serving ends when the clients that are left are not listened to any more.
	serving context.Context //nolint:containedctx // clients outlive the request to stop by a moment
	stop    context.CancelFunc

	mu       sync.Mutex
	visitors int
	guests   map[*bridge.Joined]struct{}
	closing  bool
	timer    *time.Timer
	// over is closed when the reception is to close by itself.
	over     chan struct{}
	overOnce sync.Once
	left     chan struct{} // somebody has left
}

// ServeBackground serves the processes that join, and nobody else, until ctx
// ends, nobody has been here for idle, or another genkan takes the place. ready
// is called when they can come. It fails when the database is lost.
func (p *Process) ServeBackground(ctx context.Context, owner *bridge.Owner, idle time.Duration, ready func()) error {
	if err := owner.Listen(ctx); err != nil {
		return err
	}
	ctx, end := p.whileHealthy(ctx)
	defer end()
	ready()
	p.newReception(owner, idle, true).serve(ctx)
	return p.Health()
}

func (p *Process) newReception(owner *bridge.Owner, idle time.Duration, givesWay bool) *reception {
	r := &reception{
		p: p, owner: owner, idle: idle, givesWay: givesWay,
		welcome:    bridge.Welcome{Version: p.buildID, Config: p.configPath()},
		handedOver: make(chan struct{}), rest: newHandedListener(),
		guests: map[*bridge.Joined]struct{}{},
		over:   make(chan struct{}), left: make(chan struct{}, 1),
	}
	r.serving, r.stop = context.WithCancel(context.Background())
	return r
}

// serve receives whoever comes until ctx ends or nobody is left to come, hands
// over, and returns when the last one has gone.
func (r *reception) serve(ctx context.Context) {
	server := r.p.httpServer()
	var beside sync.WaitGroup
	beside.Go(func() { _ = server.Serve(r.rest) })
	beside.Go(func() { r.owner.Serve(r.welcome, r.receive) })
	if r.idle > 0 {
		r.mu.Lock()
		r.timer = time.AfterFunc(r.idle, r.closeIfIdle)
		r.mu.Unlock()
		defer r.timer.Stop()
	}
	select {
	case <-ctx.Done():
	case <-r.over:
	}
	r.handOver()
	close(r.handedOver)
	r.stop()
	r.p.shutDown(server)
	_ = r.rest.Close()
	beside.Wait()
}

// handOver sends those who have joined to the next owner. What they have under
// way is answered here.
func (r *reception) handOver() {
	// First, so that another owner is to be had.
	r.owner.Release()
	r.mu.Lock()
	r.closing = true
	for guest := range r.guests {
		guest.Retire()
	}
	r.mu.Unlock()
	patience := time.NewTimer(handOverTime)
	defer patience.Stop()
	for r.guestsLeft() > 0 {
		select {
		case <-r.left:
		case <-patience.C:
			return
		}
	}
}

func (r *reception) guestsLeft() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.guests)
}

// receive serves one visitor.
func (r *reception) receive(v *bridge.Visitor) {
	if !r.enter() {
		v.Refuse(bridge.RefusedGoingDown, "it is going down")
		return
	}
	defer r.leave()
	switch v.Hello.Purpose {
	case bridge.PurposeMCP:
		r.receiveClient(v)
	case bridge.PurposeREST:
		if conn, err := v.Accept(); err == nil {
			r.rest.hand(conn)
		}
	case bridge.PurposeRetire:
		r.giveWay(v)
	default:
		v.Refuse(bridge.RefusedPurpose, "it does not know what the other one comes for")
	}
}

// enter counts a visitor, unless the reception is closing.
func (r *reception) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return false
	}
	r.visitors++
	if r.timer != nil {
		r.timer.Stop()
	}
	return true
}

func (r *reception) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.visitors--
	if r.visitors == 0 && r.timer != nil {
		r.timer.Reset(r.idle)
	}
}

func (r *reception) closeIfIdle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.visitors == 0 {
		r.closing = true
		r.p.log.Info("nobody has been connected for a while: going", "seconds", r.idle.Seconds())
		r.overOnce.Do(func() { close(r.over) })
	}
}

func (r *reception) receiveClient(v *bridge.Visitor) {
	if refusal, reason := r.p.cannotHonour(&v.Hello); refusal != "" {
		r.p.log.Info("a genkan that wanted to join serves by itself", "process_id", v.Hello.PID, "reason", reason)
		v.Refuse(refusal, reason)
		return
	}
	conn, err := v.Accept()
	if err != nil {
		return
	}
	guest := bridge.NewJoined(conn)
	r.mu.Lock()
	r.guests[guest] = struct{}{}
	if r.closing { // since it entered
		guest.Retire()
	}
	r.mu.Unlock()
	name := v.Hello.Settings[settingClient]
	client := gateway.LocalIdentity(name).ClientID
	r.p.log.Info("a client has joined", "client", client, "process_id", v.Hello.PID, "dir", v.Hello.Dir)
	err = r.p.serveJoined(r.serving, guest, mcpserver.StdioOptions{Client: name, View: viewOf(&v.Hello), Dir: v.Hello.Dir})
	guest.Close()
	r.mu.Lock()
	delete(r.guests, guest)
	r.mu.Unlock()
	select {
	case r.left <- struct{}{}:
	default:
	}
	r.p.log.Info("a client has left", "client", client, "process_id", v.Hello.PID, "error", err)
}

// giveWay leaves the place to another process, and closes when that one
// serves.
func (r *reception) giveWay(v *bridge.Visitor) {
	if !r.givesWay {
		v.Refuse(bridge.RefusedPurpose, "it is no background process")
		return
	}
	r.p.log.Info("another genkan takes over", "process_id", v.Hello.PID)
	r.owner.Release()
	if conn, err := v.Accept(); err == nil {
		_ = conn.SetReadDeadline(time.Now().Add(successorPatience))
		_, _ = io.Copy(io.Discard, conn) // it ends when the other one serves, or has failed to
	}
	r.overOnce.Do(func() { close(r.over) })
}
