package kb

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Indexes are the data derived from items: a text index, in memory or in a file,
// and a graph of the relations. It is a Finder and a Graph that return what Scan and
// Walk return, but faster.
//
// Each question first reads the store's sequence and waits until the index has
// caught up with it. So an answer includes every write, by any process, that was
// committed before the question. All waiting questions share one catch-up, which
// continues when a caller gives up. A question that would wait too long is answered
// from the rows.
//
// Nothing is read, opened or started before the first question or the first write of
// many items (Follow), or while the knowledge base is empty.
type Indexes struct {
	store  Store
	scan   *Scan
	walk   *Walk
	log    *slog.Logger
	limits indexLimits
	// building is IndexOptions.Building, and never nil.
	building func(done, total int)

	mu     sync.Mutex
	closed bool
	// alive is the context of background work. Close cancels it.
	alive context.Context //nolint:containedctx // work that outlives each question
	stop  context.CancelFunc
	work  sync.WaitGroup

	text      textIndex
	edges     relationGraph
	following following

	// Identical questions between two writes share an answer.
	searches sharing[Hits]
	titles   sharing[[]string]
	walks    sharing[Around]
	routes   sharing[Paths]
	// warmed is set once the first search has started to read the graph.
	warmed atomic.Bool
}

// IndexOptions are the options of NewIndexes.
type IndexOptions struct {
	// Dir is the folder of the index file. It is created with the first file. If Dir
	// is empty, only small knowledge bases have an index.
	Dir string
	// Log may be nil.
	Log *slog.Logger
	// Building is called with the progress of work on the text index in the background:
	// a build, or Follow. Total is 0 at its end. It must not block; may be nil.
	Building func(done, total int)
}

// indexLimits are sizes and times that tests reduce.
type indexLimits struct {
	// searchPatience is the time that a search waits for the index to catch up, and
	// walkPatience the time that a walk waits for the graph. A walk over rows is slow
	// only among many relations.
	searchPatience, walkPatience time.Duration
	// inMemory is the largest number of items that are indexed without a file.
	inMemory int
	// A new file is due when the number of items changed since the last file reaches
	// due, or an eighth of all items if that is more, but at most dueMost. It is also
	// due when the changes take dueBytes of memory, or a quarter of the file's size if
	// that is more.
	due, dueMost, dueBytes int
	// most and mostBytes limit the changes in memory; the limit in bytes is half of the
	// file's size if that is more. Beyond a limit the rows answer until the new file is
	// complete.
	most, mostBytes int
	// step is the number of changes that are applied at once, and stepBytes the size of
	// their texts. Searches wait meanwhile.
	step, stepBytes int
	// writeBytes is the size of the texts of one write that is too large to apply at once.
	writeBytes int
	// page is the number of changes that are read at once.
	page int
	// verifyFirst is the size up to which a file is read completely before it is used. A
	// larger file is verified while it is used.
	verifyFirst int64
	// links is the number of changed items beyond which the graph is read again instead
	// of updated, and linkPage the number of items that are read at once.
	links, linkPage int
	// again is the pause after a failed build.
	again time.Duration
	// quiet is how long no large write may come before Follow begins.
	quiet time.Duration
}

// usualLimits returns the limits outside of tests. A change of a kilobyte costs about
// 0.1 ms and 11 KB of memory; one of 100,000 characters of random words costs 50 ms or
// more and 5 MB. A file of 100,000 items takes ten seconds in the background.
func usualLimits() indexLimits {
	return indexLimits{
		searchPatience: time.Second, walkPatience: 250 * time.Millisecond,
		inMemory: 2_000, due: 2_000, dueMost: 20_000, dueBytes: 48 << 20,
		most: 40_000, mostBytes: 96 << 20,
		step: 1_000, stepBytes: 512 << 10, writeBytes: 4 << 20, page: scanPage,
		verifyFirst: 256 << 20, links: 100_000, linkPage: 1_000, again: time.Minute, quiet: time.Second,
	}
}

var (
	_ Finder = (*Indexes)(nil)
	_ Graph  = (*Indexes)(nil)
)

// NewIndexes returns the indexes of a store. It reads nothing yet.
func NewIndexes(store Store, o IndexOptions) *Indexes {
	x := &Indexes{store: store, scan: NewScan(store), walk: NewWalk(store), log: o.Log, building: o.Building, limits: usualLimits()}
	if x.building == nil {
		x.building = func(int, int) {}
	}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	x.alive, x.stop = context.WithCancel(context.Background())
	x.text = textIndex{indexes: x, dir: o.Dir}
	x.edges = relationGraph{indexes: x}
	return x
}

// Close stops background work and releases the memory. Later questions are answered
// from the rows.
func (x *Indexes) Close() error {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.stop()
	x.work.Wait()
	x.edges.forget()
	return x.text.put(nil)
}

var errClosed = errors.New("the knowledge base is closed")

// start runs a function in the background. It returns false after Close.
func (x *Indexes) start(run func()) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return false
	}
	x.work.Go(run)
	return true
}

// singleJob runs at most one job at a time. Callers that need the job share the run.
type singleJob struct {
	mu  sync.Mutex
	now *job
}

// job is one run. Its error may be read after done is closed.
type job struct {
	done chan struct{}
	err  error
}

