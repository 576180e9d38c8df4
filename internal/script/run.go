package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
)

// Run runs a program. An error is a *Error.
func (p *Pool) Run(ctx context.Context, job Job) (Result, error) {
	r := &run{pool: p, limits: job.Limits.orDefaults(), host: job.Host, id: job.Program.ID}
	for _, input := range []struct {
		name string
		text []byte
	}{{"context", job.Context}, {"vars", job.Vars}, {"params", job.Params}} {
		if message := r.refuse(input.name, input.text); message != "" {
			return Result{}, &Error{Kind: Refused, Message: message}
		}
	}
	if err := p.tripped(r.id); err != nil {
		return Result{}, &Error{Kind: Tripped, Message: err.Error()}
	}
	f, failure := r.do(ctx, func(w *worker) error {
		code := job.Program.Code
		if w.known[r.id] {
			code = nil
		} else if len(w.known) >= maxPrograms { // as the worker does
			clear(w.known)
		}
		w.known[r.id] = true
		return w.send(frameJob, []byte(r.id), code, job.Context, job.Vars, job.Params, r.limits.encode())
	})
	if failure != nil {
		return Result{}, failure
	}
	result := Result{Stats: r.stats}
	for i, left := range []struct {
		name string
		text *json.RawMessage
	}{{"what the script returns", &result.Returned}, {"the context that the script leaves", &result.Context}} {
		text, err := joinParts(f.fields[i], job.Context, f.fields[3+i], r.limits.Payload)
		if err != nil {
			return Result{}, &Error{Kind: Crashed, Message: err.Error(), Err: err, Stats: r.stats}
		}
		if message := r.refuse(left.name, text); message != "" {
			return Result{}, &Error{Kind: Refused, Message: message, Stats: r.stats}
		}
		if len(text) > 0 {
			*left.text = text
		}
	}
	return result, nil
}

// run is one use of a worker.
type run struct {
	pool   *Pool
	id     string // of the program; empty for a compilation
	limits Limits
	host   Host
	worker *worker
	stats  Stats

	// ctx ends with the run; what the host does for it ends with it.
	ctx   context.Context
	serve sync.WaitGroup

	slot bool // guarded by the pool
	// reason is why the worker was killed.
	reason atomic.Pointer[Kind]
	// over is when the worker is killed; 0 while it waits.
	over atomic.Int64
	// turn is when the script last began to run.
	turn atomic.Int64

	// writing guards the worker's input. It is held while a large answer is written,
	// when the run must still read what the worker writes.
	writing sync.Mutex
	// mu guards what follows.
	mu      sync.Mutex
	parked  bool
	done    bool
	asked   int // requests that were begun
	sent    int // answers that were sent
	running time.Duration
}

func (r *run) refuse(what string, text []byte) string {
	if len(text) > r.limits.Payload {
		return tooLarge(what, len(text), r.limits.Payload)
	}
	if tooDeep(text, r.limits.Depth) {
		return fmt.Sprintf("%s nests deeper than %d", what, r.limits.Depth)
	}
	return ""
}

// end kills the worker, once.
func (r *run) end(reason Kind) {
	if r.reason.CompareAndSwap(nil, &reason) {
		r.worker.kill()
	}
}

func (r *run) ended() bool { return r.reason.Load() != nil }

// do acquires a worker, sends it the job and returns the frame that ends it.
func (r *run) do(ctx context.Context, send func(*worker) error) (frame, *Error) {
	queued := monotonic()
	if ctx.Err() != nil {
		return frame{}, &Error{Kind: ended(ctx), Message: endedEarly(), Err: context.Cause(ctx)}
	}
	if err := r.pool.acquire(ctx, r, &r.pool.queue, r.pool.opts.QueueTime); err != nil {
		kind, message := Busy, err.Error()
		if ctx.Err() != nil {
			kind, message = ended(ctx), endedEarly()
		} else if errors.Is(err, errClosed) {
			kind = Canceled
		} else if start := (*startError)(nil); errors.As(err, &start) {
			kind = Crashed
		}
		return frame{}, &Error{Kind: kind, Message: message, Err: err, Stats: Stats{Queue: monotonic() - queued}}
	}
	f, failure := r.exchange(ctx, queued, send)
	if failure != nil {
		failure.Stats = r.stats
		// A script is not to blame for the end of its caller's time.
		failure.Killed = ctx.Err() == nil && (failure.Kind == Timeout || failure.Kind == Memory || failure.Kind == Crashed)
	}
	r.pool.release(r, failure != nil && failure.Killed)
	return f, failure
}

