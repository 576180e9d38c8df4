package testkit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
)

const metaVersion = "io.modelcontextprotocol/protocolVersion"

// httpConn is a client of streamable HTTP, in the era of each message that it
// sends.
type httpConn struct {
	url     string
	token   string
	headers http.Header
	client  *http.Client
	in      *inbox
	// alive ends when the connection is closed.
	alive   context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	session string
	version string
	// posts are the modern requests under way, by id.
	posts map[string]context.CancelFunc
}

// NewHTTPConn speaks streamable HTTP with a server, with the token as bearer
// (unless it is empty) and the headers on every request. It behaves as a
// client of the era that each message belongs to:
//
//   - A message with a protocol version in its _meta is modern: the headers
//     that repeat its version, method and name are added, and
//     notifications/cancelled is not sent but ends the request's connection.
//   - Anything else is legacy: initialize opens a session, which is kept, sent
//     along and deleted by Close; notifications/initialized also opens the
//     stream for messages that belong to no request.
//
// JSON bodies and events of all streams come in as messages. A failure that is
// not JSON-RPC comes in as {"http":404,"body":"..."}.
func NewHTTPConn(url, token string, headers http.Header) Conn {
	c := &httpConn{
		url:     url,
		token:   token,
		headers: headers,
		client:  &http.Client{Transport: &http.Transport{}},
		in:      newInbox(),
		posts:   make(map[string]context.CancelFunc),
	}
	c.alive, c.end = context.WithCancel(context.Background())
	return c
}

// envelope is what a client must know of its own message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta            map[string]json.RawMessage `json:"_meta"`
		Name            string                     `json:"name"`
		URI             string                     `json:"uri"`
		TaskID          string                     `json:"taskId"`
		RequestID       json.RawMessage            `json:"requestId"`
		ProtocolVersion string                     `json:"protocolVersion"`
	} `json:"params"`
}

func (c *httpConn) Send(line []byte) error {
	var e envelope
	// What is not a message is sent all the same: refusing it is up to the
	// server.
	_ = json.Unmarshal(line, &e)
	if e.Method == "notifications/cancelled" {
		c.mu.Lock()
		disconnect := c.posts[string(e.Params.RequestID)]
		c.mu.Unlock()
		if disconnect != nil {
			disconnect()
			return nil
		}
	}
	ctx, cancel := context.WithCancel(c.alive)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(line))
	if err != nil {
		cancel()
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	modern := c.describe(req, &e)
	c.decorate(req)
	if modern && e.ID != nil {
		c.mu.Lock()
		c.posts[string(e.ID)] = cancel
		c.mu.Unlock()
	}

	// Notifications and initialize are waited for, since what is sent next
	// depends on their having arrived. Other requests may take for ever.
	arrived := make(chan error, 1)
	c.running.Go(func() {
		defer cancel()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.posts, string(e.ID))
		}()
		c.exchange(req, arrived)
	})
	if e.ID != nil && e.Method != "" && e.Method != "initialize" {
		return nil
	}
	if err := <-arrived; err != nil {
		return err
	}
	if e.Method == "notifications/initialized" {
		return c.openStream()
	}
	return nil
}

// describe adds what the message's era wants in headers.
func (c *httpConn) describe(req *http.Request, e *envelope) (modern bool) {
	var version string
	if raw, ok := e.Params.Meta[metaVersion]; ok {
		_ = json.Unmarshal(raw, &version)
	}
	if version == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.Method == "initialize" {
			c.session, c.version = "", ""
			return false
		}
		c.legacyHeaders(req)
		return false
	}
	req.Header.Set("MCP-Protocol-Version", version)
	req.Header.Set("Mcp-Method", e.Method)
	switch e.Method {
	case "tools/call", "prompts/get":
		req.Header.Set("Mcp-Name", headerValue(e.Params.Name))
	case "resources/read":
		req.Header.Set("Mcp-Name", headerValue(e.Params.URI))
	case "tasks/get", "tasks/update", "tasks/cancel":
		req.Header.Set("Mcp-Name", headerValue(e.Params.TaskID))
	}
	return true
}

// legacyHeaders adds session and version. The caller holds the lock.
func (c *httpConn) legacyHeaders(req *http.Request) {
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.version != "" {
		req.Header.Set("MCP-Protocol-Version", c.version)
	}
}

