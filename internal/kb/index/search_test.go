package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// titled makes documents of titles, numbered from 1.
func titled(titles ...string) []Document {
	var list []Document
	for i, t := range titles {
		title, content, _ := strings.Cut(t, "|")
		list = append(list, Document{ID: int64(i + 1), Type: "doc", Status: "Open", Title: title, Content: content})
	}
	return list
}

// order is the ids of hits, best first.
func order(r Result) string {
	var list []string
	for _, h := range r.Hits {
		list = append(list, fmt.Sprint(h.ID))
	}
	return strings.Join(list, " ")
}

// both runs a test on an index that is all base and on one that is all delta.
func both(t *testing.T, documents []Document, test func(t *testing.T, x *Index)) {
	t.Run("base", func(t *testing.T) { test(t, indexOf(t, documents)) })
	t.Run("delta", func(t *testing.T) {
		x := New(nil)
		x.Apply(1, documents, nil)
		test(t, x)
	})
}

func TestSearch(t *testing.T) {
	documents := titled(
		"ユーザー管理|ユーザーを登録する画面の仕様。",                                                  // 1
		"ユーザ一覧|ユーザの一覧を出す。",                                                        // 2
		"API設計|外部に出すAPIの設計方針。",                                                    // 3
		"設計のAPI|APIを使う。設計は別の文書にある。",                                               // 4
		"Designing schemas|How we design tables.",                                 // 5
		"Designer handbook|For designers.",                                        // 6
		"ＡＰＩ ＫＥＹ|全角の文字で書かれた文書。",                                                   // 7
		"ﾃﾞｰﾀ移行|半角カナで書かれた文書。",                                                     // 8
		"Release notes|The gateway retries a request when the connection breaks.", // 9
		"Café menu|Crème brûlée",                                                  // 10
		"Retry policy|A gateway may retry.",                                       // 11
		"第3章 運用|バックアップの手順",                                                        // 12
		"3月の章|第一回の会議",                                                             // 13
		"データベースと設計|表の正規化について。",                                                    // 14
	)
	both(t, documents, func(t *testing.T, x *Index) {
		for _, tc := range []struct {
			why, query, want string
			match            Match
		}{
			{"without the long mark, both spellings", "ユーザ", "2 1", All},
			{"with it, its own spelling first", "ユーザー", "1 2", All},
			{"a long mark in the middle of a run may be missing", "ユーザ管理", "1", All},
			{"adjacent before apart", "API設計", "3 4", All},
			{"a space between scripts is no difference", "API 設計", "3 4", All},
			{"full-width letters", "api key", "7", All},
			{"full-width query", "ＡＰＩ　ｋｅｙ", "7", All},
			{"half-width kana", "データ移行", "8", All},
			{"half-width query", "ﾃﾞｰﾀ", "8 14", All},
			{"the exact form before the stem, a longer word last", "design", "5 6", All},
			{"the end of a word: nothing longer", "design ", "5", All},
			{"a prefix of the last word", "gatew", "11 9", All},
			{"words are all wanted", "gateway request", "9", All},
			{"accents need not be typed", "cafe brulee", "10", All},
			{"one slip", "gatewya ", "11 9", Near},
			{"a letter too little", "gatway retry", "11 9", Near},
			{"nothing has all: those with most", "gateway retry データ", "11 9", Some},
			{"a run that nothing has is split", "データベースの設計", "14", Near},
			{"digits beside kanji", "第3章", "12 13", All},
			{"one character", "章", "13 12", All},
			{"nothing", "zzzzzz", "", All},
			{"no words", "。、 --", "", All},
		} {
			r := x.Search(Query{Text: tc.query})
			if order(r) != tc.want || r.Match != tc.match || r.Total != len(r.Hits) {
				t.Errorf("%s: %q: %q (%v, total %d), want %q (%v)", tc.why, tc.query, order(r), r.Match, r.Total, tc.want, tc.match)
			}
		}
	})
}

