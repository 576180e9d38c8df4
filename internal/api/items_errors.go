package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
	"genkan/internal/kb"
)

// knowledgeError is an error of the knowledge base, as its tools answer it.
type knowledgeError struct {
	Code    kb.Code         `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// knowledgeDetails are the details of an error that its message mentions.
type knowledgeDetails struct {
	knowledgeProblem
	// Others are further problems, and More counts those that are left out.
	Others    []knowledgeProblem `json:"others"`
	More      int                `json:"more"`
	Message   string             `json:"message"`
	Requested string             `json:"requested_id"`
	Reason    string             `json:"reason"`
}

// knowledgeProblem is a wrong argument.
type knowledgeProblem struct {
	Field      string `json:"field"`
	Constraint string `json:"constraint"`
	// Index is the entry of a bulk update.
	Index *int `json:"index"`
}

// itemFailure answers with an error of the knowledge base.
func (a *API) itemFailure(w http.ResponseWriter, tool string, result *gateway.Result) {
	rest, out, known := a.knowledgeFailure(tool, result, true)
	if !known { // a middleware in the corridor has answered
		rest, out = toolFailed, client.Failure{Error: a.language().Sprintf("Tool execution failed: %s: %s", tool, a.textOf(result))}
	}
	a.sendFailure(w, rest, out)
}

// knowledgeFailure converts an error of the knowledge base into this API's form. The
// error's own message is part of the knowledge base's protocol and stays English.
// The text around it is translated. If routes is set, fields have the names that the
// routes of the knowledge base have for them. It reports false for other results.
func (a *API) knowledgeFailure(tool string, result *gateway.Result, routes bool) (rest restError, out client.Failure, known bool) {
	var said knowledgeError
	var d knowledgeDetails
	_ = json.Unmarshal(jsonrpc.Lookup(result.Raw, "structuredContent"), &said)
	details := jsonrpc.Lookup(said.Data, "details")
	_ = json.Unmarshal(details, &d)
	if rest, known = knowledgeErrors[said.Code]; !known {
		return rest, out, false
	}
	out.Details = details
	if routes {
		d.Field = fieldHere(d.Field)
		for i := range d.Others {
			d.Others[i].Field = fieldHere(d.Others[i].Field)
		}
	} else {
		out.Data = said.Data
	}
	if d.Reason == kb.ReasonNoSpace {
		rest.status = statusNoSpace
	}
	out.Error, out.Field = a.language().Error(knowledgeWords(tool, said, d)), d.Field
	return rest, out, true
}

// knowledgeWords converts an error of the knowledge base into a message for people.
func knowledgeWords(tool string, said knowledgeError, d knowledgeDetails) *gateway.Error {
	switch {
	case said.Code == kb.CodeItemNotFound && d.Message != "":
		return invalid("Item not found: %s. %s", d.Requested, d.Message)
	case said.Code == kb.CodeItemNotFound:
		return invalid("Item not found: %s", d.Requested)
	case said.Code == kb.CodeValidation && d.Field != "":
		return invalid("Validation failed: %s", d.problems(tool))
	case said.Code == kb.CodeConstraintViolation:
		return invalid("Constraint violation: %s", d.Message)
	case said.Code == kb.CodeDatabase:
		return invalid("Database error: %s", d.Message)
	case said.Code == kb.CodePermissionDenied:
		return invalid("Permission denied: %s", d.Message)
	default:
		return invalid("%s", said.Message)
	}
}

// problems returns a sentence for each problem. The knowledge base has translated them.
func (d *knowledgeDetails) problems(tool string) gateway.Texts {
	texts := gateway.Texts{Between: gateway.Apart}
	entry := -1
	for _, p := range append([]knowledgeProblem{d.knowledgeProblem}, d.Others...) {
		said := p.Field + ": " + p.Constraint
		if tool == "bulk_update" && p.Index != nil && *p.Index != entry {
			entry = *p.Index
			said = "updates[" + strconv.Itoa(entry) + "]: " + said
		}
		texts.Each = append(texts.Each, gateway.Text{Format: "%s", Values: []any{said}})
	}
	if d.More > 0 {
		texts.Each = append(texts.Each, gateway.Textf("and %d more", d.More))
	}
	return texts
}

// fieldHere returns this API's name of a tool's argument.
func fieldHere(argument string) string {
	name, place, listed := strings.Cut(argument, "[")
	here, other := map[string]string{
		"types": "type", "to_type": "type", "statuses": "status", "includeClosedStatuses": "includeClosed",
	}[name]
	switch {
	case !other:
		return argument
	case listed:
		return here + "[" + place
	default:
		return here
	}
}
