// Command evalsearch measures the search over tools on a set of queries, with the
// code that serves them, and prints one line of JSON.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
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
	Tags              []string `json:"tags"`

	tokens int
}

type schema struct {
	Properties map[string]struct {
		Description string `json:"description"`
	} `json:"properties"`
}

type query struct {
	Query      string     `json:"query"`
	ServerHint string     `json:"server_hint"`
	Relevant   []string   `json:"relevant"`
	Groups     [][]string `json:"groups"`
	Task       string     `json:"task_id"`
}

// read reads a JSON object from each line.
func read[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var all []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		all = append(all, v)
	}
	return all, lines.Err()
}

// UnmarshalJSON also counts what the definition costs an agent, at about four
// bytes a token.
func (t *tool) UnmarshalJSON(raw []byte) error {
	type bare tool
	if err := json.Unmarshal(raw, (*bare)(t)); err != nil {
		return err
	}
	var said struct {
		Name        json.RawMessage `json:"name"`
		Description json.RawMessage `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return err
	}
	const bytesPerToken = 4
	t.tokens = (len(said.Name) + len(said.Description) + len(said.InputSchema)) / bytesPerToken
	return nil
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
		d := search.Document{ID: t.ID, Name: t.Name, Description: t.Description, Category: t.Category, Tags: t.Tags, Examples: t.Examples, Deprecated: search.Deprecated(t.Description)}
		for name, p := range t.InputSchema.Properties {
			d.Parameters = append(d.Parameters, search.Parameter{Name: name, Text: p.Description})
		}
		list[i].Documents = append(list[i].Documents, d)
	}
	return list
}

func main() {
	toolsFile := flag.String("tools", "", "`file` with the tools, a JSON object on each line")
	queriesFile := flag.String("queries", "", "`file` with the queries")
	without := flag.String("without", "", "techniques to leave out: "+strings.Join(search.Techniques(), ", "))
	hint := flag.Bool("hint", true, "use the server_hint of queries that have one")
	verbose := flag.Bool("v", false, "print what was missed")
	learn := flag.Int("learn", 0, "hold this `number` of queries of each tool aside, and measure the others with none and with more and more of them as lessons: a line each")
	apart := flag.Bool("apart", false, "with -learn: hold whole tasks aside, where queries have a task_id")
	corrupted := flag.String("corrupt", "", "write the queries wrongly: edits, vowels or joined")
	foreign := flag.String("foreign", "", "`file` with queries that the tools cannot answer: also measure how well they are kept apart")
	flag.Parse()
	m := measurement{without: strings.Split(*without, ","), hint: *hint, verbose: *verbose, corrupted: *corrupted, foreigners: *foreign}
	if err := m.run(*toolsFile, *queriesFile, *learn, *apart); err != nil {
		fmt.Fprintln(os.Stderr, "evalsearch:", err)
		os.Exit(1)
	}
}

// outcome is the line that is printed.
type outcome struct {
	// Lessons is how many each of the Taught tools was given; both are for -learn.
	Lessons *int `json:"lessons,omitempty"`
	Taught  int  `json:"taught,omitempty"`
	// Others is the NDCG of queries for tools that were given none.
	Others float64 `json:"others_ndcg10,omitempty"`
	// AUC, Refused and LetThrough are about the confidence, for -foreign.
	AUC        float64 `json:"auc,omitempty"`
	Refused    float64 `json:"refused,omitempty"`
	LetThrough float64 `json:"let_through,omitempty"`
	N          int     `json:"n"`
	R1         float64 `json:"r1"`
	R5         float64 `json:"r5"`
	R10        float64 `json:"r10"`
	NDCG10     float64 `json:"ndcg10"`
	MRR        float64 `json:"mrr"`
	Hit3       float64 `json:"hit3"`
	BuildMS    int64   `json:"build_ms"`
	HeapMB     float64 `json:"heap_mb"`
	P50        int64   `json:"p50_us"`
	P99        int64   `json:"p99_us"`
	CPU99      int64   `json:"cpu_p99_us"`
	TokensAll  int     `json:"tokens_all"`
	TokensTop5 int     `json:"tokens_top5"`
}

// measurement is how queries are put.
type measurement struct {
	without       []string
	hint, verbose bool
	// corrupted is how queries are written wrongly, foreigners a file of others.
	corrupted, foreigners string
}

func (m measurement) run(toolsFile, queriesFile string, learn int, apart bool) error {
	tools, err := read[tool](toolsFile)
	if err != nil {
		return err
	}
	queries, err := read[query](queriesFile)
	if err != nil {
		return err
	}
	if queries, err = corrupt(queries, m.corrupted); err != nil {
		return err
	}
	if len(queries) == 0 || len(tools) == 0 {
		return errors.New("there are no tools or no queries")
	}
	var out outcome
	var x *search.Index
	out.BuildMS, out.HeapMB = build(servers(tools), &x)
	if m.foreigners != "" {
		theirs, err := read[query](m.foreigners)
		if err != nil {
			return err
		}
		out.AUC, out.Refused, out.LetThrough = m.foreign(x, queries, theirs)
	}
	if learn <= 0 {
		return m.measure(x, tools, queries, nil, out)
	}
	aside := holdAside(queries, learn, apart)
	if len(aside.rest) == 0 {
		return fmt.Errorf("no tool has more than %d queries", learn)
	}
	for _, n := range steps(learn) {
		evidence := aside.evidence(tools, n)
		others := outcome{N: max(1, len(aside.others))}
		for _, q := range aside.others {
			others.add(q, m.search(x, q, evidence))
		}
		others.mean()
		out.Lessons, out.Taught, out.Others = &n, len(aside.lessons), others.NDCG10
		if err := m.measure(x, tools, aside.rest, evidence, out); err != nil {
			return err
		}
	}
	return nil
}

// search puts one query.
func (m measurement) search(x *search.Index, q query, evidence *search.Evidence) (ids []string) {
	in := search.Query{Text: q.Query, Limit: 10, Evidence: evidence}
	if m.hint {
		in.About = q.ServerHint
	}
	for _, h := range x.SearchWithout(in, m.without...).Hits {
		ids = append(ids, h.Document.ID)
	}
	return ids
}

// measure prints how well queries find their tools.
func (m measurement) measure(x *search.Index, tools []tool, queries []query, evidence *search.Evidence, out outcome) error {
	tokens := map[string]int{}
	for _, t := range tools {
		tokens[t.ID] = t.tokens
		out.TokensAll += t.tokens
	}
	out.N = len(queries)
	runtime.LockOSThread() // for the CPU time
	defer runtime.UnlockOSThread()
	var took, cpu []time.Duration
	var top5 int
	for _, q := range queries {
		begun, before := time.Now(), spent()
		ids := m.search(x, q, evidence)
		took, cpu = append(took, time.Since(begun)), append(cpu, spent()-before)
		for _, id := range ids[:min(5, len(ids))] {
			top5 += tokens[id]
		}
		out.add(q, ids)
		if m.verbose && q.recall(ids, 5) < 1 {
			fmt.Printf("%s\n  want %v\n  got  %v\n", q.Query, q.Relevant, ids[:min(5, len(ids))])
		}
	}
	out.mean()
	out.TokensTop5 = top5 / len(queries)
	slices.Sort(took)
	slices.Sort(cpu)
	out.P50, out.P99 = took[len(took)/2].Microseconds(), took[len(took)*99/100].Microseconds()
	out.CPU99 = cpu[len(cpu)*99/100].Microseconds()
	return json.NewEncoder(os.Stdout).Encode(out)
}

// build makes the index, and tells how long that took and what it holds.
func build(list []search.Server, x **search.Index) (millis int64, megabytes float64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begun := time.Now()
	*x = search.New(list...)
	millis = time.Since(begun).Milliseconds()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return millis, math.Round(float64(after.HeapAlloc-before.HeapAlloc)/1e5) / 10
}

// recall is which part of what is wanted stands among the first k.
func (q query) recall(ids []string, k int) float64 {
	groups := q.Groups
	if groups == nil {
		for _, id := range q.Relevant {
			groups = append(groups, []string{id})
		}
	}
	n := 0
	for _, g := range groups {
		if slices.ContainsFunc(ids[:min(k, len(ids))], func(id string) bool { return slices.Contains(g, id) }) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(groups)))
}

func (o *outcome) add(q query, ids []string) {
	o.R1 += q.recall(ids, 1)
	o.R5 += q.recall(ids, 5)
	o.R10 += q.recall(ids, 10)
	gain, ideal, first := 0.0, 0.0, 0
	for i, id := range ids {
		if slices.Contains(q.Relevant, id) {
			gain += 1 / math.Log2(float64(i+2))
			if first == 0 {
				first = i + 1
			}
		}
	}
	for i := range min(10, len(q.Relevant)) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	if ideal > 0 {
		o.NDCG10 += gain / ideal
	}
	if first > 0 {
		o.MRR += 1 / float64(first)
		if first <= 3 {
			o.Hit3++
		}
	}
}

func (o *outcome) mean() {
	for _, v := range []*float64{&o.R1, &o.R5, &o.R10, &o.NDCG10, &o.MRR, &o.Hit3} {
		*v = math.Round(*v/float64(o.N)*1000) / 1000
	}
}
