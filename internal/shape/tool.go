package shape

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"weak"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/tokens"
)

// SourceName is the name of the source of read_result, and ToolName that of the tool.
const (
	SourceName = "results"
	ToolName   = "read_result"
)

// Name is SourceName.
func (s *Shaper) Name() string { return SourceName }

// List lists read_result.
func (s *Shaper) List(kind gateway.Kind) []gateway.Tool {
	if kind != gateway.KindTool {
		return nil
	}
	return []gateway.Tool{s.tool}
}

// Handle answers a call of read_result.
func (s *Shaper) Handle(_ context.Context, call *gateway.Call) (*gateway.Result, error) {
	r, err := parse(call)
	if err != nil {
		return nil, err
	}
	// The result is held twice while it is read: as it is stored, and without escapes.
	giveBack, err := call.Borrow(2 * s.spool.sizeOf(call.Identity.ClientID, r.id))
	if err != nil {
		return nil, err
	}
	defer giveBack()
	d, err := s.document(call.Identity.ClientID, r.id, r.part)
	if err != nil {
		return nil, err
	}
	l := labels{s.translate}
	room := s.budget(call)
	if room <= 0 {
		room = s.budgets.Default
	}
	answer, err := l.read(d, r, room)
	if err != nil {
		return nil, err
	}
	out := appendText([]byte(`{"content":[`), string(answer.data))
	if about := answer.about(s.translate); about != nil {
		out = appendText(append(out, ','), string(about))
	}
	// What is read back was not saved after all.
	read := tokens.Count(answer.data)
	call.Saved = -read
	s.spool.readBack.Add(int64(read))
	return &gateway.Result{Raw: append(out, `]}`...)}, nil
}

// lastRead is the document that was read last. Agents read one page by page. It is kept
// until the next collection of garbage only.
type lastRead struct {
	client, id, part string
	document         weak.Pointer[document]
}

// document returns a part of a stored result.
func (s *Shaper) document(client, id, part string) (*document, error) {
	if last := s.last.Load(); last != nil && last.client == client && last.id == id && last.part == part {
		if d := last.document.Value(); d != nil {
			return d, s.spool.Use(client, id)
		}
	}
	raw, err := s.spool.Get(client, id)
	if err != nil {
		return nil, err
	}
	d, err := find(raw, part)
	if err != nil {
		return nil, err
	}
	s.last.Store(&lastRead{client, id, part, weak.Make(d)})
	return d, nil
}

// appendText appends an item of content.
func appendText(dst []byte, text string) []byte {
	return append(jsonrpc.AppendQuoted(append(dst, `{"type":"text","text":`...), text), '}')
}

// argumentNames are the arguments of read_result.
func argumentNames() []string {
	return []string{"id", "pointer", "offset", "limit", "grep", "part", "unit"}
}

func parse(call *gateway.Call) (request, error) {
	var r request
	arguments, err := call.Arguments()
	if err != nil {
		return r, err
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if !slices.Contains(argumentNames(), name) {
			return r, invalid(gateway.Short(name), "Unknown argument %s. Known are %s", gateway.Short(name), strings.Join(argumentNames(), ", "))
		}
	}
	for name, into := range map[string]*string{"id": &r.id, "part": &r.part, "pointer": &r.pointer, "unit": &r.unit, "grep": &r.grep} {
		switch v := arguments[name].(type) {
		case nil:
		case string:
			*into = v
		case json.Number: // part: 0
			*into = v.String()
		default:
			return r, invalid(name, "%s must be a string", name)
		}
	}
	for name, into := range map[string]*int{"offset": &r.offset, "limit": &r.limit} {
		switch v := arguments[name].(type) {
		case nil:
		case json.Number:
			n, err := v.Int64()
			if err != nil || n < 0 {
				return r, invalid(name, "%s must be an integer of 0 or more", name)
			}
			*into = int(min(n, math.MaxInt32))
		default:
			return r, invalid(name, "%s must be an integer of 0 or more", name)
		}
	}
	switch {
	case r.id == "":
		return r, invalid("id", "id is missing: it is in the outline of a result that was too large")
	case r.unit != "" && r.unit != unitLines && r.unit != unitBytes:
		return r, invalid("unit", "unit must be lines or bytes")
	}
	return r, nil
}

// define makes the definition of read_result.
func define(translate gateway.Translate) gateway.Tool {
	text := func(t gateway.Text) map[string]any {
		return map[string]any{"type": "string", "description": t.In(translate)}
	}
	number := func(t gateway.Text, least int) map[string]any {
		return map[string]any{"type": "integer", "minimum": least, "description": t.In(translate)}
	}
	raw, err := json.Marshal(map[string]any{
		"name": ToolName,
		"description": gateway.Textf("Read a stored result. An answer that is too large is stored, and you get its outline with an id. " +
			"The outline says what to call next.").In(translate),
		"inputSchema": map[string]any{
			"type": "object", "required": []string{"id"},
			"properties": map[string]any{
				"id":      text(gateway.Textf("The id in the outline")),
				"pointer": text(gateway.Textf("JSON Pointer to a value, such as /items/0")),
				"offset":  number(gateway.Textf("Where to begin, from 0: an item of an array, a line of a text"), 0),
				"limit":   number(gateway.Textf("How many items or lines; as many as fit by default"), 1),
				"grep":    text(gateway.Textf("Only lines or values with this text, in upper or lower case, with their positions")),
				"part":    text(gateway.Textf("Number of a content item, or raw for the whole result; the largest by default")),
				"unit":    map[string]any{"type": "string", "enum": []string{unitLines, unitBytes}, "description": gateway.Textf("What offset and limit count in a text").In(translate)},
			},
		},
		"annotations": map[string]any{"readOnlyHint": true, "openWorldHint": false},
		// Clients that look for tools by themselves must not hide it.
		"_meta": map[string]any{"anthropic/alwaysLoad": true},
	})
	if err != nil {
		panic("shape: a definition that cannot be encoded")
	}
	return gateway.Tool{Kind: gateway.KindTool, Name: ToolName, Definition: raw, ReadOnly: true, ChecksArguments: true}
}