func endedEarly() string { return gateway.Textf("the call ended before its script ran").String() }

func ended(ctx context.Context) Kind {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Timeout
	}
	return Canceled
}

// exchange talks to the worker until the job ends.
func (r *run) exchange(ctx context.Context, queued time.Duration, send func(*worker) error) (f frame, failure *Error) {
	r.pool.keepWatch()
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.end(ended(ctx)) })
	defer stop()

	begin := monotonic()
	r.stats.Queue = begin - queued
	r.resume(begin)
	err := send(r.worker)
	for err == nil {
		f, err = readFrame(r.worker.reader, 2*r.limits.Payload+8*r.limits.Log+64<<10)
		if err != nil {
			break
		}
		switch f.kind {
		case frameAsk:
			err = r.ask(&f)
			continue
		case frameWait:
			r.park(f.number(0))
			continue
		case frameDone, frameCompiled:
		case frameFailed:
			failure = &Error{Kind: Kind(f.fields[0]), Message: string(f.fields[1]), Line: f.number(2), Column: f.number(3)}
		default:
			err = errFrame
		}
		break
	}
	r.settle(cancel, begin)
	if err != nil {
		return f, r.died(ctx, err)
	}
	return f, r.finish(&f, failure)
}

// settle ends what the host still does for the script, and the clocks.
func (r *run) settle(cancel context.CancelFunc, begin time.Duration) {
	cancel()
	r.mu.Lock()
	r.done = true
	if r.parked {
		r.unpark()
	}
	end := monotonic()
	r.running += end - time.Duration(r.turn.Load())
	r.mu.Unlock()
	r.over.Store(0)
	r.serve.Wait()
	r.stats.Run, r.stats.Wait = r.running, end-begin-r.running
}

// finish reads the console and decides whether the worker can be used again.
func (r *run) finish(f *frame, failure *Error) *Error {
	console := f.fields[2]
	if failure != nil {
		console = f.fields[4]
		if failure.Kind != Threw && failure.Kind != Refused {
			failure.Kind = Timeout // what else a worker can tell of itself
			r.end(Timeout)
			<-r.worker.exited
		}
	}
	if len(console) > 0 && f.kind != frameCompiled {
		_ = json.Unmarshal(console, &r.stats.Console)
	}
	return failure
}

// outOfMemory is what Go's runtime says when it gets no memory. It does not expect that
// everywhere.
var outOfMemory = regexp.MustCompile("^SIGSEGV|out of memory|cannot allocate memory|cannot map pages|failed to create new OS thread")

// died says why a worker ended, or is not to be trusted any more.
func (r *run) died(ctx context.Context, err error) *Error {
	r.end(Crashed)
	<-r.worker.exited
	kind := *r.reason.Load()
	text := r.worker.errors.String()
	if kind == Crashed {
		switch status := r.worker.cmd.ProcessState.ExitCode(); {
		case status == statusTimeout:
			kind = Timeout
		case status == statusMemory, outOfMemory.MatchString(text):
			kind = Memory
		}
	}
	var message string
	switch {
	case kind == Memory:
		message = gateway.Textf("the script needed more than %d MB of memory", r.limits.Memory>>20).String()
	case kind == Crashed && strings.Contains(text, "stack overflow"):
		message = gateway.Textf("the script crashed its worker: values or code nest too deep").String()
	case kind == Crashed:
		message = gateway.Textf("the script crashed its worker: %s", cmp.Or(cut(r.worker.errors.line(), 200), err.Error())).String()
	case ctx.Err() != nil:
		message, err = gateway.Textf("the call ended while its script ran").String(), context.Cause(ctx)
	case kind == Timeout:
		message = gateway.Textf("the script ran longer than %v", r.limits.Time).String()
	default:
		message, err = errClosed.Error(), errClosed
	}
	return &Error{Kind: kind, Message: message, Err: err}
}

// check is the watch's look at a run. The pool is locked.
func (r *run) check(now time.Duration) {
	over := time.Duration(r.over.Load())
	if over == 0 {
		return
	}
	if now > over {
		r.end(Timeout)
		return
	}
	if now-time.Duration(r.turn.Load()) > handOver {
		r.pool.giveUp(r)
	}
	// An eighth is for what the process has anyway.
	own, _ := r.worker.memory.read()
	if r.worker.grown = own - r.worker.base; r.worker.grown > r.limits.Memory/8*7 {
		r.end(Memory)
	}
}

