package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// TestMain also is the process that writes until it is killed, and the one that has a
// small disk.
func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeUntilKilled(dir)
	}
	if dir := os.Getenv(smallDiskEnv); dir != "" {
		os.Exit(onSmallDisk(dir))
	}
	testkit.Main(m)
}

var testKey = bytes.Repeat([]byte("k"), KeySize)

func goodKey(context.Context) ([]byte, error) { return testKey, nil }

func newWriter(t testing.TB, dir, run string, change ...func(*Options)) *Writer {
	t.Helper()
	opt := Options{Dir: dir, Run: run, Key: goodKey, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for _, c := range change {
		c(&opt)
	}
	w := NewWriter(opt)
	t.Cleanup(w.Close)
	return w
}

func asIs(b []byte) []byte { return b }

var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

// call is the n-th call of a run, which ended n seconds after noon.
func call(run string, n int) Entry {
	return Entry{
		ID: run + "-" + strconv.Itoa(n), Started: noon.Add(time.Duration(n)*time.Second - 30*time.Millisecond).Local(), Took: 30 * time.Millisecond,
		Timing: gateway.Timing{Queue: time.Millisecond, Server: 20 * time.Millisecond},
		Caller: "local", Client: "editor 1.0", Edge: "stdio", Era: "legacy", Method: "tools/call", Server: "files", Tool: "files__read",
		Outcome: "ok", Attempts: 1, BytesIn: 10, BytesOut: 100, TokensIn: 3, TokensOut: 30,
	}
}

func ids(page Page) (all []string) {
	for _, e := range page.Calls {
		all = append(all, e.ID)
	}
	return all
}

// What was written is read, by the process that writes and by others.
func TestEntriesAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	want := call("AAA", 1)
	want.TokensSaved = -120
	want.Parent, want.Through, want.View, want.Error, want.Outcome = "AAA-0", "call_tool", "@work", "it is full", "tool_error"
	bodies := Bodies{Request: []byte(`{"a":1}`), Response: []byte(`{"b":2}`), Sent: []byte(`{"a":1,"d":0}`), Answered: []byte(`{"b":2}`)}
	w.Add(want, bodies, false)
	w.Flush(t.Context())
	r := NewReader(dir, goodKey)
	got, kept, err := r.Bodies(t.Context(), "AAA-1", "")
	if err != nil {
		t.Fatal(err)
	}
	want.Flags = HasBodies | Replayable
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if fmt.Sprintf("%s", kept) != fmt.Sprintf("%s", bodies) {
		t.Errorf("got %s, want %s", kept, bodies)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", f, info.Mode(), err)
		}
	}
	if _, _, err := r.get("AAA-1", "somebody else"); err == nil {
		t.Error("somebody else got the call")
	}
	for _, id := range []string{"AAA-2", "BBB-1", "AAA-01", "AAA", "", "AAA--1", "AAA-99999999999"} {
		if _, _, err := r.get(id, ""); err == nil {
			t.Errorf("there is a call %q", id)
		}
	}
}

// Bodies are not readable in any file, and long ones are cut.
func TestBodiesAreEncryptedAndBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	long := []byte(strings.Repeat("canary ", 20_000))
	w.Add(call("AAA", 1), Bodies{Request: []byte(`"canary"`), Response: long, Sent: []byte(`"canary"`), Answered: long}, false)
	w.Close()
	r := NewReader(dir, goodKey)
	e, b, err := r.Bodies(t.Context(), "AAA-1", "local")
	if err != nil || !e.Has(HasBodies|ResponseCut) || e.Has(RequestCut) || e.Has(Replayable) {
		t.Fatalf("%+v, %v", e, err)
	}
	if string(b.Request) != `"canary"` || !bytes.Equal(b.Response, long[:maxBody]) || b.Answered != nil {
		t.Errorf("%d and %d bytes were kept", len(b.Request), len(b.Response))
	}
	if _, err := r.List(t.Context(), Query{}, asIs); err != nil { // writes the index
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 2 {
		t.Errorf("the files are %v", files)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err != nil || bytes.Contains(text, []byte("canary")) {
			t.Errorf("%s has a body, or: %v", f, err)
		}
	}
	other := NewReader(dir, func(context.Context) ([]byte, error) { return bytes.Repeat([]byte("x"), KeySize), nil })
	if _, _, err := other.Bodies(t.Context(), "AAA-1", ""); err == nil || !errors.Is(err, errOtherKey) {
		t.Errorf("with another key: %v", err)
	}
}

