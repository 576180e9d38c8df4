package kb

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"genkan/internal/gateway"
)

// Code is the number of an error, part of the tools' protocol.
type Code int

// The codes.
const (
	CodeItemNotFound        Code = 1001
	CodeValidation          Code = 1002
	CodeDatabase            Code = 1003
	CodeConstraintViolation Code = 1004
	CodePermissionDenied    Code = 1005
)

// ReasonNoSpace is the reason, among the details of a database error, that nothing
// more can be kept.
const ReasonNoSpace = "no_space"

// Error is what the knowledge base answers instead of what was asked for.
// Nothing has changed then. Its texts are part of the protocol and stay English.
type Error struct {
	Code    Code
	Name    string // ValidationError, …
	Message string // Validation failed, …
	Details Details
	Time    time.Time
	// Err is for the log.
	Err error
}

// Details say what is wrong and what would be right.
type Details struct {
	// Field is the argument; empty when it is no single one.
	Field string
	// Value is what was given, long texts shortened.
	Value any
	// Constraint is what a value must be.
	Constraint string
	// Ref is the item that was not found.
	Ref Ref
	// Actual is the reference of the item that has this id.
	Actual Ref
	// Index is the entry of a bulk update, if HasIndex.
	Index    int
	HasIndex bool
	// Hint says more, or what to do next.
	Hint string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s", e.Code, e.Message)
	for _, more := range []string{e.Details.Field, e.Details.Constraint, e.Details.Hint} {
		if more != "" {
			text += ": " + more
		}
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Invalid is a value that may not be.
func Invalid(field string, value any, constraint string) *Error {
	return &Error{
		Code: CodeValidation, Name: "ValidationError", Message: "Validation failed",
		Details: Details{Field: gateway.Short(field), Value: shortened(value), Constraint: constraint},
	}
}

// notFound is an item that is not there. Field is the argument that named it,
// if it was not the item that the call is about.
func notFound(field string, ref, actual Ref) *Error {
	e := &Error{
		Code: CodeItemNotFound, Name: "ItemNotFoundError", Message: "Item not found",
		Details: Details{Ref: ref, Actual: actual, Field: field},
	}
	if !actual.IsZero() {
		e.Details.Hint = "Item " + ref.String() + " does not exist; this id belongs to " + actual.String()
	}
	return e
}

// violated is a rule between things that were given and things that are there.
func violated(field string, value any, constraint, hint string) *Error {
	return &Error{
		Code: CodeConstraintViolation, Name: "ConstraintViolationError", Message: "Constraint violation",
		Details: Details{Field: field, Value: shortened(value), Constraint: constraint, Hint: hint},
	}
}

// maxShown is how much of a wrong text an error repeats.
const maxShown = 100

func shortened(value any) any {
	switch v := value.(type) {
	case Priority:
		return shortened(string(v))
	case json.Number:
		// Not every reader takes every number.
		if _, err := v.Float64(); err != nil || len(v) > maxShown {
			return shortened(v.String())
		}
	case string:
		if r := []rune(v); len(r) > maxShown {
			return string(r[:maxShown]) + "…"
		}
	case []any, map[string]any:
		if raw, err := json.Marshal(v); err != nil || len(raw) > maxShown {
			return shortened(string(raw))
		}
	}
	return value
}

// stamp makes what a method ends with the error that callers are promised: an
// *Error with its time. Only that a call was given up passes as it is.
func (b *Base) stamp(err *error) {
	if *err == nil {
		return
	}
	var own *Error
	if !errors.As(*err, &own) {
		cause := gateway.AsError(*err)
		if cause.Code == gateway.CodeCanceled || cause.Code == gateway.CodeTimeout {
			*err = cause
			return
		}
		own = &Error{
			Code: CodeDatabase, Name: "DatabaseError", Message: "Database error",
			Details: Details{Hint: cause.Text()}, Err: *err,
		}
		if errors.Is(*err, gateway.ErrReadOnly) {
			own = &Error{
				Code: CodePermissionDenied, Name: "PermissionDeniedError", Message: "Permission denied",
				Details: own.Details, Err: *err,
			}
		}
	}
	stamped := *own
	stamped.Time = b.now()
	*err = &stamped
}
