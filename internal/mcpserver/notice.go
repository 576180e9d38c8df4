package mcpserver

import (
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// metaNotice is the _meta key of genkan's own notice about a call.
const metaNotice = "genkan/notice"

// shown returns a result as clients see it, with its notice, if any, in its _meta.
func (s *Server) shown(result *gateway.Result) []byte {
	if result.Notice.Format == "" {
		return result.Raw
	}
	notice := jsonrpc.AppendQuoted([]byte(`"`+metaNotice+`":`), s.language().Text(result.Notice))
	into := jsonrpc.LookupSpan(result.Raw, "_meta")
	if !into.Present() {
		into = gateway.Span{End: uint32(len(result.Raw))} //nolint:gosec // at most MaxMessage
		notice = append(append([]byte(`"_meta":{`), notice...), '}')
	}
	object := result.Raw[into.Start:into.End]
	empty := true
	if err := jsonrpc.Members(object, func([]byte, []byte) bool { empty = false; return false }); err != nil {
		return result.Raw // a _meta that is not an object is forwarded as it is
	}
	if !empty {
		notice = append([]byte{','}, notice...)
	}
	end := gateway.Span{Start: into.End - 1, End: into.End - 1}
	return jsonrpc.Splice(nil, result.Raw, jsonrpc.Edit{At: end, With: notice})
}
