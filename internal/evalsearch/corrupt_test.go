package main

import (
	"testing"

	"genkan/internal/search"
)

// Queries are written wrongly in the same way each time, and in no other way than
// the one that was asked for.
func TestCorrupt(t *testing.T) {
	const text = "create an issue in the repository, then query a database"
	for how, want := range map[string]string{
		"":       text,
		"edits":  corruptions()["edits"](text),
		"vowels": "crt an issue in the repository, then query a dtbs",
		"joined": "create an issue in the repository, thenquery a database",
	} {
		got, err := corrupt([]query{{Query: text}}, how)
		if err != nil || got[0].Query != want {
			t.Errorf("%s: %v, %v", how, got, err)
		}
	}
	if corruptions()["edits"](text) == text {
		t.Error("edits change nothing")
	}
	if _, err := corrupt(nil, "upside down"); err == nil {
		t.Error("an unknown way is taken")
	}
}

// What the tools can answer is told from what they cannot.
func TestForeign(t *testing.T) {
	x := search.New(search.Server{Name: "weather", Documents: []search.Document{{ID: "a", Name: "get_forecast"}}})
	auc, refused, through := measurement{}.foreign(x, []query{{Query: "forecast"}}, []query{{Query: "renew my passport"}, {Query: "forecast"}})
	if auc != .75 || refused != 0 || through != .5 {
		t.Errorf("%v %v %v", auc, refused, through)
	}
}
