package mcpserver

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"genkan/internal/gateway"
)

func ofSize(size int) outgoing {
	return outgoing{event: "message", data: []byte(strings.Repeat("x", size)), counted: size}
}

func TestOutboxBounds(t *testing.T) {
	t.Parallel()
	byBytes := outbox{mostBytes: 100}
	if !byBytes.offer(ofSize(500)) {
		t.Error("a large message may wait alone")
	}
	if byBytes.offer(ofSize(1)) {
		t.Error("a message was queued behind one that fills the queue")
	}
	if !byBytes.add(ofSize(1)) {
		t.Error("add has no bound")
	}
	byBytes.take()
	if !byBytes.offer(ofSize(60)) || byBytes.offer(ofSize(60)) || !byBytes.offer(ofSize(40)) {
		t.Error("100 bytes may wait")
	}
	byNumber := outbox{most: 2, mostBytes: 100}
	for i := range 3 {
		if taken := byNumber.offer(ofSize(1)); taken != (i < 2) {
			t.Errorf("message %d is taken: %t; two may wait", i, taken)
		}
	}
}

func TestOutboxWaitsForSpace(t *testing.T) {
	t.Parallel()
	o := outbox{mostBytes: 10}
	if o.addOrWait(ofSize(11)) != nil {
		t.Fatal("an empty outbox has space")
	}
	space := o.addOrWait(ofSize(1))
	if space == nil || o.addOrWait(ofSize(1)) != space {
		t.Fatal("all who wait share a channel")
	}
	if n := len(o.take()); n != 1 {
		t.Errorf("%d messages", n)
	}
	<-space
	if o.addOrWait(ofSize(1)) != nil {
		t.Error("there is space again")
	}
}

// The bytes of messages count against the client's share until they are written,
// handed over and given back, or dropped with the outbox.
func TestOutboxCountsTheShare(t *testing.T) {
	t.Parallel()
	shares := gateway.NewShares(1000) // of which one client may hold 750
	o := outbox{account: account{shares, "a"}, mostBytes: 10_000}
	want := func(bytes int64) {
		t.Helper()
		if got := shares.Held("a"); got != bytes {
			t.Errorf("%d bytes are counted, want %d", got, bytes)
		}
	}
	if !o.offer(ofSize(700)) || o.offer(ofSize(100)) {
		t.Error("the share bounds the queue")
	}
	if !o.offer(outgoing{data: make([]byte, 5000)}) {
		t.Error("a message that is not counted needs no share")
	}
	want(700)
	if n := len(o.take()); n != 2 {
		t.Errorf("%d messages", n)
	}
	want(700)
	o.offer(ofSize(10))
	o.release()
	want(10)
	for _, m := range o.handOver() {
		want(10)
		o.account.give(m.counted)
	}
	o.release()
	want(0)
	o.offer(ofSize(10))
	o.take()
	o.offer(ofSize(20))
	o.close()
	want(0)
	if o.add(ofSize(1)) || o.offer(ofSize(1)) {
		t.Error("a closed outbox takes messages")
	}
	o.release()
	want(0)
}

// Many add while one writes: each message is taken once, in the order in which it
// was added, and the writer is woken for the last one.
func TestOutboxKeepsTheOrder(t *testing.T) {
	t.Parallel()
	const senders, messages = 8, 200
	shares := gateway.NewShares(1 << 20)
	o := outbox{account: account{shares, "a"}, mostBytes: 1 << 20, wake: make(chan struct{}, 1)}
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range messages {
				data := fmt.Appendf(nil, "%d %d", s, i)
				if !o.offer(outgoing{event: "message", data: data, counted: len(data)}) {
					t.Errorf("message %s was refused", data)
				}
			}
		})
	}
	var got [senders][]int
	for taken := 0; taken < senders*messages; {
		<-o.wake
		for _, m := range o.take() {
			var s, i int
			if _, err := fmt.Sscan(string(m.data), &s, &i); err != nil {
				t.Fatal(err)
			}
			got[s] = append(got[s], i)
			taken++
		}
		o.release()
	}
	all.Wait()
	for s, order := range got {
		if len(order) != messages || !slices.IsSorted(order) {
			t.Errorf("sender %d: %v", s, order)
		}
	}
	if shares.Used() != 0 {
		t.Errorf("%d bytes are still counted", shares.Used())
	}
}

func TestOutgoingIsAnEvent(t *testing.T) {
	t.Parallel()
	var w strings.Builder
	m := outgoing{event: "message", data: []byte("{}"), written: make(chan struct{})}
	for _, m := range []outgoing{m, keepAlive()} {
		if err := m.write(&w); err != nil {
			t.Fatal(err)
		}
	}
	<-m.written
	if got, want := w.String(), "event: message\ndata: {}\n\n: keep-alive\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
