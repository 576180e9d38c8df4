package upstream

import (
	"maps"
	"net/http"
	"strconv"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// headerName is what a modern request says in its header that it is for.
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

// paramHeaders are the headers that a call's arguments travel in, beside the
// body. Those that the tool's schema asks for are made of the arguments that are
// sent, whatever the caller's headers say: the house may have changed the one
// and not the other, and most callers send none. What the schema does not know
// is the caller's and passes on.
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
		// A value that headers do not carry is the server's to refuse.
		if text, ok := jsonrpc.HeaderText(value); ok {
			headers[h.Key] = []string{jsonrpc.EncodeHeader(text)}
		}
	}
	return headers, nil
}

// isMismatch tells the error of a server that misses something in the headers.
func isMismatch(object []byte) bool {
	return string(jsonrpc.Lookup(object, "code")) == strconv.Itoa(jsonrpc.CodeHeaderMismatch)
}
