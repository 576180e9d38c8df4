package index

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	madeup "genkan/internal/testkit/corpus"
)

// benchDocuments is how many documents the benchmarks have: 10,000, or what
// GENKAN_INDEX_DOCS says. With GENKAN_INDEX_DIR the base is kept there and used
// again.
func benchDocuments(b *testing.B) int {
	n := 10_000
	if s := os.Getenv("GENKAN_INDEX_DOCS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// generated makes documents, and says how large their text is and how long it
// took to make them.
func generated(n int, size *int, took *time.Duration) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for i := range n {
			began := cpu()
			d := made(i)
			*took += cpu() - began
			*size += textSize(&d)
			if !yield(d, nil) {
				return
			}
		}
	}
}

func benchBase(b *testing.B) string {
	b.Helper()
	n := benchDocuments(b)
	dir := os.Getenv("GENKAN_INDEX_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("base-%d", n))
	if _, err := os.Stat(path); err != nil {
		size, took := 0, time.Duration(0)
		if err := Build(b.Context(), path, 1, n, generated(n, &size, &took), nil); err != nil {
			b.Fatal(err)
		}
	}
	return path
}

func benchIndex(b *testing.B) *Index {
	b.Helper()
	base, err := Open(benchBase(b))
	if err != nil {
		b.Fatal(err)
	}
	x := New(base)
	b.Cleanup(func() { _ = x.Close() })
	return x
}

// BenchmarkBuild measures one build, and the size of the file per byte of text.
func BenchmarkBuild(b *testing.B) {
	n := benchDocuments(b)
	dir := os.Getenv("GENKAN_INDEX_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("base-%d", n))
	runtime.LockOSThread() // its clock takes the time of the generator
	defer runtime.UnlockOSThread()
	for b.Loop() {
		size := 0
		var most uint64
		look := func(done int) {
			if done%10_000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapSys-m.HeapReleased)
			}
		}
		took, began, wall := time.Duration(0), processCPU(), time.Now()
		if err := Build(b.Context(), path, 1, n, generated(n, &size, &took), look); err != nil {
			b.Fatal(err)
		}
		cost := processCPU() - began - took
		b.ReportMetric(cost.Seconds(), "cpu-s")
		b.ReportMetric(time.Since(wall).Seconds(), "wall-s")
		b.ReportMetric(float64(cost.Microseconds())/float64(n), "µs/document")
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/float64(size), "bytes/text-byte")
		b.ReportMetric(float64(size)/float64(n), "text-bytes/document")
		b.ReportMetric(float64(most)/(1<<20), "heap-MB")
	}
}

