package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// What a decoder would let through is refused, however far in it stands; what
// is not ours to read is left alone.
func TestBodiesAreReadStrictly(t *testing.T) {
	t.Parallel()
	type inner struct {
		Name string          `json:"name,omitempty"`
		Any  json.RawMessage `json:"any,omitempty"`
	}
	type pair struct {
		A string `json:"a"`
		B string `json:"b"`
	}
	type outer struct {
		One  *inner            `json:"one"`
		Many []inner           `json:"many"`
		Env  map[string]string `json:"env"`
		At   time.Time         `json:"at"`
		Raw  []json.RawMessage `json:"raw"`
		Pair []pair            `json:"pair"`
	}
	for body, want := range map[string]string{
		`{}`: "",
		" {\"one\" : {\"name\" : \"a\"} , \"many\" : [ {} ] } \n":             "",
		`{"one":null,"many":null,"env":null}`:                                 "",
		`{"one":{"any":{"a":1,"A":2,"a":[null]}},"raw":[null,{"x":1,"x":2}]}`: "",
		`{"env":{"PATH":"a","Path":"b"},"at":"2026-01-02T03:04:05Z"}`:         "",
		`{"one":{"NAME":"a"}}`:                                 "only in case",
		`{"one":{"name":"a","name":"b"}}`:                      "stands twice",
		`{"many":[{"name":"a"},{"n\u0061me":"a","name":"b"}]}`: "stands twice",
		`{"many":[{},null]}`:                                   "many.1 must be an object, is null",
		`{"env":{"A":"1","A":"2"}}`:                            "stands twice",
		`{"one":{"other":1}}`:                                  "one.other is unknown; there are name, any",
		`{"one":{"nam":1},"many":{},"env":{"A":1}}`:            "Validation failed: one.nam is unknown; did you mean one.name? There are name, any; many must be an array, is an object; env.A must be a string, is a number",
		`{"pair":[{"a":"","b":""},{"a":1},{}]}`:                "Validation failed: pair.1.a must be a string, is a number; pair.1.b is required; pair.2.a is required; pair.2.b is required",
		`{"at":5}`:                                             "not what was expected",
		`{"one":{"name":"a"}} {}`:                              "one JSON object",
	} {
		_, wrong := decode([]byte(body), new(outer))
		switch {
		case want == "" && wrong != nil:
			t.Errorf("%s: %s", body, wrong.Text())
		case want != "" && (wrong == nil || !strings.Contains(wrong.Text(), want)):
			t.Errorf("%s: got %v, want %s", body, wrong, want)
		}
	}
}
