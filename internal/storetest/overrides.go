package storetest

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

func disable(o *catalog.Override) error {
	o.Disabled = true
	return nil
}

// fullOverride says everything that can be said.
func fullOverride() catalog.Override {
	return catalog.Override{
		Disabled: true, Description: "Better.\n\"もっと良い\"", Category: "文書", Author: "o'brien", Version: "2.0.0",
		Tags: []string{"b", "a", "日本語"},
		Examples: []catalog.Example{
			{Description: "all", Parameters: json.RawMessage(`{"n":1.50}`), ExpectedResult: json.RawMessage(`[1e400,"é"]`)},
			{Description: "little"},
		},
		Dependencies: []string{"one__tool"},
	}
}

func overridesOf(t testing.TB, s Stores) map[catalog.ToolKey]catalog.Override {
	t.Helper()
	all, err := s.Overrides.Overrides(t.Context())
	must(t, err)
	return all
}

// setOverride replaces what is said about a tool.
func setOverride(t testing.TB, s Stores, key catalog.ToolKey, want catalog.Override) {
	t.Helper()
	got, err := s.Overrides.ChangeOverride(t.Context(), key, func(o *catalog.Override) error {
		*o = want
		return nil
	})
	must(t, err)
	wantEqual(t, got, want)
}

func testOverrides(t *testing.T, s Stores) {
	wantEqual(t, overridesOf(t, s), map[catalog.ToolKey]catalog.Override{})
	key, other := catalog.ToolKey{Server: "one", Name: "tool"}, catalog.ToolKey{Server: "two", Name: "tool"}
	setOverride(t, s, key, fullOverride())
	setOverride(t, s, other, catalog.Override{Tags: []string{"x"}})
	want := map[catalog.ToolKey]catalog.Override{key: fullOverride(), other: {Tags: []string{"x"}}}
	wantEqual(t, overridesOf(t, s), want)
	wantEqual(t, overridesOf(t, s.Another(t)), want)

	// A change begins with what is there.
	_, err := s.Overrides.ChangeOverride(t.Context(), key, func(o *catalog.Override) error {
		wantEqual(t, *o, fullOverride())
		o.Disabled = false
		return nil
	})
	must(t, err)
	changed := fullOverride()
	changed.Disabled = false
	want[key] = changed
	wantEqual(t, overridesOf(t, s), want)

	// Nothing said is nothing kept.
	setOverride(t, s, key, catalog.Override{})
	wantEqual(t, overridesOf(t, s), map[catalog.ToolKey]catalog.Override{other: {Tags: []string{"x"}}})
}

func testOverrideNames(t *testing.T, s Stores) {
	want := map[catalog.ToolKey]catalog.Override{}
	for _, name := range oddNames() {
		key := catalog.ToolKey{Server: "s", Name: name}
		want[key] = catalog.Override{Category: name, Tags: []string{name}}
		setOverride(t, s, key, want[key])
	}
	wantEqual(t, overridesOf(t, s), want)
}

func testOverrideRefused(t *testing.T, s Stores) {
	key := catalog.ToolKey{Server: "s", Name: "t"}
	setOverride(t, s, key, fullOverride())
	before := sequenceOf(t, s)
	_, err := s.Overrides.ChangeOverride(t.Context(), key, func(o *catalog.Override) error {
		o.Category = "another"
		return gateway.Errorf(gateway.CodeInvalid, "no")
	})
	wantCode(t, err, gateway.CodeInvalid)
	wantEqual(t, overridesOf(t, s), map[catalog.ToolKey]catalog.Override{key: fullOverride()})
	if after := sequenceOf(t, s); after != before {
		t.Errorf("what changed nothing moved the change sequence from %d to %d", before, after)
	}
}

// testOverridesAtOnce has two handles add to one list; nothing is lost.
func testOverridesAtOnce(t *testing.T, one Stores) {
	const each = 10
	key := catalog.ToolKey{Server: "s", Name: "t"}
	var wg sync.WaitGroup
	for i, s := range []Stores{one, one.Another(t)} {
		wg.Go(func() {
			for n := range each {
				_, err := s.Overrides.ChangeOverride(t.Context(), key, func(o *catalog.Override) error {
					o.Tags = append(o.Tags, strconv.Itoa(i)+"-"+strconv.Itoa(n))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := overridesOf(t, one)[key].Tags; len(got) != 2*each {
		t.Errorf("of %d tags %d are there: %v", 2*each, len(got), got)
	}
}
