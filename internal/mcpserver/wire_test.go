package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"genkan/internal/mcpserver"
	"genkan/internal/testkit"
)

// patience is how long a test waits for what must come. It is only waited for
// by tests that fail.
const patience = 2 * time.Minute

// request is one HTTP request, with every header as the test wants it.
type request struct {
	method, path, body string
	// header wins over the defaults; an empty list removes one.
	header http.Header
	// chunked sends the body without saying how long it is.
	chunked bool
	// stream is a body that is too large to have in memory, length what is said of
	// its length; 0 for nothing.
	stream io.Reader
	length int64
}

// xs is a text of as many bytes.
func xs(size int64) io.Reader { return io.LimitReader(endless{}, size) }

type endless struct{}

var block = bytes.Repeat([]byte("x"), 64<<10)

func (endless) Read(p []byte) (int, error) { return copy(p, block), nil }

// response is the whole answer.
type response struct {
	status int
	header http.Header
	body   []byte
	// messages are the JSON body, or the data of each event.
	messages []string
}

// headers makes a header of pairs, in the canonical spelling.
func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// without is a header that is left out.
func without(h http.Header, names ...string) http.Header {
	h = h.Clone()
	for _, name := range names {
		h[http.CanonicalHeaderKey(name)] = nil
	}
	return h
}

func (h *house) build(ctx context.Context, r request) *http.Request {
	h.tb.Helper()
	if r.path == "" {
		r.path = "/mcp"
	}
	if r.method == "" {
		r.method = http.MethodPost
	}
	var body io.Reader = strings.NewReader(r.body)
	if r.chunked {
		body = io.MultiReader(body)
	}
	switch {
	case r.stream != nil:
		body = r.stream
	case r.body == "":
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(ctx, r.method, h.base+r.path, body)
	if err != nil {
		h.tb.Fatal(err)
	}
	if r.stream != nil {
		req.ContentLength = r.length
	}
	req.Header = headers("Authorization", "Bearer "+h.token, "Content-Type", "application/json",
		"Accept", "application/json, text/event-stream")
	for name, values := range r.header {
		if len(values) == 0 {
			delete(req.Header, name)
			continue
		}
		req.Header[name] = values
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	return req
}

// send sends a request and reads the whole answer.
func (h *house) send(r request) response {
	h.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	resp, err := h.client.Do(h.build(ctx, r))
	if err != nil {
		h.tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		h.tb.Fatal(err)
	}
	out := response{status: resp.StatusCode, header: resp.Header, body: body}
	switch {
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"):
		events := &stream{lines: bufio.NewReader(bytes.NewReader(body))}
		for {
			message, err := events.read()
			if err != nil {
				break
			}
			out.messages = append(out.messages, message)
		}
	case len(body) > 0:
		out.messages = []string{string(body)}
	}
	return out
}

// last is the message that ends an answer.
func (r response) last() string {
	if len(r.messages) == 0 {
		return ""
	}
	return r.messages[len(r.messages)-1]
}

// want fails the test unless the answer has the status and a JSON-RPC error with
// the code. The code 0 is for an answer that tells of no failure of genkan's.
func (r response) want(tb testing.TB, status, code int) {
	tb.Helper()
	if r.status != status {
		tb.Errorf("status %d, want %d: %s", r.status, status, r.body)
	}
	if got := errorCode(r.last()); got != code {
		tb.Errorf("error code %d, want %d: %s", got, code, r.body)
	}
	if code == 0 && strings.Contains(r.last(), `"genkan/error"`) {
		tb.Errorf("the call failed: %s", r.body)
	}
}

// errorCode is the code of an error message, 0 if it is none.
func errorCode(message string) int {
	var m struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(message), &m)
	return m.Error.Code
}

// text is the text of a result's first content.
func text(message string) string {
	var m struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if json.Unmarshal([]byte(message), &m) != nil || len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

// member is the raw value at a path of keys, as it is spelt.
func member(tb testing.TB, message string, path ...string) string {
	tb.Helper()
	raw := json.RawMessage(message)
	for _, key := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			tb.Fatalf("%s is no object at %q: %v", message, key, err)
		}
		raw = object[key]
	}
	return string(raw)
}

// stream is a response that is read while it goes on.
type stream struct {
	tb     testing.TB
	status int
	header http.Header
	lines  *bufio.Reader
	cancel context.CancelFunc
	body   io.Closer
}

