package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// A subject of the knowledge base's part is a process that does jobs, one after
// the other: this binary in the role kb, or the C driver's. Jobs and answers are
// lines of JSON.

// kbJob is one of them.
type kbJob struct {
	// Do names it.
	Do string `json:"do"`
	// Name is what a set of operations is called: it is loaded once and measured
	// often.
	Name string `json:"name,omitempty"`
	// Count is how many operations there are or are to be run, beginning with
	// From; Seconds is how much processor time they may take together, and then a
	// measurement ends early.
	Count   int     `json:"count,omitempty"`
	From    int     `json:"from,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Seed    uint64  `json:"seed,omitempty"`
	// Class is that of queries; empty is the mix.
	Class string `json:"class,omitempty"`
	// Ops are for the C driver: each is a list of statements.
	Ops [][]statement `json:"ops,omitempty"`
	// Texts are queries for FTS5.
	Texts []string `json:"texts,omitempty"`
}

// kbAnswer is what comes of a job.
type kbAnswer struct {
	Error string `json:"error,omitempty"`
	// Progress is said while it goes on; more answers follow.
	Progress string `json:"progress,omitempty"`

	Cost kbCost        `json:"cost"`
	Ops  [][]statement `json:"ops,omitempty"`
	// Reader and Writer are the addresses of a database, with settings.
	Reader string `json:"reader,omitempty"`
	Writer string `json:"writer,omitempty"`
	// Found are the ids that each text finds, ordered.
	Found [][]int64 `json:"found,omitempty"`
	// Bytes is a size, of a file or in memory; Text of the texts it covers.
	Bytes float64 `json:"bytes,omitempty"`
	Text  float64 `json:"text,omitempty"`
}

// kbCost is what operations cost.
type kbCost struct {
	Count int `json:"count"`
	// P50, P99 and Max are microseconds on the thread that did it.
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
	// CPU is the process's, in microseconds for each; garbage collection and all.
	CPU float64 `json:"cpu"`
	// Wall is how long all took, in seconds.
	Wall float64 `json:"wall"`
	// Allocs and Bytes are for each.
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
}

func (c kbCost) perSecond() float64 { return float64(c.Count) / c.Wall }

// leastOperations are measured even when that takes longer than it should.
const leastOperations = 30

// measureOps runs operations on one thread and one processor.
func measureOps(job kbJob, ops []func() error) (kbCost, error) {
	if len(ops) == 0 {
		return kbCost{}, fmt.Errorf("there are no operations called %q", job.Name)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	limit := time.Duration(job.Seconds * float64(time.Second))
	times := make([]float64, 0, job.Count)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, cpu := time.Now(), processCPU()
	for i := range job.Count {
		op := ops[(job.From+i)%len(ops)]
		start := threadCPU()
		err := op()
		took := threadCPU() - start
		if err != nil {
			return kbCost{}, err
		}
		times = append(times, float64(took.Nanoseconds())/1e3)
		if limit > 0 && i >= leastOperations && processCPU()-cpu > limit {
			break
		}
	}
	spent, wall := processCPU()-cpu, time.Since(began)
	runtime.ReadMemStats(&after)
	n := float64(len(times))
	slices.Sort(times)
	return kbCost{
		Count: len(times), P50: quantile(times, .5), P99: quantile(times, .99), Max: times[len(times)-1],
		CPU: float64(spent.Nanoseconds()) / 1e3 / n, Wall: wall.Seconds(),
		Allocs: float64(after.Mallocs-before.Mallocs) / n, Bytes: float64(after.TotalAlloc-before.TotalAlloc) / n,
	}, nil
}

// worker is the harness's end of a subject.
type worker struct {
	l       *lab
	p       *process
	jobs    *json.Encoder
	answers *json.Decoder
}

func (l *lab) startWorker(name string, command ...string) (*worker, error) {
	p, err := l.start(name, command...)
	if err != nil {
		return nil, err
	}
	return &worker{l: l, p: p, jobs: json.NewEncoder(p.stdin), answers: json.NewDecoder(p.stdout)}, nil
}

// run has a job done.
func (w *worker) run(job kbJob) (kbAnswer, error) {
	if err := w.jobs.Encode(job); err != nil {
		return kbAnswer{}, fmt.Errorf("%s: %w: %s", w.p.name, err, w.p.lastWords())
	}
	for {
		var a kbAnswer
		if err := w.answers.Decode(&a); err != nil {
			return a, fmt.Errorf("%s ended: %w: %s", w.p.name, err, w.p.lastWords())
		}
		switch {
		case a.Error != "":
			return a, fmt.Errorf("%s: %s %s: %s", w.p.name, job.Do, job.Name, a.Error)
		case a.Progress != "":
			fmt.Fprintln(w.l.progress, a.Progress)
		default:
			return a, nil
		}
	}
}

// stop lets the subject end by itself: it closes its database, and writes its
// profile.
func (w *worker) stop() {
	_ = w.p.stdin.Close()
	select {
	case <-w.p.ended:
	case <-time.After(time.Minute):
	}
	w.p.stop()
}

// serveJobs is the subject's end.
func serveJobs(in io.Reader, out io.Writer, do func(job kbJob, say func(string)) (kbAnswer, error)) error {
	jobs, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var job kbJob
		if err := jobs.Decode(&job); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		a, err := do(job, func(text string) { _ = answers.Encode(kbAnswer{Progress: text}) })
		if err != nil {
			a = kbAnswer{Error: err.Error()}
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}
