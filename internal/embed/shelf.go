package embed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/gateway"
)

// Key identifies a vector: the hash of the model and the text.
type Key [sha256.Size]byte

// Store stores vectors. They can be computed again, so it may forget some.
type Store interface {
	// Vectors returns the stored vectors among the requested ones.
	Vectors(ctx context.Context, keys []Key) (map[Key][]float32, error)
	// SaveVectors stores vectors. Beyond most vectors it deletes the oldest.
	SaveVectors(ctx context.Context, vectors map[Key][]float32, most int) error
}

// Embedder computes vectors. Client implements it.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Vector is a cell for the vector of a text. It is nil until the vector is computed.
type Vector = atomic.Pointer[[]float32]

const (
	// queryPatience is how long a search waits for its query's vector.
	queryPatience = 300 * time.Millisecond
	// rest is how long queries are not sent after a failure. It is also the first pause of
	// the background work, which doubles up to longestRest.
	rest, longestRest = 30 * time.Second, 10 * time.Minute
	// mostTexts is the maximum number of texts on the shelf. Further texts get no vector.
	mostTexts = 20_000
	// mostKept is the maximum number of vectors in the store, including those of former
	// descriptions and models.
	mostKept = 50_000
	// mostQueries is the number of queries whose vectors are cached.
	mostQueries = 256
	// storePatience is the time limit of the store.
	storePatience = 10 * time.Second
)

// Options are the options of NewShelf.
type Options struct {
	Embedder Embedder
	Store    Store
	Log      *slog.Logger
	// Model and Dimensions distinguish the vectors of different models.
	Model      string
	Dimensions int
	// Now and After are the clock; nil is the system's.
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	// Patience is how long a query waits; 0 is the default.
	Patience time.Duration
}

// Shelf holds the vectors of texts.
type Shelf struct {
	opt  Options
	wake chan struct{}
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	texts   map[Key]*Vector
	queue   []waiting
	queries map[Key][]float32
	// silentUntil is the time until which no queries are sent to the endpoint.
	silentUntil time.Time
	// wrong is the last failure of the endpoint, and wrongAt when it was; nil once it works.
	wrong   error
	wrongAt time.Time
	// worked is set once the endpoint has returned vectors. A refusal is then the fault of a
	// single text.
	worked bool
}

type waiting struct {
	key  Key
	text string
	into *Vector
}

