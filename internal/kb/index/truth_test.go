package index

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// spelled are the spellings of a Japanese query that count as the same: long
// marks at the ends of katakana words may be there or not.
func spelled(query string) []string {
	list := []string{query}
	for _, other := range longMarks([]rune(query)) {
		list = append(list, string(other))
	}
	return list
}

// scan is the truth: the documents in which a folded query stands.
func scan(documents []Document, folded []string, query string) []int64 {
	var ids []int64
	spellings := spelled(query)
	for i := range documents {
		if slices.ContainsFunc(spellings, func(s string) bool { return strings.Contains(folded[i], s) }) {
			ids = append(ids, documents[i].ID)
		}
	}
	return ids
}

// foldedFields are the fields of each document, folded, apart from one another.
func foldedFields(documents []Document) []string {
	list := make([]string, len(documents))
	for i, d := range documents {
		list[i] = strings.Join([]string{Fold(d.Title), Fold(d.Description), Fold(d.Content)}, "\n")
	}
	return list
}

// japaneseQueries are n characters that stand together somewhere.
func japaneseQueries(folded []string, n, count int, r *rand.Rand) []string {
	var list []string
	for len(list) < count {
		var runs [][]rune
		pieces(folded[r.IntN(len(folded))], func(p piece) {
			if run := []rune(p.text); p.class == ideal && len(run) >= n {
				runs = append(runs, run)
			}
		})
		if len(runs) == 0 {
			continue
		}
		run := runs[r.IntN(len(runs))]
		at := r.IntN(len(run) - n + 1)
		list = append(list, string(run[at:at+n]))
	}
	return list
}

func ids(hits []Hit) []int64 {
	list := make([]int64, len(hits))
	for i, h := range hits {
		list[i] = h.ID
	}
	slices.Sort(list)
	return list
}

// TestJapaneseIsExact: queries of 1, 2, 3, 5 and 8 characters find exactly the
// documents in which they stand, in the base and in the delta.
func TestJapaneseIsExact(t *testing.T) {
	own := ownDocs(t, 1_000_000)
	documents := append(corpus(testkit.Count(100, 1000)), own[:min(len(own), testkit.Count(80, 1000))]...)
	folded := foldedFields(documents)
	base := indexOf(t, documents)
	delta := New(nil)
	delta.Apply(1, documents, nil)
	for _, n := range []int{1, 2, 3, 5, 8} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		for _, query := range japaneseQueries(folded, n, testkit.Count(40, 80), r) {
			want := scan(documents, folded, query)
			for name, x := range map[string]*Index{"base": base, "delta": delta} {
				got := x.Search(Query{Text: query, Limit: len(documents)})
				if !slices.Equal(ids(got.Hits), want) || got.Total != len(want) || got.Match != All {
					t.Fatalf("%s: %q: %d found (total %d, match %v), and it stands in %d", name, query, len(got.Hits), got.Total, got.Match, len(want))
				}
			}
		}
	}
}

// TestPhrasesThatBecomeCommon: what is common is found out while the base is
// built; before and after that, queries find what stands there.
func TestPhrasesThatBecomeCommon(t *testing.T) {
	var documents []Document
	for _, english := range []bool{true, false} {
		for _, d := range corpus(testkit.Count(300, 2800)) {
			// A few of the others are among the first.
			if ascii(d.Content) == english || english && d.ID%200 == 1 {
				d.ID = int64(len(documents) + 1)
				documents = append(documents, d)
			}
		}
	}
	folded := foldedFields(documents)
	base := open(t, documents)
	x := New(base)
	defer x.Close()
	later := 0
	r := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{3, 4, 5, 6, 7, 9} {
		for _, query := range append(japaneseQueries(folded, n, testkit.Count(30, 60), r), "管理者", "について", "してください") {
			if since, ok := base.grams.find(query); ok && since > 0 {
				later++
			}
			want := scan(documents, folded, query)
			got := x.Search(Query{Text: query, Limit: len(documents)})
			if !slices.Equal(ids(got.Hits), want) || got.Total != len(want) || got.Match != All {
				t.Fatalf("%q: %d found (total %d, match %v), and it stands in %d", query, len(got.Hits), got.Total, got.Match, len(want))
			}
		}
	}
	if later == 0 {
		t.Error("nothing became common")
	}
}

// TestWordsAreExact: one English word finds the documents that have it, with
// its inflections.
func TestWordsAreExact(t *testing.T) {
	documents := corpus(shared)
	x := New(openCorpus(t, shared))
	defer x.Close()
	for _, query := range []string{"gateway", "retries", "deploying", "the", "MCP", "rest", "Go"} {
		stem := stemKey(Fold(query))
		var want []int64
		for _, d := range documents {
			has := false
			for _, field := range []string{d.Title, d.Description, d.Content} {
				pieces(Fold(field), func(p piece) { has = has || p.class == letter && stemKey(p.text) == stem })
			}
			if has {
				want = append(want, d.ID)
			}
		}
		// The space ends the word: it is not the beginning of another.
		got := x.Search(Query{Text: query + " ", Limit: len(documents)})
		if !slices.Equal(ids(got.Hits), want) || got.Total != len(want) {
			t.Errorf("%q: %d found (total %d), want %d", query, len(got.Hits), got.Total, len(want))
		}
	}
}
