package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"read_text-file":      "read text file",
		"getHTTPServerName2x": "get http server name 2 x",
		"don't stop":          "dont stop",
		"Crème brûlée":        "crème brûlée",
		"天気を調べる":              "天気 気を を調 調べ べる",
		"東 京 API":             "東 京 api",
		"  ":                  "",
		"a\x00b\xff":          "a b",
	} {
		var got []string
		words(text, func(w string) { got = append(got, w) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestStem: words that mean one thing become one, and others do not.
func TestStem(t *testing.T) {
	for _, group := range []string{
		"create creates created creating creation",
		"search searches searched searching",
		"query queries",
		"convert converts converted converting converter",
		"generate generates generated generating generation generator",
		"calculate calculation calculator calculating",
		"delete deleted deleting deletion",
		"file files",
		"run running",
	} {
		words := strings.Fields(group)
		for _, w := range words[1:] {
			if stem(w) != stem(words[0]) {
				t.Errorf("%s becomes %q and %s %q", words[0], stem(words[0]), w, stem(w))
			}
		}
	}
	for _, w := range strings.Fields("ingly ing ed ied ly er ness ments sses") {
		if stem(w) == "" {
			t.Errorf("nothing is left of %s", w)
		}
	}
	for _, two := range []string{"file field", "new news", "user use", "price print", "issue is", "status state"} {
		a, b, _ := strings.Cut(two, " ")
		if stem(a) == stem(b) {
			t.Errorf("%s and %s both become %q", a, b, stem(a))
		}
	}
}

// house is a small house with tools.
func house() *Index {
	return New(
		Server{Name: "filesystem", Description: "Files on this machine", Documents: []Document{
			{ID: "fs.read", Name: "read_file", Description: "Returns the text of a file.", Parameters: []Parameter{{"path", "Where the file is"}}},
			{ID: "fs.write", Name: "write_file", Description: "Replaces the content of a file.", Parameters: []Parameter{{"path", ""}, {"content", ""}}},
			{ID: "fs.dir", Name: "list_directory", Description: "Names what is in a folder."},
		}},
		Server{Name: "weather", Title: "Weather of the world", Documents: []Document{
			{ID: "w.now", Name: "get_current_weather", Description: "Temperature and wind at a place now."},
			{ID: "w.later", Name: "get_forecast", Description: "What the next days bring.", Examples: []string{"will it rain tomorrow"}},
		}},
		Server{Name: "math", Documents: []Document{
			{ID: "m.calc", Name: "calculate", Description: "Evaluates an expression.", Category: "numbers", Tags: []string{"arithmetic"}},
		}},
	)
}

func first(r Result) string {
	if len(r.Hits) == 0 {
		return ""
	}
	return r.Hits[0].Document.ID
}

func TestSearch(t *testing.T) {
	x := house()
	for query, want := range map[string]string{
		"read a file": "fs.read",
		"show me what stands in /srv/example/todo.md": "fs.read",
		"read_file":                       "fs.read",
		"ｒｅａｄ＿ｆｉｌｅ":                       "fs.read", // full width
		"use list_directory please":       "fs.dir",
		"which files are in that folder":  "fs.dir",
		"will it rain in Kyoto tomorrow":  "w.later", // by its example
		"forecast":                        "w.later",
		"caculate the sum":                "m.calc", // a slip
		"arithmetic":                      "m.calc", // by its tag
		"temperature now":                 "w.now",
		"overwrite the content of a file": "fs.write",
		"":                                "",
		"the of and":                      "",
		"zzzzqqqq":                        "",
	} {
		if got := first(x.Search(Query{Text: query})); got != want {
			t.Errorf("%q finds %s, want %s", query, got, want)
		}
	}
	// What kind of server is meant decides where words do not.
	if got := first(x.Search(Query{Text: "get the current state", About: "weather service"})); got != "w.now" {
		t.Errorf("with a hint it finds %s", got)
	}
	only := Query{Text: "file", Include: func(_ string, d *Document) bool { return d.ID == "fs.write" }}
	if r := x.Search(only); r.Total != 1 || first(r) != "fs.write" {
		t.Errorf("a filter leaves %d, first %s", r.Total, first(r))
	}
	if r := x.Search(Query{Text: "file", Limit: 1}); len(r.Hits) != 1 || r.Total < 2 {
		t.Errorf("%d of %d hits", len(r.Hits), r.Total)
	}
	if sure, unsure := x.Search(Query{Text: "read file"}).Confidence, x.Search(Query{Text: "file a complaint with the embassy about visas"}).Confidence; sure < 2*unsure {
		t.Errorf("as sure of a read (%.2f) as of a visa (%.2f)", sure, unsure)
	}
}

// TestSureInASmallHouse: a house that has but one server knows what it is about,
// and what it is not. Less than .16 is no match.
func TestSureInASmallHouse(t *testing.T) {
	x := New(Server{Name: "weather", Description: "Weather of the world", Documents: []Document{
		{ID: "now", Name: "current_weather", Description: "Weather at a place now."},
		{ID: "later", Name: "weather_forecast", Description: "Weather of the next days at a place."},
		{ID: "past", Name: "past_weather", Description: "What the weather was on a day."},
	}})
	for query, match := range map[string]bool{
		"weather":                              true,
		"what is the weather like in Kyoto":    true,
		"will the weather in Osaka be fine":    true,
		"forecast for the coming weekend":      true,
		"open a bank account in another place": false,
		"translate a poem by Basho":            false,
		"renew my passport before it expires":  false,
	} {
		if got := x.Search(Query{Text: query}).Confidence; (got >= .16) != match {
			t.Errorf("%q: %.3f, want a match: %v", query, got, match)
		}
	}
}

// TestReplacing: one server's tools come and go, and an index that somebody
// searches stays as it is.
func TestReplacing(t *testing.T) {
	x := house()
	y := x.With(Server{Name: "weather", Documents: []Document{{ID: "w.new", Name: "get_forecast"}}})
	z := y.Without("filesystem").With(Server{Name: "more", Documents: []Document{{ID: "x", Name: "read_file"}}})
	for _, c := range []struct {
		x     *Index
		n     int
		query string
		want  string
	}{
		{x, 6, "forecast", "w.later"}, {y, 5, "forecast", "w.new"}, {z, 3, "read file", "x"}, {x, 6, "read file", "fs.read"},
	} {
		if got := first(c.x.Search(Query{Text: c.query})); got != c.want || c.x.Len() != c.n {
			t.Errorf("%q finds %s among %d, want %s among %d", c.query, got, c.x.Len(), c.want, c.n)
		}
	}
	if r := New().Search(Query{Text: "anything"}); len(r.Hits) != 0 {
		t.Error("something was found in nothing")
	}
}

// TestTheSameEveryTime: maps are gone through in any order, and hits are not.
func TestTheSameEveryTime(t *testing.T) {
	ids := func() string {
		var all []string
		for _, h := range house().Search(Query{Text: "get the content of a file and the current weather", Limit: 6}).Hits {
			all = append(all, fmt.Sprintf("%s %.5f", h.Document.ID, h.Score))
		}
		return strings.Join(all, ", ")
	}
	want := ids()
	for range 20 {
		if got := ids(); got != want {
			t.Fatalf("%s\nand then %s", want, got)
		}
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"calculate", "caculate", true},
		{"weather", "waether", true},
		{"chart", "cart", true},
		{"chart", "card", false},
		{"weather", "whether", false},
		{"calculate", "celebrate", false},
		{"x", "xyz", false},
	} {
		if near(c.a, c.b) != c.want || near(c.b, c.a) != c.want {
			t.Errorf("%s, %s: want %v", c.a, c.b, c.want)
		}
	}
}

// Of a text that is far longer than any question only the beginning is looked for:
// comparing all its words with one another would take minutes.
func TestSearchLongText(t *testing.T) {
	x := New(Server{Name: "s", Documents: []Document{
		{ID: "a", Name: "look_weather", Description: "Looks at the weather."},
		{ID: "b", Name: "send_mail", Description: "Sends a letter."},
	}})
	var long strings.Builder
	long.WriteString("weather ")
	for i := range testkit.Count(1<<17, 1<<20) {
		fmt.Fprintf(&long, "word%d ", i)
	}
	long.WriteString("letter")
	for name, q := range map[string]Query{
		"query": {Text: long.String()},
		"about": {Text: "weather", About: long.String()},
		"kanji": {Text: "weather " + strings.Repeat("天気予報", testkit.Count(1<<17, 1<<20))},
	} {
		r := x.Search(q)
		if len(r.Hits) != 1 || r.Hits[0].Document.ID != "a" {
			t.Errorf("%s: %d hits", name, len(r.Hits))
		}
	}
	if terms := Terms(long.String()); !slices.Contains(terms, "weath") || slices.Contains(terms, "letter") {
		t.Errorf("terms %v", terms)
	}
}

// A server that says without end what its tools do costs little, and its tools are
// found by the beginning.
func TestLongDocuments(t *testing.T) {
	var long strings.Builder
	long.WriteString("weather ")
	for i := range 1 << 17 {
		fmt.Fprintf(&long, "word%d ", i)
	}
	long.WriteString("letter")
	many := make([]Parameter, 1<<16)
	for i := range many {
		many[i] = Parameter{Name: fmt.Sprint("city", i), Text: "mayor"}
	}
	server := Server{Name: "s", Description: "about maps " + long.String()}
	for i := range 50 {
		server.Documents = append(server.Documents, Document{ID: fmt.Sprint("t", i), Name: fmt.Sprint("tool", i)})
	}
	server.Documents[7] = Document{ID: "a", Name: "look", Description: long.String()}
	server.Documents[8] = Document{ID: "b", Name: "props", Parameters: many}
	x := New(server)
	for query, want := range map[string]string{"weather": "a", "mayor": "b", "letter": ""} {
		if r := x.Search(Query{Text: query, Limit: 1}); ids(r) != want {
			t.Errorf("%s: found %s, want %s", query, ids(r), want)
		}
	}
	if n := len(x.segments[0].postings); n > 200_000 {
		t.Errorf("%d postings", n)
	}
}