// resume starts the clocks.
func (r *run) resume(now time.Duration) {
	r.turn.Store(int64(now))
	r.over.Store(int64(now + r.limits.Time + grace - r.running))
}

// park gives the slot free when the script waits for its host. answers is how many it
// had read by then: another may be on its way.
func (r *run) park(answers int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parked || answers != r.sent || r.asked == r.sent {
		return
	}
	r.parked = true
	r.over.Store(0)
	r.running += monotonic() - time.Duration(r.turn.Load())
	r.pool.mu.Lock()
	r.pool.parked++
	r.pool.giveUp(r)
	r.pool.grant()
	r.pool.mu.Unlock()
}

// unpark ends a wait.
func (r *run) unpark() {
	r.parked = false
	r.pool.mu.Lock()
	r.pool.parked--
	r.pool.woken++
	r.pool.mu.Unlock()
	r.turn.Store(int64(monotonic()))
}

// ask begins what a script asks for.
func (r *run) ask(f *frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked++; r.asked-r.sent > maxAsks+1 {
		return errors.New("too many requests at once")
	}
	id, op, a, b := f.fields[0], string(f.fields[1]), f.fields[2], f.fields[3]
	r.serve.Go(func() {
		value, err := r.answer(op, a, b)
		if r.ctx.Err() != nil {
			return // the run is ending
		}
		if err == nil {
			if message := r.refuse("the answer", value); message != "" {
				err = errors.New(message)
			}
		}
		text := ""
		if err != nil {
			value, text = nil, cut(cmp.Or(err.Error(), "it failed"), 8<<10)
		}
		r.deliver(id, text, value)
	})
	return nil
}

// deliver sends an answer as soon as the script may run.
func (r *run) deliver(id []byte, text string, value []byte) {
	if r.wake() {
		r.writing.Lock()
		defer r.writing.Unlock()
		_ = r.worker.send(frameAnswer, id, []byte(text), value) // who reads sees the error, too
	}
}

// wake acquires a slot for a script that is to get an answer. It reports false if the
// run is ending.
func (r *run) wake() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return false
	}
	if r.parked {
		if r.pool.acquire(r.ctx, r, &r.pool.resuming, time.Hour) != nil {
			return false
		}
		r.unpark()
		r.resume(monotonic())
	}
	r.sent++
	return true
}

var errNoHost = errors.New("this script may not use call, fetch or state")

// stateChange is what a script passes to state.set and state.add besides the value.
type stateChange struct {
	Key     string
	By, TTL float64
}

// ttl rounds up: 0 is no ttl.
func (s stateChange) ttl() time.Duration {
	return time.Duration(math.Ceil(s.TTL * float64(time.Second)))
}

func stateOf(raw []byte) (s stateChange, err error) {
	return s, json.Unmarshal(raw, &s)
}

// answer does what a script asks for. An empty value is undefined.
func (r *run) answer(op string, a, b []byte) ([]byte, error) {
	if op == "sleep" {
		ms, _ := strconv.ParseInt(string(a), 10, 32)
		timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.ctx.Done():
		}
		return nil, r.ctx.Err()
	}
	if r.host == nil {
		return nil, errNoHost
	}
	switch op {
	case "call":
		return r.host.Call(r.ctx, string(a), b)
	case "get":
		return r.host.GetState(r.ctx, string(a))
	case "set":
		if len(b) == 0 {
			b = nil
		}
		of, err := stateOf(a)
		if err != nil {
			return nil, err
		}
		return nil, r.host.SetState(r.ctx, of.Key, b, of.ttl())
	case "add":
		of, err := stateOf(a)
		if err != nil {
			return nil, err
		}
		sum, err := r.host.AddState(r.ctx, of.Key, of.By, of.ttl())
		if err != nil {
			return nil, err
		}
		return json.Marshal(sum)
	case "fetch":
		var request Request
		if err := json.Unmarshal(a, &request); err != nil {
			return nil, err
		}
		response, err := r.host.Fetch(r.ctx, request)
		if err != nil {
			return nil, err
		}
		return json.Marshal(response)
	default:
		return nil, errors.New("the worker asks for something unknown")
	}
}
