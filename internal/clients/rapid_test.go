package clients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// gap draws white space and comments, as people and editors leave them. The
// comments are numbered, so that each can be looked for.
func gap(t *rapid.T, comments *[]string) string {
	switch rapid.IntRange(0, 5).Draw(t, "gap") {
	case 0:
		return ""
	case 1:
		return " "
	case 2:
		return "\n  "
	case 3:
		return "\r\n\t"
	case 4:
		c := fmt.Sprintf("/* %d */", len(*comments))
		*comments = append(*comments, c)
		return c
	default:
		c := fmt.Sprintf("// %d", len(*comments))
		*comments = append(*comments, c)
		return c + "\n"
	}
}

// An entry in any order and layout is changed, the comments between its members
// stay, and the entries beside it keep their bytes.
func TestAnyJSONIsEdited(t *testing.T) {
	file := fileOf(t, "cursor", "mika/.cursor/mcp.json")
	values := map[string]string{
		"command": `"x"`, "args": `["a", /* inside */ "b"]`, "env": `{"A": "b", }`, "cwd": `"."`,
		"autoApprove": `["y"]`, "disabled": "false", "note": `"\u00e9 // no comment"`, "timeout": "1e3",
	}
	rapid.Check(t, func(t *rapid.T) {
		var comments []string
		g := func() string { return gap(t, &comments) }
		keys := rapid.SliceOfDistinct(rapid.SampledFrom(slices.Sorted(mapKeys(values))), rapid.ID[string]).Draw(t, "keys")
		if !slices.Contains(keys, "command") {
			keys = append(keys, "command")
		}
		var entry strings.Builder
		entry.WriteString("{")
		for i, key := range keys {
			// Before a comma there is no comment: it goes with its member.
			entry.WriteString(g() + `"` + key + `":` + values[key])
			if i < len(keys)-1 || rapid.Bool().Draw(t, "trailing") {
				entry.WriteString(",")
			}
		}
		entry.WriteString(g() + "}")
		before := "{" + g() + `"mcpServers":` + g() + "{" + g()
		after := ""
		if rapid.Bool().Draw(t, "first") {
			before += `"other": {"command": "o", "env": {}},` + g()
		}
		before += `"a":` + g()
		if rapid.Bool().Draw(t, "last") {
			after += g() + `,"more": {"url": "https://more.example"}`
		}
		after += g() + "}" + g() + "}" + g()
		src := before + entry.String() + after

		plan := Plan{BaseURL: "http://127.0.0.1:3000", Token: canary, Servers: map[Place]string{{Name: "a"}: "a"}}
		out, err := file.Connect([]byte(src), plan)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if !strings.HasPrefix(string(out), before) || !strings.HasSuffix(string(out), after) {
			t.Fatalf("bytes around the entry were changed:\n%s\nbecame\n%s", src, out)
		}
		for _, c := range comments {
			if !strings.Contains(string(out), c) {
				t.Fatalf("%s is gone:\n%s\nbecame\n%s", c, src, out)
			}
		}
		imported, err := file.Parse(out)
		if err != nil || len(imported.Own) != 1 {
			t.Fatalf("%v %v", imported, err)
		}
		plan.Aggregate = true
		if out, err = file.Connect([]byte(src), plan); err != nil {
			t.Fatalf("%v\n%s\nbecame\n%s", err, src, out)
		}
	})
}

// A table of TOML in any of its spellings is changed, and all other lines are
// there afterwards, in their order.
func TestAnyTOMLIsEdited(t *testing.T) {
	file := fileOf(t, "codex", "mika/.codex/config.toml")
	rapid.Check(t, func(t *rapid.T) {
		nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		indent := rapid.SampledFrom([]string{"", "  "}).Draw(t, "indent")
		var lines, others []string
		other := func() {
			line := rapid.SampledFrom([]string{"", "# a comment", indent + "# another"}).Draw(t, "between")
			lines, others = append(lines, line), append(others, line)
		}
		keep := func(line string) { lines, others = append(lines, line), append(others, line) }
		members := []string{`command = "x"`, `args = ["a", # inside` + nl + `"b"]`, `env = { A = 'b', B = """x` + nl + `y""" }`, `cwd = "."`}
		kept := []string{`startup_timeout_sec = 3`, `enabled_tools = ["x"]`, `"quoted key" = 1979-05-27`}
		form := rapid.SampledFrom([]string{"header", "dotted", "under", "inline"}).Draw(t, "form")
		keep(`model = "m" # c`)
		switch form {
		case "dotted":
			for _, m := range rapid.Permutation(members).Draw(t, "members") {
				lines = append(lines, indent+`mcp_servers.a.`+m)
			}
			other()
			keep(`mcp_servers.a.enabled = true`)
		case "inline":
			lines = append(lines, `mcp_servers.a = { `+strings.Join(rapid.Permutation([]string{`command = "x"`, `env = { A = "b" }`, `enabled = true`}).Draw(t, "members"), ", ")+" }")
		case "under":
			keep("[mcp_servers]")
			other()
			for _, m := range rapid.Permutation(members).Draw(t, "members") {
				lines = append(lines, indent+`a.`+m)
				other()
			}
			keep(`b.url = "https://b.example"`)
		default:
			keep("[before]")
			other()
			keep("[mcp_servers.a]")
			all := append(slices.Clone(members), kept...)
			for _, m := range rapid.Permutation(all).Draw(t, "members") {
				if slices.Contains(kept, m) {
					keep(indent + m)
				} else {
					lines = append(lines, indent+m)
				}
				other()
			}
		}
		keep("[after]")
		keep("x = 1")
		src := strings.Join(lines, nl) + nl

		plan := Plan{BaseURL: "http://127.0.0.1:3000", Token: canary, Servers: map[Place]string{{Name: "a"}: "a"}}
		out, err := file.Connect([]byte(src), plan)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		rest := strings.Split(string(out), nl)
		for _, line := range others {
			at := slices.Index(rest, line)
			if at < 0 {
				t.Fatalf("%q is gone or moved:\n%s\nbecame\n%s", line, src, out)
			}
			rest = rest[at+1:]
		}
		if nl == "\r\n" && strings.Count(string(out), "\n") != strings.Count(string(out), nl) {
			t.Fatalf("line ends are mixed:\n%q", out)
		}
		plan.Aggregate = true
		if out, err = file.Connect([]byte(src), plan); err != nil {
			t.Fatalf("%v\n%s\nbecame\n%s", err, src, out)
		}
	})
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}
