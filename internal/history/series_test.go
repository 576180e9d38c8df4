package history

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A series has a sum for each step, also for those without a call, and steps stay where
// they are while time goes on.
func TestSeries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	for n := 1; n <= 100; n++ {
		e := call("AAA", n)
		// A person who takes a second to answer makes no call slow.
		e.Timing.Asked = time.Duration(n%2) * time.Second
		e.Took = time.Duration(n)*time.Millisecond + e.Timing.Asked
		e.Started = noon.Add(10 * time.Second).Add(-e.Took) // all end at one time
		e.TokensSaved = 7
		if n > 90 {
			e.Server, e.Tool, e.Outcome = "web", "web__get", "timeout"
			e.Started = e.Started.Add(3 * time.Minute)
		}
		w.Add(e, Bodies{}, false)
	}
	w.Flush(t.Context())
	r := NewReader(dir, goodKey)
	until := noon.Add(4*time.Minute + 30*time.Second)
	got, err := r.Series(t.Context(), Query{Since: noon.Add(5 * time.Second), Until: until}, Spacing{Step: time.Minute, By: ByTool, Groups: 10})
	if err != nil {
		t.Fatal(err)
	}
	first := Stat{Calls: 90, P50: 45 * time.Millisecond, P95: 86 * time.Millisecond, TokensIn: 270, TokensOut: 2700, TokensSaved: 630}
	last := Stat{Calls: 10, Errors: 10, P50: 95 * time.Millisecond, P95: 100 * time.Millisecond, TokensIn: 30, TokensOut: 300, TokensSaved: 70}
	if want := []Stat{first, {}, {}, last, {}}; !got.From.Equal(noon) || got.Step != time.Minute || !slices.Equal(got.Total, want) {
		t.Errorf("from %v every %v: %+v", got.From, got.Step, got.Total)
	}
	if len(got.Groups) != 2 || got.Groups[0].Tool != "files__read" || got.Groups[0].Calls != 90 || got.Groups[1].Server != "web" ||
		!slices.Equal(got.Groups[1].Steps, []Stat{{}, {}, {}, last, {}}) {
		t.Errorf("the groups are %+v", got.Groups)
	}
	for name, c := range map[string]struct {
		q       Query
		spacing Spacing
		steps   int
		step    time.Duration
	}{
		"from the first call":   {Query{Until: until}, Spacing{Steps: 60}, 53, 5 * time.Second},
		"of what is selected":   {Query{Until: until, Server: "web"}, Spacing{Steps: 60}, 41, 2 * time.Second},
		"a few steps":           {Query{Since: noon, Until: noon.Add(time.Hour)}, Spacing{Steps: 7}, 7, 10 * time.Minute},
		"of a long time":        {Query{Since: noon, Until: noon.Add(300 * day)}, Spacing{Steps: 100}, 76, 4 * day},
		"one step is two":       {Query{Since: noon, Until: noon.Add(300 * day)}, Spacing{Steps: 1}, 2, 155 * day},
		"of nothing":            {Query{Server: "nowhere"}, Spacing{Steps: 60}, 1, time.Second},
		"of no time":            {Query{Since: until, Until: noon}, Spacing{Steps: 60}, 1, time.Second},
		"as many as there are":  {Query{Since: noon, Until: noon.Add(999 * time.Second)}, Spacing{Step: time.Second}, 1000, time.Second},
		"with groups cut short": {Query{Since: noon, Until: until}, Spacing{Step: time.Hour, By: ByServer, Groups: 1}, 1, time.Hour},
	} {
		got, err := r.Series(t.Context(), c.q, c.spacing)
		if err != nil || len(got.Total) != c.steps || got.Step != c.step || len(got.Groups) > c.spacing.Groups {
			t.Errorf("%s: %d steps of %v, %v", name, len(got.Total), got.Step, err)
		}
	}
	_, err = r.Series(t.Context(), Query{Since: noon, Until: noon.Add(day)}, Spacing{Step: time.Second})
	if err == nil || !strings.Contains(err.Error(), "at least 87 seconds") {
		t.Errorf("too many steps: %v", err)
	}
	if _, err = r.Series(t.Context(), Query{Since: noon, Until: noon.Add(day)}, Spacing{Step: 87 * time.Second}); err != nil {
		t.Error(err)
	}
}

// BenchmarkSeries divides 100,000 calls of a day.
func BenchmarkSeries(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "calls")
	w := newWriter(b, dir, "AAA")
	for n := range 100_000 {
		e := call("AAA", n)
		e.Started = noon.Add(time.Duration(n) * 864 * time.Millisecond)
		e.Server = fmt.Sprint("server", n%40)
		e.Tool = fmt.Sprint(e.Server, "__tool", n%400)
		w.Add(e, Bodies{}, false)
		if n%1000 == 0 {
			w.Flush(b.Context())
		}
	}
	w.Close()
	r := NewReader(dir, goodKey)
	for name, spacing := range map[string]Spacing{"total": {Steps: 60}, "1000-steps": {Steps: 1000}, "by-tool": {Steps: 60, By: ByTool, Groups: 10}} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := r.Series(b.Context(), Query{Until: noon.Add(day)}, spacing); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestStats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	w := newWriter(t, dir, "AAA")
	for n := 1; n <= 100; n++ {
		e := call("AAA", n)
		e.Took = time.Duration(n) * time.Millisecond
		if n > 90 {
			e.Tool, e.Outcome = "files__write", "timeout"
		}
		switch n {
		case 1:
			e.TokensSaved = 1000
		case 100:
			e.TokensSaved = -300 // read back
		}
		w.Add(e, Bodies{}, false)
	}
	w.Flush(t.Context())
	stats, err := NewReader(dir, goodKey).Stats(t.Context(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Stat{Calls: 100, Errors: 10, P50: 50 * time.Millisecond, P95: 95 * time.Millisecond, TokensIn: 300, TokensOut: 3000, TokensSaved: 700}); stats.Total != want {
		t.Errorf("got %+v, want %+v", stats.Total, want)
	}
	want := []Stat{
		{Server: "files", Tool: "files__read", Calls: 90, P50: 45 * time.Millisecond, P95: 86 * time.Millisecond, TokensIn: 270, TokensOut: 2700, TokensSaved: 1000},
		{Server: "files", Tool: "files__write", Calls: 10, Errors: 10, P50: 95 * time.Millisecond, P95: 100 * time.Millisecond, TokensIn: 30, TokensOut: 300, TokensSaved: -300},
	}
	if !slices.Equal(stats.Tools, want) {
		t.Errorf("got %+v", stats.Tools)
	}
	// A server's percentiles are of its calls, not of its tools.
	of := stats.Total
	of.Server = "files"
	if !slices.Equal(stats.Servers, []Stat{of}) {
		t.Errorf("got %+v", stats.Servers)
	}
}
