package history

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/filelock"
	"genkan/internal/privatedir"
)

// Options configure a Writer.
type Options struct {
	// Dir is the folder of the history. It is made when the first entry is written.
	Dir string
	// Run names the process; IDs of entries begin with it.
	Run string
	// Key returns the key that bodies are encrypted with. It may wait for a person.
	Key func(context.Context) ([]byte, error)
	// Redact takes the secrets out of a body, and RedactText out of the text of an error.
	Redact     func([]byte) []byte
	RedactText func(string) string
	// Trace returns what workflows did to a call, with secrets taken out if redact is
	// set; nil if they did nothing. It is asked when the call is written.
	Trace func(id string, redact bool) []byte
	// Effect returns what workflows did to a call, in a word; empty for nothing. It is
	// asked when the call is written.
	Effect func(id string) string
	Log    *slog.Logger
	// Keep says how much is kept.
	Keep func() Keep
	// Interval is how long an entry may wait before it is written; zero means a tenth
	// of a second.
	Interval time.Duration
	// RetryPause is the pause after a failed write; zero means a second.
	RetryPause time.Duration
}

const (
	// usualInterval is short enough that a crash loses little.
	usualInterval = 100 * time.Millisecond
	// enoughToWrite are the bytes that are written without waiting for the interval.
	enoughToWrite = 512 << 10
	// maxQueued bounds the bytes of bodies in the queue, and maxQueuedEntries the
	// entries.
	maxQueued        = 16 << 20
	maxQueuedEntries = 32 << 10
	// keyPatience is how long the first entries wait for the key.
	keyPatience = 5 * time.Second
	// maxSpare is the largest queue whose memory is used again, in entries.
	maxSpare = 1 << 10
	// lastPatience is how long the last ones wait.
	lastPatience = time.Second
	// retryPause is the pause after a failed write.
	retryPause = time.Second
	// maxAge is how long a segment is written. It bounds how much longer than wanted
	// its first entries are kept.
	maxAge = 6 * time.Hour
	// upkeepInterval is the time between two looks for segments that are too old.
	upkeepInterval = time.Minute
)

// Writer writes entries.
type Writer struct {
	opt Options

	mu    sync.Mutex
	queue []queued
	bytes int
	// added and handled count the entries that were queued, and those of them that
	// were written or given up.
	added, handled uint64
	closed         bool

	wake  chan struct{} // the queue is no longer empty
	hurry chan struct{} // somebody waits, or much is queued
	done  chan struct{}
	// written is closed and replaced after each write.
	written chan struct{}
	stop    context.CancelFunc
	// life ends after the last write.
	life    context.Context //nolint:containedctx // the key is asked for beside the calls
	endLife context.CancelFunc

	dropped, withoutBodies atomic.Uint64
	problem                atomic.Pointer[Problem]

	// The rest belongs to the goroutine.
	asking  chan keyAnswer // nil while nobody is asked for the key
	waited  bool           // for the key
	key     []byte
	keyErr  error
	current *segment
	spare   []queued // for the next queue
	lock    *os.File
	number  int
	buffer  []byte
	paused  time.Time
}

type keyAnswer struct {
	key []byte
	err error
}

type queued struct {
	entry  Entry
	bodies Bodies
	redact bool
}

// Problem is why the history does not keep everything.
type Problem struct {
	Since time.Time
	// Bodies is set if only bodies are not kept.
	Bodies bool
	Err    error
}

// NewWriter returns a Writer that runs until Close.
func NewWriter(opt Options) *Writer {
	opt.Interval, opt.RetryPause = cmp.Or(opt.Interval, usualInterval), cmp.Or(opt.RetryPause, retryPause)
	ctx, stop := context.WithCancel(context.Background())
	w := &Writer{
		opt: opt, stop: stop,
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), done: make(chan struct{}), written: make(chan struct{}),
	}
	w.life, w.endLife = context.WithCancel(context.Background())
	go w.run(ctx)
	return w
}

