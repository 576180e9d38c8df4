package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// owned lists the tools with their sources, and what they replace.
func owned(c *catalog.Catalog) string {
	var all []string
	for _, tool := range c.Snapshot().Tools() {
		one := tool.Exposed + " of " + tool.Source.Name()
		if e, _ := c.Snapshot().Entry(tool.Exposed); len(e.Replaces) > 0 {
			one += " for " + strings.Join(e.Replaces, "+")
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

// TestNamesBehindAPrefix: a server without a prefix that lists names behind the
// prefix of another does not get between that one and its callers.
func TestNamesBehindAPrefix(t *testing.T) {
	for name, c := range map[string]struct {
		claim catalog.Claim // of the one without a prefix
		want  string
	}{
		"usual":      {catalog.ClaimUsual, "files__write of 0, files__read of files"},
		"overwrites": {catalog.ClaimOverwrite, "files__read of 0 for files, files__write of 0"},
	} {
		t.Run(name, func(t *testing.T) {
			greedy := catalog.Mount{Source: source("0", "files__read", "files__write"), Claim: c.claim}
			house := newCatalog(0, greedy, mount(source("files", "read"), "files"))
			house.Refresh(gateway.KindTool, "0")
			house.Refresh(gateway.KindTool, "files")
			if got := owned(house); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestWhoseANameIs: the strongest claim has it, of equal ones the first in the
// configuration; and it is so whoever comes up first.
func TestWhoseANameIs(t *testing.T) {
	const usual, builtIn, overwrite, reserved = catalog.ClaimUsual, catalog.ClaimBuiltIn, catalog.ClaimOverwrite, catalog.ClaimReserved
	for name, c := range map[string]struct {
		claims []catalog.Claim
		tools  []string
		want   string
		// left are those that are left out; with ! if they were replaced on purpose.
		left string
	}{
		"the first":             {[]catalog.Claim{usual, usual}, []string{"x a", "x b"}, "x of 0, a of 0, b of 1", "x of 1"},
		"one overwrites":        {[]catalog.Claim{usual, overwrite}, []string{"x a", "x b"}, "a of 0, x of 1 for 0, b of 1", "x of 0!"},
		"the first overwrites":  {[]catalog.Claim{overwrite, usual}, []string{"x", "x"}, "x of 0 for 1", "x of 1!"},
		"two overwrite":         {[]catalog.Claim{usual, overwrite, overwrite}, []string{"x", "x", "x"}, "x of 1 for 0", "x of 0! x of 2"},
		"several are replaced":  {[]catalog.Claim{usual, usual, overwrite}, []string{"x", "x", "x"}, "x of 2 for 0+1", "x of 0! x of 1!"},
		"built in":              {[]catalog.Claim{usual, builtIn}, []string{"x a", "x"}, "a of 0, x of 1", "x of 0"},
		"built in, overwritten": {[]catalog.Claim{overwrite, builtIn}, []string{"x", "x b"}, "x of 0 for 1, b of 1", "x of 1!"},
		"reserved":              {[]catalog.Claim{reserved, overwrite, builtIn}, []string{"x", "x b", "x"}, "x of 0, b of 1", "x of 1 x of 2"},
		"its own twice":         {[]catalog.Claim{overwrite, usual}, []string{"x x", "y"}, "x of 0, y of 1", "x of 0"},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				var mounts []catalog.Mount
				var sources []*fake
				for i, claim := range c.claims {
					s := source(fmt.Sprint(i))
					sources = append(sources, s)
					mounts = append(mounts, catalog.Mount{Source: s, Claim: claim})
				}
				house := newCatalog(0, mounts...)
				order := rand.New(rand.NewPCG(seed, 0)).Perm(len(sources))
				for _, i := range order {
					for tool := range strings.FieldsSeq(c.tools[i]) {
						sources[i].add(tool, definition(tool))
					}
					house.Refresh(gateway.KindTool, fmt.Sprint(i))
				}
				if got := owned(house); got != c.want {
					t.Errorf("in the order %v: %s, want %s", order, got, c.want)
				}
				var left []string
				for _, f := range house.Snapshot().Findings() {
					one := f.Name + " of " + f.Server
					if f.Replaced {
						one += "!"
					}
					left = append(left, one)
				}
				if got := strings.Join(left, " "); got != c.left {
					t.Errorf("left out: %s, want %s", got, c.left)
				}
			}
		})
	}
}

// TestAReplacedToolComesBack: and whoever indexes tools learns whose changed.
func TestAReplacedToolComesBack(t *testing.T) {
	first, second := source("first", "x", "a"), source("second", "x")
	c := newCatalog(0, mount(first, ""), catalog.Mount{Source: second, Claim: catalog.ClaimOverwrite})
	for _, step := range []struct {
		tools, want string
		between     []string
	}{
		{"b", "x of first, a of first, b of second", []string{"first", "second"}},
		{"b", "x of first, a of first, b of second", nil},
		{"a b", "x of first, a of second for first, b of second", []string{"first", "second"}},
		{"", "x of first, a of first", []string{"first", "second"}},
	} {
		var definitions []string
		for tool := range strings.FieldsSeq(step.tools) {
			definitions = append(definitions, definition(tool))
		}
		second.set(definitions...)
		_, between := c.Refresh(gateway.KindTool, "second")
		if slices.Sort(between); !slices.Equal(between, step.between) {
			t.Errorf("%s: between %v, want %v", step.tools, between, step.between)
		}
		if got := owned(c); got != step.want {
			t.Errorf("%s: %s, want %s", step.tools, got, step.want)
		}
	}
}

// TestADisabledToolKeepsItsName: also one that overwrites; or disabling it would
// have another tool called under its name.
func TestADisabledToolKeepsItsName(t *testing.T) {
	said := catalog.NewOverrides(shelf{}, time.Now)
	say(t, said, "second", "x", func(o *catalog.Override) { o.Disabled = true })
	c := newCatalog(0, mount(source("first", "x"), ""),
		catalog.Mount{Source: source("second", "x"), Claim: catalog.ClaimOverwrite, Overrides: said})
	if got := names(c); got != "" {
		t.Errorf("listed: %s", got)
	}
	if e, ok := c.Snapshot().Entry("x"); !ok || e.Tool.Source.Name() != "second" {
		t.Errorf("it is %+v", e)
	}
}

// TestLabelsOfTheConfiguration: what somebody has said about a tool comes first.
func TestLabelsOfTheConfiguration(t *testing.T) {
	said := catalog.NewOverrides(shelf{}, time.Now)
	m := catalog.Mount{Source: source("s", "a", "b"), Overrides: said, Labels: func(name string) catalog.Labels {
		if name == "b" {
			return catalog.Labels{}
		}
		return catalog.Labels{Version: "2", Category: "c", Tags: []string{"t"}}
	}}
	say(t, said, "s", "a", func(o *catalog.Override) { o.Category = "mine" })
	c := newCatalog(0, m)
	if e, _ := c.Snapshot().Entry("a"); e.Override.Version != "2" || e.Override.Category != "mine" || !slices.Equal(e.Override.Tags, []string{"t"}) {
		t.Errorf("a has %+v", e.Override)
	}
	if e, _ := c.Snapshot().Entry("b"); !e.Override.IsZero() {
		t.Errorf("b has %+v", e.Override)
	}
}
