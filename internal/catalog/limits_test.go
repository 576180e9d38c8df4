package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// several is a source of all kinds.
type several struct {
	name  string
	lists map[gateway.Kind][]string // definitions
}

func (s *several) Name() string { return s.name }

func (s *several) List(kind gateway.Kind) []gateway.Tool {
	var all []gateway.Tool
	for _, raw := range s.lists[kind] {
		var d map[string]any
		_ = json.Unmarshal([]byte(raw), &d)
		name, _ := d[kind.NameKey()].(string)
		tool := gateway.Tool{Kind: kind, Name: name, Definition: []byte(raw)}
		if hints, _ := d["annotations"].(map[string]any); hints != nil {
			tool.ReadOnly, _ = hints["readOnlyHint"].(bool)
			tool.Idempotent, _ = hints["idempotentHint"].(bool)
		}
		all = append(all, tool)
	}
	return all
}

func (*several) Handle(context.Context, *gateway.Call) (*gateway.Result, error) {
	return &gateway.Result{Raw: []byte(`{}`)}, nil
}

// onlyOne is a catalog with one definition, what clients see of it, and the
// findings about it.
func onlyOne(t *testing.T, kind gateway.Kind, raw string) (shown string, tool *gateway.Tool, found []catalog.Finding) {
	t.Helper()
	c := newCatalog(0, mount(&several{"s", map[gateway.Kind][]string{kind: {raw}}}, ""))
	s := c.Snapshot()
	if len(s.List(kind)) > 0 {
		tool = s.List(kind)[0]
		shown = string(tool.Definition)
		if !json.Valid(tool.Definition) {
			t.Fatalf("not JSON: %.200s", shown)
		}
	}
	return shown, tool, s.Findings()
}

func notesOf(found []catalog.Finding) string {
	var all []string
	for _, f := range found {
		for _, note := range f.Notes {
			all = append(all, note.String())
		}
	}
	return strings.Join(all, "; ")
}

func TestLongTextsOfADefinitionAreCut(t *testing.T) {
	const keys = `"uri":"a://b","uriTemplate":"a://{b}"`
	long := "a" + strings.Repeat("玄", 100_000)
	for _, kind := range gateway.Kinds() {
		for _, c := range []struct {
			definition, key string
			most            int
		}{
			{`{"name":"n",` + keys + `,"description":"` + long[:200_000/3*3+1] + `","inputSchema":{"type":"object"}}`, "description", 16 << 10},
			{`{"name":"n",` + keys + `,"title":"` + long[:3001] + `","inputSchema":{"type":"object"}}`, "title", 512},
		} {
			shown, tool, found := onlyOne(t, kind, c.definition)
			if tool == nil {
				t.Errorf("%s: left out: %s", kind, notesOf(found))
				continue
			}
			var d map[string]any
			_ = json.Unmarshal([]byte(shown), &d)
			text, _ := d[c.key].(string)
			if len(text) > c.most+64 || len(text) < c.most || !utf8.ValidString(text) || !strings.HasSuffix(text, " more bytes]") || strings.Contains(text, "\ufffd") {
				t.Errorf("%s: %s has %d bytes and ends with %q", kind, c.key, len(text), text[max(0, len(text)-60):])
			}
			if notes := notesOf(found); len(found) != 1 || found[0].LeftOut || !strings.Contains(notes, "its "+c.key+" has ") {
				t.Errorf("%s: found %q", kind, notes)
			}
		}
	}
	// However long it is: the tool stays.
	shown, _, found := onlyOne(t, gateway.KindTool, `{"name":"n","description":"`+strings.Repeat("x", 5<<20)+`","inputSchema":{"type":"object"}}`)
	if len(shown) < 16<<10 || len(shown) > 17<<10 || len(found) != 1 {
		t.Errorf("5 MB: %d bytes, %q", len(shown), notesOf(found))
	}
	// The other places of titles and names.
	shown, _, found = onlyOne(t, gateway.KindTool, `{"name":"n","annotations":{"title":"`+long[:3001]+`"},"inputSchema":{"type":"object"}}`)
	if len(shown) > 1000 || len(found) != 1 {
		t.Errorf("a title in the annotations: %d bytes, %q", len(shown), notesOf(found))
	}
	shown, _, found = onlyOne(t, gateway.KindResource, `{"uri":"a://b","name":"`+long[:3001]+`"}`)
	if len(shown) > 1000 || len(found) != 1 {
		t.Errorf("the name of a resource: %d bytes, %q", len(shown), notesOf(found))
	}
	// A second description is no way around the limit.
	shown, _, _ = onlyOne(t, gateway.KindTool, `{"name":"n","description":"`+long[:60_001]+`","descri\u0070tion":"`+long[:60_001]+`","inputSchema":{"type":"object"}}`)
	if len(shown) > 17<<10 {
		t.Errorf("two descriptions: %d bytes", len(shown))
	}
}

