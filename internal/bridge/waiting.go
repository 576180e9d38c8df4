package bridge

import (
	"cmp"
	"slices"
	"time"
)

// waiter is a message that waits for an owner.
type waiter struct {
	// request is nil for a notification.
	request *request
	line    []byte
	number  uint64
	timer   *time.Timer
}

// waitQueue is the bounded queue of messages that wait for an owner.
type waitQueue struct {
	waiters []*waiter
	bytes   int
}

// add returns false if the queue is full.
func (w *waitQueue) add(one *waiter) bool {
	if len(w.waiters) >= mostWaiting || w.bytes+len(one.line) > mostWaitingBytes {
		return false
	}
	w.waiters = append(w.waiters, one)
	w.bytes += len(one.line)
	return true
}

func (w *waitQueue) index(id string) int {
	return slices.IndexFunc(w.waiters, func(one *waiter) bool { return one.request != nil && one.request.id == id })
}

func (w *waitQueue) has(id string) bool { return w.index(id) >= 0 }

// remove removes a request and reports whether it was there.
func (w *waitQueue) remove(id string) bool {
	i := w.index(id)
	if i < 0 {
		return false
	}
	w.waiters[i].timer.Stop()
	w.bytes -= len(w.waiters[i].line)
	w.waiters = slices.Delete(w.waiters, i, i+1)
	return true
}

// requests returns the number of requests in the queue.
func (w *waitQueue) requests() int {
	n := 0
	for _, one := range w.waiters {
		if one.request != nil {
			n++
		}
	}
	return n
}

// takeAll empties the queue and returns its messages in their order.
func (w *waitQueue) takeAll() []*waiter {
	all := w.waiters
	slices.SortStableFunc(all, func(a, b *waiter) int { return cmp.Compare(a.number, b.number) })
	for _, one := range all {
		if one.timer != nil {
			one.timer.Stop()
		}
	}
	w.waiters, w.bytes = nil, 0
	return all
}
