package catalog_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"genkan/internal/gateway"

	"pgregory.net/rapid"
)

// exposed is the name that clients see of a tool in a source.
func exposed(tb testing.TB, prefix, name string) string {
	tb.Helper()
	c := newCatalog(0, mount(source("s", name), prefix))
	tools := c.Snapshot().Tools()
	if len(tools) != 1 {
		tb.Fatalf("%q with prefix %q became %d tools", name, prefix, len(tools))
	}
	return tools[0].Exposed
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 60)
	for _, c := range []struct{ prefix, name, want string }{
		{"github", "get_issue", "github__get_issue"},
		{"g", "Get-Issue_2", "g__Get-Issue_2"},
		// Without a prefix the name is the server's own, whatever it is.
		{"", "get_issue", "get_issue"},
		{"", "ünï/cödé", "ünï/cödé"},
		{"", long, long},
		// The longest that passes, and the first that does not. These are in
		// people's permission rules: another hash would break them.
		{"github", strings.Repeat("a", 43), "github__" + strings.Repeat("a", 43)},
		{"github", strings.Repeat("a", 44), "github__" + strings.Repeat("a", 34) + "_20f20562"},
		{"s", "a.b", "s__a_b_"},
		{"s", "a/b", "s__a_b_"},
		{"s", "é", "s_____"},
	} {
		got := exposed(t, c.prefix, c.name)
		ok := got == c.want
		if strings.HasSuffix(c.want, "_") && c.prefix != "" { // and a hash
			ok = regexp.MustCompile("^" + c.want + "[0-9a-f]{8}$").MatchString(got)
		}
		if !ok {
			t.Errorf("%q + %q became %q, want %q", c.prefix, c.name, got, c.want)
		}
	}
	if a, b := exposed(t, "s", "a.b"), exposed(t, "s", "a/b"); a == b {
		t.Errorf("a.b and a/b are both %s", a)
	}
}

// TestPrefixedNamesAreLegal: whatever a server calls its tools, a prefixed name
// is one that every client takes, depends on nothing but its parts, and is
// told apart from others.
func TestPrefixedNamesAreLegal(t *testing.T) {
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,51}$`)
	rapid.Check(t, func(r *rapid.T) {
		prefix := rapid.StringMatching(`[a-z][a-z0-9-]{0,31}`).Draw(r, "prefix")
		name := rapid.StringN(1, 100, 300).Draw(r, "name")
		other := rapid.OneOf(rapid.StringN(1, 100, 300), rapid.Just(name+"x"), rapid.Just(strings.ToUpper(name))).Draw(r, "other")
		got := exposed(t, prefix, name)
		if !legal.MatchString(got) || got != exposed(t, prefix, name) {
			r.Fatalf("%q + %q became %q", prefix, name, got)
		}
		if name != other && exposed(t, prefix, other) == got {
			r.Fatalf("%q and %q both became %q", name, other, got)
		}
	})
}

// TestNamesThatMeet: the first in the configuration keeps a name that two
// claim; the other one is left out, alone, and said so.
func TestNamesThatMeet(t *testing.T) {
	var log logBuffer
	first, second := source("first", "echo", "one"), source("second", "echo", "two", "two")
	c := newCatalogWithLog(&log, 0, mount(first, ""), mount(second, ""))
	if got := names(c); got != "echo one two" {
		t.Errorf("the tools are %s", got)
	}
	if tool, _ := c.Snapshot().Tool("echo"); tool.Source.Name() != "first" {
		t.Errorf("echo belongs to %s", tool.Source.Name())
	}
	if text := log.String(); strings.Count(text, "its name is taken") != 2 || !strings.Contains(text, "second") {
		t.Errorf("the log says %s", text)
	}
	// When the owner drops it, the other one comes in.
	first.set(definition("one"))
	if !refresh(c, "first", gateway.KindTool) {
		t.Error("the change was not seen")
	}
	if got := names(c); got != "one echo two" {
		t.Errorf("the tools are %s", got)
	}
}

// TestDefinitionsThatCannotBeUsed are left out alone.
func TestDefinitionsThatCannotBeUsed(t *testing.T) {
	for name, bad := range map[string]string{
		"no name":           `{"description":"x"}`,
		"a name twice":      `{"name":"safe","name":"evil"}`,
		"an escaped twin":   `{"name":"safe","n\u0061me":"evil"}`,
		"in another case":   `{"name":"safe","Name":"evil"}`,
		"not an object":     `["safe"]`,
		"a name of no text": `{"name":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			var log logBuffer
			s := source("s", "before")
			s.add("safe", bad)
			s.add("after", definition("after"))
			c := newCatalogWithLog(&log, 0, mount(s, "p"))
			if got := names(c); got != "p__before p__after" {
				t.Errorf("the tools are %s", got)
			}
			if !strings.Contains(log.String(), "left out") {
				t.Errorf("the log says %q", log.String())
			}
			if found := c.Snapshot().Findings(); len(found) != 1 || !found[0].LeftOut {
				t.Errorf("the findings are %v", found)
			}
		})
	}
}

// TestDefinitionKeepsItsBytes: only the name changes.
func TestDefinitionKeepsItsBytes(t *testing.T) {
	const raw = `{ "zz":1.10, "\u006eame" : "\u0065cho" ,"inputSchema":{"type":"object","properties":{"name":{"default":1e400}}},"_meta":{"b":-0,"a":"\u00e9"}}`
	s := source("s")
	s.add("echo", raw)
	for prefix, want := range map[string]string{
		"":  raw,
		"p": strings.Replace(raw, `"\u0065cho"`, `"p__echo"`, 1),
	} {
		c := newCatalog(0, mount(s, prefix))
		page, err := c.Page(gateway.KindTool, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := string(page.Legacy); got != fmt.Sprintf(`{"tools":[%s]}`, want) {
			t.Errorf("prefix %q: the list is %s", prefix, got)
		}
	}
	if got := string(s.List(gateway.KindTool)[0].Definition); got != raw {
		t.Errorf("the source's own definition became %s", got)
	}
}