// What workflows did to a call is kept with its bodies, and goes with them.
func TestTracesAreKeptWithBodies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA", func(o *Options) {
		o.Trace = func(id string, redact bool) []byte {
			switch id {
			case "AAA-3":
				return nil
			case "AAA-4":
				return make([]byte, MaxTrace+1)
			}
			return fmt.Appendf(nil, "canary of %s, %v", id, redact)
		}
	})
	body := Bodies{Request: []byte(`1`), Response: []byte(`2`), Sent: []byte(`1`), Answered: []byte(`3`)}
	w.Add(call("AAA", 1), body, false)
	w.Add(call("AAA", 2), body, true)
	w.Add(call("AAA", 3), body, false)
	w.Add(call("AAA", 4), body, false)
	w.Add(call("AAA", 5), Bodies{}, false)
	w.Close()
	a := &Archive{Reader: NewReader(dir, goodKey)}
	for id, want := range map[string]string{"AAA-1": "canary of AAA-1, false", "AAA-2": "canary of AAA-2, true", "AAA-3": "", "AAA-4": "", "AAA-5": ""} {
		if got, err := a.Trace(t.Context(), id); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", id, got, err)
		}
	}
	if _, b, err := a.Reader.Bodies(t.Context(), "AAA-1", ""); err != nil || string(b.Sent)+string(b.Answered) != "13" {
		t.Errorf("%s, %v", b, err)
	}
	if _, err := a.Trace(t.Context(), "AAA-6"); err == nil {
		t.Error("a trace of a call that is not there")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if text, err := os.ReadFile(f); err != nil || bytes.Contains(text, []byte("canary")) {
			t.Errorf("%s has a trace, or: %v", f, err)
		}
	}
}

// Without replay, secrets are taken out before bodies are stored.
func TestWithoutReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA", func(o *Options) {
		o.Redact = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("canary"), []byte("***")) }
	})
	w.Add(call("AAA", 1), Bodies{Request: []byte(`"canary"`), Response: []byte(`"a canary"`), Sent: []byte(`"canary"`), Answered: []byte(`"a canary"`)}, true)
	w.Close()
	e, b, err := NewReader(dir, goodKey).Bodies(t.Context(), "AAA-1", "")
	if err != nil || e.Has(Replayable) || string(b.Request) != `"***"` || string(b.Response) != `"a ***"` || b.Sent != nil || b.Answered != nil {
		t.Errorf("%+v %s %v", e, b, err)
	}
}

// A call is kept without bodies while the key cannot be had, and with them afterwards.
func TestWithoutKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	locked := errors.New("locked")
	w := newWriter(t, dir, "AAA", func(o *Options) {
		o.Key = func(context.Context) ([]byte, error) { return nil, locked }
	})
	body := Bodies{Request: []byte(`1`), Response: []byte(`2`)}
	w.Add(call("AAA", 1), body, false)
	w.Flush(t.Context())
	if p := w.Problem(); p == nil || !p.Bodies || !errors.Is(p.Err, locked) {
		t.Errorf("the problem is %+v", p)
	}
	e, _, err := NewReader(dir, goodKey).Bodies(t.Context(), "AAA-1", "")
	if err != nil || e.Has(HasBodies) || !e.Has(BodiesLost) {
		t.Errorf("%+v, %v", e, err)
	}
}

// What a crash has cut off, and what is damaged, is not shown; everything else is.
func TestDamage(t *testing.T) {
	const calls = 40
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	for n := range calls {
		w.Add(call("AAA", n), Bodies{Request: []byte(`{"n":` + strconv.Itoa(n) + `}`)}, false)
	}
	w.Close()
	file, _ := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	whole, err := os.ReadFile(file[0])
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, damaged []byte, wrong int) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "calls")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file[0])), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		r := NewReader(dir, goodKey)
		page, err := r.List(context.Background(), Query{Limit: calls}, asIs)
		if err != nil || len(page.Calls) < calls-wrong {
			t.Fatalf("%d calls, %v", len(page.Calls), err)
		}
		for _, e := range page.Calls {
			_, n, _ := splitID(e.ID)
			want := call("AAA", int(n))
			want.Flags = HasBodies
			if e != want {
				t.Errorf("shown: %+v", e)
			}
		}
	}
	for cut := 1; cut < len(whole)-headerSize; cut += 1 + len(whole)/testkit.Count(50, 500) {
		check(t, whole[:len(whole)-cut], cut*calls/(len(whole)-headerSize)+1)
	}
	for at := headerSize; at < len(whole); at += 1 + len(whole)/testkit.Count(50, 1000) {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x40
		check(t, damaged, 1)
	}
}

