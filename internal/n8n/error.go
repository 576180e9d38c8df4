package n8n

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"genkan/internal/gateway"
)

// These are the names of errors. They are part of the tools' protocol.
const (
	nameNotFound   = "NotFoundError"
	nameAPI        = "ApiError"
	nameValidation = "ValidationError"
)

// Error is the error of a tool. It is shown as a JSON object in a result with isError.
type Error struct {
	// Name is NotFoundError, ApiError or ValidationError.
	Name string
	// StatusCode is the HTTP status of n8n's answer; 0 without one.
	StatusCode int
	// Operation is what failed, such as "update workflow". ResourceType and ResourceID
	// name what it was about.
	Operation, ResourceType, ResourceID string
	// Problem is the message of a ValidationError, and of other errors that have one of
	// their own.
	Problem gateway.Text
	// AvailableNodes are the nodes that an execution has, if the wrong one was asked for.
	AvailableNodes []string
	// Field is the argument that a ValidationError is about.
	Field string
	// Said is n8n's own message.
	Said string
	// Details explain the error and say what to check.
	Details []gateway.Text
	// Err is the cause, for the log. It never has the API key.
	Err error
}

// Message returns the message. That of a NotFoundError or an ApiError is part of the
// protocol and stays English.
func (e *Error) Message(translate gateway.Translate) string {
	switch {
	case e.Problem.Format != "":
		return e.Problem.In(translate)
	case e.Name == nameNotFound:
		return fmt.Sprintf("%s '%s' not found", e.ResourceType, e.ResourceID)
	}
	message := "Failed to " + e.Operation
	if e.ResourceID != "" {
		message += fmt.Sprintf(" for %s '%s'", e.ResourceType, e.ResourceID)
	}
	if e.StatusCode != 0 {
		message += fmt.Sprintf(" (HTTP %d)", e.StatusCode)
	}
	return message
}

func (e *Error) Error() string {
	text := e.Name + ": " + e.Message(nil)
	if details := e.details(nil); details != "" {
		text += ": " + details
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Text returns the error for people: what is wrong and what to check.
func (e *Error) Text() gateway.Text {
	if len(e.Details) > 0 {
		return gateway.Textf("%s", gateway.Texts{Each: e.Details, Between: ". "})
	}
	return gateway.Textf("%s", e.Error())
}

func (e *Error) details(translate gateway.Translate) string {
	texts := gateway.Texts{Each: e.Details, Between: ". "}.In(translate)
	switch {
	case e.Said == "":
		return texts
	case texts == "":
		return e.Said
	}
	return e.Said + ". " + texts
}

// encode returns the error as the JSON object that agents read.
func (e *Error) encode(translate gateway.Translate) ([]byte, error) {
	type context struct {
		Field        string `json:"field,omitempty"`
		Operation    string `json:"operation,omitempty"`
		ResourceType string `json:"resourceType,omitempty"`
		ResourceID   string `json:"resourceId,omitempty"`
		ErrorDetails string `json:"errorDetails,omitempty"`

		AvailableNodes []string `json:"availableNodes,omitempty"`
	}
	return encodeJSON(struct {
		Name       string  `json:"name"`
		Message    string  `json:"message"`
		StatusCode int     `json:"statusCode,omitempty"`
		Context    context `json:"context"`
	}{
		e.Name, e.Message(translate), e.StatusCode,
		context{e.Field, e.Operation, e.ResourceType, e.ResourceID, e.details(translate), e.AvailableNodes},
	})
}

// explain adds a text to the details of an *Error.
func explain(err error, format string, values ...any) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	more := *e
	more.Details = append(e.Details[:len(e.Details):len(e.Details)], gateway.Textf(format, values...))
	return &more
}

// invalid returns a ValidationError about an argument.
func invalid(field, format string, values ...any) *Error {
	return &Error{Name: nameValidation, Field: field, Problem: gateway.Textf(format, values...)}
}

// statusOf returns the HTTP status of an error; 0 if n8n did not answer.
func statusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.StatusCode
	}
	return 0
}

// refused returns the error of an answer with a status that is no success.
func (c *Client) refused(r *request, status int, contentType string, body []byte) *Error {
	e := &Error{
		Name: nameAPI, StatusCode: status, Operation: r.operation, ResourceType: r.resource, ResourceID: r.id,
	}
	var answer struct{ Message, Hint string }
	isJSON := json.Unmarshal(body, &answer) == nil
	e.Said = c.shown(answer.Message)
	switch {
	case status == http.StatusUnauthorized && e.Said == "":
		e.Details = append(e.Details, c.noN8N())
	case status == http.StatusUnauthorized:
		e.Details = append(e.Details, gateway.Textf(
			"n8n does not accept the API key of %s. It may be wrong, expired or of another instance, or the address is not that of n8n. Create a key in n8n under Settings > n8n API", c.name))
	case status == http.StatusForbidden:
		e.Details = append(e.Details, gateway.Textf(
			"The API key of %s may not do this. Give it the scope %s in n8n under Settings > n8n API, or use a key of a user who may", c.name, r.scope))
	case status == http.StatusNotFound && r.id != "" && (isJSON || len(body) == 0):
		e.Name = nameNotFound
		e.StatusCode = 0
		e.Said = ""
		if r.resource == resourceExecution {
			e.Details = append(e.Details, gateway.Textf("list_executions has the ids. n8n deletes old executions"))
		} else {
			e.Details = append(e.Details, gateway.Textf("list_workflows has the ids"))
		}
	case status == http.StatusNotFound:
		e.Details = append(e.Details, gateway.Textf(
			"%s has no n8n API. Check the URL; the public API may be disabled there (N8N_PUBLIC_API_DISABLED)", c.url()))
	case status >= 300 && status < 400:
		e.Details = append(e.Details, gateway.Textf("%s redirects to another address. Set the URL of n8n itself; the API key is not sent elsewhere", c.url()))
	case status == http.StatusTooManyRequests:
		e.Details = append(e.Details, gateway.Textf("n8n refuses requests for a while because there were too many. Try again later"))
	case status >= 500 && !isJSON:
		e.Details = append(e.Details, gateway.Textf(
			"%s answered with a page instead of JSON. n8n may be starting or failing, or a proxy before it cannot reach it; look at their logs and try again", c.url()))
	case status >= 500:
		e.Details = append(e.Details, gateway.Textf("n8n failed. Look at its log; the same call may succeed later"))
	case status == http.StatusBadRequest && !isJSON && c.base.Scheme == "http" && bytes.Contains(bytes.ToUpper(body), []byte("HTTPS")):
		// So do Go's servers and nginx answer.
		e.Details = append(e.Details, c.otherScheme("https"))
	case status == http.StatusBadRequest && e.Said == "":
		e.Details = append(e.Details, gateway.Textf("n8n refused the request and did not say why (%s)", contentType))
	}
	return e
}