func TestSaysWhatItUnderstood(t *testing.T) {
	x := indexOf(t, titled("Gateway retries", "Request log"))
	for _, tc := range []struct {
		query, text string
		words, had  int
	}{
		{"GATEWAY Retries", "gateway retries", 2, 2},
		{"gatewya retries", "gateway retries", 2, 2},
		{"gateway request", "gateway request", 2, 1},
	} {
		r := x.Search(Query{Text: tc.query})
		if r.Text != tc.text || r.Words != tc.words || r.Had != tc.had {
			t.Errorf("%q: %q, %d of %d", tc.query, r.Text, r.Had, r.Words)
		}
	}
}

func TestFilters(t *testing.T) {
	documents := corpus(testkit.Count(200, 1500))
	both(t, documents, func(t *testing.T, x *Index) {
		for _, q := range []Query{
			{Types: []string{"decision"}},
			{Types: []string{"decision", "doc", "nothing"}},
			{Statuses: []string{"Open", "Review"}},
			{Tags: []string{"設計"}},
			{Tags: []string{"設計", "ui"}, Types: []string{"issue"}},
			{UpdatedFrom: 1_710_000_000_000},
			{UpdatedTo: 1_710_000_000_000},
			{UpdatedFrom: 1_705_000_000_000, UpdatedTo: 1_715_000_000_000, Statuses: []string{"Completed"}},
			{Types: []string{"nothing"}},
		} {
			for _, text := range []string{"server", "検索", "the server ", "データベース"} {
				q.Text, q.Limit = text, len(documents)
				var want []int64
				all := x.Search(Query{Text: text, Limit: len(documents)})
				for _, h := range all.Hits {
					if passes(&documents[(h.ID-1)/3], q) {
						want = append(want, h.ID)
					}
				}
				slices.Sort(want)
				got := x.Search(q)
				if len(want) > 0 && (!slices.Equal(ids(got.Hits), want) || got.Total != len(want)) {
					t.Errorf("%+v: %d of %d found", q, got.Total, len(want))
				}
				if len(want) == 0 && got.Match == All && got.Total != 0 {
					t.Errorf("%+v: %d found", q, got.Total)
				}
			}
		}
	})
}

func passes(d *Document, q Query) bool {
	one := func(wanted []string, has ...string) bool {
		return len(wanted) == 0 || slices.ContainsFunc(has, func(h string) bool { return slices.Contains(wanted, h) })
	}
	return one(q.Types, d.Type) && one(q.Statuses, d.Status) && one(q.Tags, d.Tags...) &&
		d.Updated >= q.UpdatedFrom && (q.UpdatedTo == 0 || d.Updated <= q.UpdatedTo)
}

// TestPages: pages side by side are the whole, and never more is found because
// of how much is asked for.
func TestPages(t *testing.T) {
	x := New(openCorpus(t, shared))
	defer x.Close()
	for _, text := range []string{"server", "the", "検索", "システム", "serv", "the request"} {
		whole := x.Search(Query{Text: text, Limit: 2000})
		if len(whole.Hits) != whole.Total {
			t.Fatalf("%q: %d hits of %d", text, len(whole.Hits), whole.Total)
		}
		for at := 0; at < min(whole.Total, 300); at += 7 {
			page := x.Search(Query{Text: text, Limit: 7, Offset: at})
			if want := whole.Hits[at:min(at+7, whole.Total)]; !slices.Equal(page.Hits, want) || page.Total != whole.Total {
				t.Fatalf("%q from %d: %v, want %v", text, at, page.Hits, want)
			}
		}
		if past := x.Search(Query{Text: text, Offset: whole.Total + 5}); len(past.Hits) != 0 || past.Total != whole.Total {
			t.Errorf("%q: %d hits behind the last", text, len(past.Hits))
		}
	}
}

// TestBoundsHideNothing: the best of many are those that scoring each document
// finds.
func TestBoundsHideNothing(t *testing.T) {
	documents := corpus(testkit.Count(shared, 4000))
	x := New(openCorpus(t, len(documents)))
	defer x.Close()
	for _, text := range []string{
		"the ", "server ", "the server of request ", "ser", "検索", "の", "システム", "API設計", "サーバーの検索", "サーバー 検索",
		"when a request fails", "データ client", "con", "管理者", "について説明する",
		"document 検索 index " + rareWord(40) + " 文書", // nothing has all
	} {
		every := x.Search(Query{Text: text, Limit: len(documents)}) // nothing can be left out
		if len(every.Hits) != every.Total {
			t.Errorf("%q: %d hits of %d", text, len(every.Hits), every.Total)
		}
		best := x.Search(Query{Text: text, Limit: 10})
		if !slices.Equal(best.Hits, every.Hits[:min(10, len(every.Hits))]) || best.Total != every.Total {
			t.Errorf("%q: %v, want %v", text, best.Hits, every.Hits[:min(10, len(every.Hits))])
		}
	}
}

