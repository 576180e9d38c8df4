package execution

import "genkan/internal/gateway"

// Error is an error of a tool in the form that agents know from n8n's tools: a name,
// a message and what it is about.
type Error struct {
	// Name is NotFoundError or ValidationError.
	Name    string
	Message gateway.Text
	Context Context
}

// Context is what an Error is about.
type Context struct {
	Operation      string   `json:"operation,omitempty"`
	ResourceType   string   `json:"resourceType,omitempty"`
	ResourceID     string   `json:"resourceId,omitempty"`
	Field          string   `json:"field,omitempty"`
	AvailableNodes []string `json:"availableNodes,omitempty"`
}

func (e *Error) Error() string { return e.Message.String() }

const byNode = "get execution by node"

func invalid(field string, message gateway.Text) *Error {
	return &Error{Name: "ValidationError", Message: message, Context: Context{Operation: byNode, Field: field}}
}
