package fault

import (
	"context"
	"encoding/json"
)

// tool is one tool: what tools/list says about it, and what it does. The
// result of call is a body as response takes it: a "result" or "error" member.
type tool struct {
	name       string
	definition json.RawMessage
	call       func(ctx context.Context, s *server, c *toolCall) []byte
}

// toolCall is a tools/call on its way through a tool.
type toolCall struct {
	*request
	name      string
	arguments json.RawMessage
	// inputResponses and requestState are set when a modern client comes back
	// with what an earlier answer asked for.
	inputResponses map[string]json.RawMessage
	requestState   string
	// task is a legacy client's wish that the call become a task.
	task json.RawMessage
}

// definition keeps the order in which real servers write their keys.
type definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations *annotations    `json:"annotations,omitempty"`
	Execution   *execution      `json:"execution,omitempty"`
}

type execution struct {
	TaskSupport string `json:"taskSupport"`
}

type annotations struct {
	ReadOnlyHint    *bool `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool `json:"openWorldHint,omitempty"`
}

func newTool(d definition, call func(context.Context, *server, *toolCall) []byte) tool {
	return tool{name: d.Name, definition: encode(d), call: call}
}

func readOnly() *annotations { return &annotations{ReadOnlyHint: new(true)} }

// baseTools are what every test can count on.
func baseTools(opts *options) []tool {
	tools := []tool{
		newTool(definition{
			Name:        "echo",
			Description: "Returns the given text unchanged.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"What to return."}},"required":["text"]}`),
			Annotations: readOnly(),
		}, callEcho),
		newTool(definition{
			Name:        "raw",
			Description: "Answers with exactly the given bytes, as a result or as an error.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"result_json":{"type":"string","description":"The result object, as JSON text."},"error_json":{"type":"string","description":"The JSON-RPC error object, as JSON text."}}}`),
		}, callRaw),
		newTool(definition{
			Name:        "sleep",
			Description: "Answers after the given time, unless it is cancelled before.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"ms":{"type":"integer","minimum":0,"description":"How long, in milliseconds."}},"required":["ms"]}`),
			Annotations: readOnly(),
		}, callSleep),
		newTool(definition{
			Name:        "progress",
			Description: "Reports progress n times and then answers.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":0,"description":"The number of steps."},"ms":{"type":"integer","minimum":0,"description":"How long a step takes, in milliseconds."}},"required":["n"]}`),
			Annotations: readOnly(),
		}, callProgress),
		newTool(definition{
			Name:        "count",
			Description: "Adds one to a counter that outlives the server, and returns it.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &annotations{ReadOnlyHint: new(false), DestructiveHint: new(false), IdempotentHint: new(false)},
		}, callCount),
		newTool(definition{
			Name:        "crash",
			Description: "Ends the server before it answers.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &annotations{DestructiveHint: new(true)},
		}, callCrash),
		newTool(definition{
			Name:        "env",
			Description: "Returns the server's environment, one variable per line.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: readOnly(),
		}, callEnv),
		newTool(definition{
			Name:        "pid",
			Description: "Returns the server's process id.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: readOnly(),
		}, callPid),
		newTool(definition{
			Name:        "add_tool",
			Description: "Adds a tool, or changes the description of the one with that name.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"}},"required":["name"]}`),
		}, callAddTool),
		newTool(definition{
			Name:        "remove_tool",
			Description: "Removes a tool.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		}, callRemoveTool),
		newTool(definition{
			Name:        "elicit",
			Description: "Asks the user for a name and returns the answer.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"message":{"type":"string","description":"What to ask."}}}`),
		}, callElicit),
	}
	if opts.paramTool {
		tools = append(tools, newTool(definition{
			Name:        "lookup",
			Description: "Returns the region, which must also have come as the header Mcp-Param-Region.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","description":"Where to look.","x-mcp-header":"Region"},"query":{"type":"string"}},"required":["region"]}`),
			Annotations: readOnly(),
		}, callLookup), newTool(definition{
			Name:        "ask_about",
			Description: "Asks like elicit; the message travels as the header Mcp-Param-Message too.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"message":{"type":"string","x-mcp-header":"Message"}}}`),
		}, callElicit))
	}
	if opts.everything {
		tools = append(tools, moreTools()...)
	}
	if opts.tasks {
		tools = append(tools, taskTools()...)
	}
	return tools
}

// addedTool is what add_tool and the mode change-tools put into the list.
func addedTool(name, description string) tool {
	return newTool(definition{
		Name:        name,
		Description: description,
		InputSchema: json.RawMessage(`{"type":"object"}`),
	}, callGenerated)
}
