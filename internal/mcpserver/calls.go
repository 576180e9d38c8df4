package mcpserver

import (
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// isCall reports whether a method passes the corridor and ends at a server. The
// eras have different methods for tasks.
func isCall(method string, era gateway.Era) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read", "completion/complete", "tasks/get", "tasks/cancel":
		return true
	case "tasks/result":
		return era == gateway.EraLegacy
	case "tasks/update":
		return era == gateway.EraModern
	default:
		return false
	}
}

// newCall makes a Call of a request.
func newCall(msg *jsonrpc.Message, era gateway.Era, id gateway.Identity, via string) (*gateway.Call, error) {
	call := &gateway.Call{Method: msg.Method, Params: msg.Params, Caller: gateway.Caller{Era: era, Identity: id, Via: via}}
	in := &call.Params
	var ok bool
	switch msg.Method {
	case "tools/call":
		if call.Name, ok = textOf(in, in.Name); !ok {
			return nil, gateway.Errorf(gateway.CodeInvalid, "params.name must be the name of a tool")
		}
	case "prompts/get":
		call.Kind = gateway.KindPrompt
		if call.Name, ok = textOf(in, in.Name); !ok {
			return nil, gateway.Errorf(gateway.CodeInvalid, "params.name must be the name of a prompt")
		}
	case "resources/read":
		call.Kind = gateway.KindResource
		in.Name = gateway.Span{} // a resource has no name that genkan uses
		if call.Name, ok = textOf(in, in.URI); !ok {
			return nil, gateway.Errorf(gateway.CodeInvalid, "params.uri must be the URI of a resource")
		}
	case "completion/complete":
		if err := refer(call); err != nil {
			return nil, err
		}
	default:
		call.Kind = gateway.KindTask
		in.Name = gateway.Span{}
		if call.Name = jsonrpc.LookupText(in.Raw, "taskId"); call.Name == "" {
			return nil, gateway.Errorf(gateway.CodeInvalid, "params.taskId must be the id of a task")
		}
	}
	switch args := in.Get(in.Arguments); {
	case args == nil || args[0] == '{':
	case string(args) == "null": // some clients mean none by it, and some servers refuse it
		call.SetRawArguments([]byte("{}"))
	case msg.Method != "tools/call": // the catalog refuses those of tools, with an answer that models see
		return nil, gateway.Errorf(gateway.CodeInvalid, "params.arguments must be an object")
	}
	if token := in.Get(in.ProgressToken); token != nil && token[0] != '"' && token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return nil, gateway.Errorf(gateway.CodeInvalid, "_meta.progressToken must be a string or a number")
	}
	if level := in.Get(in.LogLevel); level != nil && era == gateway.EraModern {
		if text, ok := jsonrpc.Unquote(level); !ok || gateway.Quietness(string(text)) < 0 {
			return nil, badLevel()
		}
	}
	return call, nil
}

// textOf returns the string at a span of the params. It reports false if there is
// no string, or an empty one.
func textOf(in *gateway.Params, at gateway.Span) (string, bool) {
	text, ok := jsonrpc.Unquote(in.Get(at))
	return string(text), ok && len(text) > 0
}

// refer resolves the reference of a completion: a prompt, or a resource template.
// The name is one level deeper than in other calls.
func refer(call *gateway.Call) error {
	in := &call.Params
	in.Name = gateway.Span{}
	ref := jsonrpc.LookupSpan(in.Raw, "ref")
	object := in.Get(ref)
	if err := jsonrpc.CheckObject(object, "type", "name", "uri"); err != nil {
		return gateway.Errorf(gateway.CodeInvalid, "params.ref must say what to complete: {\"type\":\"ref/prompt\",\"name\":…} or {\"type\":\"ref/resource\",\"uri\":…}")
	}
	switch jsonrpc.LookupText(object, "type") {
	case "ref/prompt":
		at := jsonrpc.LookupSpan(object, "name")
		in.Name = gateway.Span{Start: ref.Start + at.Start, End: ref.Start + at.End}
		call.Kind, call.Name = gateway.KindPrompt, jsonrpc.LookupText(object, "name")
	case "ref/resource":
		call.Kind, call.Name = gateway.KindTemplate, jsonrpc.LookupText(object, "uri")
	}
	if call.Name == "" {
		return gateway.Errorf(gateway.CodeInvalid, "params.ref must say what to complete: {\"type\":\"ref/prompt\",\"name\":…} or {\"type\":\"ref/resource\",\"uri\":…}")
	}
	return nil
}

func badLevel() error {
	return gateway.Errorf(gateway.CodeInvalid,
		"the log level must be debug, info, notice, warning, error, critical, alert or emergency")
}
