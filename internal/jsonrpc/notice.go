package jsonrpc

import "genkan/internal/gateway"

// metaNotice is the _meta key of genkan's own notice about a call.
const metaNotice = gateway.MetaPrefix + "notice"

// WithNotice returns a result with a notice in its _meta. A _meta that is not an object
// stays as it is, and so does a result without a notice.
func WithNotice(result []byte, notice string) []byte {
	if notice == "" {
		return result
	}
	member := AppendQuoted([]byte(`"`+metaNotice+`":`), notice)
	into := LookupSpan(result, "_meta")
	if !into.Present() {
		into = gateway.Span{End: uint32(len(result))} //nolint:gosec // at most MaxMessage
		member = append(append([]byte(`"_meta":{`), member...), '}')
	}
	empty := true
	if err := Members(result[into.Start:into.End], func([]byte, []byte) bool { empty = false; return false }); err != nil {
		return result
	}
	if !empty {
		member = append([]byte{','}, member...)
	}
	end := gateway.Span{Start: into.End - 1, End: into.End - 1}
	return Splice(nil, result, Edit{At: end, With: member})
}
