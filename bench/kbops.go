package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/kb"
	"genkan/internal/kb/index"
	"genkan/internal/testkit/corpus"
)

// firstSearch is what is asked when a data directory was just opened.
var firstSearch = map[string]any{"query": "検索 gateway", "limit": 20}

func paramsOf(tool string, arguments map[string]any) ([]byte, error) {
	return json.Marshal(map[string]any{"name": tool, "arguments": arguments})
}

// newCall is what an edge makes of a request's params.
func newCall(tool string, raw []byte) (*gateway.Call, error) {
	params, err := jsonrpc.ScanParams(raw)
	return &gateway.Call{
		Method: "tools/call",
		Params: params,
		Name:   tool,
		Tool:   &gateway.Tool{Name: tool},
		Caller: gateway.Caller{Identity: gateway.Identity{ClientID: "bench"}},
	}, err
}

// typeOf is the type of document i, whose id is i+1.
func (k *knowledge) typeOf(i int) string { return corpus.Made(i).Type }

// operations makes a set of operations. All that can be made before they are
// measured is.
func (k *knowledge) operations(job kbJob) ([]func() error, error) {
	if job.Name == opSearch || job.Name == opIndexSearch {
		return k.searches(job)
	}
	r := rand.New(rand.NewPCG(job.Seed, 21))
	var list []func() error
	for i := range job.Count {
		op, err := k.operation(job, i, r)
		if err != nil {
			return nil, err
		}
		if op == nil {
			break
		}
		list = append(list, op)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no operation %q", job.Name)
	}
	return list, nil
}

// The operations. Those of the store are below the tools: no JSON, no checks.
const (
	opGet       = "get_item_detail"
	opList      = "get_items, 20"
	opSearch    = "search_items, 20"
	opSuggest   = "search_suggest"
	opWalk      = "get_related_items, depth 3, 50"
	opWalkFar   = "get_related_items, depth 3, 1000"
	opPath      = "find_path, depth 5"
	opCreate    = "create_item"
	opStoreGet  = "store: get"
	opStoreList = "store: list of 20"
	opStoreNew  = "store: create"
	// The index by itself, as FTS5 is asked: the 20 best ids.
	opIndexSearch  = "index: search, 20"
	opIndexSuggest = "index: suggest"
)

func (k *knowledge) operation(job kbJob, i int, r *rand.Rand) (func() error, error) {
	at := r.IntN(k.items)
	switch job.Name {
	case opGet:
		return k.call("get_item_detail", map[string]any{"type": k.typeOf(at), "id": at + 1})
	case opList:
		f := listFilter(r)
		args := map[string]any{"type": f.Types[0], "limit": f.Limit, "offset": f.Offset}
		if len(f.Statuses) > 0 {
			args["statuses"] = f.Statuses
		} else {
			args["includeClosedStatuses"] = f.Closed
		}
		return k.call("get_items", args)
	case opSuggest:
		return k.call("search_suggest", map[string]any{"query": suggestion(at, r), "limit": 10})
	case opWalk, opWalkFar:
		args := map[string]any{"type": k.typeOf(at), "id": at + 1, "depth": 3}
		if job.Name == opWalkFar {
			args["max_results"] = 1000
		}
		return k.call("get_related_items", args)
	case opPath:
		to := r.IntN(k.items)
		return k.call("find_path", map[string]any{
			"from_type": k.typeOf(at), "from_id": at + 1, "to_type": k.typeOf(to), "to_id": to + 1, "max_depth": 5,
		})
	case opCreate:
		args := k.newItem(i)
		related := make([]string, 0, corpus.Relations)
		for _, other := range args.Related {
			related = append(related, other.String())
		}
		return k.call("create_item", map[string]any{
			"type": args.Type, "title": args.Title, "description": args.Description, "content": args.Content,
			"status": args.Status, "tags": args.Tags, "related": related,
		})
	case opStoreGet:
		return func() error {
			_, ok, err := k.store.Knowledge().Item(k.ctx, int64(at+1))
			if !ok && err == nil {
				err = fmt.Errorf("there is no item %d", at+1)
			}
			return err
		}, nil
	case opStoreList:
		f := listFilter(r)
		return func() error {
			page, err := k.store.Knowledge().List(k.ctx, f)
			if err == nil && len(page.Items) != f.Limit {
				err = fmt.Errorf("%d items are listed, not %d", len(page.Items), f.Limit)
			}
			return err
		}, nil
	case opStoreNew:
		item := k.newItem(i)
		patch := kb.Patch{
			Title: &item.Title, Description: &item.Description, Content: &item.Content, Status: &item.Status,
			Tags: &item.Tags, Related: &item.Related,
		}
		return func() error {
			_, err := k.base.Create(k.ctx, item.Type, patch)
			return err
		}, nil
	case opIndexSuggest:
		x, err := k.openIndex()
		query := suggestion(at, r)
		return func() error {
			x.Suggest(query, nil, 10)
			return nil
		}, err
	}
	return nil, nil
}

