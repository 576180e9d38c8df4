package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/kb/graph"
	"genkan/internal/kb/index"
	"genkan/internal/sqlite"
)

const (
	databaseName  = "genkan.db" // as the data directory has it
	indexFolder   = "kb-index"
	roleKnowledge = "kb"
)

// knowledge is the knowledge base of a data directory, as the house opens it.
type knowledge struct {
	ctx     context.Context //nolint:containedctx // the role's own life
	dir     string
	items   int
	store   *sqlite.Store
	indexes *kb.Indexes
	base    *kb.Base
	tools   *kb.Tools
	// tracer is nil unless what SQLite is asked is written down.
	tracer *tracer
	// index is the text index by itself, once somebody has asked for it.
	index *index.Index

	sets map[string][]func() error
}

func openKnowledge(ctx context.Context, dir string, items int, traced bool) (*knowledge, error) {
	k := &knowledge{ctx: ctx, dir: dir, items: items, sets: map[string][]func() error{}}
	path, log := filepath.Join(dir, databaseName), slog.New(slog.NewTextHandler(os.Stderr, nil))
	var err error
	if traced {
		k.tracer = &tracer{}
		k.store, err = sqlite.OpenThrough(ctx, path, log, k.tracer.through)
	} else {
		k.store, err = sqlite.Open(ctx, path, log)
	}
	if err != nil {
		return nil, err
	}
	k.indexes = kb.NewIndexes(k.store.Knowledge(), kb.IndexOptions{Dir: filepath.Join(dir, indexFolder), Log: log})
	k.base = kb.New(k.store.Knowledge(), kb.Options{Finder: k.indexes, Graph: k.indexes})
	k.tools = kb.NewTools(k.base, kb.Languages{})
	return k, nil
}

func (k *knowledge) close() error {
	err := k.indexes.Close()
	if k.index != nil {
		err = errors.Join(err, k.index.Close())
	}
	return errors.Join(err, k.store.Close())
}

// kbRole serves jobs: DIRECTORY ITEMS [traced].
func kbRole(args []string) error {
	if len(args) < 2 {
		return errors.New("kb wants a directory and how many items it has")
	}
	items, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	k, err := openKnowledge(context.Background(), args[0], items, slices.Contains(args, "traced"))
	if err != nil {
		return err
	}
	err = serveJobs(os.Stdin, os.Stdout, k.do)
	return errors.Join(err, k.close())
}

func (k *knowledge) do(job kbJob, say func(string)) (kbAnswer, error) {
	switch job.Do {
	case "fill":
		return kbAnswer{}, k.fill(say)
	case "build":
		return k.build(say)
	case "open":
		return k.opening(job)
	case "graph":
		return k.loadGraph()
	case "warm":
		return kbAnswer{}, k.warm()
	case "load":
		ops, err := k.operations(job)
		k.sets[job.Name] = ops
		return kbAnswer{}, err
	case "settings":
		return k.settings()
	case "record":
		return k.record(job)
	case "measure":
		cost, err := measureOps(job, k.sets[job.Name])
		return kbAnswer{Cost: cost}, err
	case "found":
		return k.found(job)
	}
	return kbAnswer{}, fmt.Errorf("there is no job %q", job.Do)
}

