package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const latestModern = "2026-07-28"

func modernVersions() []string { return []string{latestModern} }

// legacyVersions has the newest first, which is what an unknown version is
// answered with.
func legacyVersions() []string {
	return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
}

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeResourceNotFound   = -32002 // legacy only
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

// message is a JSON-RPC request, notification or response. Ids stay raw: the
// server returns them as they were spelt.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func (m *message) isRequest() bool  { return m.Method != "" && len(m.ID) > 0 }
func (m *message) isResponse() bool { return m.Method == "" && len(m.ID) > 0 }

// rpcError is a JSON-RPC error and the HTTP status that it travels with.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
	status  int
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

func (e *rpcError) httpStatus() int {
	if e.status == 0 {
		return http.StatusOK
	}
	return e.status
}

func badRequest(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...), status: http.StatusBadRequest}
}

func invalidParams(format string, args ...any) *rpcError {
	return &rpcError{Code: codeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// parseMessage decodes one message and checks its envelope.
func parseMessage(raw []byte) (*message, *rpcError) {
	var m message
	if !json.Valid(raw) {
		return nil, badRequest(codeParse, "not JSON")
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, badRequest(codeInvalidRequest, "not a JSON-RPC message: %v", err)
	}
	if m.JSONRPC != "2.0" {
		return nil, badRequest(codeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	if len(m.ID) > 0 && m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9') {
		return nil, badRequest(codeInvalidRequest, "id must be a string or a number")
	}
	if m.Method == "" && (len(m.ID) == 0 || (m.Result == nil) == (m.Error == nil)) {
		return nil, badRequest(codeInvalidRequest, "neither a request nor a response")
	}
	return &m, nil
}

// meta is what the server reads of a request's _meta. The pointers tell what
// is missing from what is empty.
type meta struct {
	version       *string
	capabilities  *clientCapabilities
	progressToken json.RawMessage
	logLevel      string
}

type clientCapabilities struct {
	Elicitation *struct {
		Form json.RawMessage `json:"form"`
		URL  json.RawMessage `json:"url"`
	} `json:"elicitation"`
	Sampling *struct{} `json:"sampling"`
	Roots    *struct{} `json:"roots"`
	// Tasks are a legacy client's, an extension a modern one's.
	Tasks      json.RawMessage            `json:"tasks"`
	Extensions map[string]json.RawMessage `json:"extensions"`
}

// elicitsForms reports whether the client may be sent a form; an empty
// elicitation capability means forms only.
func (c *clientCapabilities) elicitsForms() bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

func (c *clientCapabilities) elicitsByURL() bool {
	return c != nil && c.Elicitation != nil && c.Elicitation.URL != nil
}

func parseMeta(params json.RawMessage) (meta, *rpcError) {
	var m meta
	if len(params) == 0 {
		return m, nil
	}
	var shape struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(params, &shape); err != nil {
		return m, badRequest(codeInvalidParams, "params: %v", err)
	}
	if raw, ok := shape.Meta[metaVersion]; ok {
		if err := json.Unmarshal(raw, &m.version); err != nil {
			return m, badRequest(codeInvalidParams, "_meta %s: %v", metaVersion, err)
		}
	}
	if raw, ok := shape.Meta[metaCapabilities]; ok {
		if err := json.Unmarshal(raw, &m.capabilities); err != nil {
			return m, badRequest(codeInvalidParams, "_meta %s: %v", metaCapabilities, err)
		}
	}
	if raw, ok := shape.Meta[metaLogLevel]; ok {
		if err := json.Unmarshal(raw, &m.logLevel); err != nil || loudness(m.logLevel) < 0 {
			return m, badRequest(codeInvalidParams, "_meta %s: %s is no level", metaLogLevel, raw)
		}
	}
	if raw, ok := shape.Meta["progressToken"]; ok {
		if raw[0] != '"' && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
			return m, badRequest(codeInvalidParams, "progressToken must be a string or a number")
		}
		m.progressToken = raw
	}
	return m, nil
}

// encode is json.Marshal without the escaping of HTML, which no MCP server
// needs and which would blur what came from where.
func encode(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only values of this package are encoded; none of them can fail.
		panic(err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func notification(method string, params any) []byte {
	return encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}

// response splices body, a "result" or "error" member, behind the id.
func response(id json.RawMessage, body []byte) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%s}`, id, body)
}

func resultBody(result []byte) []byte { return append([]byte(`"result":`), result...) }
func errorBody(err []byte) []byte     { return append([]byte(`"error":`), err...) }

// outlet is a way back to a client: its pipe, or the response to one of its
// HTTP requests.
type outlet interface {
	// begin opens one message; closing the writer ends it. The status is for
	// HTTP: aside for a message that does not answer the request.
	begin(status int) (messageWriter, error)
}

// aside is the status of a notification or of a request to the client.
const aside = 0

// messageWriter takes the bytes of one message. Flush pushes out what has
// been written of it so far.
type messageWriter interface {
	io.WriteCloser
	Flush()
}

// errGone says that nobody listens on an outlet any more.
var errGone = errors.New("the client is gone")

func send(out outlet, status int, msg []byte) error {
	w, err := out.begin(status)
	if err != nil {
		return err
	}
	_, err = w.Write(msg)
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	return err
}
