package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"genkan/internal/kb"
)

// Writes that arrive during a commit share the next one, because most of the time of a
// write is waiting for the disk. Each write has its own savepoint, so each succeeds or
// fails by itself until the commit, which they share. The first writer leads the group:
// there is no extra goroutine.

// maxTogether limits how long the first write of a group waits for the others.
const maxTogether = 64

// kbQueue holds the waiting writes.
type kbQueue struct {
	mu      sync.Mutex
	waiting []*kbWrite
	leading bool
}

type kbWrite struct {
	ctx    context.Context // the leader also works for the other writes
	change func(context.Context, kb.Writer) error
	// turn receives true when this write must lead, and false when it is done.
	turn     chan bool
	err      error
	panicked any
}

// Write runs a change and commits it durably.
func (k *Knowledge) Write(ctx context.Context, change func(context.Context, kb.Writer) error) error {
	const what = "change the knowledge base"
	if err := k.prepareWrites(ctx); err != nil {
		return k.store.explain(ctx, what, err)
	}
	w := &kbWrite{ctx: ctx, change: change, turn: make(chan bool, 1)}
	if !k.queue.join(w) {
		select {
		case lead := <-w.turn:
			if !lead {
				return w.end()
			}
		case <-ctx.Done():
			if k.queue.leave(w) {
				return k.store.explain(ctx, what, ctx.Err())
			}
			// The write is already being processed, or it must lead the others.
			if !<-w.turn {
				return w.end()
			}
		}
	}
	group := k.queue.take(w)
	func() {
		defer k.queue.pass()
		k.together(what, group)
		if k.committed != nil {
			k.committed(len(group))
		}
	}()
	for _, other := range group {
		if other != w {
			other.turn <- false
		}
	}
	return w.end()
}

// prepareWrites does the preparations that need the connection while no write uses it.
func (k *Knowledge) prepareWrites(ctx context.Context) error {
	if k.ready.Load() {
		return nil
	}
	if err := k.store.checkWritable(); err != nil {
		return err
	}
	for _, text := range writeStatements() {
		err := retry(ctx, k.store.patience, func() error {
			_, err := k.writes.find(ctx, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	k.ready.Store(true)
	return nil
}

// end returns the error of the write to its caller, or repeats its panic.
func (w *kbWrite) end() error {
	if w.panicked != nil {
		panic(w.panicked)
	}
	return w.err
}

// join adds a write to the queue and reports whether it leads.
func (q *kbQueue) join(w *kbWrite) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.leading {
		q.leading = true
		return true
	}
	q.waiting = append(q.waiting, w)
	return false
}

// leave removes a write and reports whether it was still waiting.
func (q *kbQueue) leave(w *kbWrite) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.waiting {
		if other == w {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// take returns the leader and the waiting writes.
func (q *kbQueue) take(leader *kbWrite) []*kbWrite {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxTogether-1)
	group := append([]*kbWrite{leader}, q.waiting[:n]...)
	q.waiting = append([]*kbWrite(nil), q.waiting[n:]...)
	return group
}

// pass makes the first write that has arrived meanwhile the leader.
func (q *kbQueue) pass() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.leading = false
		return
	}
	next := q.waiting[0]
	q.waiting = q.waiting[1:]
	next.turn <- true
}

// errLost says that SQLite has ended a transaction by itself.
var errLost = errors.New("the transaction was lost")

// together runs the changes of a group in one transaction. If the transaction is lost,
// it runs each change in its own.
func (k *Knowledge) together(what string, group []*kbWrite) {
	if len(group) == 1 {
		k.alone(what, group[0])
		return
	}
	// The wait for the lock is on behalf of all writes, so no single caller cancels it.
	ctx := context.WithoutCancel(group[0].ctx)
	err := k.store.transact(ctx, what, func(tx *sql.Tx) error {
		for _, w := range group {
			if err := k.savepoint(ctx, tx, w); err != nil {
				return err
			}
		}
		return nil
	})
	for _, w := range group {
		switch {
		case errors.Is(err, errLost):
			k.alone(what, w)
		case err != nil:
			w.err = err
		case w.err != nil:
			w.err = k.explained(w, what)
		}
	}
}

// alone runs one change in its own transaction.
func (k *Knowledge) alone(what string, w *kbWrite) {
	err := k.store.transact(w.ctx, what, func(tx *sql.Tx) error {
		k.run(context.WithoutCancel(w.ctx), tx, w)
		if w.panicked != nil {
			return errLost // the caller gets the panic instead
		}
		return w.err
	})
	if w.err == nil {
		w.err = err
		return
	}
	w.err = k.explained(w, what)
}

// savepoint runs one change of a group. It fails if the others cannot continue.
func (k *Knowledge) savepoint(ctx context.Context, tx *sql.Tx, w *kbWrite) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return errors.Join(errLost, err)
	}
	k.run(ctx, tx, w)
	if w.err != nil || w.panicked != nil {
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO one"); err != nil {
			return errors.Join(errLost, err)
		}
	}
	if _, err := tx.ExecContext(ctx, "RELEASE one"); err != nil {
		return errors.Join(errLost, err)
	}
	return nil
}

// run runs a change, unless its caller has given up. Its statements are not
// interrupted, because that would end the transaction of the whole group.
func (k *Knowledge) run(ctx context.Context, tx *sql.Tx, w *kbWrite) {
	w.err, w.panicked = w.ctx.Err(), nil
	if w.err != nil {
		return
	}
	defer func() { w.panicked = recover() }()
	w.err = w.change(ctx, &kbWriter{p: func(ctx context.Context, text string) (statement, error) {
		stmt, err := k.writes.prepare(ctx, text)
		if err != nil {
			return nil, err
		}
		return tx.StmtContext(ctx, stmt), nil
	}})
}

// explained returns the error of a write. An error of the knowledge base itself stays
// unchanged.
func (k *Knowledge) explained(w *kbWrite, what string) error {
	var own *kb.Error
	if errors.As(w.err, &own) || errors.Is(w.err, kb.ErrUnknownStatus) {
		return w.err
	}
	return k.store.explain(w.ctx, what, w.err)
}