// open sends a request and returns when the headers of the answer have come.
func (h *house) open(r request) *stream {
	h.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(patience, cancel) // ends with the test at the latest
	resp, err := h.client.Do(h.build(ctx, r)) //nolint:bodyclose // the stream has it
	if err != nil {
		cancel()
		h.tb.Fatal(err)
	}
	s := &stream{
		tb: h.tb, status: resp.StatusCode, header: resp.Header,
		lines: bufio.NewReader(resp.Body), body: resp.Body,
		cancel: func() { timer.Stop(); cancel() },
	}
	h.tb.Cleanup(s.close)
	return s
}

// close goes away without a word.
func (s *stream) close() {
	s.cancel()
	_ = s.body.Close()
}

// read returns the next event's data.
func (s *stream) read() (string, error) {
	data := ""
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return "", err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" && data != "" {
			return data, nil
		}
		if value, ok := strings.CutPrefix(line, "data: "); ok {
			data += value
		}
	}
}

// next is read for what must come.
func (s *stream) next() string {
	s.tb.Helper()
	message, err := s.read()
	if err != nil {
		s.tb.Fatalf("the stream ended: %v", err)
	}
	return message
}

// modernMeta is what every modern request carries.
const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`

// modern is a modern request with the headers that go with it. params are the
// members before _meta, meta those before what every request carries.
func modern(id, method, params, meta string) request {
	if params != "" {
		params += ","
	}
	if meta != "" {
		meta += ","
	}
	header := headers("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method)
	if method == "tools/call" {
		var p struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal([]byte("{"+strings.TrimSuffix(params, ",")+"}"), &p)
		header.Set("Mcp-Name", p.Name)
	}
	return request{
		body:   fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s"_meta":{%s%s}}}`, id, method, params, meta, modernMeta),
		header: header,
	}
}

func modernCall(id, tool, arguments string) request {
	return modern(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments), "")
}

// legacy is a request of a legacy session. params is the object, or empty.
func legacy(session, id, method, params string) request {
	if params != "" {
		params = `,"params":` + params
	}
	if id != "" {
		id = `"id":` + id + `,`
	}
	r := request{body: fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q%s}`, id, method, params), header: http.Header{}}
	if session != "" {
		r.header.Set("Mcp-Session-Id", session)
	}
	return r
}

func legacyCall(session, id, tool, arguments string) request {
	return legacy(session, id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
}

// initialize opens a legacy session.
func (h *house) initialize(token string) (session string) {
	h.tb.Helper()
	r := legacy("", "0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	r.header.Set("Authorization", "Bearer "+token)
	answer := h.send(r)
	if answer.status != http.StatusOK || answer.header.Get("Mcp-Session-Id") == "" {
		h.tb.Fatalf("initialize: %d %s", answer.status, answer.body)
	}
	return answer.header.Get("Mcp-Session-Id")
}

// pipe is a client over stdio.
type pipe struct {
	testkit.Conn
	tb testing.TB
	// raw takes bytes as they are, without the framing of Send.
	raw io.Writer
	// done gives what ServeStdio returned.
	done chan error
}

// stdio connects a client that spawned the gateway.
func (h *house) stdio() *pipe {
	h.tb.Helper()
	serverIn, clientOut, err := os.Pipe()
	if err != nil {
		h.tb.Fatal(err)
	}
	clientIn, serverOut, err := os.Pipe()
	if err != nil {
		h.tb.Fatal(err)
	}
	p := &pipe{tb: h.tb, raw: clientOut, done: make(chan error, 1), Conn: testkit.NewPipeConn(clientIn, clientOut)}
	go func() {
		err := h.process.ServeStdio(context.Background(), serverIn, serverOut, mcpserver.StdioOptions{})
		_ = serverOut.Close()
		p.done <- err
		close(p.done)
	}()
	h.tb.Cleanup(func() {
		_ = p.Close()
		<-p.done
		_ = serverIn.Close()
		_ = clientIn.Close()
	})
	return p
}

func (p *pipe) send(message string) {
	p.tb.Helper()
	if err := p.Send([]byte(message)); err != nil {
		p.tb.Fatal(err)
	}
}

func (p *pipe) next() string {
	p.tb.Helper()
	message, err := p.take()
	if err != nil {
		p.tb.Fatalf("no message came: %v", err)
	}
	return message
}

func (p *pipe) take() (string, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("waited for too long"))
	defer cancel()
	message, err := p.Receive(ctx)
	return string(message), err
}

// answer skips what comes before the answer to a request.
func (p *pipe) answer(id string) string {
	p.tb.Helper()
	for {
		message := p.next()
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal([]byte(message), &m) == nil && m.Method == "" && string(m.ID) == id {
			return message
		}
	}
}
