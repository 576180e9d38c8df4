package api

import (
	"sync"
	"sync/atomic"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/events"
	"genkan/internal/gateway"
	"genkan/internal/lang"
)

// progressEvery is the shortest time between events about one piece of work. The last
// event does not wait.
const progressEvery = 200 * time.Millisecond

// Works publishes the progress of long work to administrators, who alone may start such
// work and look at it.
type Works struct {
	hub   *events.Hub
	count atomic.Int64
}

// NewWorks returns a Works that publishes to a hub.
func NewWorks(hub *events.Hub) *Works { return &Works{hub: hub} }

// Work is a long piece of work. It is safe for concurrent use. A nil Work publishes
// nothing.
type Work struct {
	works *Works

	mu        sync.Mutex
	published time.Time
	now       client.ProgressEvent
}

// Begin publishes that a piece of work begins.
func (w *Works) Begin(name string, total int64) *Work {
	began := &Work{works: w, now: client.ProgressEvent{ID: w.count.Add(1), Work: name, Total: total}}
	began.publish(nil)
	return began
}

// Track returns a function that takes the progress of work that begins and ends again and
// again. A total of 0 is its end.
func (w *Works) Track(name string) func(done, total int) {
	var mu sync.Mutex
	var tracked *Work
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case total == 0:
			tracked.End(nil)
			tracked = nil
		case tracked == nil:
			tracked = w.Begin(name, int64(total))
		default:
			tracked.Report(int64(done), int64(total))
		}
	}
}

// Report publishes the progress, but not more often than progressEvery.
func (w *Work) Report(done, total int64) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.Done, w.now.Total = done, total
	if time.Since(w.published) >= progressEvery {
		w.publish(nil)
	}
}

// End publishes that the work is finished, or why it failed.
func (w *Work) End(err error) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.Finished = true
	if err == nil {
		w.now.Done = w.now.Total
	}
	w.publish(err)
}

// publish publishes the progress. Called with mu held, or before anyone else has w.
func (w *Work) publish(err error) {
	w.published = time.Now()
	w.works.hub.Publish(events.Event{Topic: events.Progress, Name: client.EventProgress, Data: progress{w.now, err}})
}

// progress is the data of an event about a piece of work.
type progress struct {
	now client.ProgressEvent
	err error
}

// ForReader returns the progress for administrators.
func (s progress) ForReader(r events.Reader) any {
	if !r.Admin {
		return nil
	}
	if s.err != nil {
		l, _ := lang.Parse(r.Language)
		s.now.Error = l.Error(gateway.AsError(s.err))
	}
	return s.now
}
