package mcpserver

import (
	"errors"
	"net/http"
	"strconv"

	"genkan/internal/catalog"
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

// shownToModels reports which failures of a tool's call are results with isError
// instead of protocol errors. Most clients show results to the model and protocol
// errors to nobody, so a failure that the model or its user can act on is a result.
//
//exhaustive:enforce
var shownToModels = map[gateway.Code]bool{
	// The model cannot mend genkan. But it learns that the call failed, and can tell
	// its user where to look or do something else. The message has no details.
	gateway.CodeInternal:        true,
	gateway.CodeInvalid:         true,
	gateway.CodeUnauthenticated: true,
	gateway.CodeDenied:          true,
	// MCP defines a protocol error for an unknown tool.
	gateway.CodeNotFound:    false,
	gateway.CodeConflict:    true,
	gateway.CodeLimited:     true,
	gateway.CodeUnavailable: true,
	gateway.CodeTimeout:     true,
	// A person canceled it in Genkan. If the client did, nobody waits for the answer.
	gateway.CodeCanceled: true,
}

// metaError is the _meta key of the failure that a result tells of, for programs.
const metaError = gateway.MetaPrefix + "error"

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
// language and its public form, and returns the HTTP status that goes with it.
func (s *Server) errorMessage(id []byte, err error) (message []byte, status int, e *gateway.Error) {
	return encodeError(id, gateway.PublicError(err), s.language())
}

// callErrorMessage is errorMessage for a call that failed in the corridor. The user
// whom genkan runs as reads the full form.
func (s *Server) callErrorMessage(id []byte, call *gateway.Call, err error) (message []byte, status int, e *gateway.Error) {
	if !call.Identity.IsLocal() {
		err = gateway.PublicError(err)
	}
	return encodeCallError(id, call.Method, &call.Params, err, s.language())
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
	return jsonrpc.AppendErrorObject(nil, id, jsonrpc.ErrorObject(wire.rpc, text, appendDetails(nil, e))), wire.status, e
}

// appendDetails appends what programs read of an error.
func appendDetails(to []byte, e *gateway.Error) []byte {
	code := e.Code.String()
	if catalog.IsDisabled(e) {
		code = "disabled" // denied is also what a server's sign-in lacks permissions for
	}
	to = append(append(append(to, `{"code":"`...), code...), '"')
	if e.RetryAfter > 0 {
		to = strconv.AppendInt(append(to, `,"retryAfterMs":`...), e.RetryAfter.Milliseconds(), 10)
	}
	if e.Field != "" {
		to = jsonrpc.AppendQuoted(append(to, `,"field":`...), e.Field)
	}
	return append(to, '}')
}

// encodeCallError encodes the error of a call as the answer to its request: as a
// result if a model can act on it, and as encodeError does otherwise. Of the params
// it uses only which ones there are.
func encodeCallError(id []byte, method string, in *gateway.Params, err error, language lang.Language) (message []byte, status int, e *gateway.Error) {
	e = gateway.AsError(err)
	if !isResult(method, in, err, e) {
		return encodeError(id, err, language)
	}
	result := []byte{'{'}
	if in.Version.Present() {
		result = append(result, `"resultType":"complete",`...)
	}
	result = jsonrpc.AppendQuoted(append(result, `"content":[{"type":"text","text":`...), language.Error(e))
	result = append(result, `}],"isError":true,"_meta":{"`+metaError+`":`...)
	result = append(appendDetails(result, e), "}}"...)
	return jsonrpc.AppendResult(nil, id, result), http.StatusOK, e
}

// isResult reports whether the error of a call is answered with a result. Errors
// that a server answered with, and those of the protocol itself, stay errors.
func isResult(method string, in *gateway.Params, err error, e *gateway.Error) bool {
	var refused *refusal
	switch {
	case method != "tools/call" || e.RPC != nil || errors.Is(err, jsonrpc.ErrHeaderMismatch) || errors.As(err, &refused):
		return false
	case errors.Is(err, errCanceledByClient):
		return false
	case in.Task.Present():
		return false // the client expects a task, which has no isError
	case e.Code == gateway.CodeInvalid && in.RequestState.Present():
		return false // the state is the client's, and not an argument that a model has made
	default:
		return shownToModels[e.Code]
	}
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
// answer without a Server. Of the request it uses ID, Method, and which Params there
// are. A request without a method was not accepted, and gets a protocol error.
func ErrorMessage(msg *jsonrpc.Message, err error, language lang.Language) []byte {
	message, _, _ := encodeCallError(msg.ID, msg.Method, &msg.Params, err, language)
	return message
}