// join returns the running job, or starts one. It does not wait. Started reports
// whether the job is new.
func (s *singleJob) join(x *Indexes, run func(ctx context.Context) error) (j *job, started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		return s.now, false
	}
	j = &job{done: make(chan struct{})}
	ok := x.start(func() {
		j.err = run(x.alive)
		s.mu.Lock()
		s.now = nil
		s.mu.Unlock()
		close(j.done)
	})
	if !ok {
		j.err = errClosed
		close(j.done)
		return j, true
	}
	s.now = j
	return j, true
}

// running returns the running job, or nil.
func (s *singleJob) running() *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// derived is an index that follows the store.
type derived interface {
	// at returns the sequence of the last write it includes, or -1.
	at() int64
	// advance applies the writes that the store has when advance is called. It may
	// stop early when a new file is cheaper.
	advance(ctx context.Context) error
	// forget discards everything.
	forget()
}

// written returns the store's sequence at the time of a question.
func (x *Indexes) written(ctx context.Context, d derived) (int64, error) {
	before := d.at() // read first; otherwise a write between the two reads would look like a restored database
	seq, err := x.store.Sequence(ctx)
	if err == nil && seq != 0 && seq < before {
		// The database was replaced by an older one.
		x.log.WarnContext(ctx, "the knowledge base has gone back in time", slog.Int64("from", before), slog.Int64("to", seq))
		d.forget()
	}
	return seq, err
}

// reach waits until d includes the write seq. It returns false if that takes longer
// than patience or cannot be done; the rows must answer then.
func (x *Indexes) reach(ctx context.Context, d derived, s *singleJob, seq int64, patience time.Duration) (bool, error) {
	if seq == 0 || d.at() >= seq {
		return true, nil
	}
	patient := time.NewTimer(patience)
	defer patient.Stop()
	for d.at() < seq {
		j, started := s.join(x, d.advance)
		select {
		case <-j.done:
		case <-patient.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if j.err != nil && started && !errors.Is(j.err, context.Canceled) && !errors.Is(j.err, errClosed) {
			x.log.WarnContext(ctx, "the index of the knowledge base could not catch up", slog.Any("error", j.err))
		}
		// A job that another question started may have begun before the write.
		if started && d.at() < seq {
			return false, nil
		}
	}
	return true, nil
}

// Search answers from the text index, or from the rows.
func (x *Indexes) Search(ctx context.Context, q Query) (Hits, error) {
	seq, err := x.written(ctx, &x.text)
	if err != nil {
		return Hits{}, err
	}
	return x.searches.do(ctx, q.key(seq), true, func(ctx context.Context) (Hits, error) {
		if hits, ok, err := x.text.search(ctx, seq, q); ok || err != nil {
			if seq > 0 {
				x.warm()
			}
			return hits, err
		}
		return x.scan.Search(ctx, q)
	})
}

// warm starts to read the graph in the background, once, so that a walk after the
// first search need not wait for it.
func (x *Indexes) warm() {
	if x.edges.at() < 0 && !x.warmed.Swap(true) {
		x.edges.catchUp.join(x, x.edges.advance)
	}
}

// Suggest completes a title from the text index, or from the rows.
func (x *Indexes) Suggest(ctx context.Context, q Query) ([]string, error) {
	seq, err := x.written(ctx, &x.text)
	if err != nil {
		return nil, err
	}
	// The index takes microseconds; only the rows are worth sharing.
	if titles, ok, err := x.text.suggest(ctx, seq, q); ok || err != nil {
		return titles, err
	}
	return x.titles.do(ctx, q.key(seq), true, func(ctx context.Context) ([]string, error) { return x.scan.Suggest(ctx, q) })
}

// Related answers from the graph, or from the rows.
func (x *Indexes) Related(ctx context.Context, id int64, depth, most int) (Around, error) {
	seq, err := x.written(ctx, &x.edges)
	if err != nil {
		return Around{}, err
	}
	key := question{}.number(seq).number(id).number(int64(depth)).number(int64(most))
	return x.walks.do(ctx, string(key), true, func(ctx context.Context) (Around, error) {
		if around, ok, err := x.edges.related(ctx, seq, id, depth, most); ok || err != nil {
			return around, err
		}
		return x.walk.Related(ctx, id, depth, most)
	})
}

// Paths answers from the graph, or from the rows.
func (x *Indexes) Paths(ctx context.Context, from, to int64, depth, most int) (Paths, error) {
	seq, err := x.written(ctx, &x.edges)
	if err != nil {
		return Paths{}, err
	}
	key := question{}.number(seq).number(from).number(to).number(int64(depth)).number(int64(most))
	return x.routes.do(ctx, string(key), true, func(ctx context.Context) (Paths, error) {
		if paths, ok, err := x.edges.paths(ctx, seq, from, to, depth, most); ok || err != nil {
			return paths, err
		}
		return x.walk.Paths(ctx, from, to, depth, most)
	})
}

// key identifies the query together with the store's sequence.
func (q *Query) key(seq int64) string {
	return string(question{}.number(seq).number(int64(q.Limit)).number(int64(q.Offset)).texts(q.Types).text(q.Text).
		texts(q.Statuses).text(q.Tag).number(q.From.UnixMicro()).number(q.Until.UnixMicro()))
}
