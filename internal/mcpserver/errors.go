package mcpserver

import (
	"net/http"
	"strconv"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// wireError is how a gateway.Code looks to an MCP client.
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
	gateway.CodeInternal:        {jsonrpc.CodeInternal, http.StatusOK},
	gateway.CodeInvalid:         {jsonrpc.CodeInvalidParams, http.StatusOK},
	gateway.CodeUnauthenticated: {http.StatusUnauthorized, http.StatusUnauthorized},
	gateway.CodeDenied:          {http.StatusForbidden, http.StatusOK},
	gateway.CodeNotFound:        {jsonrpc.CodeInvalidParams, http.StatusOK},
	gateway.CodeConflict:        {http.StatusConflict, http.StatusOK},
	gateway.CodeLimited:         {http.StatusTooManyRequests, http.StatusTooManyRequests},
	gateway.CodeUnavailable:     {http.StatusServiceUnavailable, http.StatusOK},
	gateway.CodeTimeout:         {http.StatusGatewayTimeout, http.StatusOK},
	gateway.CodeCanceled:        {499, http.StatusOK},
}

// errorMessage encodes an error as the answer to a request, and says which
// HTTP status goes with it. An error that an upstream answered with passes
// untouched.
func errorMessage(id []byte, err error) (message []byte, status int, e *gateway.Error) {
	e = gateway.AsError(err)
	wire := wireErrors[e.Code]
	if e.RPC != nil {
		return jsonrpc.AppendErrorObject(nil, id, e.RPC), http.StatusOK, e
	}
	data := []byte(`{"code":"` + e.Code.String() + `"`)
	if e.RetryAfter > 0 {
		data = append(data, `,"retryAfterMs":`...)
		data = strconv.AppendInt(data, e.RetryAfter.Milliseconds(), 10)
	}
	data = append(data, '}')
	return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(wire.rpc, e.Message, data)), wire.status, e
}

// scanErrorMessage answers a message that could not be read.
func scanErrorMessage(id []byte, err error) []byte {
	code := jsonrpc.CodeParse
	if scan, ok := err.(*jsonrpc.ScanError); ok { //nolint:errorlint // Scan returns nothing else
		code = scan.Code
	}
	return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(code, err.Error(), nil))
}

// modernStatus is the HTTP status of a failed modern call. The protocol's own
// errors are a 400 wherever they were found, also behind us.
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

// invalidRequestMessage answers what is no request that we can serve.
func invalidRequestMessage(id []byte, text string) []byte {
	return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(jsonrpc.CodeInvalidRequest, text, nil))
}

// ErrorMessage encodes an error as the answer to a request, for those who
// answer in a server's place.
func ErrorMessage(id []byte, err error) []byte {
	message, _, _ := errorMessage(id, err)
	return message
}
