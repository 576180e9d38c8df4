package mcpserver

import (
	"context"
	"net/http"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// supportedVersions is what we tell clients that ask, as JSON, newest first.
func supportedVersions() string {
	return `["` + strings.Join(append([]string{gateway.ModernVersion}, gateway.LegacyVersions()...), `","`) + `"]`
}

// discoverTTL is how long a client may keep the answer of server/discover.
const discoverTTL = "3600000"

func (s *Server) discoverResult(view gateway.View) []byte {
	d := s.opt.House().Describe(view)
	b := []byte(`{"resultType":"complete","supportedVersions":` + supportedVersions() + `,"capabilities":` + capabilitiesOf(d, gateway.EraModern))
	b = appendInstructions(b, d)
	b = append(b, `,"ttlMs":`+discoverTTL+`,"cacheScope":"private","_meta":{"`+jsonrpc.MetaServerInfo+`":`...)
	return append(append(b, s.infoOf(d)...), "}}"...)
}

// modernResult answers the requests of the modern era that are no calls and no
// streams.
func (s *Server) modernResult(ctx context.Context, msg *jsonrpc.Message, view gateway.View) ([]byte, error) {
	if msg.Method == "server/discover" {
		return s.discoverResult(view), nil
	}
	return s.listResult(ctx, msg, view, gateway.EraModern)
}

// protocolError is a refusal that modern HTTP answers with status 400.
func protocolError(code int, format string, values ...any) error {
	return &refusal{gateway.Errorf(gateway.CodeInvalid, format, values...), code, nil}
}

// unsupportedVersion refuses a version, given as JSON, and names ours.
func unsupportedVersion(requested []byte) error {
	data := append([]byte(`{"supported":`+supportedVersions()+`,"requested":`), requested...)
	because := gateway.Errorf(gateway.CodeInvalid, "Unsupported protocol version")
	return &refusal{because, jsonrpc.CodeUnsupportedVersion, append(data, '}')}
}

// isModern tells the era of a request: modern ones carry their version.
func isModern(msg *jsonrpc.Message) bool { return msg.Params.Version.Present() }

// checkMeta refuses a modern request that lacks what every one must carry.
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

// checkVersion compares the header's version with the body's, before anything
// is decided by either.
func checkVersion(h http.Header, msg *jsonrpc.Message) error {
	if !msg.Params.Version.Present() {
		return nil // checkMeta says what is missing
	}
	// Some connectors send the last legacy version in the header of a modern
	// request; nothing is decided by it, so it passes.
	version := only(h, "Mcp-Protocol-Version")
	if body, _ := jsonrpc.Unquote(msg.Params.Get(msg.Params.Version)); version != string(body) && version != gateway.LegacyVersion {
		return mismatch("MCP-Protocol-Version", version, string(body))
	}
	return nil
}

// checkHeaders compares what the headers say with the body: whoever routed the
// request by the one must not see the other carried out.
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

// only is the value of a header that stands once. Of two, whoever is before us
// may have gone by the other.
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

// paramHeaders are the Mcp-Param-* headers, which pass on with the call.
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