// NewShelf returns a shelf, which works in the background until it is closed.
func NewShelf(opt Options) *Shelf {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.After == nil {
		opt.After = time.After
	}
	if opt.Patience == 0 {
		opt.Patience = queryPatience
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Shelf{opt: opt, wake: make(chan struct{}, 1), stop: stop, texts: map[Key]*Vector{}, queries: map[Key][]float32{}}
	s.done.Go(func() { s.work(ctx) })
	return s
}

// Close ends the background work.
func (s *Shelf) Close() {
	s.stop()
	s.done.Wait()
}

func (s *Shelf) key(text string) Key {
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", s.opt.Model, s.opt.Dimensions, text))
}

// Vector returns the cell of a text's vector. It does not wait for the vector.
func (s *Shelf) Vector(text string) *Vector {
	key := s.key(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.texts[key]; v != nil {
		return v
	}
	v := &Vector{}
	if len(s.texts) < mostTexts {
		s.texts[key] = v
		s.queue = append(s.queue, waiting{key, text, v})
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return v
}

// Query returns the vector of a query, or nil if it is not available soon.
func (s *Shelf) Query(ctx context.Context, text string) []float32 {
	key := s.key(text)
	s.mu.Lock()
	known, silent := s.queries[key], s.opt.Now().Before(s.silentUntil)
	s.mu.Unlock()
	if known != nil || silent {
		return known
	}
	soon, cancel := context.WithTimeout(ctx, s.opt.Patience)
	defer cancel()
	vectors, err := s.opt.Embedder.Embed(soon, []string{text})
	if ctx.Err() != nil {
		return nil // the caller has gone, which is not the endpoint's fault
	}
	s.mu.Lock()
	unfit := s.worked && errors.Is(err, ErrRefused)
	s.mu.Unlock()
	if err != nil && soon.Err() != nil {
		err = &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "the embeddings endpoint does not answer a query within %v; it is asked again later, as the model may have to be loaded",
			Values:  []any{s.opt.Patience},
		}
	}
	if unfit { // other queries still use the endpoint
		return nil
	}
	s.tell(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.silentUntil = s.opt.Now().Add(rest)
		return nil
	}
	if len(s.queries) >= mostQueries {
		clear(s.queries)
	}
	s.queries[key] = vectors[0]
	return vectors[0]
}

// Wrong returns why the endpoint failed and when it did last, or nil if it works or was not
// asked yet.
func (s *Shelf) Wrong() (at time.Time, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrongAt, s.wrong
}

// tell keeps whether the endpoint fails. It logs once that the endpoint fails, and once that it works again.
func (s *Shelf) tell(err error) {
	s.mu.Lock()
	changed := (s.wrong == nil) != (err == nil)
	s.wrong, s.wrongAt = err, s.opt.Now()
	s.worked = s.worked || err == nil
	s.mu.Unlock()
	switch {
	case changed && err != nil:
		s.opt.Log.Warn("embeddings cannot be had; searches go on by words alone until they can", "error", err)
	case changed:
		s.opt.Log.Info("embeddings can be had again")
	}
}

// work computes the queued vectors, a batch at a time.
func (s *Shelf) work(ctx context.Context) {
	pause := rest
	for {
		s.mu.Lock()
		next := s.queue[:min(len(s.queue), batch)]
		s.mu.Unlock()
		if len(next) == 0 {
			select {
			case <-s.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		if err := s.fill(ctx, next); err != nil {
			if ctx.Err() != nil {
				return
			}
			s.tell(err)
			select {
			case <-s.opt.After(pause):
			case <-ctx.Done():
				return
			}
			pause = min(2*pause, longestRest)
			continue
		}
		pause = rest
		s.mu.Lock()
		s.queue = s.queue[len(next):]
		s.mu.Unlock()
	}
}

// fill fills cells with vectors from the store or from the model.
func (s *Shelf) fill(ctx context.Context, list []waiting) error {
	keys := make([]Key, len(list))
	for i, w := range list {
		keys[i] = w.key
	}
	kept, err := s.kept(ctx, keys)
	if err != nil {
		s.opt.Log.Debug("vectors could not be read; they are made anew", "error", err)
	}
	var lacking []waiting
	for _, w := range list {
		if v, ok := kept[w.key]; ok {
			w.into.Store(&v)
			continue
		}
		lacking = append(lacking, w)
	}
	if len(lacking) == 0 {
		return nil
	}
	fresh := make(map[Key][]float32, len(lacking))
	err = s.place(ctx, lacking, fresh)
	if errors.Is(err, ErrRefused) {
		// If the endpoint accepts another text, one of these texts is the reason.
		if _, other := s.opt.Embedder.Embed(ctx, []string{"tool"}); other == nil {
			err = s.placeFit(ctx, lacking, fresh)
		}
	}
	if err != nil {
		return err
	}
	s.tell(nil)
	// The vectors are stored even while the shelf is being closed, because they may have
	// cost money.
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), storePatience)
	defer cancel()
	if err := s.opt.Store.SaveVectors(storing, fresh, mostKept); err != nil {
		s.opt.Log.Warn("vectors could not be kept; they are made anew after a restart", "error", err)
	}
	return nil
}

// place computes vectors and fills their cells.
func (s *Shelf) place(ctx context.Context, list []waiting, fresh map[Key][]float32) error {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = w.text
	}
	vectors, err := s.opt.Embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i, w := range list {
		w.into.Store(&vectors[i])
		fresh[w.key] = vectors[i]
	}
	return nil
}

// placeFit does the same for a refused list, by halves: a text that is refused alone
// gets no vector, and all others get theirs.
func (s *Shelf) placeFit(ctx context.Context, list []waiting, fresh map[Key][]float32) error {
	if len(list) == 1 {
		s.opt.Log.Debug("the embeddings endpoint does not take the text of a tool, which goes without")
		return nil
	}
	half := len(list) / 2
	for _, part := range [][]waiting{list[:half], list[half:]} {
		err := s.place(ctx, part, fresh)
		if errors.Is(err, ErrRefused) {
			err = s.placeFit(ctx, part, fresh)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Shelf) kept(ctx context.Context, keys []Key) (map[Key][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	return s.opt.Store.Vectors(ctx, keys)
}
