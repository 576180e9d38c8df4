package semantic

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/kb"
)

const (
	// batch is the number of items that are processed at once.
	batch = 32
	// pace is the interval between two checks for changes, which other processes may also
	// make.
	pace = time.Second
	// rest is the first pause after a failure; it doubles up to longestRest.
	rest, longestRest = 15 * time.Second, 10 * time.Minute
	// unsaved is the number of changes without new vectors after which the position is
	// saved: reading them again costs little, a write for each costs more.
	unsaved = 256
	// refusals is the number of attempts for an item that the endpoint refuses.
	refusals = 3
	// savePatience is the time limit for saving vectors.
	savePatience = 10 * time.Second
)

// changes is the feed that a worker reads.
type changes interface {
	Sequence(ctx context.Context) (int64, error)
	Changes(ctx context.Context, after kb.Position, limit int) ([]kb.Change, error)
}

// worker computes the vectors of items in the order of their changes. So exactly the
// items after its position lack current vectors.
type worker struct {
	items    changes
	embedder Embedder
	store    Store
	index    *index
	model    Hash
	log      *slog.Logger
	after    func(time.Duration) <-chan time.Time
	tell     func(error) // reports the state of the endpoint

	wake chan struct{} // there may be something to do
	well chan struct{} // the endpoint answers again

	mu   sync.Mutex // guards the fields below
	at   kb.Position
	anew bool // all vectors must be computed again

	// Only the worker's goroutine uses the fields below.
	begun   bool
	seen    int64 // all writes up to this number are done
	skipped int
	careful bool          // the last attempt failed; a single item may be the reason
	refused map[int64]int // how often the endpoint refused an item but accepted others
	dims    int
}

// signal sets a signal that the next receiver gets once.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// position returns the position up to which vectors are complete.
func (w *worker) position() kb.Position {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *worker) moveTo(at kb.Position) {
	w.mu.Lock()
	w.at = at
	w.mu.Unlock()
}

// beginAnew makes the worker compute all vectors again.
func (w *worker) beginAnew() {
	w.mu.Lock()
	w.anew = true
	w.mu.Unlock()
	signal(w.wake)
}

