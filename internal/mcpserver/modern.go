package mcpserver

import (
	"context"
	"net/http"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// supportedVersions returns the supported versions as JSON, newest first.
func supportedVersions() string {
	return `["` + strings.Join(append([]string{gateway.ModernVersion}, gateway.LegacyVersions()...), `","`) + `"]`
}

// discoverTTL is how long a client may cache the answer of server/discover, in
// milliseconds.
const discoverTTL = "3600000"

func (s *Server) discoverResult(view gateway.View) []byte {
	d := s.opt.House().Describe(view)
	b := []byte(`{"resultType":"complete","supportedVersions":` + supportedVersions() + `,"capabilities":` + capabilitiesOf(d, gateway.EraModern))
	b = appendInstructions(b, d)
	b = append(b, `,"ttlMs":`+discoverTTL+`,"cacheScope":"private","_meta":{"`+jsonrpc.MetaServerInfo+`":`...)
	return append(append(b, s.infoOf(d)...), "}}"...)
}

// modernResult answers the modern requests that are neither calls nor streams.
func (s *Server) modernResult(ctx context.Context, msg *jsonrpc.Message, view gateway.View) ([]byte, error) {
	if msg.Method == "server/discover" {
		return s.discoverResult(view), nil
	}
	return s.listResult(ctx, msg, view, gateway.EraModern)
}

// protocolError returns a refusal that modern HTTP answers with status 400.
func protocolError(code int, format string, values ...any) error {
	return &refusal{gateway.Errorf(gateway.CodeInvalid, format, values...), code, nil}
}

// unsupportedVersion refuses a version, given as JSON, and names the supported
// ones.
func unsupportedVersion(requested []byte) error {
	data := append([]byte(`{"supported":`+supportedVersions()+`,"requested":`), requested...)
	because := gateway.Errorf(gateway.CodeInvalid, "Unsupported protocol version")
	return &refusal{because, jsonrpc.CodeUnsupportedVersion, append(data, '}')}
}

// isModern reports whether a request is of the modern era: those carry their
// version.
func isModern(msg *jsonrpc.Message) bool { return msg.Params.Version.Present() }

// checkMeta refuses a modern request that lacks a required _meta field.
func checkMeta(msg *jsonrpc.Message) error {
	version, ok := jsonrpc.Unquote(msg.Params.Get(msg.Params.Version))
	if !ok {
		return protocolError(jsonrpc.CodeInvalidParams, "_meta must have %s", jsonrpc.MetaVersion)
	}
	if string(version) != gateway.ModernVersion {
		return unsupportedVersion(msg.Params.Get(msg.Params.Version))
	}
	if caps := msg.Params.Get(msg.Params.ClientCapabilities); caps == nil || caps[0] != '{' {
		return protocolError(jsonrpc.CodeInvalidParams, "_meta must have %s, an object", jsonrpc.MetaClientCapabilities)
	}
	return nil
}

// checkVersion compares the version in the header with that in the body, before
// either is used.
func checkVersion(h http.Header, msg *jsonrpc.Message) error {
	if !msg.Params.Version.Present() {
		return nil // checkMeta reports the missing field
	}
	// Some connectors send the last legacy version in the header of a modern
	// request. Nothing depends on it, so it is accepted.
	version := only(h, "Mcp-Protocol-Version")
	if body, _ := jsonrpc.Unquote(msg.Params.Get(msg.Params.Version)); version != string(body) && version != gateway.LegacyVersion {
		return mismatch("MCP-Protocol-Version", version, string(body))
	}
	return nil
}

// checkHeaders compares the headers with the body. A proxy that routed the request
// by its headers must not see a different request executed.
func checkHeaders(h http.Header, msg *jsonrpc.Message) error {
	if method := only(h, "Mcp-Method"); method != msg.Method {
		return mismatch("Mcp-Method", method, msg.Method)
	}
	var source gateway.Span
	switch msg.Method {
	case "tools/call", "prompts/get":
		source = msg.Params.Name
	case "resources/read":
		source = msg.Params.URI
	case "tasks/get", "tasks/update", "tasks/cancel":
		source = jsonrpc.LookupSpan(msg.Params.Raw, "taskId")
	default:
		return nil
	}
	body, _ := jsonrpc.Unquote(msg.Params.Get(source))
	if name, ok := jsonrpc.DecodeHeader(only(h, "Mcp-Name")); !ok || name == "" || name != string(body) {
		return mismatch("Mcp-Name", name, string(body))
	}
	return nil
}

// only returns the value of a header that occurs once. It ignores a repeated
// header, because a proxy may have used the other value.
func only(h http.Header, name string) string {
	if values := h[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

func mismatch(header, got, want string) error {
	if got == "" {
		return protocolError(jsonrpc.CodeHeaderMismatch, "Header mismatch: the %s header is missing or malformed", header)
	}
	return protocolError(jsonrpc.CodeHeaderMismatch,
		"Header mismatch: %s header value '%s' does not match body value '%s'", header, got, want)
}

// paramHeaders returns the Mcp-Param-* headers, which are forwarded with the call.
func paramHeaders(h http.Header) http.Header {
	var out http.Header
	for key, values := range h {
		if strings.HasPrefix(key, "Mcp-Param-") {
			if out == nil {
				out = http.Header{}
			}
			out[key] = values
		}
	}
	return out
}
