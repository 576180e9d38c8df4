package search

import (
	"slices"
	"strings"
	"testing"
)

func office() *Index {
	return New(
		Server{Name: "chat", Documents: []Document{
			{ID: "chat__post_message", Name: "post_message", Description: "Sends a text to a channel."},
			{ID: "chat__list_channels", Name: "list_channels", Description: "Lists the channels."},
		}},
		Server{Name: "tracker", Documents: []Document{
			{ID: "tracker__create_issue", Name: "create_issue", Description: "Opens a ticket in a project."},
			{ID: "tracker__search", Name: "search", Description: "Finds tickets by their text."},
		}},
	)
}

func ids(r Result) string {
	var list []string
	for _, h := range r.Hits {
		list = append(list, h.Document.ID)
	}
	return strings.Join(list, " ")
}

func lessonOf(server, tool, query string) Lesson {
	return Lesson{Server: server, Tool: tool, Terms: Terms(query), Weight: 1}
}

// TestTerms: what is kept of a query is its words, and not what it was about.
func TestTerms(t *testing.T) {
	for query, want := range map[string]string{
		"Tell the standup that I am late":                         "late standup",
		"sending messages, and sending messages":                  "messag send",
		"read /srv/example/secret.txt and 4111 1111":              "file read txt",
		"open https://example.com/?key=abc please":                "open url",
		"key abcdefghijklmnopqrstuvwxyzabcdefghijkl":              "key",
		"mail ann.lee@example.com with key sk-Abc123def456Ghi789": "key mail",
		"log in with password=hunter2 and token:zzzsecretzzz":     "log password token",
		"use ghp_abcdefghij, xoxb-12-ab or 'sk-live-abcdef'":      "",
		"try p4ssw0rd with oauth2, python3 and k8s":               "k oauth python try",
		"": "",
	} {
		got := Terms(query)
		if strings.Join(got, " ") != want {
			t.Errorf("%q becomes %q, want %q", query, got, want)
		}
	}
	if got := Terms(strings.Repeat("one two three four five six seven eight nine ten ", 100) + manyWords()); len(got) > mostTerms {
		t.Errorf("%d terms are kept", len(got))
	}
	if got := Terms("2026年の天気"); !slices.Contains(got, "weath") && !slices.Contains(got, "weather") {
		t.Errorf("what a Japanese word means is not kept: %q", got)
	}
}

func manyWords() string {
	var b strings.Builder
	for c := 'a'; c <= 'z'; c++ {
		b.WriteString(strings.Repeat(string(c), 5) + " ")
	}
	return b.String()
}

func TestEvidence(t *testing.T) {
	x := office()
	learned := NewEvidence([]Lesson{lessonOf("chat", "post_message", "tell the standup that I am late")})
	for _, c := range []struct{ name, query, without, with string }{
		{"words that no tool has", "standup late", "", "chat__post_message"},
		{"in other forms", "being later at standups", "", "chat__post_message"},
		{"nothing in common", "list channels", "chat__list_channels chat__post_message", "chat__list_channels chat__post_message"},
	} {
		if got := ids(x.Search(Query{Text: c.query})); c.without != "" && got != c.without {
			t.Errorf("%s, without: %s, want %s", c.name, got, c.without)
		}
		if got := ids(x.Search(Query{Text: c.query, Evidence: learned})); got != c.with {
			t.Errorf("%s, with: %s, want %s", c.name, got, c.with)
		}
	}
	// What may not be found is not found by what was learned, either.
	r := x.Search(Query{Text: "standup late", Evidence: learned, Include: func(server string, _ *Document) bool { return server != "chat" }})
	if len(r.Hits) > 0 {
		t.Errorf("found %s", ids(r))
	}
}

// TestEvidenceNeverBuriesAName: however often somebody called another tool after
// the very same query, the one that is named comes first.
func TestEvidenceNeverBuriesAName(t *testing.T) {
	x := office()
	for query, first := range map[string]string{
		"create_issue":  "tracker__create_issue",
		"list channels": "chat__list_channels",
		"search":        "tracker__search",
		"use create_issue for what I have just said": "tracker__create_issue",
	} {
		var wrong []Lesson
		for range 50 {
			wrong = append(wrong, lessonOf("chat", "post_message", query))
		}
		if got := ids(x.Search(Query{Text: query, Evidence: NewEvidence(wrong)})); !strings.HasPrefix(got, first) {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// TestEvidenceIsBounded: more and heavier lessons than can be do not count more.
func TestEvidenceIsBounded(t *testing.T) {
	x := office()
	score := func(n int, weight float32) float32 {
		var list []Lesson
		for range n {
			one := lessonOf("chat", "post_message", "standup late")
			one.Weight = weight
			list = append(list, one)
		}
		return x.Search(Query{Text: "standup late", Evidence: NewEvidence(list)}).Hits[0].Score
	}
	if one, many := score(1, 1), score(1000, 7); one != many {
		t.Errorf("one lesson gives %g, a thousand give %g", one, many)
	}
	if old, fresh := score(1, .1), score(1, 1); old >= fresh {
		t.Errorf("an old lesson gives %g, a fresh one %g", old, fresh)
	}
}
