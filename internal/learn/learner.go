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
	// lookAgain is the age of the known lessons at which Run asks the store whether another
	// process has added some.
	lookAgain = time.Second
	// mostPending is the maximum number of lessons that wait for the store.
	mostPending = 256
)

// Learner remembers searches, derives lessons from them and returns their evidence. It
// is safe for concurrent use, and its methods for calls and searches never wait for the
// store.
type Learner struct {
	store  Store
	clock  func() time.Time
	bounds Bounds
	// wake tells Run that there are lessons to write or to read.
	wake chan struct{}

	// writing is held during operations of the store, so that a lesson that is being deleted
	// is not written again a moment later.
	writing sync.Mutex

	mu       sync.Mutex // guards the fields below
	searches recent
	pending  []Lesson
	known    map[string][]Lesson // by client
	evidence map[string]taughtBy
	sequence int64
	looked   time.Time
}

// taughtBy is a client's evidence with the day when it was built, because lessons fade
// by days.
type taughtBy struct {
	*search.Evidence
	day int64
}

// NewLearner returns a learner without lessons. Load reads those of the store.
func NewLearner(store Store, clock func() time.Time) *Learner {
	return &Learner{
		store: store, clock: clock, bounds: DefaultBounds(), wake: make(chan struct{}, 1),
		searches: recent{}, known: map[string][]Lesson{}, evidence: map[string]taughtBy{},
	}
}

// Load reads the lessons of the store, if they have changed.
func (k *Learner) Load(ctx context.Context) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	return k.load(ctx)
}

// load is Load for a caller that holds writing.
func (k *Learner) load(ctx context.Context) error {
	// The sequence is read before the lessons: a change in between is noticed the next time.
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

// Evidence returns the evidence of a client's own lessons and of the shared ones.
func (k *Learner) Evidence(client string) *search.Evidence {
	const day = 24 * 60 * 60
	now := k.clock()
	today := now.Unix() / day
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.looked) >= lookAgain {
		k.looked = now // one request to the store is enough, even if it fails
		k.rouse()
	}
	e, ok := k.evidence[client]
	if !ok || e.day != today {
		if len(k.evidence) >= mostClients {
			clear(k.evidence) // it is built again on demand
		}
		e = taughtBy{evidenceOf(slices.Concat(k.known[client], k.known[Shared]), now), today}
		k.evidence[client] = e
	}
	return e.Evidence
}

func (k *Learner) rouse() {
	select {
	case k.wake <- struct{}{}:
	default: // already woken
	}
}

// Searched remembers the hits of a client's query.
func (k *Learner) Searched(client, query string, hits []Tool) {
	terms := search.Terms(query)
	if client == "" || client == Shared || len(hits) == 0 || len(terms) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.searches.add(client, searched{k.clock(), terms, slices.Clone(hits)})
}

// Called reports a successful call. It only compares the client's last searches; Run
// writes the lesson later.
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

// Run writes new lessons and reads those of other processes until ctx ends. Flush writes
// the remaining ones.
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

// Flush writes new lessons and reads those of other processes.
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

// Lessons returns the selected lessons from the store.
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

// Forget deletes the selected lessons, including pending ones.
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

// Share copies a client's lessons to the shared ones and returns their number. The
// client keeps its own.
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
