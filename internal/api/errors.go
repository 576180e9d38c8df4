package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
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

// fail answers with an error.
func (a *API) fail(w http.ResponseWriter, err error) {
	e := gateway.AsError(err)
	rest := restErrorOf(e.Code)
	if isToolFailure(e) {
		rest = toolFailed
	}
	if catalog.IsDisabled(e) {
		rest.code = "TOOL_DISABLED"
		if one, ok := w.(*response); ok && one.id.Admin {
			e = catalog.DisabledForAdmins(e)
		}
	}
	if e.Code == gateway.CodeInternal {
		a.opt.Log.Error("a request failed inside", "error", err)
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	a.answer(w, rest, e)
}

// refuseBody answers that a body is invalid.
func (a *API) refuseBody(w http.ResponseWriter, status int, wrong *gateway.Error) {
	if wrong.Code == gateway.CodeLimited {
		a.fail(w, wrong)
		return
	}
	a.answer(w, restError{status, restErrorOf(gateway.CodeInvalid).code}, wrong)
}

// isUnknownTool reports whether the corridor found no tool of the name.
func isUnknownTool(err error) bool { return gateway.AsError(err).Code == gateway.CodeNotFound }

// toolNotFound answers with the seed's code and message for a tool that a view
// lacks. It suggests only tools that the caller sees in the view.
func (a *API) toolNotFound(w http.ResponseWriter, id gateway.Identity, view gateway.View, name string) {
	why := a.opt.House().Unknown(id, view, name)
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
	a.answer(w, restError{http.StatusNotFound, "TOOL_NOT_FOUND"}, e)
}

// toolFailed is how REST clients see the failure of a tool.
var toolFailed = restError{http.StatusInternalServerError, "TOOL_EXECUTION_ERROR"} //nolint:gochecknoglobals // never changed

// needsClient is how REST clients see the failure of a tool that asked them something.
var needsClient = restError{http.StatusUnprocessableEntity, "CLIENT_NEEDED"} //nolint:gochecknoglobals // never changed

// askedCaller returns the error of a tool that failed because it asked its caller something.
// Genkan has told its server that this caller cannot answer, and servers repeat that.
func askedCaller(tool, said string) *gateway.Error {
	_, method, refused := strings.Cut(said, gateway.NotAnnounced)
	switch {
	case refused && strings.HasPrefix(method, "elicitation/create"):
		return gateway.Errorf(gateway.CodeInvalid, "%s asks the person who calls it a question, which a call over REST, the command line or the web UI cannot answer; call it from a client that supports elicitation", tool)
	case refused && strings.HasPrefix(method, "sampling/createMessage"):
		return gateway.Errorf(gateway.CodeInvalid, "%s asks the model of its client, which a call over REST, the command line or the web UI does not have; call it from a client that supports sampling", tool)
	default:
		return nil
	}
}

// isToolFailure reports whether the server answered with an error, so that the tool
// has failed.
func isToolFailure(e *gateway.Error) bool {
	return e.RPC != nil && e.Code == gateway.CodeUnavailable
}

// answer answers with an error in the configured language, and in its public form
// unless the caller is the user whom genkan runs as.
func (a *API) answer(w http.ResponseWriter, rest restError, e *gateway.Error) {
	a.noteRefusal(w, rest)
	if one, ok := w.(*response); !ok || !one.id.IsLocal() {
		e = gateway.AsError(gateway.PublicError(e))
	}
	a.sendFailure(w, rest, client.Failure{Error: a.language().Error(e), Field: e.Field, Details: a.details(e.Problems)})
}

// sendFailure sends the body of a failure.
func (a *API) sendFailure(w http.ResponseWriter, rest restError, out client.Failure) {
	out.Code, out.ExecutionTime, out.Timestamp = rest.code, executionTime(w), timestamp()
	encode(w, rest.status, out)
}

// details encodes problems of the input; nil if there are none.
func (a *API) details(problems []gateway.Problem) json.RawMessage {
	if len(problems) == 0 {
		return nil
	}
	all := make([]client.InputProblem, 0, len(problems))
	for _, p := range problems {
		all = append(all, client.InputProblem{
			Field: p.Field, InstancePath: p.Pointer, Keyword: p.Keyword, Params: p.Params, Message: a.language().Text(p.Text),
		})
	}
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(all); err != nil {
		a.opt.Log.Error("details could not be encoded", "error", err)
		return nil
	}
	return raw.Bytes()
}
