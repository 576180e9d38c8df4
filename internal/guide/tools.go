package guide

import (
	"encoding/json"
	"strings"

	"genkan/internal/gateway"
)

// The four tools.
const (
	searchTools  = "search_tools"
	describeTool = "describe_tool"
	callReadTool = "call_read_tool"
	callTool     = "call_tool"
)

// mostNamed is how many servers the description names.
const mostNamed = 30

// definitions are the four tools as clients see them. That the servers are named
// matters: agents do not look for what they do not know to be there.
func definitions(servers []string, translate gateway.Translate) []gateway.Tool {
	named := strings.Join(servers[:min(len(servers), mostNamed)], ", ")
	if more := len(servers) - mostNamed; more > 0 {
		named = gateway.Textf("%s and %d more", named, more).In(translate)
	}
	text := func(description gateway.Text) map[string]any {
		return map[string]any{"type": "string", "description": description.In(translate)}
	}
	define := func(name string, readOnly bool, description gateway.Text, schema map[string]any) gateway.Tool {
		return define(name, readOnly, description.In(translate), schema)
	}
	object := func(required []string, properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": required}
	}
	id := text(gateway.Textf("An id that search_tools gave"))
	arguments := text(gateway.Textf("The tool's own arguments"))
	arguments["type"] = "object"
	return []gateway.Tool{
		define(searchTools, true, gateway.Textf("Find tools of the connected servers (%s) by what they do. "+
			"Each hit has an id and says which tool to call it with; the first ones have their input schema.", named),
			object([]string{"query"}, map[string]any{
				"query":  text(gateway.Textf("What you want to do, in a few words of any language")),
				"about":  text(gateway.Textf("What kind of server it is about, if known: maps, version control")),
				"server": text(gateway.Textf("Only this server's tools")),
				"limit":  map[string]any{"type": "integer", "minimum": 1, "maximum": 20},
				"detail": map[string]any{"type": "string", "enum": []string{"brief", "full"}, "description": gateway.Textf("full: all input schemas").In(translate)},
			})),
		define(describeTool, true, gateway.Textf("The whole definition of a tool."),
			object([]string{"name"}, map[string]any{"name": id})),
		define(callReadTool, true, gateway.Textf("Call a tool that only reads; the others need call_tool."),
			object([]string{"name"}, map[string]any{"name": id, "arguments": arguments})),
		define(callTool, false, gateway.Textf("Call any tool that search_tools found."),
			object([]string{"name"}, map[string]any{"name": id, "arguments": arguments})),
	}
}

func define(name string, readOnly bool, description string, schema map[string]any) gateway.Tool {
	annotations := map[string]any{"readOnlyHint": readOnly}
	if !readOnly {
		annotations["openWorldHint"] = true
	}
	raw, err := json.Marshal(map[string]any{
		"name": name, "description": description, "inputSchema": schema, "annotations": annotations,
		// Clients that look for tools by themselves must not hide these.
		"_meta": map[string]any{"anthropic/alwaysLoad": true},
	})
	if err != nil {
		panic("guide: a definition that cannot be encoded")
	}
	// Not marked as safe to be sent again: what it calls is, where it is.
	return gateway.Tool{Kind: gateway.KindTool, Name: name, Definition: raw}
}
