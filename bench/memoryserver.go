package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/testkit/corpus"
	"genkan/internal/testkit/npm"
)

// rivalPackages are the versions that are compared with.
//
//go:embed rivals/package.json
var rivalPackages []byte

const (
	memoryServer = "server-memory"
	// memoryNode is the major version of Node that it needs.
	memoryNode = 18
	// entityBatch is how many entities it is given at once: it takes any number,
	// and writes its whole file each time.
	entityBatch = 100
	// entityType is that of all: with several calls under way, which of them gets
	// which id is left to chance.
	entityType = "note"
	// createsAtOnce is how many calls an agent has under way with genkan, whose
	// tool makes one item.
	createsAtOnce = 16
	// writerCreates is how many creates of each of two writers are acknowledged.
	writerCreates = 100
)

// memorySubject is a server that remembers, and how it is asked.
type memorySubject struct {
	name string
	// command starts it on a place of its own.
	command func(place string) []string
	// creates are the calls that make entities from one to another, and one makes
	// a single one.
	tool    string
	creates func(from, to int) []any
	atOnce  int
	one     func(i int) any
	// indexes says that searches become quick some time after items came.
	indexes bool
	search  string
	query   func(text string) any
	get     string
	key     func(i int) any
	// count is a tool that tells how many entities there are.
	count          string
	countArguments any
	counted        func(answer string) (int, error)
}