// headerValue encodes what a header cannot carry.
func headerValue(value string) string {
	plain := strings.TrimSpace(value) == value && !strings.HasPrefix(value, "=?base64?") &&
		strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	if plain {
		return value
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(value)) + "?="
}

// decorate adds what the test wants on every request; it wins over what is
// there already.
func (c *httpConn) decorate(req *http.Request) {
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for name, values := range c.headers {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
}

// exchange sends one request and takes in all that comes back. It reports on
// arrived once, when the response has begun; for initialize, when it has been
// read.
func (c *httpConn) exchange(req *http.Request, arrived chan<- error) {
	resp, err := c.client.Do(req)
	if err != nil {
		arrived <- err
		if req.Context().Err() == nil {
			c.failure(0, err.Error())
		}
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.mu.Lock()
		c.session = id
		c.mu.Unlock()
		err = c.read(resp)
		arrived <- nil
	} else {
		arrived <- nil
		err = c.read(resp)
	}
	if err != nil && req.Context().Err() == nil {
		c.failure(resp.StatusCode, err.Error())
	}
}

func (c *httpConn) read(resp *http.Response) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media == "text/event-stream" {
		return readEvents(resp.Body, c.message)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	body = bytes.TrimSpace(body)
	switch {
	case media == "application/json" && len(body) > 0:
		c.message(oneLine(body))
	case resp.StatusCode >= http.StatusBadRequest:
		c.failure(resp.StatusCode, string(body))
	}
	return nil
}

// message takes in one message. The agreed version of a legacy session is
// read from it, since later requests must name it.
func (c *httpConn) message(msg []byte) {
	if bytes.Contains(msg, []byte(`"protocolVersion"`)) {
		var result struct {
			Result struct {
				ProtocolVersion string `json:"protocolVersion"`
			} `json:"result"`
		}
		if json.Unmarshal(msg, &result) == nil && result.Result.ProtocolVersion != "" {
			c.mu.Lock()
			c.version = result.Result.ProtocolVersion
			c.mu.Unlock()
		}
	}
	c.in.put(msg)
}

func (c *httpConn) failure(status int, body string) {
	quoted, err := json.Marshal(body)
	if err != nil {
		quoted = []byte(`""`)
	}
	c.in.put(fmt.Appendf(nil, `{"http":%d,"body":%s}`, status, quoted))
}

// openStream opens the legacy stream for what belongs to no request. A server
// need not have one.
func (c *httpConn) openStream() error {
	req, err := http.NewRequestWithContext(c.alive, http.MethodGet, c.url, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	c.mu.Lock()
	c.legacyHeaders(req)
	c.mu.Unlock()
	c.decorate(req)
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return resp.Body.Close()
	}
	c.running.Go(func() {
		defer func() { _ = resp.Body.Close() }()
		// However it ends, the client can go on without it.
		_ = readEvents(resp.Body, c.message)
	})
	return nil
}

// readEvents calls receive with the data of each event that has any.
func readEvents(r io.Reader, receive func([]byte)) error {
	lines := bufio.NewReader(r)
	var data []byte
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil // an event that was not ended does not count
			}
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			// One without data only tells the client where the stream is.
			if message := bytes.TrimSuffix(data, []byte("\n")); len(message) > 0 {
				receive(oneLine(message))
			}
			data = nil
			continue
		}
		if value, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(data, strings.TrimPrefix(value, " ")+"\n"...)
		}
	}
}

func (c *httpConn) Receive(ctx context.Context) ([]byte, error) { return c.in.take(ctx) }

// Close ends the session, if there is one, and everything under way.
func (c *httpConn) Close() error {
	defer c.client.CloseIdleConnections()
	defer c.in.close()
	c.deleteSession()
	c.end()
	c.running.Wait()
	return nil
}

// deleteSession is a courtesy; a server that is gone or does not care is no
// failure of the test.
func (c *httpConn) deleteSession() {
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(c.alive, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.url, http.NoBody)
	if err != nil {
		return
	}
	c.mu.Lock()
	c.legacyHeaders(req)
	c.mu.Unlock()
	c.decorate(req)
	if resp, err := c.client.Do(req); err == nil {
		_ = resp.Body.Close()
	}
}
