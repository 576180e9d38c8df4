package history

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// BenchmarkAdd is the cost of an entry, from Add to the file, in processor time.
func BenchmarkAdd(b *testing.B) {
	for name, body := range map[string][]byte{"facts": nil, "256B": make([]byte, 256), "16KB": make([]byte, 16<<10)} {
		b.Run(name, func(b *testing.B) {
			w := newWriter(b, filepath.Join(b.TempDir(), "calls"), "AAA")
			e := call("AAA", 1)
			b.ReportAllocs()
			for range b.N {
				w.Add(e, Bodies{Request: body, Response: body, Sent: body, Answered: body}, false)
				if len(w.queue) > 64 {
					w.Flush(b.Context())
				}
			}
			w.Flush(b.Context())
			if lost, bodies := w.Dropped(); lost+bodies > 0 {
				b.Fatalf("%d and %d were lost", lost, bodies)
			}
		})
	}
}

// BenchmarkMillion lists the newest calls of a million by each filter, also by one that
// selects nothing, and sums all of them up.
func BenchmarkMillion(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "calls")
	w := newWriter(b, dir, "AAA")
	for n := range 1_000_000 {
		e := call("AAA", n)
		e.Started = noon.Add(time.Duration(n) * 100 * time.Millisecond)
		e.Server = "server" + strconv.Itoa(n%40)
		e.Tool = e.Server + "__tool" + strconv.Itoa(n%400)
		e.Caller = "client" + strconv.Itoa(n%7)
		if n == 10 {
			e.Outcome, e.Took = "timeout", time.Minute
		}
		w.Add(e, Bodies{}, false)
		if n%1000 == 0 {
			w.Flush(b.Context())
		}
	}
	w.Close()
	if lost, _ := w.Dropped(); lost > 0 {
		b.Fatal(lost)
	}
	fmt.Printf("a million calls take %d MB\n", Size(dir)>>20)
	r := NewReader(dir, goodKey)
	if _, err := r.Stats(b.Context(), Query{}); err != nil {
		b.Fatal(err)
	}
	fmt.Printf("with indexes %d MB\n", Size(dir)>>20)
	for name, q := range map[string]Query{
		"all": {}, "server": {Server: "server7"}, "tool": {Tool: "server7__tool7"}, "caller": {Caller: "client3"}, "client": {Client: "editor 1.0"},
		"oldest-only": {Outcome: "timeout"}, "errors": {Outcome: "error"}, "slow": {Slower: 10 * time.Second}, "nothing": {Slower: time.Hour},
		"since": {Since: noon.Add(24 * time.Hour)}, "server-and-slow": {Server: "server7", Slower: time.Hour}, "until": {Until: noon.Add(time.Minute)},
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := r.List(b.Context(), q, asIs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("stats", func(b *testing.B) {
		for range b.N {
			if _, err := r.Stats(b.Context(), Query{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first-answer-of-a-process", func(b *testing.B) {
		for range b.N {
			if _, err := NewReader(dir, goodKey).List(b.Context(), Query{Slower: time.Hour}, asIs); err != nil {
				b.Fatal(err)
			}
		}
	})
}