// An index that is missing, damaged or of another time is made again.
func TestIndexesAreMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	for n := range 10 {
		w.Add(call("AAA", n), Bodies{}, false)
	}
	w.Close()
	list := func() []string {
		page, err := NewReader(dir, goodKey).List(t.Context(), Query{}, asIs)
		if err != nil {
			t.Fatal(err)
		}
		return ids(page)
	}
	want := list()
	index, _ := filepath.Glob(filepath.Join(dir, "*"+indexSuffix))
	if len(want) != 10 || len(index) != 1 {
		t.Fatalf("%v, %v", want, index)
	}
	good, err := os.ReadFile(index[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "short": good[:20], "damaged": append(bytes.Clone(good[:len(good)-1]), 7), "text": []byte("hello, I am no index at all, but I am long enough for one"),
		"damaged rows": append(append(bytes.Clone(good[:len(good)-40]), 1), good[len(good)-39:]...),
	} {
		if err := os.WriteFile(index[0], content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := list(); !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
		if now, err := os.ReadFile(index[0]); err != nil || !bytes.Equal(now, good) {
			t.Errorf("%s: the index was not mended: %v", name, err)
		}
	}
}

// Calls of several processes come in one order, the newest first; every filter selects
// what it says; and the pages of a list have each call once.
func TestLists(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := filepath.Join(t.TempDir(), "calls"+strconv.Itoa(int(time.Now().UnixNano())))
		var all []Entry
		word := func(from ...string) string { return rapid.SampledFrom(from).Draw(rt, "word") }
		writers := map[string]*Writer{}
		runs := []string{"AAA", "BBB", "CCC"}
		for _, run := range runs {
			writers[run] = newWriter(t, dir, run)
		}
		for n := range rapid.IntRange(0, 40).Draw(rt, "calls") {
			run := word(runs...)
			e := call(run, n)
			e.Caller, e.Client = word("local", "ci", "editor 1.0"), word("editor 1.0", "cli 2")
			e.Server, e.Tool, e.Outcome = word("files", "web", ""), word("read", "write", "files"), word("ok", "tool_error", "timeout", "canceled")
			e.Took = time.Duration(rapid.IntRange(0, 2000).Draw(rt, "took")) * time.Millisecond
			e.Started = noon.Add(time.Duration(n) * time.Second).Add(-e.Took).Local()
			body := word(`{"say":"Hello"}`, `{"say":"\u3042"}`, `{"say":"あ"}`, `{}`)
			writers[run].Add(e, Bodies{Request: []byte(body), Response: []byte(`{}`)}, false)
			e.Flags = HasBodies
			e.Error = body // for comparing below
			all = append(all, e)
			if rapid.Bool().Draw(rt, "flush") {
				writers[run].Flush(context.Background())
			}
		}
		if rapid.Bool().Draw(rt, "ended") {
			writers["AAA"].Close()
		}
		for _, w := range writers {
			w.Flush(context.Background())
		}
		q := Query{
			Caller: word("", "", "local", "nobody"), Client: word("", "", "editor 1.0", "ci"), Server: word("", "", "files", "nowhere"),
			Tool: word("", "", "read", "files", "files__read"), Outcome: word("", "ok", "error", "timeout", "canceled"), Text: word("", "", "hello", "あ", "nothing"),
			Slower: time.Duration(rapid.IntRange(0, 1).Draw(rt, "slower")) * time.Second, Limit: rapid.IntRange(1, 50).Draw(rt, "limit"),
		}
		for _, not := range []struct {
			into *[]string
			from []string
		}{
			{&q.Not.Clients, []string{"local", "editor", "nobody"}},
			{&q.Not.Servers, []string{"web", "nowhere"}},
			{&q.Not.Tools, []string{"write", "nothing", "files__read"}},
			{&q.Not.Outcomes, []string{"error", "ok", "timeout", "canceled"}},
		} {
			if name := word(append(not.from, "", "", "", "")...); name != "" {
				*not.into = []string{"other", name}
			}
		}
		if rapid.Bool().Draw(rt, "since") {
			q.Since = noon.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "from")) * time.Second)
		}
		if rapid.Bool().Draw(rt, "until") {
			q.Until = noon.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "to")) * time.Second)
		}
		want := []string{}
		slices.SortFunc(all, func(a, b Entry) int {
			return cmp.Compare(b.Started.Add(b.Took).UnixMilli(), a.Started.Add(a.Took).UnixMilli())
		})
		calls, failed := 0, 0
		for _, e := range all {
			ended := e.Started.Add(e.Took)
			bad := e.Outcome == "tool_error" || e.Outcome == "timeout"
			if q.Caller != "" && e.Caller != q.Caller || q.Client != "" && e.Caller != q.Client && e.Client != q.Client ||
				q.Server != "" && e.Server != q.Server || q.Tool != "" && e.Tool != q.Tool && e.Server+"__"+e.Tool != q.Tool ||
				q.Outcome == "error" && !bad || q.Outcome != "" && q.Outcome != "error" && e.Outcome != q.Outcome ||
				e.Took < q.Slower || !q.Since.IsZero() && ended.Before(q.Since) || !q.Until.IsZero() && ended.After(q.Until) {
				continue
			}
			not := func(names []string, value string) bool { return slices.Contains(names, value) }
			if not(q.Not.Clients, e.Caller) || not(q.Not.Clients, "editor") && (e.Caller == "editor 1.0" || e.Client == "editor 1.0") ||
				not(q.Not.Servers, e.Server) || not(q.Not.Tools, e.Tool) || not(q.Not.Tools, e.Server+"__"+e.Tool) || not(q.Not.Outcomes, e.Outcome) ||
				not(q.Not.Outcomes, "error") && bad {
				continue
			}
			calls++
			if bad {
				failed++
			}
			if q.Text == "hello" && !strings.Contains(e.Error, "Hello") || q.Text == "あ" && !strings.Contains(e.Error, "あ") && !strings.Contains(e.Error, "3042") || q.Text == "nothing" {
				continue
			}
			want = append(want, e.ID)
		}
		r := NewReader(dir, goodKey)
		got := []string{}
		for {
			page, err := r.List(context.Background(), q, asIs)
			if err != nil || len(page.Calls) > q.Limit {
				rt.Fatalf("%d calls, %v", len(page.Calls), err)
			}
			got = append(got, ids(page)...)
			if q.After = page.Next; page.Next == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v:\ngot  %v\nwant %v", q, got, want)
		}
		stats, err := r.Stats(context.Background(), q)
		sum, ofServers := 0, 0
		for _, s := range stats.Tools {
			sum += s.Calls
		}
		for _, s := range stats.Servers {
			ofServers += s.Calls
		}
		if err != nil || stats.Total.Calls != calls || stats.Total.Errors != failed || sum != calls || ofServers != calls {
			rt.Fatalf("%+v, %v; want %d calls, %d failed", stats, err, calls, failed)
		}
		spacing := Spacing{Steps: rapid.IntRange(1, 50).Draw(rt, "steps"), By: rapid.SampledFrom([]GroupBy{ByServer, ByTool}).Draw(rt, "by"), Groups: 50}
		series, err := r.Series(context.Background(), q, spacing)
		sum, grouped, bad := 0, 0, 0
		for _, s := range series.Total {
			sum, bad = sum+s.Calls, bad+s.Errors
		}
		for _, g := range series.Groups {
			grouped += g.Calls
		}
		if err != nil || sum != calls || bad != failed || grouped != sum || len(series.Total) > max(spacing.Steps, 2) {
			rt.Fatalf("%d steps with %d calls, %d in groups, %d failed, %v; want %d calls", len(series.Total), sum, grouped, bad, err, calls)
		}
		for _, w := range writers {
			w.Close()
		}
	})
}

