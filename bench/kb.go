package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"genkan/internal/testkit/corpus"
)

// The goals of the knowledge base, for a million items: processor time of one
// core in microseconds, or how often what the C driver needs for the same SQL.
const (
	goalSearch  = 5_000
	goalSuggest = 20
	goalWalk    = 20_000
	goalPath    = 8_000
	goalOpen    = 100_000
	goalGet     = 4
	goalList    = 4
	goalCreate  = 1.25
	// goalIndexSize is how large the text index may be, compared with the texts.
	goalIndexSize = 1
	// goalOpenItems is up to how many items goalOpen holds.
	goalOpenItems = 100_000
)

// leastItems is how many items a knowledge base must have to be measured: smaller
// ones have their index in memory alone.
const leastItems = 2_500

// kbLab is a knowledge base of one size while it is measured.
type kbLab struct {
	*lab
	r     *report
	items int
	dir   string
	part  string
	w     *worker // ours
}

// measureKB measures knowledge bases of each size.
func measureKB(l *lab, r *report) error {
	for _, items := range l.kbItems {
		dir, err := l.knowledgeDir(items)
		if err != nil {
			return err
		}
		k := &kbLab{lab: l, r: r, items: items, dir: dir, part: "knowledge base, " + thousands(items) + " items"}
		if err := k.measure(); err != nil {
			return fmt.Errorf("%d items: %w", items, err)
		}
	}
	return nil
}

func (k *kbLab) measure() (err error) {
	if k.w, err = k.startKnowledge(fmt.Sprint(k.items), k.dir, k.items); err != nil {
		return err
	}
	for _, step := range []func() error{k.derived, k.opening, k.tools, k.classes, k.besideC} {
		if err := step(); err != nil {
			k.w.stop()
			return err
		}
	}
	k.w.stop() // what is its own is not in the way of the next size
	return nil
}

func (k *kbLab) say(format string, args ...any) {
	fmt.Fprintf(k.progress, "kb, %s items: "+format+"\n", append([]any{thousands(k.items)}, args...)...)
}

// add adds a row and notes its value for the table of growth.
func (k *kbLab) add(one row) {
	one.Part = k.part
	k.r.add(one)
	name := one.Subject + ", " + one.Metric
	k.r.Figures = append(k.r.Figures, figure{name, one.Unit, k.items, one.Value})
	if one.Ratio != nil && one.FloorName != "" {
		k.r.Figures = append(k.r.Figures, figure{name + ", against " + one.FloorName, "×", k.items, one.Ratio.Median})
	}
}

// note is a figure of growth that is no row.
func (k *kbLab) note(name, unit string, value float64) {
	k.r.Figures = append(k.r.Figures, figure{name, unit, k.items, value})
}

// derived makes text index and graph anew and says what they cost.
func (k *kbLab) derived() error {
	k.say("building the text index")
	built, err := k.w.run(kbJob{Do: "build"})
	if err != nil {
		return err
	}
	size := built.Bytes / built.Text
	k.add(row{
		Subject: "text index", Metric: "size", Value: built.Bytes / 1e6, Unit: "MB", FloorName: "its texts", Floor: built.Text / 1e6,
		Ratio: &ratio{size, size, size}, Goal: goalIndexSize,
	})
	k.add(row{Subject: "text index", Metric: "CPU to build it", Value: built.Cost.CPU / 1e6, Unit: "s"})
	k.add(row{Subject: "text index", Metric: "time to build it", Value: built.Cost.Wall, Unit: "s"})
	info, err := os.Stat(filepath.Join(k.dir, databaseName))
	if err != nil {
		return err
	}
	k.add(row{Subject: "database", Metric: "size", Value: float64(info.Size()) / 1e6, Unit: "MB"})
	loaded, err := k.w.run(kbJob{Do: "graph"})
	if err != nil {
		return err
	}
	k.add(row{Subject: "relations", Metric: "memory", Value: loaded.Bytes / 1e6, Unit: "MB"})
	k.add(row{Subject: "relations", Metric: "CPU to load them", Value: loaded.Cost.CPU / 1e3, Unit: "ms"})
	k.add(row{Subject: "relations", Metric: "time to load them", Value: loaded.Cost.Wall * 1e3, Unit: "ms"})
	return nil
}

