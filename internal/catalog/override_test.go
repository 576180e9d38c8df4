package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// shelf keeps overrides in memory.
type shelf map[catalog.ToolKey]catalog.Override

func (s shelf) Overrides(context.Context) (map[catalog.ToolKey]catalog.Override, error) {
	all := map[catalog.ToolKey]catalog.Override{}
	for key, one := range s {
		all[key] = one
	}
	return all, nil
}

func (s shelf) ChangeOverride(_ context.Context, key catalog.ToolKey, change func(*catalog.Override) error) (catalog.Override, error) {
	one := s[key]
	if err := change(&one); err != nil {
		return catalog.Override{}, err
	}
	s[key] = one
	return one, nil
}

func say(t *testing.T, o *catalog.Overrides, server, tool string, change func(*catalog.Override)) {
	t.Helper()
	_, err := o.Change(t.Context(), catalog.ToolKey{Server: server, Name: tool}, func(one *catalog.Override) error {
		change(one)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wholePage(t *testing.T, c *catalog.Catalog) string {
	t.Helper()
	p, err := c.Page(gateway.KindTool, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(p.Legacy)
}

func TestOverridesInTheList(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	overrides := catalog.NewOverrides(shelf{}, func() time.Time { return noon })
	s := &fake{name: "s"}
	const a, b = `{"name":"a","description":"its own","inputSchema":{"type":"object"},"x":1.50}`, `{ "inputSchema":{"type":"object"}, "name" : "b" }`
	s.set(a, b)
	m := mount(s, "")
	m.Overrides = overrides
	c := newCatalog(0, m)
	if got, want := wholePage(t, c), `{"tools":[`+a+`,`+b+`]}`; got != want {
		t.Fatalf("without overrides:\n%s\n%s", got, want)
	}

	for _, step := range []struct {
		name, tool string
		change     func(*catalog.Override)
		list       string
		seen       bool // by clients
	}{
		{
			"tags are not for clients", "a",
			func(o *catalog.Override) { o.Tags, o.Category = []string{"x", "y", "x"}, "c" },
			a + `,` + b, false,
		},
		{
			"a description instead of its own", "a",
			func(o *catalog.Override) { o.Description = "better \"<b>\"\n" },
			`{"name":"a","description":"better \"<b>\"\n","inputSchema":{"type":"object"},"x":1.50},` + b, true,
		},
		{
			"a description where there was none", "b",
			func(o *catalog.Override) { o.Description = "B" },
			`{"name":"a","description":"better \"<b>\"\n","inputSchema":{"type":"object"},"x":1.50},{ "inputSchema":{"type":"object"}, "name" : "b","description":"B" }`, true,
		},
		{
			"disabled", "b", func(o *catalog.Override) { o.Disabled = true },
			`{"name":"a","description":"better \"<b>\"\n","inputSchema":{"type":"object"},"x":1.50}`, true,
		},
		{
			"all taken back", "a", func(o *catalog.Override) { *o = catalog.Override{} },
			a, true,
		},
	} {
		say(t, overrides, "s", step.tool, step.change)
		if changed := refresh(c, "s", gateway.KindTool); changed != step.seen {
			t.Errorf("%s: the list changed: %v", step.name, changed)
		}
		if got, want := wholePage(t, c), `{"tools":[`+step.list+`]}`; got != want {
			t.Errorf("%s:\n%s\n%s", step.name, got, want)
		}
	}

	entry, ok := c.Snapshot().Entry("b")
	if !ok || !entry.Override.Disabled || entry.Key() != (catalog.ToolKey{Server: "s", Name: "b"}) || !entry.RegisteredAt.Equal(noon) {
		t.Errorf("the register has %+v", entry)
	}
	// Another house takes everything over, and its tools are not new.
	noon = noon.Add(time.Hour)
	again := newCatalog(0, m)
	if wholePage(t, again) != wholePage(t, c) {
		t.Error("another catalog shows another list")
	}
	if entry, _ := again.Snapshot().Entry("b"); !entry.RegisteredAt.Equal(noon.Add(-time.Hour)) {
		t.Errorf("registered anew at %v", entry.RegisteredAt)
	}
}

func TestADisabledTool(t *testing.T) {
	overrides := catalog.NewOverrides(shelf{}, time.Now)
	one, two := source("one", "t", "u"), source("two", "t")
	m, n := mount(one, ""), mount(two, "")
	m.Overrides, n.Overrides = overrides, overrides
	say(t, overrides, "one", "t", func(o *catalog.Override) { o.Disabled = true })
	say(t, overrides, "one", "u", func(o *catalog.Override) { o.Dependencies = []string{"t"} })
	c := newCatalog(0, m, n)
	// Its name stays taken: switching it on again must not take it from another.
	if got := names(c); got != "u" {
		t.Errorf("listed: %s", got)
	}
	call := &gateway.Call{Method: "tools/call", Name: "t"}
	err := c.Resolve(call)
	if !errors.Is(err, catalog.ErrDisabled) || gateway.AsError(err).Code != gateway.CodeDenied ||
		!strings.HasPrefix(gateway.AsError(err).Text(), "Tool is disabled: t.") || call.Tool != nil {
		t.Errorf("got %v", err)
	}
	if got := c.Snapshot().Dependants("t"); len(got) != 1 || got[0] != "u" {
		t.Errorf("dependants: %v", got)
	}
}

func TestOverridesAreChecked(t *testing.T) {
	long := strings.Repeat("x", 200)
	for name, c := range map[string]struct {
		say   catalog.Override
		field string
	}{
		"a long description":    {catalog.Override{Description: strings.Repeat("x", 17<<10)}, "description"},
		"a category of lines":   {catalog.Override{Category: "a\nb"}, "category"},
		"a long author":         {catalog.Override{Author: long}, "author"},
		"a version with space":  {catalog.Override{Version: " 1"}, "version"},
		"an empty tag":          {catalog.Override{Tags: []string{"a", ""}}, "tags"},
		"many tags":             {catalog.Override{Tags: strings.Fields(manyWords(65))}, "tags"},
		"a long dependency":     {catalog.Override{Dependencies: []string{long}}, "dependencies"},
		"an example of nothing": {catalog.Override{Examples: []catalog.Example{{}}}, "examples.0.description"},
		"an example with a list": {
			catalog.Override{Examples: []catalog.Example{{Description: "d", Parameters: json.RawMessage(`[1]`)}}}, "examples.0.parameters",
		},
		"a huge example": {
			catalog.Override{Examples: []catalog.Example{{Description: strings.Repeat("x", 65<<10)}}}, "examples.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept := shelf{}
			o := catalog.NewOverrides(kept, time.Now)
			_, err := o.Change(t.Context(), catalog.ToolKey{}, func(one *catalog.Override) error {
				*one = c.say
				return nil
			})
			if e := gateway.AsError(err); e == nil || e.Code != gateway.CodeInvalid || e.Field != c.field || len(kept) > 0 {
				t.Errorf("got %v, kept %v", err, kept)
			}
		})
	}
}

func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("w", i+1) + " ")
	}
	return b.String()
}
