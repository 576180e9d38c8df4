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

// Options configure a bridge.
type Options struct {
	// In and Out are the client's streams.
	In  io.Reader
	Out io.Writer
	// Connect finds or starts another owner when the former one has gone.
	Connect func(ctx context.Context) (io.ReadWriteCloser, error)
	// Answer encodes an error as the answer to a request. The request has its ID.
	// One that was accepted has its Method and the spans of its Params, too.
	Answer func(request *jsonrpc.Message, err error) []byte
	Log    *slog.Logger
}

const (
	// waitPatience is how long a request waits for an owner.
	waitPatience = 30 * time.Second
	// drainTime is how long calls may run on after a request to stop.
	drainTime = 30 * time.Second
	// lastPatience is how long a closing bridge waits for its goroutines. Servers
	// that it had to start itself take a moment to end.
	lastPatience = 5 * time.Second
	// mostWaiting and mostWaitingBytes bound the messages that wait for an owner.
	mostWaiting      = 1024
	mostWaitingBytes = 64 << 20
	// While there is no owner, the next attempt comes after reconnectPause. The
	// pause doubles with each attempt, up to reconnectMost.
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
// mu guards all of its state. Nothing is written to the client while mu is held, so
// that a client that does not read delays only the goroutines that write to it.
type bridge struct {
	opt  Options
	life context.Context //nolint:containedctx // links and tries to find an owner end with it

	writing sync.Mutex

	mu sync.Mutex
	// current is the link for new messages; nil while there is none.
	current *link
	// links are all links that have not ended: the current one, and those whose
	// owners are retiring and still have requests to answer.
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

// Run carries messages between the client and the owner that was joined until the
// client's input or ctx ends, and then lets the calls in flight finish. After the
// end of ctx it waits only for a limited time.
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

// close cancels everything that is left. A client that does not read may block a
// goroutine, but not close.
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

// finish records that the client sends no more. Its requests are still answered.
func (b *bridge) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending = true
	if b.current != nil {
		b.current.finish()
	}
}

// isOver reports whether the client has received every answer that it waited for.
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

// toClient writes messages, one per line.
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

// refuseMessage answers a message that no owner could read. Only valid JSON is
// forwarded, so a client cannot send the bridge's end mark.
func refuseMessage(id []byte, code int, err error) []byte {
	return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(code, err.Error(), nil))
}

// fromClient handles a message of the client, or an array of messages, which one
// version of MCP allows. The returned channel, if any, is closed when there is
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
			b.toClient(b.opt.Answer(&jsonrpc.Message{ID: msg.ID}, err))
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

// request forwards a request, or queues it. A returned error is its answer.
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
			return nil, nil // it is sent with the rest of the replay
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

// next returns the number of the next message of the client that may have to wait.
func (b *bridge) next() uint64 {
	b.messages++
	return b.messages
}

// wait queues a request until there is an owner, for a limited time.
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
			b.toClient(b.opt.Answer(r.head(), errNoOwner))
			b.signal()
		}
	})
	b.connect() // the last attempt may have been given up
	return nil
}

// notification forwards a notification to the owner that it is for.
func (b *bridge) notification(msg *jsonrpc.Message, line []byte) *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch msg.Method {
	case "notifications/initialized":
		b.state.initialized = line
		if b.current == nil {
			return nil // it is sent with the rest of the replay
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

// cancel forwards a cancellation after its request. The client no longer wants an
// answer, so it gets none if the owner goes.
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

// answer forwards the client's answer to the owner that asked, if that is still
// connected.
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