// Add queues an entry. It never waits. Bodies of which only the beginning fits are cut.
// If redact is set, secrets are taken out before bodies are stored, and what the
// server received and answered is not kept.
func (w *Writer) Add(e Entry, b Bodies, redact bool) {
	if redact {
		b.Sent, b.Answered = nil, nil
	}
	if b.Request != nil || b.Response != nil {
		e.Flags |= HasBodies
		if b.Sent != nil && b.Answered != nil && len(b.Sent) <= maxBody && len(b.Answered) <= maxBody {
			e.Flags |= Replayable
		} else {
			b.Sent, b.Answered = nil, nil
		}
		if len(b.Request) > maxBody {
			e.Flags |= RequestCut
		}
		if len(b.Response) > maxBody {
			e.Flags |= ResponseCut
		}
		b.Request, b.Response = beginning(b.Request), beginning(b.Response)
	}
	size := len(b.Request) + len(b.Response)
	w.mu.Lock()
	if w.closed || len(w.queue) >= maxQueuedEntries {
		w.mu.Unlock()
		w.dropped.Add(1)
		return
	}
	if w.bytes+size > maxQueued {
		b, size = Bodies{}, 0
		e.Flags = e.Flags&^(HasBodies|Replayable|RequestCut|ResponseCut) | BodiesLost
		w.withoutBodies.Add(1)
	}
	first, much := len(w.queue) == 0, w.bytes < enoughToWrite && w.bytes+size >= enoughToWrite
	w.queue = append(w.queue, queued{e, b, redact})
	w.bytes += size
	w.added++
	w.mu.Unlock()
	if first {
		signal(w.wake)
	}
	if much {
		signal(w.hurry)
	}
}

