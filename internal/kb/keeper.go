package kb

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Keeper keeps what is derived from items in memory and in a file: the text index
// and the graph. It is a Finder and a Graph that answer as Scan and Walk would,
// only sooner.
//
// Before each answer it reads the store's sequence and catches up with it, so
// that it knows what any process has written before the question. Catching up is
// done once for however many wait, and is never cut off by one of them. Whoever
// would wait too long for it is answered from the rows.
//
// Nothing is read, opened or started before the first question, and nothing is
// for a knowledge base that was never written to.
type Keeper struct {
	store  Store
	scan   *Scan
	walk   *Walk
	log    *slog.Logger
	limits keeperLimits

	mu     sync.Mutex
	closed bool
	// alive ends with the keeper; what goes on in the background goes by it.
	alive context.Context //nolint:containedctx // work that outlives each question
	stop  context.CancelFunc
	work  sync.WaitGroup

	text  textIndex
	edges relationGraph

	// Those who ask the same while nothing is written share an answer.
	searches sharing[Hits]
	titles   sharing[[]string]
	walks    sharing[Around]
	routes   sharing[Paths]
	// warmed is set when the graph is being read before anybody walks.
	warmed atomic.Bool
}

// KeeperOptions are what a Keeper has beside its store.
type KeeperOptions struct {
	// Dir is the folder of the index's file; it is made when there is something to
	// put there. Without one, only small knowledge bases have an index.
	Dir string
	// Log may be nil.
	Log *slog.Logger
}

// keeperLimits are sizes and times that tests make small.
type keeperLimits struct {
	// searchPatience is how long a search waits until the index has caught up, and
	// walkPatience a walk for the graph: a walk over rows is slow only where much is
	// related.
	searchPatience, walkPatience time.Duration
	// inMemory is how many items have no file.
	inMemory int
	// A new file is due when this many items have changed since the last, or an
	// eighth of all if that is more, but not more than dueMost; or when they take
	// this many bytes of memory, or a quarter of the file if that is more.
	due, dueMost, dueBytes int
	// Beyond these no more changes are taken into memory, or beyond half of the file
	// if that is more than mostBytes: the rows answer until the new file is there.
	most, mostBytes int
	// step is how many changes are applied at once, and stepBytes of how much text.
	// Searches wait meanwhile.
	step, stepBytes int
	// writeBytes is the text of one write that is too much to be applied at once.
	writeBytes int
	// page is how many changes are read at once.
	page int
	// verifyFirst is how large a file may be to be read as a whole before it is
	// used; a larger one is while it is used.
	verifyFirst int64
	// links is how many changed items are too many to be applied to the graph one by
	// one, and linkPage how many are read at once.
	links, linkPage int
	// again is how long nothing is tried after a build has failed.
	again time.Duration
}

// usualLimits: a change of a kilobyte costs about 0.1 ms and 11 KB of memory, one of
// 100,000 characters of random words 50 ms or more and 5 MB. A file of 100,000 items takes
// ten seconds in the background.
func usualLimits() keeperLimits {
	return keeperLimits{
		searchPatience: time.Second, walkPatience: 250 * time.Millisecond,
		inMemory: 2_000, due: 2_000, dueMost: 20_000, dueBytes: 48 << 20,
		most: 40_000, mostBytes: 96 << 20,
		step: 1_000, stepBytes: 512 << 10, writeBytes: 4 << 20, page: scanPage,
		verifyFirst: 256 << 20, links: 100_000, linkPage: 1_000, again: time.Minute,
	}
}

var (
	_ Finder = (*Keeper)(nil)
	_ Graph  = (*Keeper)(nil)
)

// NewKeeper makes one. It does nothing yet.
func NewKeeper(store Store, o KeeperOptions) *Keeper {
	k := &Keeper{store: store, scan: NewScan(store), walk: NewWalk(store), log: o.Log, limits: usualLimits()}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	k.alive, k.stop = context.WithCancel(context.Background())
	k.text = textIndex{keeper: k, dir: o.Dir}
	k.edges = relationGraph{keeper: k}
	return k
}

// Close ends what goes on in the background and gives the memory back. Who asks
// afterwards is answered from the rows.
func (k *Keeper) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.stop()
	k.work.Wait()
	k.edges.forget()
	return k.text.put(nil)
}

var errKeeperClosed = errors.New("the knowledge base is closed")

// start does something in the background, unless the keeper is closed.
func (k *Keeper) start(run func()) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	k.work.Go(run)
	return true
}

// flight is something that is done once at a time.
type flight struct {
	mu  sync.Mutex
	now *errand
}

// errand is one time.
type errand struct {
	done chan struct{}
	err  error // when it is done
}

// join waits for nothing: it is the errand that is under way, or a new one.
func (f *flight) join(k *Keeper, run func(ctx context.Context) error) (e *errand, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now != nil {
		return f.now, false
	}
	e = &errand{done: make(chan struct{})}
	started := k.start(func() {
		e.err = run(k.alive)
		f.mu.Lock()
		f.now = nil
		f.mu.Unlock()
		close(e.done)
	})
	if !started {
		e.err = errKeeperClosed
		close(e.done)
		return e, true
	}
	f.now = e
	return e, true
}

