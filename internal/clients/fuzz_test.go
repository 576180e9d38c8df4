package clients

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func seeds(f *testing.F, ending string) {
	f.Helper()
	for _, sample := range samples {
		if strings.Contains(sample.data, ending) {
			f.Add(testdata(f, sample.data))
		}
	}
}

// fuzzPlan connects the first server of a file.
func fuzzPlan(t *testing.T, f File, src []byte) (Plan, bool) {
	t.Helper()
	imported, err := f.Parse(src)
	if err != nil || len(imported.Servers) == 0 {
		return Plan{}, false
	}
	s := imported.Servers[0]
	return Plan{BaseURL: "http://127.0.0.1:3000", Token: canary, Servers: map[Place]string{{s.Section, s.OriginalName}: s.Name}}, true
}

// Whatever JSON can be read can be changed, and the bytes around the entry are
// those of before. That the rest means what it meant is checked by every edit.
func FuzzJSON(f *testing.F) {
	seeds(f, ".json")
	for _, text := range []string{
		`{"mcpServers":{"a":{"command":"x"}}}`,
		"{\"mcpServers\":{\"a\":{\"command\":\"x\",// c\n\"env\":{}}}}",
		"{\"mcpServers\":{\"a\":{\"y\":1,// c\n\"command\":\"x\"/*d*/,},}}//",
		"{\"mcpServers\":{\"a\":{\"url\":\"x\",\"url\":\"y\"},\"a\":{\"command\":\"x\"}}}",
		"{\"mcpServers\":[{\"name\":\"a\",\"command\":\"x\"},{\"name\":\"a\"}]}",
		"\xef\xbb\xbf{\r\n\"mcpServers\": {\r\n\t\"a\": {\r\n\t\t\"command\": \"x\" } } }",
	} {
		f.Add([]byte(text))
	}
	file := fileOf(f, "cursor", "mika/.cursor/mcp.json")
	f.Fuzz(func(t *testing.T, src []byte) {
		plan, ok := fuzzPlan(t, file, src)
		if !ok {
			return
		}
		out, err := file.Connect(src, plan)
		if err != nil {
			t.Fatalf("cannot be changed: %v", err)
		}
		root, _ := parse(JSON, src)
		container := root.get("mcpServers")
		first, last := len(src), 0
		for place := range plan.Servers {
			for _, e := range container.entries {
				if nameOf(container, e) == place.Name {
					first, last = min(first, e.value.start), max(last, e.value.end)
				}
			}
		}
		if !bytes.HasPrefix(out, src[:first]) || !bytes.HasSuffix(out, src[last:]) {
			t.Errorf("bytes outside of the entry were changed:\n%s\nbecame\n%s", src, out)
		}
		plan.Aggregate = true
		if _, err = file.Connect(src, plan); err != nil {
			t.Errorf("cannot be aggregated: %v", err)
		}
	})
}

// The same for TOML, with another parser to agree.
func FuzzTOML(f *testing.F) {
	seeds(f, ".toml")
	for _, text := range []string{
		"[mcp_servers.a]\ncommand='x'\n[[b]]\nc=1\n[[b]]\n",
		"mcp_servers={a={command=\"x\",args=[],},b={}}",
		"[mcp_servers]\na.command=\"\"\"\nx\\\n  y\"\"\" # c\na.env.b=1\n[mcp_servers.a.headers]\n",
		"[mcp_servers.'a b']\nx=1979-05-27 07:32:00Z\nurl='u'#c",
		"[mcp_servers.a.env]\nb='c'\n[mcp_servers.a]\ncommand='x'\n",
		"[mcp_servers.a]\n  command = 'x'\r\n  [mcp_servers.a.env]\r\n  x='y'\r\n",
	} {
		f.Add([]byte(text))
	}
	file := fileOf(f, "codex", "mika/.codex/config.toml")
	f.Fuzz(func(t *testing.T, src []byte) {
		plan, ok := fuzzPlan(t, file, src)
		if !ok {
			return
		}
		var before, after map[string]any
		agreed := toml.Unmarshal(src, &before) == nil
		for _, plan.Aggregate = range []bool{false, true} {
			out, err := file.Connect(src, plan)
			if err != nil {
				continue // refused: an inline table with dots, for one
			}
			if !agreed {
				continue
			}
			after = nil
			if err := toml.Unmarshal(out, &after); err != nil {
				t.Fatalf("%v\n%s\nbecame\n%s", err, src, out)
			}
			for place := range plan.Servers {
				forget(before, place.Name)
				forget(after, place.Name)
			}
			if plan.Aggregate {
				forget(before, aggregateName)
				forget(after, aggregateName)
			}
			if !reflect.DeepEqual(before, after) && !hasNaN(src) {
				t.Errorf("something else was changed:\n%s\nbecame\n%s", src, out)
			}
		}
	})
}