// A tool that some clients call by its own name, and others with its server's, is one row.
func TestNamesOfOneTool(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, "A")
	for n, tool := range []string{"files__read", "read", "files__write"} {
		e := call("A", n)
		e.Server, e.Tool = "files", tool
		if n == 1 {
			e.TokensSaved = -300 // read back
		}
		w.Add(e, Bodies{}, false)
	}
	w.Close()
	r := NewReader(dir, goodKey)
	stats, err := r.Stats(t.Context(), Query{})
	if err != nil || stats.Total.Calls != 3 || len(stats.Tools) != 2 || stats.Tools[0].Tool != "read" || stats.Tools[0].Calls != 2 {
		t.Errorf("%+v, %v", stats, err)
	}
	series, err := r.Series(t.Context(), Query{}, Spacing{Step: 1000 * time.Hour, By: ByTool, Groups: 10})
	if err != nil || len(series.Groups) != len(stats.Tools) {
		t.Fatalf("%+v, %v", series, err)
	}
	for i, g := range series.Groups {
		sum := stats.Tools[i]
		for _, step := range g.Steps {
			step.Server, step.Tool = g.Server, g.Tool
			if step.Calls > 0 && step != sum {
				t.Errorf("the course has %+v, the sums %+v", step, sum)
			}
		}
	}
}