func TestSuggest(t *testing.T) {
	documents := titled("設計の方針", "設計", "Server log", "server list", "SERVER LIST", "サーバー", "Serve", "server list")
	documents[3].Type = "issue"
	both(t, documents, func(t *testing.T, x *Index) {
		for _, tc := range []struct {
			prefix string
			types  []string
			limit  int
			want   string
		}{
			{"serv", nil, 10, "Serve|SERVER LIST|server list|Server log"},
			{"SERVER L", nil, 10, "SERVER LIST|server list|Server log"},
			{"serv", nil, 2, "Serve|SERVER LIST"},
			{"serv", []string{"issue"}, 10, "server list"},
			{"serv", []string{"nothing"}, 10, ""},
			{"設計", nil, 10, "設計|設計の方針"},
			{"ｻｰﾊﾞ", nil, 10, "サーバー"},
			{"zzz", nil, 10, ""},
		} {
			if got := strings.Join(x.Suggest(tc.prefix, tc.types, tc.limit), "|"); got != tc.want {
				t.Errorf("%q of %v: %q, want %q", tc.prefix, tc.types, got, tc.want)
			}
		}
	})
}

func TestStem(t *testing.T) {
	for _, group := range []string{
		"design designs designed designing", "retry retries retried retrying", "create creates created creating",
		"query queries", "class classes", "run runs running", "box boxes", "café cafe", "index indexes indexed indexing",
		"cache caches cached caching", "need needs needed needing",
	} {
		words := strings.Fields(group)
		for _, w := range words {
			if got, want := stemKey(w), stemKey(words[0]); got != want {
				t.Errorf("%s: %s, and %s: %s", w, got, words[0], want)
			}
		}
	}
	for _, pair := range []string{"design designer", "status state", "us use", "process processor", "ring r"} {
		a, b, _ := strings.Cut(pair, " ")
		if stemKey(a) == stemKey(b) {
			t.Errorf("%s and %s are one", a, b)
		}
	}
}

// TestSuggestIsExact: with many titles, suggestions are those that a look at
// each title finds, of all types and of one, short prefixes and long ones.
func TestSuggestIsExact(t *testing.T) {
	documents := corpus(testkit.Count(300, 2500))
	for i, title := range []string{"ab", "ab\x00", "ab\x00c", "ＡＢ", "a b c d e f g h i j k", "a b c d e f g h i j l"} {
		documents[i*testkit.Count(50, 100)].Title = title
	}
	x := indexOf(t, documents)
	folded := make([]string, len(documents))
	for i, d := range documents {
		folded[i] = Fold(d.Title)
	}
	for _, prefix := range []string{"", "a", "ab", "ab\x00", "a b c d e f g h ", "a b c d e f g h i j k", "s", "se", "検", "検索の", "api", "ＡＰＩ仕様の", "データベースの", "zz"} {
		for _, types := range [][]string{nil, {"decision"}, {"doc", "issue"}} {
			var all []deltaTitle
			for i, d := range documents {
				if strings.HasPrefix(folded[i], Fold(prefix)) && (len(types) == 0 || slices.Contains(types, d.Type)) {
					all = append(all, deltaTitle{folded: folded[i], title: d.Title})
				}
			}
			slices.SortFunc(all, compareTitles)
			var want []string
			for _, title := range slices.Compact(all) {
				want = append(want, title.title)
			}
			for _, limit := range []int{3, 200} {
				if got := x.Suggest(prefix, types, limit); !slices.Equal(got, want[:min(limit, len(want))]) {
					t.Errorf("%q of %v: %q, want %q", prefix, types, got, want[:min(limit, len(want))])
				}
			}
		}
	}
}