func forget(file map[string]any, server string) {
	if servers, ok := file["mcp_servers"].(map[string]any); ok {
		delete(servers, server)
		if len(servers) == 0 {
			delete(file, "mcp_servers")
		}
	}
}

// hasNaN: it is not equal to itself.
func hasNaN(src []byte) bool { return bytes.Contains(src, []byte("nan")) }

// What is refused is refused; what is changed was checked by the edit itself.
func FuzzYAML(f *testing.F) {
	seeds(f, ".yaml")
	f.Add([]byte("mcpServers:\n- {name: a, command: b}\n"))
	f.Add([]byte("mcpServers: []\n"))
	file := fileOf(f, "continue", ".continue/config.yaml")
	f.Fuzz(func(t *testing.T, src []byte) {
		plan, ok := fuzzPlan(t, file, src)
		if !ok {
			return
		}
		for _, plan.Aggregate = range []bool{false, true} {
			_, _ = file.Connect(src, plan)
		}
	})
}

// Our parser reads what another one reads.
func TestTOMLAgrees(t *testing.T) {
	accepted := []string{
		"", "# c", "a=1", "a.b.c=1\na.b.d=2", "'' = 1", "\"a\\u00e9\" = 'x'", "a = \"\"\"\n\"\"x\"\"\"\"\"",
		"a = '''\nx''y'''", "a = [1, [2, 3], # c\n 4,]", "a = {}", "a = { b = 1, c.d = 2, c.e = 3 }",
		"a = 0x1F\nb = 1_000\nc = -0.5e-3\nd = inf\ne = +nan\nf = 0o17\ng = 0b1",
		"a = 1979-05-27\nb = 07:32:00\nc = 1979-05-27T07:32:00.5+01:00\nd = 1979-05-27 07:32:00",
		"[a.b]\n[a]\nc = 1", "[[a]]\n[a.b]\n[[a]]\n[a.b]", "[a]\nb.c = 1\n[a.b.d]", "a = \"x\\\n   y\"\"",
		"[ a . 'b' ]\r\nc = 1\r\n",
	}
	refused := []string{
		"a", "a =", "= 1", "a = 1 b = 2", "a = 01", "a = 1__0", "a = .5", "a = 'x\ny'", "a = \"\\q\"", "[a]\n[a]", "a = 1\n[a]",
		"a = [1]\n[[a]]", "[[a]]\n[a]", "a = [1 2]", "a = {b = 1 c = 2}", "a = tru",
		"a = \"\x01\"", "a = 1\na = 2", "\"\"\"a\"\"\" = 1",
	}
	// The specification refuses them; they do not.
	stricter := []string{"a.b = 1\n[a]\n", "a = {b = 1}\n[a.c]", "[a]\nb.c = 1\n[a.b]", "[a.b.c]\n[a]\nb.d = 1"}
	for _, text := range accepted {
		var v map[string]any
		theirs := toml.Unmarshal([]byte(text), &v)
		_, ours := parseTOML([]byte(text))
		if (theirs == nil) != (ours == nil) {
			t.Errorf("%q: they say %v, we say %+v", text, theirs, ours)
		}
	}
	for _, text := range refused {
		var v map[string]any
		if toml.Unmarshal([]byte(text), &v) == nil {
			t.Errorf("%q is accepted by them", text)
		}
	}
	for _, text := range slices.Concat(refused, stricter) {
		if _, bad := parseTOML([]byte(text)); bad == nil {
			t.Errorf("%q is accepted by us", text)
		}
	}
}
