package history

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"genkan/internal/gateway"
)

// Files that are no segments, whatever their names, are left out, and the rest is shown.
func TestOddFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	w.Add(call("AAA", 1), Bodies{}, false)
	w.Flush(t.Context())
	name := func(n int) string {
		return filepath.Join(dir, segmentName(noon.Add(time.Duration(n)*time.Second), "ODD", n))
	}
	for n, content := range []string{"", "GENKA", segmentMagic, "hello, I am a text that is longer than the header of a segment"} {
		if err := os.WriteFile(name(n), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(name(10), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", name(11)); err != nil {
		t.Fatal(err)
	}
	makeFIFO(t, name(12))
	segments, _ := filepath.Glob(filepath.Join(dir, "*-AAA-*"+segmentSuffix))
	makeFIFO(t, indexPath(segments[0]))
	page, err := NewReader(dir, goodKey).List(t.Context(), Query{}, asIs)
	if err != nil || !slices.Equal(ids(page), []string{"AAA-1"}) {
		t.Errorf("%v, %v", ids(page), err)
	}
	if stats, err := NewReader(dir, goodKey).Stats(t.Context(), Query{}); err != nil || stats.Total.Calls != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	if err := Prune(dir, Keep{For: time.Nanosecond}, time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
}

// A folder that is removed while calls are made is made again.
func TestARemovedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	for n := range 3 {
		w.Add(call("AAA", n), Bodies{Request: []byte(`1`)}, false)
		w.Flush(t.Context())
		page, err := NewReader(dir, goodKey).List(t.Context(), Query{Limit: 1}, asIs)
		if err != nil || len(page.Calls) != 1 || page.Calls[0].ID != call("AAA", n).ID {
			t.Fatalf("%d: %v, %v", n, ids(page), err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// Calls of unknown tools are one sum: callers make up their names.
func TestUnknownToolsAreOneSum(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	for n := range 5 {
		e := call("AAA", n)
		e.Server, e.Tool, e.Outcome = "", "made_up_"+e.ID, "not_found"
		w.Add(e, Bodies{}, false)
	}
	for n := range 3 { // of a known server
		e := call("AAA", 10+n)
		e.Tool, e.Flags = "made_up_"+e.ID, Unlisted
		w.Add(e, Bodies{}, false)
	}
	w.Flush(t.Context())
	r := NewReader(dir, goodKey)
	stats, err := r.Stats(t.Context(), Query{})
	if err != nil || len(stats.Tools) != 2 || stats.Tools[0].Calls != 5 || stats.Tools[1].Calls != 3 || stats.Tools[1].Server != "files" || stats.Tools[0].Tool+stats.Tools[1].Tool != "" {
		t.Errorf("%+v, %v", stats, err)
	}
	series, err := r.Series(t.Context(), Query{}, Spacing{Steps: 2, By: ByTool, Groups: 10})
	if err != nil || len(series.Groups) != 2 || series.Groups[0].Tool+series.Groups[1].Tool != "" || series.Groups[1].Server != "files" {
		t.Errorf("%+v, %v", series.Groups, err)
	}
}

// Who gets a name that somebody else had does not get their calls.
func TestANameThatIsUsedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	for n := range 10 {
		w.Add(call("AAA", n), Bodies{}, false)
	}
	a := &Archive{
		Reader: NewReader(dir, goodKey), Writer: w,
		Redact: func(context.Context) (func([]byte) ([]byte, []string), error) {
			return func(b []byte) ([]byte, []string) { return b, nil }, nil
		},
		Since: func(context.Context, gateway.Identity) (time.Time, error) { return noon.Add(5 * time.Second), nil },
	}
	who := gateway.Identity{ClientID: "local"}
	list, err := a.List(t.Context(), who, Query{})
	if err != nil || len(list.Calls) != 5 {
		t.Errorf("%d calls, %v", len(list.Calls), err)
	}
	if stats, err := a.Stats(t.Context(), who, Query{}); err != nil || stats.Total.Calls != 5 {
		t.Errorf("%+v, %v", stats, err)
	}
	if _, err := a.Show(t.Context(), who, "AAA-2"); err == nil || gateway.AsError(err).Code != gateway.CodeNotFound {
		t.Errorf("a call of the former holder: %v", err)
	}
	if _, err := a.Show(t.Context(), who, "AAA-7"); err != nil {
		t.Error(err)
	}
}
