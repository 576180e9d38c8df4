package bridge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Options are what a bridge is made of.
type Options struct {
	// In and Out are the client's.
	In  io.Reader
	Out io.Writer
	// Connect finds or makes another owner when the former one has gone.
	Connect func(ctx context.Context) (io.ReadWriteCloser, error)
	// Answer encodes an error as the answer to a request.
	Answer func(id []byte, err error) []byte
	Log    *slog.Logger
}

const (
	// waitPatience is how long a request waits for an owner.
	waitPatience = 30 * time.Second
	// drainTime is how long calls may go on after a request to stop.
	drainTime = 30 * time.Second
	// lastPatience is how long a bridge that has given up waits for what it has
	// begun. Servers that it had to start itself take a moment to end.
	lastPatience = 5 * time.Second
	// mostWaiting and mostWaitingBytes bound what waits for an owner.
	mostWaiting      = 1024
	mostWaitingBytes = 64 << 20
	// While no owner can be had, the next try comes after reconnectPause, and
	// then after twice as long each time, up to reconnectMost.
	reconnectPause = 100 * time.Millisecond
	reconnectMost  = 5 * time.Second
)

var (
	errLost = gateway.Errorf(gateway.CodeUnavailable,
		"genkan's background process was lost while this call was under way; the call may or may not have been carried out, so check before you repeat it")
	errNoOwner = gateway.Errorf(gateway.CodeUnavailable,
		"genkan's background process was lost, and no other one could be reached in time; the call was not carried out. Try again, and look into genkan's log if that does not help")
	errGoingDown      = gateway.Errorf(gateway.CodeUnavailable, "genkan is going down")
	errTooMuchWaiting = gateway.Errorf(gateway.CodeLimited,
		"genkan's background process was lost, and too many calls wait for another one; the call was not carried out. Try again in a moment")
)

// bridge carries one client's messages to an owner and back.
//
// Whatever happens to it happens under mu, and nothing is written to the
// client meanwhile: a client that does not read holds up those who have
// something to say to it, and nobody else.
type bridge struct {
	opt  Options
	life context.Context //nolint:containedctx // links and tries to find an owner end with it

	writing sync.Mutex

	mu sync.Mutex
	// current is the link for what is new; nil while there is none.
	current *link
	// links are all that have not ended: the current one, and those whose
	// owners are going and still have something to answer.
	links      map[*link]struct{}
	connecting bool
	waiting    waitQueue
	state      sessionState
	questions  questions
	messages   uint64 // number of the last message, for their order
	ending     bool   // the client sends no more
	// changed is signaled when the bridge may be done.
	changed chan struct{}

	background sync.WaitGroup
}

// Run carries messages between the client and the owner that was joined until
// the client's input ends or ctx does, and then lets the calls that are under
// way finish; not for ever, once ctx has ended.
func Run(ctx context.Context, first io.ReadWriteCloser, opt Options) error {
	life, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	b := &bridge{
		opt: opt, life: life,
		links:   map[*link]struct{}{},
		changed: make(chan struct{}, 1),
	}
	defer b.close(giveUp)
	b.adopt(first)

	ended := make(chan error, 1)
	go func() { ended <- b.readClient() }()
	var err error
	stop := ctx.Done()
	select {
	case err = <-ended:
	case <-stop:
	}
	b.finish()
	var patience <-chan time.Time
	for !b.isOver() {
		select {
		case <-b.changed:
		case <-stop:
			stop = nil
			timer := time.NewTimer(drainTime)
			defer timer.Stop() // once: stop is nil from here on
			patience = timer.C
		case <-patience:
			opt.Log.Warn("some calls did not finish in time")
			return err
		}
	}
	return err
}

// close gives up on whatever is left. A client that does not read may hold
// somebody up, but not the end.
func (b *bridge) close(giveUp func()) {
	giveUp()
	b.mu.Lock()
	b.waiting.takeAll()
	b.mu.Unlock()
	done := make(chan struct{})
	go func() {
		b.background.Wait()
		close(done)
	}()
	timer := time.NewTimer(lastPatience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// finish notes that the client sends no more. Its requests are still answered.
func (b *bridge) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending = true
	if b.current != nil {
		b.current.finish()
	}
}

// isOver reports whether the client has got everything that it waited for.
func (b *bridge) isOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ending && len(b.links) == 0 && b.waiting.requests() == 0
}

func (b *bridge) signal() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// toClient writes messages, a line each.
func (b *bridge) toClient(lines ...[]byte) {
	b.writing.Lock()
	defer b.writing.Unlock()
	for _, line := range lines {
		if _, err := b.opt.Out.Write(append(line, '\n')); err != nil {
			b.opt.Log.Debug("the client does not read any more", "error", err)
			return
		}
	}
}

func (b *bridge) readClient() error {
	lines := jsonrpc.NewLineReader(b.opt.In)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsonrpc.ErrTooLarge):
			b.toClient(refuseMessage(nil, jsonrpc.CodeInvalidRequest, err))
		case err != nil:
			return err
		default:
			if space := b.fromClient(line); space != nil {
				select {
				case <-space:
				case <-b.life.Done():
				}
			}
		}
		if b.life.Err() != nil {
			return nil
		}
	}
}