// BenchmarkOpen measures from a file to the first answer.
func BenchmarkOpen(b *testing.B) {
	path := benchBase(b)
	b.ReportAllocs()
	for b.Loop() {
		base, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		x := New(base)
		x.Search(Query{Text: "検索 gateway"})
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// percentiles reports what searches cost, the slowest too, in processor time.
func percentiles(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	at := func(p float64) float64 { return float64(times[int(p*float64(len(times)-1))].Nanoseconds()) / 1000 }
	b.ReportMetric(at(.5), "p50-µs")
	b.ReportMetric(at(.99), "p99-µs")
	b.ReportMetric(at(1), "max-µs")
}

// searchCases are queries of each sort, many of each.
func searchCases() map[string][]Query {
	r := rand.New(rand.NewPCG(1, 2))
	w := writer{r}
	cases := map[string][]Query{}
	for range 300 {
		add := func(name, text string) { cases[name] = append(cases[name], Query{Text: text}) }
		n, m := englishNouns[r.IntN(len(englishNouns))], englishNouns[r.IntN(len(englishNouns))]
		j, k := japaneseNouns[r.IntN(len(japaneseNouns))], japaneseNouns[r.IntN(len(japaneseNouns))]
		add("rare", rareWord(1000+r.IntN(50_000))+" ")
		add("common", n+" ")
		add("most-common", []string{"the ", "and ", "a ", "can ", "server "}[r.IntN(5)])
		add("and", n+" "+m+" ")
		add("and-common", "the "+w.of(englishNouns)+" of "+w.of(englishNouns)+" ")
		add("prefix", n[:min(len(n), 3)])
		add("word-and-prefix", n+" "+m[:min(len(m), 3)])
		add("typo", n[:1]+"q"+n[1:]+" ")
		add("ja-1", string([]rune(j)[:1]))
		add("ja-2", string([]rune(j)[:min(2, len([]rune(j)))]))
		add("ja-word", j)
		add("ja-phrase", j+"の"+k)
		add("ja-and", j+" "+k)
		add("ja-common", []string{"システム", "サーバー", "データベース", "ユーザー", "について", "してください", "の", "する", "を", "です"}[r.IntN(10)])
		add("mixed", mixedNouns[r.IntN(len(mixedNouns))])
		cases["filtered"] = append(cases["filtered"], Query{Text: w.of(englishNouns) + " ", Statuses: []string{"Open", "In Progress", "Review"}, Types: []string{"issue"}})
		cases["filtered-ja"] = append(cases["filtered-ja"], Query{Text: w.of(japaneseNouns), Statuses: []string{"Open", "In Progress", "Review"}})
		add("nothing-has-all", n+" "+j+" "+m+" "+rareWord(50_000+r.IntN(1000))+" "+k)
	}
	return cases
}

func BenchmarkSearch(b *testing.B) {
	x := benchIndex(b)
	cases := searchCases()
	var all []Query
	names := make([]string, 0, len(cases))
	for name, queries := range cases {
		names = append(names, name)
		all = append(all, queries...)
	}
	slices.Sort(names)
	rand.New(rand.NewPCG(7, 8)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	cases["all"] = all
	for _, name := range append(names, "all") {
		b.Run(name, func(b *testing.B) {
			queries := cases[name]
			for _, q := range queries[:min(len(queries), 50)] {
				x.Search(q) // what is in no cache of the system is not what is measured
			}
			b.ReportAllocs()
			timed(b, func(i int) { x.Search(queries[i%len(queries)]) })
		})
	}
}

// timed does something again and again, and reports what it costs by the clock of
// its thread.
func timed(b *testing.B, do func(i int)) {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		began := cpu()
		do(i)
		times = append(times, cpu()-began)
	}
	percentiles(b, times)
}

// BenchmarkSearchFirst asks each query of a sort for the first time: the base is
// opened anew before each round, so that nothing is kept of earlier ones.
func BenchmarkSearchFirst(b *testing.B) {
	path := benchBase(b)
	cases := searchCases()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		b.Run(name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var times []time.Duration
			slowest, slow := "", time.Duration(0)
			for b.Loop() {
				base, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				x := New(base)
				asked := map[string]bool{}
				for _, q := range cases[name] {
					if asked[q.Text] {
						continue
					}
					asked[q.Text] = true
					began := cpu()
					x.Search(q)
					took := cpu() - began
					times = append(times, took)
					if took > slow {
						slowest, slow = q.Text, took
					}
				}
				if err := x.Close(); err != nil {
					b.Fatal(err)
				}
			}
			percentiles(b, times)
			b.Logf("%d queries; %q took longest", len(times), slowest)
		})
	}
}

// BenchmarkRuns asks for runs of characters that are taken out of texts, wherever a
// word ends, each for the first time.
func BenchmarkRuns(b *testing.B) {
	n, path := benchDocuments(b), benchBase(b)
	for _, class := range []madeup.Class{madeup.Japanese3, madeup.Japanese5, madeup.Phrase} {
		b.Run(string(class), func(b *testing.B) {
			base, err := Open(path)
			if err != nil {
				b.Fatal(err)
			}
			x := New(base)
			defer x.Close()
			queries := madeup.Queries(class, 400, n, 77)
			timed(b, func(i int) { x.Search(Query{Text: queries[i%len(queries)].Text}) })
		})
	}
}

func BenchmarkSuggest(b *testing.B) {
	x := benchIndex(b)
	prefixes := []string{"s", "se", "設", "検索の", "ユーザ", "API", "g", "データベース", "rest呼"}
	for _, types := range [][]string{nil, {"decision"}} {
		b.Run(fmt.Sprintf("types=%d", len(types)), func(b *testing.B) {
			b.ReportAllocs()
			timed(b, func(i int) { x.Suggest(prefixes[i%len(prefixes)], types, 10) })
		})
	}
}

// BenchmarkApply puts one document into an index whose delta has ten thousand.
func BenchmarkApply(b *testing.B) {
	x := benchIndex(b)
	delta := make([]Document, 10_000)
	for i := range delta {
		delta[i] = made(10_000_000 + i)
	}
	x.Apply(2, delta, nil)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		x.Apply(int64(3+i), delta[i%len(delta):][:1], nil)
		i++
	}
}

// BenchmarkSearchDelta searches when ten thousand documents were changed after
// the base was built.
func BenchmarkSearchDelta(b *testing.B) {
	x := benchIndex(b)
	n := benchDocuments(b)
	var changed []Document
	for i := range 10_000 {
		d := made(i + 20_000_000)
		d.ID = int64(i*(n/10_000))*3 + 1
		changed = append(changed, d)
	}
	x.Apply(2, changed, nil)
	var all []Query
	for _, queries := range searchCases() {
		all = append(all, queries...)
	}
	timed(b, func(i int) { x.Search(all[i%len(all)]) })
}
