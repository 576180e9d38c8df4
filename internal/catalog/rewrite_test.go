package catalog_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// TestRewrittenTools: a list can lose tools, and definitions can change. What the calls
// are is the source's own.
func TestRewrittenTools(t *testing.T) {
	s := source("db")
	s.set(
		`{"name":"drop","inputSchema":{"type":"object"}}`,
		`{"name":"query","description":"Asks.","inputSchema":{"type":"object","properties":{"project":{"type":"string"},"sql":{"type":"string"}},"required":["sql"]}}`,
		`{"name":"kept","inputSchema":{"type":"object"}}`,
		`{"name":"kept","description":"again","inputSchema":{"type":"object"}}`,
		`{"Name":"a","name":"b","inputSchema":{"type":"object"}}`,
	)
	var given string
	rewrite := func(tools []gateway.Tool) (left []gateway.Tool) {
		given = ""
		for _, tool := range tools {
			given += tool.Name + " "
			switch tool.Name {
			case "drop":
				continue
			case "query":
				tool.Definition = []byte(`{"name":"ask","description":"Asks politely.","inputSchema":{"type":"object","properties":{"sql":{"type":"string"}}}}`)
				tool.ReadOnly, tool.InputSchema = true, []byte(`true`)
			}
			left = append(left, tool)
		}
		return append(left, gateway.Tool{Name: "invented", Definition: []byte(definition("invented"))}, gateway.Tool{Name: "denied", Definition: []byte(definition("denied"))})
	}
	s.add("denied", definition("denied"))
	overrides := catalog.NewOverrides(nil, time.Now)
	c := catalog.New([]catalog.Mount{{Source: s, Prefix: "db", Overrides: overrides, Rewrite: rewrite, Allows: func(name string) bool { return name != "denied" }}}, 0, slog.New(slog.DiscardHandler))
	if given != "drop query kept " {
		t.Errorf("given %s", given)
	}
	var names []string
	for _, tool := range c.Snapshot().Tools() {
		names = append(names, tool.Exposed)
	}
	if got := strings.Join(names, " "); got != "db__ask db__kept" {
		t.Fatalf("tools %s", got)
	}
	tool, _ := c.Snapshot().Tool("db__ask")
	if tool.Name != "query" || tool.ListedName() != "ask" || tool.ReadOnly || !strings.Contains(string(tool.InputSchema), "project") ||
		strings.Contains(string(tool.ListedSchema()), "project") || !strings.Contains(string(tool.Definition), `"name":"db__ask","description":"Asks politely."`) {
		t.Errorf("%+v: %s", tool, tool.Definition)
	}
	for _, name := range []string{"db__drop", "db__query", "drop", "query", "db__que"} {
		call := &gateway.Call{Kind: gateway.KindTool, Name: name}
		if err := c.Resolve(call); err == nil || strings.Contains(err.Error(), "Did you mean") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if near := c.Unknown("ask").Near; near != "db__ask" {
		t.Errorf("near %q", near)
	}
}
