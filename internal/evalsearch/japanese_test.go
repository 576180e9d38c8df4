package main

import (
	"testing"

	"genkan/internal/search"
)

// TestJapanese: queries that people type in Japanese find the tools of
// server-everything, server-filesystem, the knowledge base and n8n, nearly as well as
// their translations do. Only queries_tuned.jsonl was looked at while the search was
// changed.
func TestJapanese(t *testing.T) {
	tools, err := read[tool]("testdata/japanese/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := read[query]("testdata/japanese/foreign.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	x := search.New(servers(tools)...)
	for file, least := range map[string]struct{ japanese, english float64 }{
		"queries_tuned.jsonl": {.95, .95},
		"queries_apart.jsonl": {.9, .9},
	} {
		queries, err := read[struct {
			query
			English string `json:"query_en"`
		}]("testdata/japanese/" + file)
		if err != nil {
			t.Fatal(err)
		}
		japanese, english := outcome{N: len(queries)}, outcome{N: len(queries)}
		var ours []query
		for _, q := range queries {
			ours = append(ours, q.query)
			japanese.add(q.query, measurement{}.search(x, q.query, nil))
			q.Query = q.English
			english.add(q.query, measurement{}.search(x, q.query, nil))
		}
		if auc, refused, _ := (measurement{}).foreign(x, ours, foreign); auc < .95 || refused > .05 {
			t.Errorf("%s: AUC %.3f against queries about other things, %.3f refused", file, auc, refused)
		}
		japanese.mean()
		english.mean()
		if japanese.Hit3 < least.japanese || english.Hit3 < least.english || len(queries) < 30 {
			t.Errorf("%s: of %d queries %.3f find a right tool among the first three, %.3f in English", file, len(queries), japanese.Hit3, english.Hit3)
		}
	}
}
