package index

import (
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestBeginningsAreExact: the last word of a query finds the documents that have
// a word that begins with it or is one of its forms, whether the base has a list
// for that or not, and in the delta; all count.
func TestBeginningsAreExact(t *testing.T) {
	documents := corpus(shared)
	words := make([]map[string]bool, len(documents))
	vocabulary := map[string]bool{}
	for i, d := range documents {
		words[i] = map[string]bool{}
		for _, field := range []string{d.Title, d.Description, d.Content} {
			pieces(Fold(field), func(p piece) {
				if p.class == letter {
					words[i][p.text], vocabulary[p.text] = true, true
				}
			})
		}
	}
	base := openCorpus(t, shared)
	inBase := New(base)
	defer inBase.Close()
	inDelta := New(nil)
	inDelta.Apply(1, documents, nil)
	made, not := 0, 0
	for _, query := range []string{"ser", "serv", "server", "sta", "re", "con", "t", "the", "req", "do", "gatew", "2", "12", "zo", "bab", "qqq"} {
		stem := stemKey(query)
		meant, begun := map[string]bool{}, map[string]bool{}
		for w := range vocabulary {
			if stemKey(w) == stem {
				meant[w] = true
			}
			if strings.HasPrefix(w, query) {
				begun[w] = true
			}
		}
		goesOn := len(query) >= 3 || len(query) == 2 && len(meant) == 0
		if goesOn {
			maps.Copy(meant, begun)
		}
		var want []int64
		for i, d := range documents {
			for w := range words[i] {
				if meant[w] {
					want = append(want, d.ID)
					break
				}
			}
		}
		if first, last := base.span(string(wordTerm) + query); goesOn && first != last {
			if _, ok := base.joined(string(wordTerm) + query); ok {
				made++
			} else {
				not++
			}
		}
		a := inBase.Search(Query{Text: query, Limit: len(documents)})
		b := inDelta.Search(Query{Text: query, Limit: len(documents)})
		if a.Match == All && (!slices.Equal(ids(a.Hits), want) || a.Total != len(want)) {
			t.Errorf("%q: %d found (total %d), want %d", query, len(a.Hits), a.Total, len(want))
		}
		if !slices.Equal(a.Hits, b.Hits) {
			t.Errorf("%q: the base and the delta differ", query)
		}
	}
	if made < 3 || not < 3 {
		t.Errorf("%d beginnings have a list, %d do not", made, not)
	}
}

// TestProofs: how often a phrase is in a document is the same whether it is told
// by its parts or by their positions.
func TestProofs(t *testing.T) {
	x := New(openCorpus(t, shared))
	defer x.Close()
	proven, not := 0, 0
	s := &search{x: x, scratch: new(scratch), segments: x.segments(), documents: x.documents(), norms: normsAt(x.mean())}
	seg := s.segments[0]
	for _, query := range []string{"分類の設計", "設計の検索", "検索の設計", "項目の種類", "文書の分類", "検索の文書", "設計の実装を", "してください。", "状態の設計"} {
		a, ok := s.resolveOne(seg, runOf(query)[0])
		if !ok || a.proof == nil {
			continue
		}
		b := a
		b.proof, b.key = nil, a.key+"again"
		s.verify(seg, &a, nil)
		s.verify(seg, &b, nil)
		if !slices.Equal(a.list.docs, b.list.docs) || !slices.Equal(a.list.values, b.list.values) {
			t.Errorf("%q: proven %v %v, positions %v %v", query, a.list.docs, a.list.values, b.list.docs, b.list.values)
		}
		for _, doc := range a.list.docs {
			if _, ok := a.proof.value(doc); ok {
				proven++
			} else {
				not++
			}
		}
	}
	t.Logf("%d proven, %d not", proven, not)
	if proven == 0 || not == 0 {
		t.Errorf("%d documents proven, %d not", proven, not)
	}
}

// TestListsOfBeginningsAndChanges: a base that is large enough to have lists for
// beginnings, and what changed since, find what a base of what is left finds.
func TestListsOfBeginningsAndChanges(t *testing.T) {
	documents := corpus(shared)
	base := openCorpus(t, shared)
	if first, last := base.span("wser"); first == last {
		t.Error("ser begins one word only")
	} else if _, ok := base.joined("wser"); !ok {
		t.Error("ser has no list")
	}
	x := New(base)
	defer x.Close()
	var left, puts []Document
	var gone []int64
	for i, d := range documents {
		switch {
		case i%7 == 3:
			gone = append(gone, d.ID)
			continue
		case i%11 == 5:
			id := d.ID
			d = made(5000 + i)
			d.ID = id
			puts = append(puts, d)
		}
		left = append(left, d)
	}
	x.Apply(2, puts, gone)
	whole := indexOf(t, left)
	queries := slices.Clone(splitQueries)
	for _, text := range []string{"ser", "sta", "re", "the con", "server req", "システ", "データベ", "サーバー データ", "分類の設計", "検索の"} {
		queries = append(queries, Query{Text: text}, Query{Text: text, Types: []string{"doc", "decision"}, Statuses: []string{"Open"}})
	}
	for _, q := range queries {
		if diff := gocmp.Diff(whole.Search(q), x.Search(q)); diff != "" {
			t.Errorf("%+v: (-base +split)\n%s", q, diff)
		}
	}
}
