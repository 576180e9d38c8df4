package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"genkan/internal/gateway"
)

// failure is the form of errors, as in the REST API.
type failure struct {
	Success   bool   `json:"success"`
	Error     string `json:"error"`
	Code      string `json:"code"`
	Timestamp string `json:"timestamp"`
}

// answer is the status and the name of a code.
type answer struct {
	status int
	name   string
}

// answers is this edge's table.
//
//exhaustive:enforce
var answers = map[gateway.Code]answer{
	gateway.CodeInternal:        {http.StatusInternalServerError, "INTERNAL_ERROR"},
	gateway.CodeInvalid:         {http.StatusBadRequest, "VALIDATION_ERROR"},
	gateway.CodeUnauthenticated: {http.StatusUnauthorized, "AUTHENTICATION_ERROR"},
	gateway.CodeDenied:          {http.StatusForbidden, "AUTHORIZATION_ERROR"},
	gateway.CodeNotFound:        {http.StatusNotFound, "NOT_FOUND"},
	gateway.CodeConflict:        {http.StatusConflict, "CONFLICT"},
	gateway.CodeLimited:         {http.StatusTooManyRequests, "RATE_LIMIT_EXCEEDED"},
	gateway.CodeUnavailable:     {http.StatusServiceUnavailable, "UPSTREAM_UNAVAILABLE"},
	gateway.CodeTimeout:         {http.StatusRequestTimeout, "TIMEOUT"},
	gateway.CodeCanceled:        {499, "CANCELED"},
}

// failWith answers with an error.
func (u *UI) failWith(w http.ResponseWriter, err error) {
	e := gateway.AsError(err)
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	a := answers[e.Code]
	u.fail(w, a.status, a.name, e)
}

// fail answers with a status, a name and the text of an error.
func (u *UI) fail(w http.ResponseWriter, status int, name string, e *gateway.Error) {
	encode(w, status, failure{Error: u.opt.Language().Error(e), Code: name, Timestamp: time.Now().UTC().Format("2006-01-02T15:04:05.000Z")})
}

// encode answers with JSON.
func encode(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // the types here can all be encoded
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}
