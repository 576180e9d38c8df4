package learn

import (
	"context"
	"slices"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/search"
)

const (
	// lookAgain is how old what is known may be before the store is asked whether
	// another process has learned something.
	lookAgain = time.Second
	// mostPending is how many lessons may wait for the store.
	mostPending = 256
)

// Learner remembers searches, makes lessons of them and hands out what they teach.
// It is safe for concurrent use, and what calls and searches ask of it never waits
// for the store.
type Learner struct {
	store  Store
	clock  func() time.Time
	bounds Bounds
	// wake is for Run: there is something to write down, or to look up.
	wake chan struct{}

	// writing is held while the store is asked, so that what is forgotten is not
	// written down a moment later.
	writing sync.Mutex

	mu       sync.Mutex // guards what follows
	searches recent
	pending  []Lesson
	known    map[string][]Lesson // by client
	evidence map[string]taughtBy
	sequence int64
	looked   time.Time
}

// taughtBy is a client's evidence, and when it was made: lessons fade by days.
type taughtBy struct {
	*search.Evidence
	day int64
}

// NewLearner makes a keeper that knows nothing; Load tells it what the store has.
func NewLearner(store Store, clock func() time.Time) *Learner {
	return &Learner{
		store: store, clock: clock, bounds: DefaultBounds(), wake: make(chan struct{}, 1),
		searches: recent{}, known: map[string][]Lesson{}, evidence: map[string]taughtBy{},
	}
}

// Load takes over what the store has, if it has changed.
func (k *Learner) Load(ctx context.Context) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	return k.load(ctx)
}

// load is called by whoever is writing.
func (k *Learner) load(ctx context.Context) error {
	// Before the lessons: what comes in between is seen the next time.
	sequence, err := k.store.ChangeSequence(ctx)
	if err != nil {
		return err
	}
	k.mu.Lock()
	same := sequence == k.sequence
	k.looked = k.clock()
	k.mu.Unlock()
	if same {
		return nil
	}
	all, err := k.store.Lessons(ctx)
	if err != nil {
		return err
	}
	known := map[string][]Lesson{}
	for _, l := range all {
		known[l.Client] = append(known[l.Client], l)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known, k.sequence = known, sequence
	clear(k.evidence)
	return nil
}

// Evidence is what a client's searches have taught, and what was shared.
func (k *Learner) Evidence(client string) *search.Evidence {
	const day = 24 * 60 * 60
	now := k.clock()
	today := now.Unix() / day
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.looked) >= lookAgain {
		k.looked = now // one look is enough, whatever comes of it
		k.rouse()
	}
	e, ok := k.evidence[client]
	if !ok || e.day != today {
		if len(k.evidence) >= mostClients {
			clear(k.evidence) // it is made again for whoever comes again
		}
		e = taughtBy{evidenceOf(slices.Concat(k.known[client], k.known[Shared]), now), today}
		k.evidence[client] = e
	}
	return e.Evidence
}

func (k *Learner) rouse() {
	select {
	case k.wake <- struct{}{}:
	default: // somebody else has
	}
}

// Searched remembers what a client was shown for a query.
func (k *Learner) Searched(client, query string, hits []Tool) {
	terms := search.Terms(query)
	if client == "" || client == Shared || len(hits) == 0 || len(terms) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.searches.add(client, searched{k.clock(), terms, slices.Clone(hits)})
}

// Called is told of a call that succeeded. It costs a look at the client's last
// searches; what is learned is written down later, by Run.
func (k *Learner) Called(client string, tool Tool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.clock()
	terms, found := k.searches.take(client, tool, now)
	if !found || len(k.pending) >= mostPending {
		return
	}
	k.pending = append(k.pending, Lesson{Client: client, Tool: tool, Terms: terms, Times: 1, At: now.UTC()})
	k.rouse()
}

// Run writes down what is learned, and looks for what others have, until ctx ends.
// What is left then is for Flush.
func (k *Learner) Run(ctx context.Context, failed func(error)) {
	for {
		select {
		case <-k.wake:
		case <-ctx.Done():
			return
		}
		if err := k.Flush(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// Flush writes down what was learned, and takes over what others have learned.
func (k *Learner) Flush(ctx context.Context) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	pending := k.pending
	k.pending = nil
	k.mu.Unlock()
	if len(pending) > 0 {
		if err := k.store.AddLessons(ctx, pending, k.bounds); err != nil {
			k.mu.Lock()
			k.pending = append(pending, k.pending...)
			k.pending = k.pending[:min(len(k.pending), mostPending)]
			k.mu.Unlock()
			return err
		}
	}
	return k.load(ctx)
}

// Lessons are those of a selection, as the store has them now.
func (k *Learner) Lessons(ctx context.Context, which Selection) ([]Lesson, error) {
	if err := k.Flush(ctx); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []Lesson
	for _, lessons := range k.known {
		for _, l := range lessons {
			if which.has(l) {
				all = append(all, l)
			}
		}
	}
	Sort(all)
	return all, nil
}

// Forget forgets the lessons of a selection, and what was about to become one.
func (k *Learner) Forget(ctx context.Context, which Selection) (int, error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	k.searches.forget(which)
	k.pending = slices.DeleteFunc(k.pending, which.has)
	k.mu.Unlock()
	n, err := k.store.ForgetLessons(ctx, which)
	if err != nil {
		return 0, err
	}
	return n, k.load(ctx)
}

// Share copies a client's lessons to those that everybody learns from, and tells
// how many it were. The client keeps its own.
func (k *Learner) Share(ctx context.Context, client string) (int, error) {
	if client == "" || client == Shared {
		return 0, gateway.Errorf(gateway.CodeInvalid, "say whose lessons are to be shared: the name of a client's token, or local")
	}
	lessons, err := k.Lessons(ctx, Selection{Client: client})
	if err != nil {
		return 0, err
	}
	if len(lessons) == 0 {
		return 0, gateway.Errorf(gateway.CodeNotFound, "nothing was learned from client %s; `genkan tools learned` shows from whom something was", gateway.Short(client))
	}
	k.writing.Lock()
	defer k.writing.Unlock()
	for i := range lessons {
		lessons[i].Client = Shared
	}
	if err := k.store.AddLessons(ctx, lessons, k.bounds); err != nil {
		return 0, err
	}
	return len(lessons), k.load(ctx)
}