// derived is something that follows the store.
type derived interface {
	// at is the write that it knows last, -1 before it knows anything.
	at() int64
	// advance brings it to what the store has at the beginning, or as near as it is
	// willing to.
	advance(ctx context.Context) error
	// forget makes it begin anew.
	forget()
}

// written is the last write before a question.
func (k *Keeper) written(ctx context.Context, d derived) (int64, error) {
	before := d.at() // before the sequence is read, or a write between the two would look like the past
	seq, err := k.store.Sequence(ctx)
	if err == nil && seq != 0 && seq < before {
		// The rows are not those that this was derived from.
		k.log.WarnContext(ctx, "the knowledge base has gone back in time", slog.Int64("from", before), slog.Int64("to", seq))
		d.forget()
	}
	return seq, err
}

// reach waits until what is derived knows a write and all before it. False: it does
// not, and the rows must answer.
func (k *Keeper) reach(ctx context.Context, d derived, f *flight, seq int64, patience time.Duration) (bool, error) {
	if seq == 0 || d.at() >= seq {
		return true, nil
	}
	patient := time.NewTimer(patience)
	defer patient.Stop()
	for d.at() < seq {
		e, mine := f.join(k, d.advance)
		select {
		case <-e.done:
		case <-patient.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if e.err != nil && mine && !errors.Is(e.err, context.Canceled) && !errors.Is(e.err, errKeeperClosed) {
			k.log.WarnContext(ctx, "the index of the knowledge base could not catch up", slog.Any("error", e.err))
		}
		// One that somebody else has begun may have begun before the write.
		if mine && d.at() < seq {
			return false, nil
		}
	}
	return true, nil
}

// Search finds items by the index, or by the rows.
func (k *Keeper) Search(ctx context.Context, q Query) (Hits, error) {
	seq, err := k.written(ctx, &k.text)
	if err != nil {
		return Hits{}, err
	}
	return k.searches.do(ctx, q.key(seq), true, func(ctx context.Context) (Hits, error) {
		if hits, ok, err := k.text.search(ctx, seq, q); ok || err != nil {
			if seq > 0 {
				k.warm()
			}
			return hits, err
		}
		return k.scan.Search(ctx, q)
	})
}

// warm reads the graph in the background, once: who has searched may walk next, and
// need not wait for it then. A knowledge base that nobody searches keeps no graph.
func (k *Keeper) warm() {
	if k.edges.at() < 0 && !k.warmed.Swap(true) {
		k.edges.flight.join(k, k.edges.advance)
	}
}

// Suggest completes what somebody has begun to type by the index, or by the rows.
func (k *Keeper) Suggest(ctx context.Context, q Query) ([]string, error) {
	seq, err := k.written(ctx, &k.text)
	if err != nil {
		return nil, err
	}
	// The index takes microseconds; only the rows are worth sharing.
	if titles, ok, err := k.text.suggest(ctx, seq, q); ok || err != nil {
		return titles, err
	}
	return k.titles.do(ctx, q.key(seq), true, func(ctx context.Context) ([]string, error) { return k.scan.Suggest(ctx, q) })
}

// Related walks the graph, or the rows.
func (k *Keeper) Related(ctx context.Context, id int64, depth, most int) (Around, error) {
	seq, err := k.written(ctx, &k.edges)
	if err != nil {
		return Around{}, err
	}
	key := question{}.number(seq).number(id).number(int64(depth)).number(int64(most))
	return k.walks.do(ctx, string(key), true, func(ctx context.Context) (Around, error) {
		if around, ok, err := k.edges.related(ctx, seq, id, depth, most); ok || err != nil {
			return around, err
		}
		return k.walk.Related(ctx, id, depth, most)
	})
}

// Paths walks the graph, or the rows.
func (k *Keeper) Paths(ctx context.Context, from, to int64, depth, most int) (Paths, error) {
	seq, err := k.written(ctx, &k.edges)
	if err != nil {
		return Paths{}, err
	}
	key := question{}.number(seq).number(from).number(to).number(int64(depth)).number(int64(most))
	return k.routes.do(ctx, string(key), true, func(ctx context.Context) (Paths, error) {
		if paths, ok, err := k.edges.paths(ctx, seq, from, to, depth, most); ok || err != nil {
			return paths, err
		}
		return k.walk.Paths(ctx, from, to, depth, most)
	})
}

// key is the query in a state of the store.
func (q *Query) key(seq int64) string {
	return string(question{}.number(seq).number(int64(q.Limit)).number(int64(q.Offset)).texts(q.Types).text(q.Text).
		texts(q.Statuses).text(q.Tag).number(q.From.UnixMicro()).number(q.Until.UnixMicro()))
}
