package semantic

import (
	"context"
	"errors"
	"sync"
)

// loadPage is the number of rows that are read at once.
const loadPage = 1_000

// errLengths says that a vector's length differs from the others of its model: another
// model now has the same name.
var errLengths = errors.New("the model gives vectors of another length than before")

// index holds the matrix. The first search reads it from the store; from then on it
// follows the changes.
type index struct {
	store Store
	model Hash
	most  int
	// turn is held while the whole matrix is read or changed, which takes time. A wait for
	// it can be canceled.
	turn chan struct{}
	mu   sync.RWMutex // guards the fields below
	m    *matrix      // nil until it is read
}

func newIndex(store Store, model Hash, most int) *index {
	return &index{store: store, model: model, most: most, turn: make(chan struct{}, 1)}
}

// acquire waits for turn, which one goroutine holds at a time.
func (x *index) acquire(ctx context.Context) error {
	select {
	case x.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *index) release() { <-x.turn }

func (x *index) matrix() *matrix {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.m
}

// load reads the vectors, unless they are loaded already.
func (x *index) load(ctx context.Context) error {
	if x.matrix() != nil {
		return nil
	}
	if err := x.acquire(ctx); err != nil {
		return err
	}
	defer x.release()
	if x.matrix() != nil {
		return nil
	}
	m := newMatrix(x.most)
	for last := int64(0); ; {
		rows, err := x.store.VectorsAfter(ctx, x.model, last, loadPage)
		if err != nil {
			return err
		}
		for i := range rows {
			if !m.put(&rows[i]) {
				return errLengths
			}
			last = rows[i].Item
		}
		if len(rows) < loadPage {
			break
		}
	}
	x.mu.Lock()
	x.m = m
	x.mu.Unlock()
	return nil
}

// apply applies changed and deleted items. It does nothing before the matrix is read,
// because the store has the changes.
func (x *index) apply(ctx context.Context, rows []Row, gone []int64) error {
	if err := x.acquire(ctx); err != nil {
		return err
	}
	defer x.release()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.m == nil {
		return nil
	}
	for _, id := range gone {
		x.m.remove(id)
	}
	for i := range rows {
		if !x.m.put(&rows[i]) {
			return errLengths
		}
	}
	return nil
}

// drop discards the matrix. The next search reads it again.
func (x *index) drop(ctx context.Context) error {
	if err := x.acquire(ctx); err != nil {
		return err
	}
	defer x.release()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.m = nil
	return nil
}

// nearest is matrix.nearest. It fails if the query has another length.
func (x *index) nearest(ctx context.Context, q question, types []string, limit int, also []int64) ([]nearness, map[int64]nearness, error) {
	if err := x.load(ctx); err != nil {
		return nil, nil, err
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.m == nil || len(x.m.byID) == 0 {
		return nil, nil, nil
	}
	if x.m.dims != len(q.codes) {
		return nil, nil, errLengths
	}
	found, of := x.m.nearest(q, types, limit, also)
	return found, of, nil
}
