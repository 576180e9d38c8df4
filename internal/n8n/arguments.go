package n8n

import (
	"encoding/json"
	"slices"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// arguments are the arguments of a call. Each keeps its bytes. The first error counts.
type arguments struct {
	values map[string]json.RawMessage
	err    error
}

func (a *arguments) refuse(err error) {
	if a.err == nil {
		a.err = err
	}
}

// newArguments reads the arguments of a call. Those that the tool does not have are
// refused, because they would be lost silently; except for what n8n itself adds to a
// workflow, if the tool takes one.
func newArguments(call *gateway.Call, t *tool) *arguments {
	a := &arguments{values: map[string]json.RawMessage{}}
	raw := call.Params.Get(call.Params.Arguments)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if err := json.Unmarshal(raw, &a.values); err != nil {
		a.err = invalid("", "The arguments must be a JSON object")
		return a
	}
	if jsonrpc.CheckUnique(raw) != nil {
		a.err = invalid("", "The arguments must not have a key twice")
		return a
	}
	known := t.known()
	for key, value := range a.values {
		switch {
		case string(value) == "null":
			delete(a.values, key)
		case slices.Contains(known, key) || t.takesWorkflow && slices.Contains(workflowKeys(), key):
		case t.takesWorkflow && slices.Contains(readOnlyKeys(), key):
			delete(a.values, key)
		default:
			if near := gateway.Nearest(key, slices.Values(known)); near != "" {
				a.refuse(invalid(key, "Unknown argument %s. Did you mean %s?", gateway.Short(key), near))
			} else {
				a.refuse(invalid(key, "Unknown argument %s. Known are %s", gateway.Short(key), strings.Join(known, ", ")))
			}
		}
	}
	for _, key := range t.required {
		if _, given := a.values[key]; !given {
			a.refuse(missing(t, key))
		}
	}
	return a
}

func missing(t *tool, key string) error {
	if key == "id" {
		if t.aboutExecution {
			return invalid(key, "Execution ID is required")
		}
		return invalid(key, "Workflow ID is required")
	}
	return invalid(key, "%s is required", key)
}

func (a *arguments) has(key string) bool { return a.values[key] != nil }

// fits decodes an argument. It reports false if the argument is of another type.
func (a *arguments) fits(key string, into any) bool {
	raw, given := a.values[key]
	return !given || json.Unmarshal(raw, into) == nil
}

func (a *arguments) text(key string) (s string) {
	if !a.fits(key, &s) {
		a.refuse(invalid(key, "%s must be a text", key))
	}
	return s
}

func (a *arguments) flag(key string) bool {
	b := a.choice(key)
	return b != nil && *b
}

// choice returns a flag, or nil if it is absent.
func (a *arguments) choice(key string) (b *bool) {
	if !a.fits(key, &b) {
		a.refuse(invalid(key, "%s must be true or false", key))
	}
	return b
}

// texts returns a list of texts. One text is a list of one.
func (a *arguments) texts(key string) (list []string) {
	if raw := a.values[key]; len(raw) > 0 && raw[0] == '"' {
		return []string{a.text(key)}
	}
	if !a.fits(key, &list) {
		a.refuse(invalid(key, "%s must be an array of texts", key))
	}
	return list
}

// number returns an integer from least to most; usual if it is absent.
func (a *arguments) number(key string, usual, least, most int) int {
	n := usual
	if raw, given := a.values[key]; given {
		var f float64
		if json.Unmarshal(raw, &f) != nil || f != float64(int(f)) || int(f) < least || int(f) > most {
			a.refuse(invalid(key, "%s must be an integer from %d to %d", key, least, most))
			return usual
		}
		n = int(f)
	}
	return n
}

// id returns the id of a workflow.
func (a *arguments) id() string {
	id := a.text("id")
	if a.err == nil && strings.TrimSpace(id) == "" {
		a.refuse(invalid("id", "Workflow ID is required"))
	}
	if a.err == nil && (len(id) > 100 || strings.ContainsAny(id, "/\\ ?#%") || id == "." || id == "..") {
		a.refuse(invalid("id", "'%s' is no workflow ID. list_workflows has the ids", gateway.Short(id)))
	}
	return id
}

// execution returns the id of an execution, which is digits. A number is accepted, too.
func (a *arguments) execution() string {
	var id string
	raw := a.values["id"]
	if json.Unmarshal(orNull(raw), &id) != nil {
		id = string(raw)
	}
	if a.err == nil && (id == "" || len(id) > 20 || strings.Trim(id, "0123456789") != "") {
		a.refuse(invalid("id", "'%s' is no execution ID, which has digits only. list_executions has the ids", gateway.Short(id)))
	}
	return id
}

// object returns JSON as it was sent. Some agents send it as a text, which is unquoted.
func (a *arguments) object(key string) json.RawMessage {
	raw := a.values[key]
	if len(raw) > 0 && raw[0] == '"' {
		var inner string
		if json.Unmarshal(raw, &inner) == nil && json.Valid([]byte(inner)) {
			return json.RawMessage(inner)
		}
	}
	return raw
}