// run works until the context ends.
func (w *worker) run(ctx context.Context) {
	for pause := rest; ; {
		select {
		case <-w.well: // left from before
		default:
		}
		more, err := w.step(ctx)
		if ctx.Err() != nil {
			return
		}
		switch {
		case err != nil:
			w.careful = true
			select {
			case <-w.after(pause):
			case <-w.well:
			case <-ctx.Done():
				return
			}
			pause = min(2*pause, longestRest)
		case more:
			pause = rest
		default:
			pause = rest
			select {
			case <-w.after(pace):
			case <-w.wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

// step processes one batch, and reports whether there may be more.
func (w *worker) step(ctx context.Context) (more bool, err error) {
	if err := w.begin(ctx); err != nil {
		w.log.Warn("the vectors of items cannot be read; it is tried again", "error", err)
		return false, err
	}
	seq, err := w.items.Sequence(ctx)
	if err != nil {
		return false, w.unread(err)
	}
	if seq == w.seen {
		return false, nil
	}
	list, err := w.items.Changes(ctx, w.position(), batch)
	if err != nil {
		return false, w.unread(err)
	}
	if len(list) == 0 {
		w.seen = seq
		return false, nil
	}
	err = w.follow(ctx, list)
	if errors.Is(err, errLengths) {
		w.beginAnew() // after a pause, because it may happen again
	}
	return err == nil, err
}

func (w *worker) unread(err error) error {
	w.log.Warn("the changes of items cannot be read; it is tried again", "error", err)
	return err
}

// begin finds the position to continue from, or resets it to the beginning.
func (w *worker) begin(ctx context.Context) error {
	w.mu.Lock()
	anew := w.anew
	w.mu.Unlock()
	if anew {
		w.log.Warn("the model gives vectors of another length than before; those of all items are made anew")
		if err := w.store.ForgetVectors(ctx, w.model); err != nil {
			return err
		}
		if err := w.index.drop(ctx); err != nil {
			return err
		}
		w.begun, w.dims = false, 0
	}
	if w.begun {
		return nil
	}
	at, err := w.store.BeginVectors(ctx, w.model)
	if err != nil {
		return err
	}
	w.begun, w.seen, w.skipped = true, -1, 0
	w.mu.Lock()
	w.at, w.anew = at, false
	w.mu.Unlock()
	return nil
}

// follow updates the vectors of changed items.
func (w *worker) follow(ctx context.Context, list []kb.Change) error {
	var gone, ids []int64
	for _, c := range list {
		if c.Deleted {
			gone = append(gone, c.ID)
		} else {
			ids = append(ids, c.ID)
		}
	}
	// Most changes do not concern texts, and another process may have been faster.
	known, err := w.store.VectorsOf(ctx, w.model, ids)
	if err != nil {
		return err
	}
	have := make(map[int64]Row, len(known))
	for _, row := range known {
		have[row.Item] = row
	}
	var rows, fresh []Row
	var lacking []kb.Change
	var content [][]string
	for _, c := range list {
		if c.Deleted {
			continue
		}
		of := texts(&c.Item)
		if row, ok := have[c.ID]; ok && row.Text == hashOf(of...) {
			rows = append(rows, row)
			continue
		}
		lacking, content = append(lacking, c), append(content, of)
	}
	if len(lacking) > 0 {
		if fresh, err = w.make(ctx, lacking, content); err != nil {
			return err
		}
	}
	last := list[len(list)-1].Position
	if w.skipped += len(list) - len(fresh); len(fresh) > 0 || w.skipped >= unsaved {
		// The vectors are saved even during a shutdown, because they may have cost money.
		saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), savePatience)
		defer cancel()
		if err := w.store.SaveVectors(saving, w.model, fresh, last); err != nil {
			w.log.Warn("the vectors of items could not be kept; it is tried again", "error", err)
			return err
		}
		w.skipped = 0
	}
	if err := w.index.apply(ctx, append(rows, fresh...), gone); err != nil {
		return err
	}
	w.moveTo(last)
	return nil
}

// make computes the rows of items.
func (w *worker) make(ctx context.Context, items []kb.Change, content [][]string) ([]Row, error) {
	vectors, err := w.embed(ctx, items, content)
	if err != nil {
		return nil, err
	}
	w.careful = false
	clear(w.refused)
	rows := make([]Row, len(items))
	for i, c := range items {
		row := Row{Item: c.ID, Seq: c.Seq, Type: c.Item.Type, Text: hashOf(content[i]...)}
		for _, v := range vectors[i] {
			var ok bool
			if row.Vectors, ok = encode(row.Vectors, v); !ok {
				return nil, errStrange
			}
			if w.dims == 0 {
				w.dims = len(v)
			}
			if len(v) != w.dims {
				return nil, errLengths
			}
			row.Chunks++
		}
		rows[i] = row
	}
	return rows, nil
}

// errStrange says that an answer has no valid vectors.
var errStrange = errors.New("the embedder gives vectors that are none")

// embed returns the vectors of each item's texts. After a failure it processes items one
// by one, so that a refused item does not block the others. A refused item gets no
// vectors.
func (w *worker) embed(ctx context.Context, items []kb.Change, content [][]string) ([][][]float32, error) {
	if !w.careful {
		var all []string
		for _, texts := range content {
			all = append(all, texts...)
		}
		flat, err := w.ask(ctx, all)
		if err != nil {
			return nil, err
		}
		out := make([][][]float32, len(content))
		for i, texts := range content {
			out[i], flat = flat[:len(texts)], flat[len(texts):]
		}
		return out, nil
	}
	out := make([][][]float32, len(content))
	for i, texts := range content {
		vectors, err := w.ask(ctx, texts)
		if err == nil {
			out[i] = vectors
			continue
		}
		// The probe tells whether the endpoint accepts anything. It may be recovering or
		// overloaded, so an item is refused only after several probes.
		if _, probe := w.ask(ctx, []string{"-"}); probe != nil {
			return nil, err
		}
		if w.refused[items[i].ID]++; w.refused[items[i].ID] < refusals {
			return nil, err
		}
		w.log.Warn("the embeddings endpoint does not take the text of an item; it is found by its words only", "item", items[i].Item.Ref().String(), "error", err)
	}
	return out, nil
}

// ask queries the endpoint and validates the answer.
func (w *worker) ask(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := w.embedder.Embed(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = errStrange
	}
	if ctx.Err() == nil {
		w.tell(err)
	}
	if err != nil {
		return nil, gateway.AsError(err)
	}
	return vectors, nil
}
