package api

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/catalog"
	"genkan/internal/gateway"
)

// restError is how REST clients see a gateway.Code.
type restError struct {
	status int
	code   string
}

// restErrorOf returns the restError of a code.
func restErrorOf(code gateway.Code) restError {
	e := client.ErrorCodes[code]
	return restError{e.Status, e.Name}
}

func (a *API) fail(w http.ResponseWriter, err error) { a.failAfter(w, err, nil) }

func (a *API) failAfter(w http.ResponseWriter, err error, took *float64) {
	e := gateway.AsError(err)
	rest := restErrorOf(e.Code)
	if e.RPC != nil && e.Code == gateway.CodeUnavailable {
		// The server answered, so the tool failed.
		rest = restError{http.StatusInternalServerError, "TOOL_EXECUTION_ERROR"}
	}
	if errors.Is(err, catalog.ErrDisabled) {
		rest.code = "TOOL_DISABLED"
	}
	if e.Code == gateway.CodeInternal {
		a.opt.Log.Error("a request failed inside", "error", err)
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	a.answer(w, rest, e, took)
}

// refuseBody answers that a body is invalid.
func (a *API) refuseBody(w http.ResponseWriter, status int, wrong *gateway.Error, took *float64) {
	if wrong.Code == gateway.CodeLimited {
		a.failAfter(w, wrong, took)
		return
	}
	a.answer(w, restError{status, restErrorOf(gateway.CodeInvalid).code}, wrong, took)
}

// isUnknownTool reports whether the corridor found no tool of the name. REST does not
// distinguish whether its server may still list it.
func isUnknownTool(err error) bool {
	return gateway.AsError(err).Code == gateway.CodeNotFound || errors.Is(err, catalog.ErrNotListed)
}

// toolNotFound answers with the seed's code and message for an unknown tool.
func (a *API) toolNotFound(w http.ResponseWriter, name string, took *float64) {
	why := a.opt.House().Unknown(name)
	name = gateway.Short(name)
	e := gateway.Errorf(gateway.CodeNotFound, "Tool not found: %s", name)
	switch {
	case why.Down:
		e = gateway.Errorf(gateway.CodeNotFound,
			"Tool not found: %s. Server %s is down and has not listed any tools yet: %s. `genkan servers %s` shows its last output",
			name, why.Server, why.Problem, why.Server)
	case why.Server != "":
		e = gateway.Errorf(gateway.CodeNotFound,
			"Tool not found: %s. Server %s has not listed any tools yet; `genkan servers %s` shows what it is doing", name, why.Server, why.Server)
	case why.Near != "":
		e = gateway.Errorf(gateway.CodeNotFound, "Tool not found: %s. Did you mean %s?", name, why.Near)
	}
	a.answer(w, restError{http.StatusNotFound, "TOOL_NOT_FOUND"}, e, took)
}

// answer answers with an error in the configured language.
func (a *API) answer(w http.ResponseWriter, rest restError, e *gateway.Error, took *float64) {
	a.noteRefusal(w, rest)
	encode(w, rest.status, client.Failure{
		Error: a.language().Error(e), Code: rest.code, Field: e.Field, ExecutionTime: took, Timestamp: timestamp(),
	})
}
