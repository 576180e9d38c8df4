package index

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"genkan/internal/testkit"
)

var splitQueries = []Query{
	{Text: "server"},
	{Text: "the server"},
	{Text: "serv"},
	{Text: "con"},
	{Text: "gatewya"},
	{Text: "request データ"},
	{Text: "検索"},
	{Text: "の"},
	{Text: "システム"},
	{Text: "ユーザー"},
	{Text: "ユーザ管理"},
	{Text: "API設計"},
	{Text: "サーバーの設計"},
	{Text: "について説明する"},
	{Text: "the zzzqqq データベース"},
	{Text: "第3章"},
	{Text: "server", Types: []string{"issue"}, Statuses: []string{"Open", "Review"}},
	{Text: "検索", Tags: []string{"api", "設計"}},
	{Text: "検索", UpdatedFrom: 1_715_000_000_000},
	{Text: "the", Limit: 5, Offset: 7},
}

// TestEverySplitIsTheSame: however documents came to be in base and delta,
// replaced and deleted on the way, searches and suggestions are those of a base
// of what is left.
func TestEverySplitIsTheSame(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, testkit.Count(40, 80)).Draw(t, "documents")
		variant := rapid.IntRange(0, testkit.Count(100, 1000)).Draw(t, "variant")
		state := map[int64]Document{}
		for i := range n {
			d := made(variant + i)
			state[d.ID] = d
		}
		inBase := map[int64]Document{}
		var later []Document
		for _, id := range slices.Sorted(maps.Keys(state)) {
			if rapid.IntRange(0, 3).Draw(t, "where") > 0 {
				inBase[id] = state[id]
			} else {
				later = append(later, state[id])
			}
		}
		// Some of the base are old versions of others, and some should be gone.
		var gone []int64
		for _, id := range slices.Sorted(maps.Keys(inBase)) {
			switch rapid.IntRange(0, 9).Draw(t, "fate") {
			case 0:
				later = append(later, inBase[id])
				old := made(5000 + int(id))
				old.ID = id
				inBase[id] = old
			case 1:
				gone = append(gone, id)
				delete(state, id)
			}
		}
		x := New(openSorted(t, dir, inBase))
		defer x.Close()
		sequence := int64(1)
		for part := range slices.Chunk(later, rapid.IntRange(1, 40).Draw(t, "chunk")) {
			// Each came in another form before.
			old := slices.Clone(part)
			for i := range old {
				id := old[i].ID
				old[i] = made(9000 + int(id))
				old[i].ID = id
			}
			sequence++
			x.Apply(sequence, old, nil)
			sequence++
			x.Apply(sequence, part, nil)
		}
		x.Apply(sequence+1, nil, gone)
		whole := New(openSorted(t, dir, state))
		defer whole.Close()
		for _, q := range splitQueries {
			if diff := gocmp.Diff(whole.Search(q), x.Search(q)); diff != "" {
				t.Fatalf("%+v: (-base +split)\n%s", q, diff)
			}
		}
		for _, prefix := range []string{"", "s", "検", "API", "データ"} {
			for _, types := range [][]string{nil, {"issue", "doc"}} {
				if diff := gocmp.Diff(whole.Suggest(prefix, types, 7), x.Suggest(prefix, types, 7)); diff != "" {
					t.Fatalf("suggest %q: (-base +split)\n%s", prefix, diff)
				}
			}
		}
	})
}

func openSorted(t *rapid.T, dir string, documents map[int64]Document) *Base {
	list := slices.SortedFunc(maps.Values(documents), func(a, b Document) int { return cmp.Compare(a.ID, b.ID) })
	path := filepath.Join(dir, "base")
	if err := build(t.Context(), path, 1, pretended, seq(list), nil, smallLimits()); err != nil {
		t.Fatal(err)
	}
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Verify(); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSearchesAndChangesTogether: searches run while documents change, and the
// index can be closed under them.
func TestSearchesAndChangesTogether(t *testing.T) {
	x := New(openCorpus(t, shared))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range testkit.Count(2, 10) {
				for _, q := range splitQueries {
					if r := x.Search(q); len(r.Hits) > r.Total {
						t.Errorf("%q: %d hits of %d", q.Text, len(r.Hits), r.Total)
					}
					x.Suggest("s", nil, 5)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range testkit.Count(30, 100) {
			x.Apply(int64(2+i), []Document{made(i * 7), made(2000 + i)}, []int64{int64(i*5)*3 + 1})
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	if r := x.Search(Query{Text: "server"}); r.Total != 0 {
		t.Errorf("a closed index finds %d", r.Total)
	}
}

// TestApplyKnowsItsPlace: what was applied is not applied again.
func TestApplyKnowsItsPlace(t *testing.T) {
	x := indexOf(t, titled("one", "two"))
	x.Apply(5, titled("three"), []int64{2})
	x.Apply(5, nil, []int64{1})
	x.Apply(4, nil, []int64{1})
	if n, delta := x.Len(); n != 1 || delta != 1 || x.Sequence() != 5 {
		t.Errorf("%d documents, %d in the delta, sequence %d", n, delta, x.Sequence())
	}
	if r := x.Search(Query{Text: "three"}); order(r) != "1" {
		t.Errorf("%q", order(r))
	}
}