// beginning returns a body, or a copy of its beginning if it is long, so that the
// whole is not kept in memory.
func beginning(body []byte) []byte {
	if len(body) <= maxBody {
		return body
	}
	return append(make([]byte, 0, maxBody), body[:maxBody]...)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Flush waits until the entries that were added before are written, or cannot be.
func (w *Writer) Flush(ctx context.Context) {
	w.mu.Lock()
	upTo := w.added
	w.mu.Unlock()
	for {
		w.mu.Lock()
		written, flushed := w.written, w.handled >= upTo
		w.mu.Unlock()
		if flushed {
			return
		}
		signal(w.hurry)
		select {
		case <-written:
		case <-w.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Dropped returns how many entries, and how many bodies of further entries, were lost
// because they came faster than they could be written.
func (w *Writer) Dropped() (entries, bodies uint64) { return w.dropped.Load(), w.withoutBodies.Load() }

// Problem returns why not everything is kept now; nil if everything is.
func (w *Writer) Problem() *Problem { return w.problem.Load() }

// Close writes what is queued and ends.
func (w *Writer) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.stop()
	<-w.done
}

func (w *Writer) run(ctx context.Context) {
	defer close(w.done)
	upkeep := time.NewTicker(upkeepInterval)
	defer upkeep.Stop()
	var due *time.Timer
	for {
		select {
		case <-w.wake:
		case <-upkeep.C:
			w.upkeep()
			continue
		case <-ctx.Done():
			w.write(ctx)
			w.end()
			return
		}
		if due == nil {
			due = time.NewTimer(w.opt.Interval)
		} else {
			due.Reset(w.opt.Interval)
		}
		select {
		case <-due.C:
		case <-w.hurry:
		case <-ctx.Done():
		}
		due.Stop()
		w.write(ctx)
	}
}

// write writes the queue.
func (w *Writer) write(ctx context.Context) {
	w.mu.Lock()
	queue := w.queue
	w.queue, w.bytes = w.spare, 0
	w.mu.Unlock()
	w.findKey(ctx, queue)
	for rest := queue; len(rest) > 0; {
		n, err := w.writeSome(rest)
		if err != nil {
			w.dropped.Add(uint64(len(rest)))
			w.report(&Problem{Since: time.Now(), Err: err})
			break
		}
		rest = rest[n:]
	}
	if w.spare = queue[:0]; cap(queue) > maxSpare {
		w.spare = nil
	}
	clear(queue)
	w.mu.Lock()
	w.handled += uint64(len(queue))
	close(w.written)
	w.written = make(chan struct{})
	more := len(w.queue) > 0
	w.mu.Unlock()
	if more {
		signal(w.wake)
	}
}

// writeSome writes entries into the current segment until it is full. It returns how
// many it has written.
func (w *Writer) writeSome(queue []queued) (int, error) {
	if time.Now().Before(w.paused) {
		return 0, w.problem.Load().Err
	}
	if err := w.openSegment(); err != nil {
		w.paused = time.Now().Add(w.opt.RetryPause)
		return 0, err
	}
	s := w.current
	w.buffer = w.buffer[:0]
	n := 0
	for n < len(queue) && n < maxEntries-s.entries && s.size+int64(len(w.buffer)) < maxSegment {
		w.encode(&queue[n])
		n++
	}
	if err := s.append(w.buffer, n); err != nil {
		w.closeSegment()
		w.paused = time.Now().Add(w.opt.RetryPause)
		return 0, err
	}
	if cap(w.buffer) > 2*maxSegment {
		w.buffer = nil
	}
	if s.isFull() {
		w.closeSegment()
	}
	w.report(w.bodiesProblem())
	return n, nil
}

// encode appends the frame of an entry to the buffer.
func (w *Writer) encode(q *queued) {
	s := w.current
	at := len(w.buffer)
	has := q.entry.Has(HasBodies)
	if has && s.bodies == nil {
		q.entry.Flags = q.entry.Flags&^(HasBodies|Replayable|RequestCut|ResponseCut) | BodiesLost
		has = false
	}
	if q.entry.Error != "" && w.opt.RedactText != nil {
		q.entry.Error, q.entry.Tool = w.opt.RedactText(q.entry.Error), w.opt.RedactText(q.entry.Tool)
	}
	if w.opt.Effect != nil {
		q.entry.Effect = w.opt.Effect(q.entry.ID)
	}
	w.buffer = encodeEntry(beginFrame(w.buffer), &q.entry)
	if has {
		if q.redact {
			q.bodies.Request, q.bodies.Response = w.redacted(q.bodies.Request), w.redacted(q.bodies.Response)
		}
		if w.opt.Trace != nil {
			if q.bodies.Trace = w.opt.Trace(q.entry.ID, q.redact); len(q.bodies.Trace) > MaxTrace {
				q.bodies.Trace = nil
			}
		}
		plain := len(w.buffer)
		w.buffer = appendBodies(w.buffer, &q.bodies)
		w.buffer = s.bodies.aead.Seal(w.buffer[:plain], nonce(s.size+int64(at)), w.buffer[plain:], nil) // in place
	}
	w.buffer = endFrame(w.buffer, at, s.sum)
}

func (w *Writer) redacted(body []byte) []byte {
	if body == nil || w.opt.Redact == nil {
		return body
	}
	return w.opt.Redact(body)
}

// findKey asks for the key when the first bodies are written. It waits for the answer
// once and not for long, because a person may have to unlock a keyring.
func (w *Writer) findKey(ctx context.Context, queue []queued) {
	if w.key != nil || w.keyErr != nil || w.opt.Key == nil ||
		!slices.ContainsFunc(queue, func(q queued) bool { return q.entry.Has(HasBodies) }) {
		return
	}
	if w.asking == nil {
		answer := make(chan keyAnswer, 1)
		w.asking = answer
		life := w.life
		go func() {
			key, err := w.opt.Key(life)
			if err == nil && len(key) != KeySize {
				err = errKeySize
			}
			answer <- keyAnswer{key, err}
		}()
	}
	patience := keyPatience
	switch {
	case w.waited:
		patience = 0
	case ctx.Err() != nil:
		patience = lastPatience
	}
	w.waited = true
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a := <-w.asking:
		w.asking, w.key, w.keyErr = nil, a.key, a.err
	case <-timer.C:
	}
}

func (w *Writer) openSegment() error {
	if w.current != nil && time.Since(w.current.began) > maxAge {
		w.closeSegment()
	}
	if w.current != nil && w.current.bodies == nil && w.key != nil {
		w.closeSegment() // the key came late
	}
	if w.current != nil && !w.current.exists() {
		w.closeSegment()
		w.releaseLock() // somebody has removed the files
	}
	if w.current != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(w.opt.Dir), 0o700); err != nil {
		return err
	}
	err := privatedir.Make(w.opt.Dir)
	if err != nil {
		return err
	}
	if w.lock == nil {
		// The lock says that this run lives. Another process that is looking for runs
		// that ended may have it for a moment.
		path := filepath.Join(w.opt.Dir, w.opt.Run+lockSuffix)
		for range 10 {
			if w.lock, err = filelock.Take(path); !errors.Is(err, filelock.ErrTaken) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err != nil {
			return err
		}
	}
	w.number++
	now := time.Now()
	old, release := "", func() {}
	if w.opt.Keep != nil {
		old, release = makeRoom(w.opt.Dir, w.opt.Keep(), now)
	}
	defer release()
	w.current, err = createSegment(w.opt.Dir, w.opt.Run, w.number, now, w.key, old)
	if err != nil && old != "" {
		w.current, err = createSegment(w.opt.Dir, w.opt.Run, w.number, now, w.key, "")
	}
	return err
}

func (w *Writer) closeSegment() {
	if w.current == nil {
		return
	}
	if err := w.current.close(); err != nil {
		w.opt.Log.Warn("a file of the call history could not be closed", "error", err)
	}
	w.current = nil
}

func (w *Writer) end() {
	w.endLife()
	w.closeSegment()
	w.releaseLock()
}

func (w *Writer) releaseLock() {
	if w.lock != nil {
		_ = os.Remove(w.lock.Name())
		filelock.Release(w.lock)
		w.lock = nil
	}
}

var (
	errKeySize = errors.New("the key of the call history has the wrong size")
	errLocked  = errors.New("the vault has not answered yet; its keyring may have to be unlocked")
)

// bodiesProblem returns why bodies are not kept; nil if they are, or if there are none.
func (w *Writer) bodiesProblem() *Problem {
	switch {
	case w.keyErr != nil:
		return &Problem{Since: time.Now(), Bodies: true, Err: w.keyErr}
	case w.asking != nil:
		return &Problem{Since: time.Now(), Bodies: true, Err: errLocked}
	default:
		return nil
	}
}

// report logs a problem when it begins and when it ends.
func (w *Writer) report(p *Problem) {
	before := w.problem.Load()
	if before != nil && p != nil && before.Bodies == p.Bodies {
		return
	}
	w.problem.Store(p)
	switch {
	case p == nil && before != nil:
		w.opt.Log.Info("the call history is kept again", "calls_missing", w.dropped.Load())
	case p != nil && p.Bodies:
		w.opt.Log.Warn("the call history is kept without bodies, because the key of the vault cannot be had", "error", p.Err)
	case p != nil:
		w.opt.Log.Warn("the call history is not kept; calls go on", "error", p.Err)
	}
}

// upkeep lets the key be asked for again, closes a segment that is old, and removes
// what is kept for too long.
func (w *Writer) upkeep() {
	w.keyErr = nil
	if w.current != nil && time.Since(w.current.began) > maxAge {
		w.closeSegment()
	}
	if w.opt.Keep != nil {
		if err := Prune(w.opt.Dir, w.opt.Keep(), time.Now()); err != nil {
			w.opt.Log.Warn("old calls could not be removed from the call history", "error", err)
		}
	}
}
