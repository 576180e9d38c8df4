package upstream

import (
	"log/slog"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// most tools that one server may list.
const mostTools = 20_000

// parseTools splits a JSON array of definitions. One that has no name is left
// out alone.
func parseTools(raw []byte, log *slog.Logger) ([]gateway.Tool, error) {
	tools := []gateway.Tool{}
	if len(raw) == 0 {
		return tools, nil
	}
	err := jsonrpc.Elements(raw, func(definition []byte) bool {
		tool := gateway.Tool{Definition: definition, Name: jsonrpc.LookupText(definition, "name")}
		if tool.Name == "" {
			log.Warn("tool left out: its definition has no name")
			return true
		}
		if annotations := jsonrpc.Lookup(definition, "annotations"); annotations != nil {
			tool.ReadOnly = string(jsonrpc.Lookup(annotations, "readOnlyHint")) == "true"
			tool.Idempotent = string(jsonrpc.Lookup(annotations, "idempotentHint")) == "true"
		}
		if len(tools) == mostTools {
			log.Warn("the list of tools is cut: the server has more than can be used", "most", mostTools)
			return false
		}
		tools = append(tools, tool)
		return true
	})
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeUnavailable, Message: "its list of tools is not valid", Err: err}
	}
	return tools, nil
}
