package catalog

import (
	"context"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// CompareHeaders is the middleware that calls Compare.
func CompareHeaders(next gateway.Handler) gateway.Handler {
	return gateway.HandlerFunc(func(ctx context.Context, call *gateway.Call) (*gateway.Result, error) {
		if err := Compare(call); err != nil {
			return nil, err
		}
		return next.Handle(ctx, call)
	})
}

// Compare refuses a call over modern HTTP whose headers differ from its arguments:
// a proxy may have routed it by its headers. The check does not depend on the
// transport of the tool's server, because to the caller genkan is the server. Other
// transports, and calls that were made by a call, have no such headers.
func Compare(call *gateway.Call) error {
	if len(call.Tool.Headers) == 0 || call.Era != gateway.EraModern || call.Via != "http" || call.Parent != nil {
		return nil
	}
	arguments := call.Params.Get(call.Params.Arguments)
	for _, h := range call.Tool.Headers {
		value, err := jsonrpc.Argument(arguments, h.Path)
		wrong := compareOne(h, call.ParamHeaders[h.Key], value)
		if err != nil {
			wrong = gateway.Errorf(gateway.CodeInvalid, "Header mismatch: the arguments cannot be compared with their headers: %s", err)
		}
		if wrong != nil {
			wrong.Err = jsonrpc.ErrHeaderMismatch
			return wrong
		}
	}
	return nil
}

// compareOne compares an argument, nil for none, with its header. Values are
// not repeated: they may be secrets.
func compareOne(h gateway.ParamHeader, header []string, argument []byte) *gateway.Error {
	name := strings.Join(h.Path, ".")
	switch {
	case argument == nil && len(header) == 0:
		return nil
	case argument == nil:
		return gateway.Errorf(gateway.CodeInvalid, "Header mismatch: there is a %s header, but the argument %s has no value", h.Key, name)
	case len(header) == 0:
		return gateway.Errorf(gateway.CodeInvalid, "Header mismatch: the argument %s has a value, but the %s header is missing", name, h.Key)
	}
	text, ok := jsonrpc.DecodeHeader(header[0])
	if !ok || len(header) > 1 { // of two, whoever is before us may have gone by the other
		return gateway.Errorf(gateway.CodeInvalid, "Header mismatch: the %s header is missing or malformed", h.Key)
	}
	if !jsonrpc.HeaderSays(text, argument) {
		return gateway.Errorf(gateway.CodeInvalid, "Header mismatch: the %s header does not say what the argument %s says", h.Key, name)
	}
	return nil
}
