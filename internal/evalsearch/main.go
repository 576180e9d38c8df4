// Command evalsearch measures the search over tools on a set of queries.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"genkan/internal/search"
)

type tool struct {
	ID                string   `json:"id"`
	Name              string   `json:"name"`
	Description       string   `json:"description"`
	Server            string   `json:"server"`
	ServerTitle       string   `json:"server_title"`
	ServerDescription string   `json:"server_description"`
	Category          string   `json:"category"`
	InputSchema       schema   `json:"input_schema"`
	Examples          []string `json:"examples"`
}

type schema struct {
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Enum        []any             `json:"enum"`
}

type query struct {
	Query      string     `json:"query"`
	ServerHint string     `json:"server_hint"`
	Relevant   []string   `json:"relevant"`
	Groups     [][]string `json:"groups"`
}

func read[T any](path string) []T {
	f, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			fmt.Fprintln(os.Stderr, path, err)
			os.Exit(1)
		}
		all = append(all, v)
	}
	return all
}

func servers(tools []tool) []search.Server {
	var list []search.Server
	at := map[string]int{}
	for _, t := range tools {
		i, ok := at[t.Server]
		if !ok {
			i = len(list)
			at[t.Server] = i
			list = append(list, search.Server{Name: t.Server, Title: t.ServerTitle, Description: t.ServerDescription})
		}
		d := search.Document{ID: t.ID, Name: t.Name, Description: t.Description, Category: t.Category, Examples: t.Examples}
		for name, p := range t.InputSchema.Properties {
			d.Parameters = append(d.Parameters, search.Parameter{Name: name, Text: p.Description})
		}
		list[i].Documents = append(list[i].Documents, d)
	}
	return list
}

func main() {
	toolsFile := flag.String("tools", "", "tools.jsonl")
	queriesFile := flag.String("queries", "", "queries.jsonl")
	hint := flag.Bool("hint", true, "use server_hint")
	verbose := flag.Bool("v", false, "print what was missed")
	flag.Parse()
	tools := read[tool](*toolsFile)
	queries := read[query](*queriesFile)
	list := servers(tools)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	x := search.New(list...)
	build := time.Since(begun)
	runtime.GC()
	runtime.ReadMemStats(&after)
	var r1, r5, r10, ndcg, mrr, hit3 float64
	var took []time.Duration
	for _, q := range queries {
		in := search.Query{Text: q.Query, Limit: 10}
		if *hint {
			in.About = q.ServerHint
		}
		start := time.Now()
		r := x.Search(in)
		took = append(took, time.Since(start))
		ids := []string{}
		for _, h := range r.Hits {
			ids = append(ids, h.Document.ID)
		}
		groups := q.Groups
		if groups == nil {
			for _, id := range q.Relevant {
				groups = append(groups, []string{id})
			}
		}
		recall := func(k int) float64 {
			n := 0
			for _, g := range groups {
				if slices.ContainsFunc(ids[:min(k, len(ids))], func(id string) bool { return slices.Contains(g, id) }) {
					n++
				}
			}
			return float64(n) / float64(len(groups))
		}
		if *verbose && recall(5) < 1 {
			fmt.Printf("%s\n  want %v\n  got  %v\n", q.Query, q.Relevant, ids[:min(5, len(ids))])
		}
		r1 += recall(1)
		r5 += recall(5)
		r10 += recall(10)
		dcg, ideal, first := 0.0, 0.0, 0
		for i, id := range ids {
			if slices.Contains(q.Relevant, id) {
				dcg += 1 / math.Log2(float64(i+2))
				if first == 0 {
					first = i + 1
				}
			}
		}
		for i := range min(10, len(q.Relevant)) {
			ideal += 1 / math.Log2(float64(i+2))
		}
		ndcg += dcg / ideal
		if first > 0 {
			mrr += 1 / float64(first)
		}
		if first > 0 && first <= 3 {
			hit3++
		}
	}
	n := float64(len(queries))
	slices.Sort(took)
	fmt.Printf(`{"n":%d,"r1":%.3f,"r5":%.3f,"r10":%.3f,"ndcg10":%.3f,"mrr":%.3f,"hit3":%.3f,"build_ms":%d,"heap_mb":%.1f,"p50_us":%d,"p99_us":%d}`+"\n",
		len(queries), r1/n, r5/n, r10/n, ndcg/n, mrr/n, hit3/n, build.Milliseconds(), float64(after.HeapAlloc-before.HeapAlloc)/1e6, took[len(took)/2].Microseconds(), took[len(took)*99/100].Microseconds())
}