func TestDefinitionsWithinTheLimitsKeepTheirBytes(t *testing.T) {
	for _, raw := range []string{
		`{ "description" : "` + strings.Repeat("a", 16<<10) + `" ,"name":"n", "title":"` + strings.Repeat("b", 512) + `","inputSchema":{"type":"object"}}`,
		`{"name":"` + strings.Repeat("n", 256) + `","inputSchema":{"type":"object","properties":{"a":{"description":"` + strings.Repeat("a", 200<<10) + `"}}}}`,
		`{"name":"n","description":"\u00e9\ud83d\ude00 é 👨‍👩‍👧 ❤️‍🔥 می‌خواهم 葛󠄀城\n\ttab","inputSchema":{"type":"object"},"annotations":{ "readOnlyHint":true,"destructiveHint":false }}`, //nolint:staticcheck // what people write
		`{"name":"n","annotations":{"readOnlyHint":false,"destructiveHint":true},"inputSchema":{"type":"object"}}`,
	} {
		shown, tool, found := onlyOne(t, gateway.KindTool, raw)
		if shown != raw || len(found) > 0 {
			t.Errorf("%.60s… became %.60s…: %s", raw, shown, notesOf(found))
		}
		if want := strings.Contains(raw, `"readOnlyHint":true`); tool != nil && tool.ReadOnly != want {
			t.Errorf("%.60s… is read-only: %v", raw, tool.ReadOnly)
		}
	}
}

func TestADefinitionThatIsTooLargeIsLeftOut(t *testing.T) {
	for words, c := range map[string]struct {
		kind gateway.Kind
		raw  string
	}{
		"its definition has 3": {gateway.KindTool, `{"name":"n","inputSchema":{"type":"object","properties":{"a":{"description":"` + strings.Repeat("a", 300<<10) + `"}}}}`},
		"its name has 257":     {gateway.KindTool, `{"name":"` + strings.Repeat("n", 257) + `","inputSchema":{"type":"object"}}`},
		"its name has 300":     {gateway.KindPrompt, `{"name":"` + strings.Repeat("n", 300) + `"}`},
		"its name has 90":      {gateway.KindResource, `{"name":"n","uri":"` + strings.Repeat("n", 9000) + `"}`},
	} {
		_, tool, found := onlyOne(t, c.kind, c.raw)
		if tool != nil || len(found) != 1 || !found[0].LeftOut || !strings.Contains(notesOf(found), words) {
			t.Errorf("%s: listed %v, found %q", words, tool != nil, notesOf(found))
		}
	}
}

func TestContradictoryHintsCountAsDestructive(t *testing.T) {
	for _, hints := range []string{
		`{"readOnlyHint":true,"destructiveHint":true}`,
		`{"title":"x","idempotentHint":true,"destructiveHint":true,"readOnlyHint":true}`,
		`{"readOnlyHint":true,"readOnlyHint":false}`,
		`{"readOnlyHint":true},"annotations":{"destructiveHint":true}`,
	} {
		// The combination has a definition of its own for legacy clients.
		raw := `{"name":"n","annotations":` + hints + `,"inputSchema":{"type":"object","anyOf":[{"properties":{"a":{}}}]}}`
		shown, tool, found := onlyOne(t, gateway.KindTool, raw)
		if tool.ReadOnly || tool.Idempotent || tool.RetrySafe() {
			t.Errorf("%s: read-only %v, idempotent %v", hints, tool.ReadOnly, tool.Idempotent)
		}
		for _, one := range []string{shown, string(tool.Legacy)} {
			if strings.Contains(one, `"readOnlyHint":true`) || !strings.Contains(one, `"readOnlyHint":false`) || strings.Count(one, `"annotations"`) != 1 {
				t.Errorf("%s is shown as %s", hints, one)
			}
		}
		suspect := false
		for _, f := range found {
			suspect = suspect || f.Suspect && strings.Contains(notesOf([]catalog.Finding{f}), "only reads and that it changes something")
		}
		if !suspect {
			t.Errorf("%s: found %q", hints, notesOf(found))
		}
	}
}

func TestInvisibleCharactersAreReported(t *testing.T) {
	for hidden, code := range map[string]string{
		"\x1b[31m": "U+001B", "\u202e": "U+202E", "\u2066": "U+2066", "\U000E0041": "U+E0041", "\u200b": "U+200B", "\ufeff": "U+FEFF", "\u0085": "U+0085",
		strings.Repeat("\ufe01\U000E0101", 3): "U+",
		"\u200c\u200d\u200c\u200d":            "U+200",
	} {
		quoted, _ := json.Marshal("a" + hidden + "b")
		escaped := `"a`
		for _, c := range hidden {
			if c > 0xffff {
				c -= 0x10000
				escaped += fmt.Sprintf(`\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
			} else {
				escaped += fmt.Sprintf(`\u%04x`, c)
			}
		}
		for _, text := range []string{string(quoted), escaped + `b"`} {
			for _, raw := range []string{
				`{"name":"n","description":` + text + `,"inputSchema":{"type":"object"}}`,
				`{"name":"n","title":` + text + `,"inputSchema":{"type":"object"}}`,
				`{"name":` + text + `,"inputSchema":{"type":"object"}}`,
				`{"name":"n","inputSchema":{"type":"object","properties":{"a":{"description":` + text + `}}}}`,
			} {
				shown, _, found := onlyOne(t, gateway.KindTool, raw)
				if len(found) != 1 || !found[0].Suspect || found[0].LeftOut || !strings.Contains(notesOf(found), "people do not see and models read ("+code) {
					t.Errorf("%+q: found %q", raw, notesOf(found))
				}
				if shown != raw {
					t.Errorf("%+q is shown as %+q", raw, shown)
				}
			}
		}
	}
}
