package history

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Whole segments are removed: the old ones, and the oldest of too many; never one that
// is written.
func TestPrune(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	now := time.Now()
	touch := func(run string, age time.Duration) {
		files, _ := filepath.Glob(filepath.Join(dir, "*-"+run+"-*"+segmentSuffix))
		for _, f := range files {
			if err := os.Chtimes(f, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := func() []string {
		page, err := NewReader(dir, goodKey).List(t.Context(), Query{}, asIs)
		if err != nil {
			t.Fatal(err)
		}
		return ids(page)
	}
	writers := map[string]*Writer{}
	for i, run := range []string{"OLD", "MID", "NEW", "LIVE"} {
		writers[run] = newWriter(t, dir, run)
		writers[run].Add(call(run, i), Bodies{Request: make([]byte, 10_000)}, false)
		writers[run].Flush(t.Context())
		if run != "LIVE" {
			writers[run].Close()
		}
	}
	touch("OLD", 8*24*time.Hour)
	touch("LIVE", 9*24*time.Hour)
	touch("MID", time.Hour)
	touch("NEW", time.Minute)
	list() // makes the indexes
	if err := Prune(dir, Keep{For: 7 * 24 * time.Hour}, now); err != nil {
		t.Fatal(err)
	}
	if got := list(); !slices.Equal(got, []string{"LIVE-3", "NEW-2", "MID-1"}) {
		t.Errorf("by age: %v", got)
	}
	if err := Prune(dir, Keep{Bytes: 25_000}, now); err != nil {
		t.Fatal(err)
	}
	if got := list(); !slices.Equal(got, []string{"LIVE-3", "NEW-2"}) {
		t.Errorf("by size: %v", got)
	}
	writers["LIVE"].Close()
	if err := Prune(dir, Keep{Bytes: 1}, now); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(dir)
	if got := list(); len(got) != 0 || len(left) != 1 {
		t.Errorf("%v is left in %v", got, left)
	}
}

// A history that is full takes over the files of its oldest segments: it stays within its
// limit, and shows the newest calls, each once and whole.
func TestAFullHistory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	const limit = 3 * maxSegment
	w := newWriter(t, dir, "AAA", func(o *Options) { o.Keep = func() Keep { return Keep{Bytes: limit} } })
	r := NewReader(dir, goodKey)
	body := func(n int) []byte { return bytes.Repeat([]byte(strconv.Itoa(n)+" "), 50_000/(1+n%7)/4) }
	const calls = 1500
	for n := range calls {
		w.Add(call("AAA", n), Bodies{Request: body(n)}, false)
		if n%20 == 0 {
			w.Flush(t.Context())
		}
		if n%500 != 0 {
			continue
		}
		page, err := r.List(t.Context(), Query{Limit: 3}, asIs)
		if err != nil || len(page.Calls) == 0 || page.Calls[0].ID != "AAA-"+strconv.Itoa(n) {
			t.Fatalf("%d: %v, %v", n, ids(page), err)
		}
	}
	w.Flush(t.Context())
	if size := Size(dir); size > limit+maxSegment {
		t.Errorf("it has %d bytes", size)
	}
	check := func(r *Reader) (shown int) {
		t.Helper()
		q := Query{Limit: 100}
		for next := calls - 1; ; {
			page, err := r.List(t.Context(), q, asIs)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range page.Calls {
				if e.ID != "AAA-"+strconv.Itoa(next) {
					t.Fatalf("%s is shown, want %d", e.ID, next)
				}
				if b, err := r.open(t.Context(), page.sealed[i]); err != nil || !bytes.Equal(b.Request, body(next)) {
					t.Fatalf("%s has another body, or: %v", e.ID, err)
				}
				next--
				shown++
			}
			if q.After = page.Next; page.Next == "" {
				return shown
			}
		}
	}
	during := check(r)
	if fresh := check(NewReader(dir, goodKey)); fresh != during || fresh < 100 || fresh == calls {
		t.Errorf("%d calls are shown, by another reader %d", during, fresh)
	}
	w.Close()
	if after := check(NewReader(dir, goodKey)); after != during {
		t.Errorf("%d calls are shown afterwards, %d before", after, during)
	}
}
