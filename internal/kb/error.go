package kb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"genkan/internal/gateway"
)

// Code is the number of an error. It is part of the tools' protocol.
type Code int

// These are the codes of the protocol.
const (
	CodeItemNotFound        Code = 1001
	CodeValidation          Code = 1002
	CodeDatabase            Code = 1003
	CodeConstraintViolation Code = 1004
	CodePermissionDenied    Code = 1005
)

// ReasonNoSpace is the reason in the details of a database error that says that
// storage is full.
const ReasonNoSpace = "no_space"

// Error is the error of a call to the knowledge base. The call has changed nothing.
// Name and Message are part of the protocol and stay English; the texts of the details
// are translated.
type Error struct {
	Code    Code
	Name    string // such as ValidationError
	Message string // such as Validation failed
	Details Details
	Time    time.Time
	// Err is the cause, for the log.
	Err error
}

// Details describe the error and the correct input.
type Details struct {
	// Field is the argument, or empty if the error concerns more than one.
	Field string
	// Value is the given value. Long texts are shortened.
	Value any
	// Constraint is the rule for the value.
	Constraint gateway.Text
	// Violated is the name of a rule of the stored data.
	Violated string
	// Ref is the item that was not found.
	Ref Ref
	// Actual is the reference of the item that has this id.
	Actual Ref
	// List is the argument whose entry Index is wrong, such as updates. Field belongs to
	// that entry then.
	List  string
	Index int
	// Hint explains more or says what to do next.
	Hint gateway.Text
	// Others are further arguments that are wrong, and More counts those that are left out.
	Others []Details
	More   int
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s", e.Code, e.in(nil))
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// in returns the message and what there is to say about it, in the language of translate.
func (e *Error) in(translate gateway.Translate) string {
	text := e.Message
	add := func(more string) {
		if more != "" {
			text += ": " + more
		}
	}
	d := &e.Details
	if d.List != "" {
		add(at(d.List, d.Index))
	}
	hint := d.Hint.In(translate)
	if !d.Ref.IsZero() {
		add(d.Ref.String())
		if hint != "" {
			text += ". " + hint
		}
		return text
	}
	add(d.Field)
	add(d.Constraint.In(translate))
	add(hint)
	last := d
	for i := range d.Others {
		o := &d.Others[i]
		text += "; "
		if o.List != "" && (o.List != last.List || o.Index != last.Index) {
			text += at(o.List, o.Index) + ": "
		}
		text += o.Field + ": " + o.Constraint.In(translate)
		last = o
	}
	if d.More > 0 {
		text += "; " + gateway.Textf("and %d more", d.More).In(translate)
	}
	return text
}

// refusal collects what is wrong with a call: the first error, with those of other
// arguments.
type refusal struct{ err error }

// maxOthers is how many further arguments an error names.
const maxOthers = gateway.MaxProblems - 1

// refuse adds an error, unless it is nil. Only the first one about an argument counts.
func (r *refusal) refuse(err error) {
	if r.err == nil || err == nil {
		r.err = cmp.Or(r.err, err)
		return
	}
	var first, other *Error
	if !errors.As(r.err, &first) || !errors.As(err, &other) || first.Code != CodeValidation || other.Code != CodeValidation {
		return
	}
	d := &first.Details
	for _, o := range slices.Concat([]Details{other.Details}, other.Details.Others) {
		same := func(known Details) bool { return known.Field == o.Field && known.Index == o.Index }
		if same(*d) || slices.ContainsFunc(d.Others, same) {
			continue
		}
		if len(d.Others) == maxOthers {
			d.More++
			continue
		}
		o.Others, o.More = nil, 0
		d.Others = append(d.Others, o)
	}
	d.More += other.Details.More
}

// Invalid returns the error of an invalid value. The format and its values are the rule
// for it, such as "Must have at most %d entries".
func Invalid(field string, value any, format string, values ...any) *Error {
	return &Error{
		Code: CodeValidation, Name: "ValidationError", Message: "Validation failed",
		Details: Details{Field: gateway.Short(field), Value: shortened(value), Constraint: gateway.Textf(format, values...)},
	}
}

// notFound returns the error of a missing item. Field is the argument that named it,
// if it is not the item that the call is about.
func notFound(field string, ref, actual Ref) *Error {
	e := &Error{
		Code: CodeItemNotFound, Name: "ItemNotFoundError", Message: "Item not found",
		Details: Details{Ref: ref, Actual: actual, Field: field},
	}
	if !actual.IsZero() {
		e.Details.Hint = gateway.Textf("This id belongs to %s", actual.String())
	}
	return e
}

// violated returns the error of a value that conflicts with stored data.
func violated(field string, value any, rule string, hint gateway.Text) *Error {
	return &Error{
		Code: CodeConstraintViolation, Name: "ConstraintViolationError", Message: "Constraint violation",
		Details: Details{Field: field, Value: shortened(value), Violated: rule, Hint: hint},
	}
}

// maxShown is the number of characters of a wrong text that an error repeats.
const maxShown = 100

func shortened(value any) any {
	switch v := value.(type) {
	case Priority:
		return shortened(string(v))
	case json.Number:
		// Not every JSON reader accepts every number.
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

// stamp converts the error of a method to the documented type: an *Error with its
// time. The error of a cancelled call stays unchanged.
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
			Details: Details{Hint: gateway.Text{Format: cause.Message, Values: cause.Values}}, Err: *err,
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

// kind returns the gateway's code for the error.
func (e *Error) kind() gateway.Code {
	switch e.Code {
	case CodeItemNotFound:
		return gateway.CodeNotFound
	case CodeValidation:
		return gateway.CodeInvalid
	case CodeConstraintViolation:
		return gateway.CodeConflict
	case CodePermissionDenied:
		return gateway.CodeDenied
	default:
		return gateway.CodeInternal
	}
}
