package mcpserver

import (
	"errors"
	"net/http"
	"strconv"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/lang"
)

// wireError is how MCP clients see a gateway.Code.
type wireError struct {
	rpc    int
	status int
}

// wireErrors is this edge's table. Codes that JSON-RPC has a word for use it;
// the others are numbers of our own, outside of the range that JSON-RPC and
// MCP reserve, named like the HTTP statuses that people know.
//
//exhaustive:enforce
var wireErrors = map[gateway.Code]wireError{
	gateway.CodeInternal: {jsonrpc.CodeInternal, http.StatusOK},
	gateway.CodeInvalid:  {jsonrpc.CodeInvalidParams, http.StatusOK},
	// A server behind genkan requires a sign-in. The status 401 would make clients
	// sign in to genkan. A client whose own token is wrong is refused earlier, by
	// package lock.
	gateway.CodeUnauthenticated: {http.StatusUnauthorized, http.StatusOK},
	gateway.CodeDenied:          {http.StatusForbidden, http.StatusOK},
	gateway.CodeNotFound:        {jsonrpc.CodeInvalidParams, http.StatusOK},
	gateway.CodeConflict:        {http.StatusConflict, http.StatusOK},
	gateway.CodeLimited:         {http.StatusTooManyRequests, http.StatusTooManyRequests},
	gateway.CodeUnavailable:     {http.StatusServiceUnavailable, http.StatusOK},
	gateway.CodeTimeout:         {http.StatusGatewayTimeout, http.StatusOK},
	gateway.CodeCanceled:        {499, http.StatusOK},
}

// refusal is an error for which JSON-RPC or MCP defines a number. It is not a
// gateway.Error with RPC set, because that is a server's error and is never
// translated.
type refusal struct {
	because *gateway.Error
	rpc     int
	data    []byte
}

func (r *refusal) Error() string { return r.because.Error() }
func (r *refusal) Unwrap() error { return r.because }

// invalidRequest returns the error for a request that cannot be served.
func invalidRequest(format string, values ...any) error {
	return &refusal{gateway.Errorf(gateway.CodeInvalid, format, values...), jsonrpc.CodeInvalidRequest, nil}
}

// tooLarge returns the error for a message that is too large and was not read to
// its end.
func tooLarge() error {
	return invalidRequest("the message is larger than %d MiB", jsonrpc.MaxMessage>>20)
}

// unreadable returns the error for a message that could not be scanned.
func unreadable(err error) error {
	r := &refusal{gateway.Errorf(gateway.CodeInvalid, "%s", err), jsonrpc.CodeParse, nil}
	if scan, ok := err.(*jsonrpc.ScanError); ok { //nolint:errorlint // Scan returns nothing else
		r.rpc = scan.Code
	}
	return r
}

// errorMessage encodes an error as the answer to a request, in the configured
// language, and returns the HTTP status that goes with it.
func (s *Server) errorMessage(id []byte, err error) (message []byte, status int, e *gateway.Error) {
	return encodeError(id, err, s.language())
}

// encodeError encodes an error as the answer to a request. An error that a server
// answered with is forwarded unchanged.
func encodeError(id []byte, err error, language lang.Language) (message []byte, status int, e *gateway.Error) {
	e = gateway.AsError(err)
	wire := wireErrors[e.Code]
	if e.RPC != nil {
		return jsonrpc.AppendErrorObject(nil, id, e.RPC), http.StatusOK, e
	}
	text := language.Error(e)
	if errors.Is(err, jsonrpc.ErrHeaderMismatch) {
		return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(jsonrpc.CodeHeaderMismatch, text, nil)), http.StatusBadRequest, e
	}
	var refused *refusal
	if errors.As(err, &refused) {
		return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(refused.rpc, text, refused.data)), http.StatusOK, e
	}
	data := []byte(`{"code":"` + e.Code.String() + `"`)
	if e.RetryAfter > 0 {
		data = append(data, `,"retryAfterMs":`...)
		data = strconv.AppendInt(data, e.RetryAfter.Milliseconds(), 10)
	}
	data = append(data, '}')
	return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(wire.rpc, text, data)), wire.status, e
}

// modernStatus returns the HTTP status of a failed modern call. Errors of the
// protocol itself have the status 400, also those that a server answered with.
func modernStatus(status int, e *gateway.Error) int {
	if e.RPC == nil {
		return status
	}
	switch string(jsonrpc.Lookup(e.RPC, "code")) {
	case "-32020", "-32021", "-32022":
		return http.StatusBadRequest
	default:
		return status
	}
}

// ErrorMessage encodes an error as the answer to a request, for processes that
// answer without a Server.
func ErrorMessage(id []byte, err error, language lang.Language) []byte {
	message, _, _ := encodeError(id, err, language)
	return message
}
