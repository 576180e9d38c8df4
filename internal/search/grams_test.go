package search

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// workshop is a house whose words people misspell.
func workshop() *Index {
	return New(
		Server{Name: "github", Documents: []Document{
			{ID: "issue", Name: "create_issue", Description: "Opens an issue in a repository."},
			{ID: "pulls", Name: "list_pull_requests", Description: "Lists pull requests of a repository."},
		}},
		Server{Name: "weather", Documents: []Document{
			{ID: "forecast", Name: "get_forecast", Description: "What the next days bring."},
		}},
		Server{Name: "sql", Documents: []Document{
			{ID: "query", Name: "run_query", Description: "Queries a database."},
			{ID: "tables", Name: "list_tables", Description: "Names what a database has, and a spreadsheet."},
		}},
	)
}

// TestGuesses: a word that nobody has is taken for those that are like it, or that
// it was written together of. Whoever is found by a guess makes nobody sure.
func TestGuesses(t *testing.T) {
	x := workshop()
	for query, want := range map[string]string{
		"createissue":            "issue",
		"listpullrequests":       "pulls",
		"pullrequest":            "pulls",
		"databasequery":          "query",
		"frecasts":               "forecast",
		"forcaast":               "forecast",
		"spreadsheets with rows": "tables",
		"spraedshete":            "tables",
		"carpet":                 "",
		"zzzzqqqq":               "",
		"123456":                 "",
	} {
		if got := first(x.Search(Query{Text: query})); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	for query, sure := range map[string]bool{"createissue": true, "forcaast": false, "forcaast of rain": false, "next forcaast": true} {
		if got := x.Search(Query{Text: query}).Confidence; (got >= .16) != sure {
			t.Errorf("%q: %.3f", query, got)
		}
	}
	r := x.Search(Query{Text: "next forcaast", Explain: true})
	if got := strings.Join(r.Hits[0].Matched, " "); got != "next forcaast" {
		t.Errorf("matched %s", got)
	}
	// A guess is about what is there now.
	if got := first(x.Without("weather").Search(Query{Text: "forcaast"})); got != "" {
		t.Errorf("%s is found in a house that it has left", got)
	}
	if got := first(x.Without("weather").With(Server{Name: "late", Documents: []Document{{ID: "late", Name: "forecast"}}}).Search(Query{Text: "forcaast"})); got != "late" {
		t.Errorf("found %s", got)
	}
}

// A guess makes no query surer than it would be without: what has no answer still
// has none.
func TestGuessesMakeNobodySure(t *testing.T) {
	x := workshop()
	rapid.Check(t, func(r *rapid.T) {
		query := strings.Join(rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom(strings.Fields("spreadshet issue forcsts weather tables of reposory branding next pullover quarrel")),
			rapid.StringMatching(`[a-z]{4,12}`),
		), 1, 6).Draw(r, "words"), " ")
		with, without := x.Search(Query{Text: query}).Confidence, x.SearchWithout(Query{Text: query}, "grams").Confidence
		if with > without+1e-4 && !anyParted(x, query) {
			r.Fatalf("%q: %.4f, without guesses %.4f", query, with, without)
		}
	})
}

func anyParted(x *Index, query string) bool {
	for _, w := range strings.Fields(query) {
		if x.words.parted(stem(w), func(uint32) bool { return true }) != nil {
			return true
		}
	}
	return false
}

// What the bits rule out is what counting rules out: no word is overlooked.
func TestAlike(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := newVocabulary()
		list := rapid.SliceOfN(rapid.StringMatching(`[abc]{4,10}`), 1, 20).Draw(r, "words")
		for _, w := range list {
			v.add(w)
		}
		word := rapid.StringMatching(`[abc]{6,12}`).Draw(r, "word")
		least := rapid.Float32Range(.2, .9).Draw(r, "least")
		want := 0
		for _, w := range v.list {
			a, b := appendGrams(nil, word), appendGrams(nil, w)
			common := 0
			for _, g := range a {
				for _, h := range b {
					if g == h {
						common++
					}
				}
			}
			if 2*float32(common)/float32(len(a)+len(b)) >= least {
				want++
			}
		}
		if got := v.alike(word, least, len(list), func(uint32) bool { return true }); len(got) != want {
			r.Fatalf("%s is like %d of %v, want %d", word, len(got), v.list, want)
		}
	})
}

// However long a text of words that nobody has, only a few are compared.
func TestGuessesAreBounded(t *testing.T) {
	x := workshop()
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "forecastq%c%c ", 'a'+i%26, 'a'+i/26)
	}
	s := newScorer(x, defaultTuning())
	defer s.done()
	s.terms(text.String())
	if s.compared > 16 || len(s.guesses) == 0 {
		t.Errorf("%d were compared, %d guessed", s.compared, len(s.guesses))
	}
}
