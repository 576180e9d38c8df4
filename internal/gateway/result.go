package gateway

import "bytes"

// ResultType is the resultType of a modern result.
type ResultType uint8

// The result types.
const (
	// ResultUntyped has no type, as all results of the legacy era; it means
	// complete.
	ResultUntyped ResultType = iota
	// ResultComplete is the final answer.
	ResultComplete
	// ResultInputRequired asks the client for more before it goes on.
	ResultInputRequired
	// ResultOther is a type of an extension.
	ResultOther
)

// Final reports whether the answer is the last one.
func (t ResultType) Final() bool { return t == ResultUntyped || t == ResultComplete }

// MaxResult is the largest result that passes, in bytes, whatever way it came.
const MaxResult = 32 << 20

// Result is the answer to a call. Its bytes are immutable and never pooled.
type Result struct {
	// Raw is the result object, as it came.
	Raw []byte
	// Type and IsError come from the scan that checked Raw, and HasMeta, which
	// reports whether Raw has a _meta. IsError is false for the outline of a result
	// that is no error, although Raw may have to say isError.
	Type             ResultType
	IsError, HasMeta bool
	// Notice is what the house has to say about the call beside the answer. The
	// edges show it. It is empty for most.
	Notice Text

	fields map[string]any
}

// Fields decodes the result, once per result. Numbers keep their
// spelling. The map belongs to the result; make a new Result to change it.
func (r *Result) Fields() (map[string]any, error) {
	if r.fields != nil {
		return r.fields, nil
	}
	fields := map[string]any{}
	if err := decode(r.Raw, &fields); err != nil {
		return nil, &Error{Code: CodeInternal, Message: "the result is not a JSON object", Err: err}
	}
	r.fields = fields
	return fields, nil
}

// Complete is a result that says no type with the one that it has.
func (r *Result) Complete() *Result {
	raw := []byte(`{"resultType":"complete"`)
	if rest := bytes.TrimLeft(r.Raw[1:], " \t\r\n"); rest[0] != '}' {
		raw = append(raw, ',')
	}
	return &Result{Raw: append(raw, r.Raw[1:]...), Type: ResultComplete, IsError: r.IsError}
}

// NewResult encodes fields as a result.
func NewResult(fields map[string]any) (*Result, error) {
	raw, err := encode(fields)
	if err != nil {
		return nil, &Error{Code: CodeInternal, Message: "the result cannot be encoded as JSON", Err: err}
	}
	r := &Result{Raw: raw, fields: fields}
	r.IsError, _ = fields["isError"].(bool)
	switch t, typed := fields["resultType"].(string); {
	case !typed:
	case t == "complete":
		r.Type = ResultComplete
	case t == "input_required":
		r.Type = ResultInputRequired
	default:
		r.Type = ResultOther
	}
	return r, nil
}