// refuseMessage answers what no owner could read either. Only what is JSON
// goes on, so the end mark is the bridge's alone.
func refuseMessage(id []byte, code int, err error) []byte {
	return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(code, err.Error(), nil))
}

// fromClient handles a message of the client, or an array of them, as one
// version of MCP has it. The channel it returns, if any, is closed when there is
// space for more.
func (b *bridge) fromClient(line []byte) <-chan struct{} {
	if jsonrpc.IsBatch(line) && b.hasBatches() {
		messages, err := jsonrpc.SplitBatch(line)
		if err == nil && len(messages) > 0 && len(messages) <= jsonrpc.MaxBatch {
			var space <-chan struct{}
			for _, message := range messages {
				space = b.message(message)
			}
			return space
		}
	}
	return b.message(line)
}

// hasBatches reports whether the client's version lets it send arrays.
func (b *bridge) hasBatches() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return jsonrpc.LookupText(b.state.initialize, "protocolVersion") == jsonrpc.BatchVersion
}

func (b *bridge) message(line []byte) <-chan struct{} {
	msg, err := jsonrpc.Scan(line)
	if err != nil {
		code := jsonrpc.CodeParse
		if scan, ok := errors.AsType[*jsonrpc.ScanError](err); ok {
			code = scan.Code
		}
		b.toClient(refuseMessage(msg.ID, code, err))
		return nil
	}
	var to *link
	switch msg.Kind {
	case jsonrpc.Request:
		to, err = b.request(&msg, line)
		if err != nil {
			b.toClient(b.opt.Answer(msg.ID, err))
		}
	case jsonrpc.Notification:
		to = b.notification(&msg, line)
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		to = b.answer(&msg, line)
	}
	if to == nil {
		return nil
	}
	return to.out.full()
}

// request sends a request on, or lets it wait. An error is its answer.
func (b *bridge) request(msg *jsonrpc.Message, line []byte) (*link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := string(msg.ID)
	if b.isInUse(id) {
		return nil, gateway.Errorf(gateway.CodeInvalid, "request id %s is in use by a call that is still under way", id)
	}
	if b.ending {
		return nil, errGoingDown
	}
	if msg.Method == methodListen {
		b.state.listen(id, line)
		if b.current == nil {
			b.connect()
			return nil, nil // it goes out with the rest that is remembered
		}
		b.current.out.putLine(line)
		return b.current, nil
	}
	r := newRequest(msg, line, b.next())
	if b.current == nil {
		return nil, b.wait(r, line)
	}
	b.current.send(r, line)
	return b.current, nil
}

// isInUse reports whether the client waits for an answer with this id.
func (b *bridge) isInUse(id string) bool {
	if b.state.listens.has(id) || b.waiting.has(id) {
		return true
	}
	for l := range b.links {
		if _, ok := l.pending[id]; ok {
			return true
		}
	}
	return false
}

// next numbers the messages of the client that may have to wait.
func (b *bridge) next() uint64 {
	b.messages++
	return b.messages
}

// wait keeps a request until there is an owner, for a while.
func (b *bridge) wait(r *request, line []byte) error {
	w := &waiter{request: r, line: line, number: r.number}
	if !b.waiting.add(w) {
		return errTooMuchWaiting
	}
	w.timer = time.AfterFunc(waitPatience, func() {
		b.mu.Lock()
		still := b.waiting.remove(r.id)
		b.mu.Unlock()
		if still {
			b.toClient(b.opt.Answer([]byte(r.id), errNoOwner))
			b.signal()
		}
	})
	b.connect() // the last try may have been given up
	return nil
}

// notification sends a notification to whom it is for.
func (b *bridge) notification(msg *jsonrpc.Message, line []byte) *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch msg.Method {
	case "notifications/initialized":
		b.state.initialized = line
		if b.current == nil {
			return nil // it goes out with the rest that is remembered
		}
	case "notifications/cancelled":
		return b.cancel(string(jsonrpc.Lookup(msg.Params.Raw, "requestId")), line)
	}
	if b.current == nil {
		b.waiting.add(&waiter{line: line, number: b.next()})
		return nil
	}
	b.current.out.putLine(line)
	return b.current
}

// cancel sends a cancellation after its request. The client wants no answer
// any more, so nothing is left to be said when the owner goes.
func (b *bridge) cancel(id string, line []byte) *link {
	b.state.listens.remove(id)
	if b.waiting.remove(id) {
		return nil
	}
	to := b.current
	for l := range b.links {
		if _, ok := l.pending[id]; ok {
			delete(l.pending, id)
			to = l
		}
	}
	if to != nil {
		to.out.putLine(line)
		b.leaveIfDone(to)
	}
	return to
}

// answer sends the client's answer to the owner that asked, if it is still
// there.
func (b *bridge) answer(msg *jsonrpc.Message, line []byte) *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.questions.answered(string(msg.ID))
	if q == nil {
		return nil
	}
	q.from.out.putLine(q.answer(msg, line))
	return q.from
}