// A history that cannot be written says so, loses nothing but calls that end
// meanwhile, and goes on by itself.
func TestAFolderThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // in the way
		t.Fatal(err)
	}
	var log bytes.Buffer
	w := newWriter(t, dir, "AAA", func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.RetryPause = time.Nanosecond
	})
	w.Add(call("AAA", 1), Bodies{}, false)
	w.Flush(t.Context())
	w.Add(call("AAA", 2), Bodies{}, false)
	w.Flush(t.Context())
	if p := w.Problem(); p == nil || p.Bodies {
		t.Fatalf("the problem is %+v", p)
	}
	if entries, _ := w.Dropped(); entries != 2 {
		t.Errorf("%d were dropped", entries)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	w.Add(call("AAA", 3), Bodies{}, false)
	w.Flush(t.Context())
	page, err := NewReader(dir, goodKey).List(t.Context(), Query{}, asIs)
	if err != nil || w.Problem() != nil || !slices.Equal(ids(page), []string{"AAA-3"}) {
		t.Errorf("%v, %v, %+v", ids(page), err, w.Problem())
	}
	w.Close()
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("it was said %d times:\n%s", n, &log)
	}
}

// Adding never waits. Under pressure bodies are left out first.
func TestPressure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	ask, answer := make(chan struct{}), make(chan struct{})
	w := newWriter(t, dir, "AAA", func(o *Options) {
		o.Key = func(context.Context) ([]byte, error) {
			close(ask)
			<-answer
			return testKey, nil
		}
	})
	body := Bodies{Request: make([]byte, maxBody)}
	w.Add(call("AAA", 0), body, false)
	<-ask // the writer waits
	const calls = maxQueued/maxBody + 100
	for n := 1; n <= calls; n++ {
		w.Add(call("AAA", n), body, false)
	}
	if entries, bodies := w.Dropped(); entries != 0 || bodies != 100 {
		t.Errorf("%d entries and %d bodies were lost", entries, bodies)
	}
	for n := calls; n <= maxQueuedEntries+10; n++ {
		w.Add(call("AAA", n), Bodies{}, false)
	}
	if entries, _ := w.Dropped(); entries == 0 || entries > 11 {
		t.Errorf("%d entries were lost", entries)
	}
	close(answer)
	w.Flush(t.Context())
	e, _, err := NewReader(dir, goodKey).get("AAA-"+strconv.Itoa(calls-1), "")
	if err != nil || !e.Has(BodiesLost) || e.Has(HasBodies) {
		t.Errorf("%+v, %v", e, err)
	}
}

// Segments end when they are full, and their indexes are kept.
func TestSegmentsEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	const calls = maxEntries + 10
	for n := range calls {
		w.Add(call("AAA", n), Bodies{}, false)
	}
	w.Flush(t.Context())
	w.Add(call("AAA", calls), Bodies{}, false)
	w.Flush(t.Context())
	r := NewReader(dir, goodKey)
	for range 2 {
		page, err := r.List(t.Context(), Query{Since: noon.Add(-time.Hour), Limit: 3}, asIs)
		if err != nil || !slices.Equal(ids(page), []string{"AAA-16010", "AAA-16009", "AAA-16008"}) {
			t.Errorf("%v, %v", ids(page), err)
		}
	}
	segments, _ := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	indexes, _ := filepath.Glob(filepath.Join(dir, "*"+indexSuffix))
	if len(segments) != 2 || len(indexes) != 1 {
		t.Errorf("%v %v", segments, indexes)
	}
	if stats, err := r.Stats(t.Context(), Query{}); err != nil || stats.Total.Calls != calls+1 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(endFrame(encodeEntry(beginFrame(nil), &Entry{ID: "A-1", Outcome: "ok", Effect: "denied"}), 0, 0))
	f.Add(endFrame(encodeEntry(beginFrame(nil), &Entry{ID: "A-1", Outcome: "ok"}), 0, 0))
	f.Add([]byte(frameMagic + "\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if payload, next, ok := frameAt(b, 0, 0); ok && (next > len(b) || len(payload) != next-frameHead) {
			t.Errorf("a frame of %d bytes in %d", next, len(b))
		}
		var e Entry
		if rest, err := decodeEntry(b, &e); err == nil {
			again := encodeEntry(nil, &e)
			var same Entry
			if _, err := decodeEntry(again, &same); err != nil || same.ID != e.ID[:min(len(e.ID), maxText)] || len(rest) > len(b) {
				t.Errorf("%+v became %+v, %v", e, same, err)
			}
		}
		if bodies, err := decodeBodies(b); err == nil {
			again, err := decodeBodies(appendBodies(nil, &bodies))
			if err != nil || !bytes.Equal(again.Sent, bodies.Sent) || !bytes.Equal(again.Response, bodies.Response) {
				t.Errorf("%s became %s, %v", bodies, again, err)
			}
		}
	})
}