// measureMemoryServer compares the knowledge base with server-memory: the same
// entities over stdio, both as the processes that clients start.
func measureMemoryServer(l *lab, r *report) error {
	skip := func(err error) error {
		fmt.Fprintf(l.progress, "%s: left out: %v\n", memoryServer, err)
		return nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return skip(err)
	}
	say := func(format string, args ...any) { fmt.Fprintf(l.progress, memoryServer+": "+format+"\n", args...) }
	modules, err := npm.Install(l.ctx, "rivals", rivalPackages, say)
	if err != nil {
		return skip(err)
	}
	node, err := npm.Node(modules, memoryNode)
	if err != nil {
		return skip(err)
	}
	script := filepath.Join(modules, "@modelcontextprotocol", "server-memory", "dist", "index.js")
	subjects := []memorySubject{l.asMemory(), nodeMemory(node, script)}
	part := fmt.Sprintf("beside %s, %s entities over stdio", memoryServer, thousands(l.scale.entities))
	results := make([][]memoryFigure, len(subjects))
	for i, s := range subjects {
		say("%s: %d entities", s.name, l.scale.entities)
		if results[i], err = l.measureSubject(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		say("%s: two processes that write", s.name)
		there, err := l.twoWriters(s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if i == 0 && there != 2*writerCreates {
			return fmt.Errorf("genkan has lost acknowledged items: %d of %d are there", there, 2*writerCreates)
		}
		results[i] = append(results[i], memoryFigure{fmt.Sprintf("two processes, %d creates each: there afterwards", writerCreates), "items", float64(there)})
	}
	for i, f := range results[0] {
		r.add(row{Part: part, Subject: "genkan", Metric: f.metric, Value: f.value, Unit: f.unit, FloorName: memoryServer, Floor: results[1][i].value})
	}
	return nil
}

type memoryFigure struct {
	metric, unit string
	value        float64
}

func (l *lab) asMemory() memorySubject {
	item := func(i int) any {
		d := itemOf(i)
		return map[string]any{"type": entityType, "title": d.Title, "description": d.Description, "content": d.Content, "tags": []string{everyTag}}
	}
	return memorySubject{
		name: "genkan",
		command: func(place string) []string {
			return slices.Concat(l.genkan, []string{"stdio", "--standalone", "--data", place})
		},
		tool: "create_item", atOnce: createsAtOnce, one: item,
		creates: func(from, to int) []any {
			var list []any
			for i := from; i < to; i++ {
				list = append(list, item(i))
			}
			return list
		},
		indexes: true, search: "search_items", query: func(text string) any { return map[string]any{"query": text} },
		get: "get_item_detail", key: func(i int) any { return map[string]any{"type": entityType, "id": i + 1} },
		count: "search_items_by_tag", countArguments: map[string]any{"tag": everyTag, "limit": 1},
		counted: func(answer string) (int, error) {
			var page struct{ Total int }
			err := json.Unmarshal([]byte(answer), &page)
			return page.Total, err
		},
	}
}

func nodeMemory(node, script string) memorySubject {
	name := func(i int) string { return fmt.Sprintf("%s %d", corpus.Made(i).Title, i+1) } // it must be the only one
	entity := func(i int) any {
		d := corpus.Made(i)
		return map[string]any{"name": name(i), "entityType": entityType, "observations": []string{d.Description, d.Content}}
	}
	entities := func(from, to int) any {
		var list []any
		for i := from; i < to; i++ {
			list = append(list, entity(i))
		}
		return map[string]any{"entities": list}
	}
	return memorySubject{
		name: memoryServer,
		command: func(place string) []string {
			return []string{"env", "MEMORY_FILE_PATH=" + place + ".jsonl", node, script}
		},
		tool: "create_entities", atOnce: 1, one: func(i int) any { return entities(i, i+1) },
		creates: func(from, to int) []any {
			var list []any
			for ; from < to; from += entityBatch {
				list = append(list, entities(from, min(to, from+entityBatch)))
			}
			return list
		},
		search: "search_nodes", query: func(text string) any { return map[string]any{"query": text} },
		get: "open_nodes", key: func(i int) any { return map[string]any{"names": []string{name(i)}} },
		count: "read_graph", countArguments: map[string]any{},
		counted: func(answer string) (int, error) {
			var graph struct{ Entities []json.RawMessage }
			err := json.Unmarshal([]byte(answer), &graph)
			return len(graph.Entities), err
		},
	}
}

// measureSubject fills a server and asks it, one question after the other. The
// clock on the wall counts: that is what whoever waits sees.
func (l *lab) measureSubject(s memorySubject) ([]memoryFigure, error) {
	c, err := l.startMCP(s.name, s.command(filepath.Join(l.dir, "filled-"+s.name))...)
	if err != nil {
		return nil, err
	}
	defer c.p.stop()
	n := l.scale.entities
	filled, err := c.each(s.tool, s.atOnce, s.creates(0, n))
	if err != nil {
		return nil, err
	}
	figures := []memoryFigure{
		{fmt.Sprintf("making them (one by one, %d at once; theirs %d in a call)", createsAtOnce, entityBatch), "s", filled.Seconds()},
	}
	var creates, searches, gets []any
	for i := range l.scale.questions {
		creates = append(creates, s.one(n+i))
		gets = append(gets, s.key(i*n/l.scale.questions))
	}
	for _, class := range []corpus.Class{corpus.Japanese2, corpus.Japanese5, corpus.English1, corpus.English2} {
		for _, q := range corpus.Queries(class, (l.scale.questions+3)/4, n, 5) {
			searches = append(searches, s.query(strings.TrimSpace(q.Text)))
		}
	}
	ready, err := c.untilQuick(s.search, searches[0], s.indexes)
	if err != nil {
		return nil, err
	}
	figures = append(figures, memoryFigure{"the first search, and ours until one takes less than 50 ms", "s", ready.Seconds()})
	for _, ask := range []struct {
		what, tool string
		each       []any
	}{{"a search", s.search, searches}, {"reading one", s.get, gets}, {"making one more", s.tool, creates}} {
		took, err := c.each(ask.tool, 1, ask.each)
		if err != nil {
			return nil, err
		}
		figures = append(figures, memoryFigure{ask.what, "ms", took.Seconds() * 1e3 / float64(len(ask.each))})
	}
	m, err := c.p.memory()
	return append(figures, memoryFigure{"VmRSS afterwards", "MiB", float64(m.rss) / mebibyte}), err
}

// untilQuick asks once, or until the answer comes at once or a minute is over.
func (c *mcpClient) untilQuick(tool string, arguments any, again bool) (time.Duration, error) {
	began := time.Now()
	for {
		asked := time.Now()
		if _, err := c.call(tool, arguments); err != nil {
			return 0, err
		}
		if !again || time.Since(asked) < 50*time.Millisecond || time.Since(began) > time.Minute {
			return time.Since(began), nil
		}
	}
}

// everyTag is on every item, by which they are counted.
const everyTag = "bench"

// twoWriters has two processes write to one place at the same time, and a third
// one count what is there when all is acknowledged.
func (l *lab) twoWriters(s memorySubject) (int, error) {
	place := filepath.Join(l.dir, s.name+"-two")
	writers := make([]*mcpClient, 2)
	for i := range writers {
		c, err := l.startMCP(s.name, s.command(place)...)
		if err != nil {
			return 0, err
		}
		defer c.p.stop()
		writers[i] = c
	}
	errs := make([]error, len(writers))
	var wait sync.WaitGroup
	for i, c := range writers {
		wait.Go(func() {
			for j := range writerCreates {
				if _, errs[i] = c.call(s.tool, s.one(i*writerCreates+j)); errs[i] != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	c, err := l.startMCP(s.name, s.command(place)...)
	if err != nil {
		return 0, err
	}
	defer c.p.stop()
	answer, err := c.call(s.count, s.countArguments)
	if err != nil {
		return 0, err
	}
	return s.counted(answer)
}
