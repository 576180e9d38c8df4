package guide

import (
	"encoding/json"
	"fmt"
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
func definitions(servers []string) []gateway.Tool {
	named := strings.Join(servers[:min(len(servers), mostNamed)], ", ")
	if more := len(servers) - mostNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	object := func(required []string, properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": required}
	}
	id := text("The id of a tool, exactly as search_tools gave it")
	arguments := map[string]any{"type": "object", "description": "The tool's own arguments, as its input schema says"}
	return []gateway.Tool{
		define(searchTools, true, "Find tools of the connected servers ("+named+") by what they do. "+
			"Say what you want to do, in any language. Each hit has an id for describe_tool, call_read_tool and call_tool; the first ones have their input schema.",
			object([]string{"query"}, map[string]any{
				"query":  text("What you want to do, in a few words"),
				"about":  text("What kind of server it is about, if you know: \"maps\", \"version control\""),
				"server": text("Only tools of this server"),
				"limit":  map[string]any{"type": "integer", "minimum": 1, "maximum": 20, "description": "How many hits (5)"},
				"detail": map[string]any{"type": "string", "enum": []string{"brief", "full"}, "description": "full: the input schema of every hit"},
			})),
		define(describeTool, true, "The whole definition of one tool: description, input schema, annotations.",
			object([]string{"name"}, map[string]any{"name": id})),
		define(callReadTool, true, "Call a tool that only reads. Tools that may change something are refused here; they need call_tool.",
			object([]string{"name"}, map[string]any{"name": id, "arguments": arguments})),
		define(callTool, false, "Call any tool that search_tools found.",
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
