package guide

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/search"
)

// hit is a tool that was found.
type hit struct {
	ID          string          `json:"id"`
	Server      string          `json:"server"`
	Name        string          `json:"name"`
	Summary     string          `json:"summary"`
	Deprecated  bool            `json:"deprecated,omitempty"`
	Score       float64         `json:"score"`
	Matched     []string        `json:"matched,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	Signature   string          `json:"signature"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	Example     json.RawMessage `json:"example,omitempty"`
	// CallWith is which of the two calls it.
	CallWith string `json:"call_with"`
}

// found is the answer of search_tools.
type found struct {
	Query   string `json:"query"`
	Results []hit  `json:"results"`
	Total   int    `json:"total"`
	NoMatch bool   `json:"no_match"`
	Hint    string `json:"hint,omitempty"`
}

const (
	// usualHits is enough: agents read all of them.
	usualHits, mostHits = 5, 20
	// withSchema is how many hits come with their schema, unless all are wanted.
	withSchema = 3
)

func (g *Guide) search(
	ctx context.Context, who gateway.Identity, q search.Query, server string, arguments map[string]any,
) (*gateway.Result, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, invalid("query", "query is missing: say in a few words what the tool should do")
	}
	if max(len(q.Text), len(q.About)) > search.MaxQuery {
		return nil, invalid("query", "query and about must not be longer than %d bytes: say in a few words what the tool should do", search.MaxQuery)
	}
	q.Limit, q.Explain = usualHits, true
	if n, ok := arguments["limit"].(json.Number); ok {
		if v, err := n.Int64(); err == nil {
			q.Limit = int(min(max(v, 1), mostHits))
		}
	}
	if server != "" {
		if why := g.house().AbsentServer(g.view, server); why.String() != "" {
			return nil, invalid("server", "%s", why)
		}
		q.Include = func(name string, _ *search.Document) bool { return name == server }
	}
	r := g.house().Search(ctx, who, g.view, q)
	out := found{Query: q.Text, Results: []hit{}, Total: r.Total}
	if r.NoMatch() {
		out.NoMatch = true
		out.Hint = g.house().Say(gateway.Textf(
			"No tool fits. Say it in other words, or say what the tool would be called; the connected servers are %s.",
			strings.Join(g.house().ServerNames(g.view), ", ")))
		return shown(out)
	}
	for i, h := range r.Hits {
		tool := g.house().FindTool(g.view, h.Document.ID)
		if tool == nil {
			continue // it has just gone
		}
		out.Results = append(out.Results, describe(tool, h, i < withSchema || arguments["detail"] == "full"))
	}
	g.house().Shown(who, q.Text, r.Hits)
	return shown(out)
}

func describe(tool *gateway.Tool, h search.Hit, whole bool) hit {
	out := hit{
		ID: tool.Exposed, Server: h.Server, Name: tool.ListedName(), Summary: summary(jsonrpc.LookupText(tool.Definition, "description")),
		Score: float64(int(h.Score*1000)) / 1000, Signature: signature(tool), CallWith: callTool,
		Annotations: jsonrpc.Lookup(tool.Definition, "annotations"), Matched: h.Matched, Example: h.Document.Sample,
		Deprecated: h.Document.Deprecated,
	}
	if tool.ReadOnly {
		out.CallWith = callReadTool
	}
	if whole {
		out.InputSchema = tool.ListedSchema()
	}
	return out
}

// summary is the first sentence, or what of it has room.
func summary(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(text), " ")
	for _, end := range []string{". ", "。"} {
		if i := strings.Index(text, end); i > 0 {
			text = text[:i] + strings.TrimSpace(end)
		}
	}
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return text
}

// signature is a tool's name with its arguments, the optional ones with a
// question mark.
func signature(tool *gateway.Tool) string {
	required := map[string]bool{}
	_ = jsonrpc.Elements(jsonrpc.Lookup(tool.ListedSchema(), "required"), func(item []byte) bool {
		var name string
		if json.Unmarshal(item, &name) == nil {
			required[name] = true
		}
		return true
	})
	var parts []string
	_ = jsonrpc.Members(jsonrpc.Lookup(tool.ListedSchema(), "properties"), func(quoted, value []byte) bool {
		var key string
		if json.Unmarshal(quoted, &key) != nil {
			key = string(quoted)
		}
		mark := "?"
		if required[key] {
			mark = ""
		}
		kind := jsonrpc.LookupText(value, "type")
		if kind == "" {
			kind = "any"
		}
		parts = append(parts, fmt.Sprintf("%s%s: %s", key, mark, kind))
		return true
	})
	return tool.Exposed + "(" + strings.Join(parts, ", ") + ")"
}

func (g *Guide) describe(name string) (*gateway.Result, error) {
	tool := g.house().FindTool(g.view, name)
	if tool == nil {
		return nil, g.unknown(name)
	}
	call := callTool
	if tool.ReadOnly {
		call = callReadTool
	}
	return shown(map[string]any{
		"id": tool.Exposed, "server": tool.Source.Name(), "definition": json.RawMessage(tool.Definition), "call_with": call,
	})
}