// opening is from the start of genkan, and from opening its data directory, to the
// answer to the first search.
func (k *kbLab) opening() error {
	k.say("opening it %d times", k.scale.starts)
	opened, err := k.w.run(kbJob{Do: "open", Count: k.scale.starts})
	if err != nil {
		return err
	}
	goal := 0.0
	if k.items <= goalOpenItems {
		goal = goalOpen / 1e3
	}
	k.add(row{Subject: "opening the data directory", Metric: "to the first search, median", Value: opened.Cost.P50 / 1e3, Unit: "ms", Goal: goal})
	k.add(row{Subject: "opening the data directory", Metric: "slowest", Value: opened.Cost.Max / 1e3, Unit: "ms"})
	k.add(row{Subject: "opening the data directory", Metric: "CPU", Value: opened.Cost.CPU / 1e3, Unit: "ms"})
	var times []float64
	for range k.scale.starts {
		began := time.Now()
		c, err := k.startMCP("first", slices.Concat(k.genkan, []string{"stdio", "--standalone", "--data", k.dir})...)
		if err != nil {
			return err
		}
		_, err = c.call("search_items", firstSearch)
		times = append(times, float64(time.Since(began).Microseconds())/1e3)
		c.p.stop()
		if err != nil {
			return err
		}
	}
	k.add(row{Subject: "starting genkan stdio", Metric: "to the first search, median", Value: quantile(times, .5), Unit: "ms"})
	return nil
}

// operationSet is what is measured once, after a few others of its kind.
type operationSet struct {
	name, class string
	count       int
	goal        float64 // of the 99th percentile, µs
}

// cost measures a set. What is asked was never asked before, but others of its
// kind were.
func (k *kbLab) cost(w *worker, set operationSet) (kbCost, error) {
	job := kbJob{Name: set.name, Class: set.class, Count: max(leastOperations, set.count/10), Seed: 1, Seconds: k.scale.kbSeconds / 4}
	for range 2 {
		job.Do = "load"
		if _, err := w.run(job); err != nil {
			return kbCost{}, err
		}
		job.Do = "measure"
		a, err := w.run(job)
		if err != nil {
			return kbCost{}, err
		}
		if job.Seed == 2 {
			return a.Cost, nil
		}
		job.Seed, job.Count, job.Seconds = 2, set.count, k.scale.kbSeconds
	}
	return kbCost{}, nil
}

func costHead(what string) []string {
	return []string{what, "count", "p50 µs", "p99 µs", "slowest µs", "CPU µs", "allocations", "bytes"}
}

func (c kbCost) cells(name string) []string {
	return []string{
		name, fmt.Sprint(c.Count), number(c.P50), number(c.P99), number(c.Max), number(c.CPU),
		fmt.Sprintf("%.0f", c.Allocs), fmt.Sprintf("%.0f", c.Bytes),
	}
}

// tools measures what is only read, in the knowledge base that is kept.
func (k *kbLab) tools() error {
	k.say("waiting until index and relations are in memory")
	if _, err := k.w.run(kbJob{Do: "warm"}); err != nil {
		return err
	}
	t := table{Title: k.part + ", a call of a tool: CPU on one core", Head: costHead("operation")}
	reads, searches := k.scale.kbReads, k.scale.kbSearches
	for _, set := range []operationSet{
		{opGet, "", reads, 0},
		{opList, "", reads, 0},
		{opSearch, "", searches, goalSearch},
		{opSuggest, "", reads, 0}, // decoding and encoding alone take longer than the goal
		{opWalk, "", reads / 2, goalWalk},
		{opWalkFar, "", reads / 4, goalWalk},
		{opPath, "", reads / 2, goalPath},
		{opIndexSearch, "", searches, 0},
		{opIndexSuggest, "", 5 * reads, goalSuggest},
	} {
		k.say("%s", set.name)
		c, err := k.cost(k.w, set)
		if err != nil {
			return err
		}
		t.Rows = append(t.Rows, c.cells(set.name))
		subject := set.name
		if set.name == opSearch {
			subject += ", all classes"
		}
		k.note(subject+", p50", "µs", c.P50)
		k.add(row{Subject: subject, Metric: "CPU, p99", Value: c.P99, Unit: "µs", Goal: set.goal})
	}
	k.r.Tables = append(k.r.Tables, t)
	return nil
}

// classes measures each class of queries by itself.
func (k *kbLab) classes() error {
	t := table{Title: k.part + ", search_items with 20 rows, by class of query: CPU on one core", Head: costHead("class")}
	for _, class := range corpus.Classes() {
		c, err := k.cost(k.w, operationSet{opSearch, string(class), k.scale.kbClass, 0})
		if err != nil {
			return err
		}
		t.Rows = append(t.Rows, c.cells(string(class)))
		k.note("search, "+string(class)+", p99", "µs", c.P99)
	}
	k.r.Tables = append(k.r.Tables, t)
	return nil
}