// build makes the text index anew, with all processors.
func (k *knowledge) build(say func(string)) (kbAnswer, error) {
	last := time.Now()
	began, cpu := time.Now(), processCPU()
	err := k.indexes.Rebuild(k.ctx, func(done, total int) {
		if time.Since(last) > 10*time.Second {
			last = time.Now()
			say(fmt.Sprintf("kb: text index, %d of %d items", done, total))
		}
	})
	cost := kbCost{Count: 1, CPU: float64((processCPU() - cpu).Microseconds()), Wall: time.Since(began).Seconds()}
	if err != nil {
		return kbAnswer{}, err
	}
	path, err := k.indexFile()
	if err != nil {
		return kbAnswer{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return kbAnswer{}, err
	}
	text, err := k.textSize()
	return kbAnswer{Cost: cost, Bytes: float64(info.Size()), Text: text}, err
}

// indexFile is the file that the text index is in.
func (k *knowledge) indexFile() (string, error) {
	files, err := filepath.Glob(filepath.Join(k.dir, indexFolder, "*.index"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("there are %d index files, not one: %w", len(files), err)
	}
	return files[0], nil
}

func (k *knowledge) openIndex() (*index.Index, error) {
	if k.index != nil {
		return k.index, nil
	}
	path, err := k.indexFile()
	if err != nil {
		return nil, err
	}
	base, err := index.Open(path)
	if err == nil {
		k.index = index.New(base)
	}
	return k.index, err
}

// opening opens the data directory again and again, each time until the first
// search is answered. The clock on the wall counts.
func (k *knowledge) opening(job kbJob) (kbAnswer, error) {
	var times []float64
	cpu := processCPU()
	for range job.Count {
		began := time.Now()
		other, err := openKnowledge(k.ctx, k.dir, k.items, false)
		if err != nil {
			return kbAnswer{}, err
		}
		search, err := other.call("search_items", firstSearch)
		if err == nil {
			err = search()
		}
		times = append(times, float64(time.Since(began).Microseconds()))
		if err := errors.Join(err, other.close()); err != nil {
			return kbAnswer{}, err
		}
	}
	return kbAnswer{Cost: kbCost{
		Count: job.Count, P50: quantile(times, .5), Max: quantile(times, 1),
		CPU: float64((processCPU() - cpu).Microseconds()) / float64(job.Count),
	}}, nil
}

// loadGraph reads all relations as kb.Indexes does, and says what that costs and
// how much memory stays with it.
func (k *knowledge) loadGraph() (kbAnswer, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began, cpu := time.Now(), processCPU()
	all, err := k.store.Knowledge().Relations(k.ctx)
	if err != nil {
		return kbAnswer{}, err
	}
	g := graph.Build(slices.Values(all.IDs), func(yield func(a, b int64) bool) {
		for _, e := range all.Edges {
			if !yield(e.A, e.B) {
				return
			}
		}
	}, all.Seq)
	defer g.Close()
	cost := kbCost{Count: 1, CPU: float64((processCPU() - cpu).Microseconds()), Wall: time.Since(began).Seconds()}
	all = kb.Relations{}
	runtime.GC()
	runtime.ReadMemStats(&after)
	size := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	if items, _ := g.View().Size(); items != k.items {
		return kbAnswer{}, fmt.Errorf("the graph has %d items, not %d", items, k.items)
	}
	return kbAnswer{Cost: cost, Bytes: size}, nil
}

// warm waits until neither a search nor a walk is answered from the rows: what a
// question costs then is measured, and loading is measured by itself.
func (k *knowledge) warm() error {
	search, err := k.call("search_items", firstSearch)
	if err != nil {
		return err
	}
	walk, err := k.call("get_related_items", map[string]any{"type": k.typeOf(k.items / 2), "id": k.items/2 + 1, "depth": 3})
	if err != nil {
		return err
	}
	const atOnce = 150 * time.Millisecond
	for _, ask := range []func() error{search, walk} {
		for deadline := time.Now().Add(5 * time.Minute); ; {
			began := time.Now()
			if err := ask(); err != nil {
				return err
			}
			if time.Since(began) < atOnce {
				break
			}
			if time.Now().After(deadline) {
				return errors.New("the index or the graph is not ready after five minutes")
			}
		}
	}
	return nil
}

// record writes down what SQLite is asked by operations of the store.
func (k *knowledge) record(job kbJob) (kbAnswer, error) {
	if k.tracer == nil {
		return kbAnswer{}, errors.New("this one is not traced")
	}
	ops, err := k.operations(job)
	if err != nil {
		return kbAnswer{}, err
	}
	var a kbAnswer
	for i, op := range append(ops[:1:1], ops...) { // once more, because preparing is done once
		list, err := k.tracer.record(op)
		if err != nil {
			return a, err
		}
		if i > 0 {
			a.Ops = append(a.Ops, list)
		}
	}
	return a, nil
}

// call makes a call of a tool: params in, JSON out.
func (k *knowledge) call(tool string, arguments map[string]any) (func() error, error) {
	params, err := paramsOf(tool, arguments)
	if err != nil {
		return nil, err
	}
	return func() error {
		call, err := newCall(tool, params)
		if err != nil {
			return err
		}
		result, err := k.tools.Handle(k.ctx, call)
		if err != nil {
			return err
		}
		if result.IsError {
			return fmt.Errorf("%s: %s", params, result.Raw)
		}
		return nil
	}, nil
}

var _ gateway.Source = (*kb.Tools)(nil)
