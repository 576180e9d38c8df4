package upstream

import (
	"maps"
	"net/http"
	"strconv"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// headerName returns the value of the Mcp-Name header of a modern request.
func headerName(call *gateway.Call) string {
	switch call.Method {
	case "tools/call", "prompts/get", "tasks/get", "tasks/update", "tasks/cancel":
		return call.Tool.Name
	case "resources/read":
		return call.Name
	default:
		return ""
	}
}

// paramHeaders returns the headers that mirror arguments. Those that the tool's
// schema asks for are made of the arguments that are sent, whatever the caller's
// headers say: the arguments may have been changed, and most callers send no
// headers. Other headers of the caller are forwarded.
func (p protocol) paramHeaders(call *gateway.Call) (http.Header, error) {
	if p.era != gateway.EraModern {
		return nil, nil
	}
	if len(call.Tool.Headers) == 0 {
		return call.ParamHeaders, nil
	}
	headers := make(http.Header, len(call.ParamHeaders)+len(call.Tool.Headers))
	maps.Copy(headers, call.ParamHeaders)
	arguments := call.Params.Get(call.Params.Arguments)
	for _, h := range call.Tool.Headers {
		delete(headers, h.Key)
		value, err := jsonrpc.Argument(arguments, h.Path)
		if err != nil {
			return nil, gateway.Errorf(gateway.CodeInvalid, "the arguments cannot be put into headers, as the tool asks: %s", err)
		}
		// The server refuses values that headers cannot carry.
		if text, ok := jsonrpc.HeaderText(value); ok {
			headers[h.Key] = []string{jsonrpc.EncodeHeader(text)}
		}
	}
	return headers, nil
}

// isMismatch reports whether a server's error is a header mismatch.
func isMismatch(object []byte) bool {
	return string(jsonrpc.Lookup(object, "code")) == strconv.Itoa(jsonrpc.CodeHeaderMismatch)
}
