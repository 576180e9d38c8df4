package api

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"genkan/internal/events"
	"genkan/internal/gateway"
)

// followWorks returns a Works, and a function that returns the events that came since the
// function was called last.
func followWorks(who gateway.Identity) (*Works, func() []string) {
	hub := events.NewHub(100)
	reader := hub.Subscribe(who, events.Topics(), "")
	return NewWorks(hub), func() (got []string) {
		for _, e := range reader.Next(1 << 20) {
			got = append(got, string(e.Data))
		}
		return got
	}
}

// Work that reports often is published at most five times a second, and its end always.
func TestProgressIsPublishedNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		works, next := followWorks(gateway.Identity{Admin: true})
		w := works.Begin("kb.rebuild", 0)
		for n := range 1000 {
			w.Report(int64(n), 2000)
			time.Sleep(2 * time.Millisecond)
		}
		w.End(nil)
		got := next()
		if len(got) < 10 || len(got) > 12 {
			t.Errorf("%d events in two seconds", len(got))
		}
		if last := got[len(got)-1]; !strings.Contains(last, `"data":{"id":1,"work":"kb.rebuild","done":2000,"total":2000,"finished":true}`) {
			t.Errorf("the end is %s", last)
		}
		var none *Work
		none.Report(1, 2)
		none.End(nil)
	})
}

// Tracked work begins with its first progress, and again after its end.
func TestTrackedWork(t *testing.T) {
	t.Parallel()
	works, next := followWorks(gateway.Identity{Admin: true})
	report := works.Track("kb.index")
	for range 2 {
		report(0, 0) // there was nothing to do
		report(1, 4)
		report(2, 4)
		report(0, 0)
	}
	got := next()
	for i, want := range []string{
		`{"id":1,"work":"kb.index","done":0,"total":4}`, `{"id":1,"work":"kb.index","done":4,"total":4,"finished":true}`,
		`{"id":2,"work":"kb.index","done":0,"total":4}`, `{"id":2,"work":"kb.index","done":4,"total":4,"finished":true}`,
	} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Fatalf("event %d is not %s: %s", i, want, got)
		}
	}
}

// Administrators learn why work failed, and others nothing of it.
func TestWorkThatFails(t *testing.T) {
	t.Parallel()
	for admin, want := range map[bool]string{true: `"done":0,"total":1,"finished":true,"error":"the disk is full"`, false: ""} {
		works, next := followWorks(gateway.Identity{Admin: admin})
		works.Begin("backup", 1).End(&gateway.Error{Code: gateway.CodeUnavailable, Message: "the disk is full", Err: errors.New("secret")})
		if got := strings.Join(next(), "\n"); admin != (got != "") || !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("admin %t: %s", admin, got)
		}
	}
}
