package upstream

import (
	"log/slog"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// maxTools is how many tools of one server are listed.
const maxTools = 20_000

// parse is parseList for this server.
func (s *Server) parse(raw []byte, kind gateway.Kind, era gateway.Era) ([]gateway.Tool, error) {
	return parseList(raw, kind, s.set.URL != "" && era == gateway.EraModern, s.log)
}

// parseList splits a JSON array of definitions. It leaves out those without a
// name.
func parseList(raw []byte, kind gateway.Kind, modernHTTP bool, log *slog.Logger) ([]gateway.Tool, error) {
	tools := []gateway.Tool{}
	if len(raw) == 0 {
		return tools, nil
	}
	nameless := 0
	err := jsonrpc.Elements(raw, func(definition []byte) bool {
		tool := gateway.Tool{
			Kind: kind, Definition: definition, Name: jsonrpc.LookupText(definition, kind.NameKey()),
			ModernHTTP: modernHTTP,
		}
		if tool.Name == "" {
			nameless++
			return true
		}
		if annotations := jsonrpc.Lookup(definition, "annotations"); annotations != nil {
			tool.ReadOnly = string(jsonrpc.Lookup(annotations, "readOnlyHint")) == "true"
			tool.Idempotent = string(jsonrpc.Lookup(annotations, "idempotentHint")) == "true"
		}
		if len(tools) == maxTools {
			log.Warn("a list is cut: the server has more than can be used", "kind", kind.String(), "most", maxTools)
			return false
		}
		tools = append(tools, tool)
		return true
	})
	if err != nil {
		e := gateway.Errorf(gateway.CodeUnavailable, "its list of %s is not valid", kind.String())
		e.Err = err
		return nil, e
	}
	if nameless > 0 {
		log.Warn("left out: definitions without a name", "kind", kind.String(), "count", nameless)
	}
	return tools, nil
}