// newItem is one that is not there yet, related to five that are.
func (k *knowledge) newItem(i int) kb.Item {
	item := itemOf(k.items + i)
	r := rand.New(rand.NewPCG(uint64(i), 22))
	for len(item.Related) < corpus.Relations {
		at := r.IntN(k.items)
		ref := kb.Ref{Type: k.typeOf(at), ID: int64(at + 1)}
		if !slices.Contains(item.Related, ref) {
			item.Related = append(item.Related, ref)
		}
	}
	return item
}

// listFilter is a page of a type: its open items, all of it, or those of three
// statuses.
func listFilter(r *rand.Rand) kb.Filter {
	f := kb.Filter{
		Types: []string{[]string{"issue", "doc", "decision", "knowledge", "session"}[r.IntN(5)]},
		Limit: 20, Offset: 20 * r.IntN(5),
	}
	switch r.IntN(3) {
	case 0:
		f.Closed = true
	case 1:
		f.Statuses = []string{"Open", "In Progress", "Completed"}
	}
	return f
}

// suggestion is the beginning of a title, as somebody types it.
func suggestion(i int, r *rand.Rand) string {
	title := []rune(corpus.Made(i).Title)
	if text := strings.TrimSpace(string(title[:min(len(title), 1+r.IntN(5))])); text != "" {
		return text
	}
	return "s"
}

// queriesOf are those of a class, or of the mix.
func (k *knowledge) queriesOf(job kbJob) []corpus.Query {
	if job.Class == "" {
		return corpus.Mix(job.Count, k.items, job.Seed)
	}
	return corpus.Queries(corpus.Class(job.Class), job.Count, k.items, job.Seed)
}

func (k *knowledge) searches(job kbJob) ([]func() error, error) {
	var list []func() error
	for _, q := range k.queriesOf(job) {
		if job.Name == opIndexSearch {
			x, err := k.openIndex()
			if err != nil {
				return nil, err
			}
			list = append(list, func() error {
				x.Search(index.Query{Text: q.Text, Types: q.Types, Limit: 20})
				return nil
			})
			continue
		}
		args := map[string]any{"query": q.Text, "limit": 20}
		if len(q.Types) > 0 {
			args["types"] = q.Types
		}
		op, err := k.call("search_items", args)
		if err != nil {
			return nil, err
		}
		list = append(list, op)
	}
	return list, nil
}

// found are all ids that the index finds for each text.
func (k *knowledge) found(job kbJob) (kbAnswer, error) {
	x, err := k.openIndex()
	if err != nil {
		return kbAnswer{}, err
	}
	var a kbAnswer
	for _, text := range job.Texts {
		found := x.Search(index.Query{Text: text, Limit: k.items})
		ids := make([]int64, 0, len(found.Hits))
		for _, hit := range found.Hits {
			ids = append(ids, hit.ID)
		}
		slices.Sort(ids)
		a.Found = append(a.Found, ids)
	}
	return a, nil
}
