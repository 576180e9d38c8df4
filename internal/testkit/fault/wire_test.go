package fault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// Most of what this server does wrong no client library would show, so these
// tests look at the wire.

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// talker is a connection in one era.
type talker struct {
	testkit.Conn
	t      *testing.T
	modern bool
}

// talkers are the four ways to talk to a server.
func everyTalker(t *testing.T, args []string, test func(t *testing.T, c *talker)) {
	for _, transport := range []string{"stdio", "http"} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era+" "+transport, func(t *testing.T) {
				t.Parallel()
				test(t, talk(t, transport, era, args...))
			})
		}
	}
}

func talk(t *testing.T, transport, era string, args ...string) *talker {
	t.Helper()
	c := &talker{t: t, modern: era == "modern"}
	if transport == "http" {
		c.Conn = testkit.NewHTTPConn(testkit.StartFaultHTTP(t, args...), "", nil)
		t.Cleanup(func() { _ = c.Close() })
	} else {
		command, argv, env := testkit.FaultCommand(t, args...)
		c.Conn = testkit.StartStdio(t, command, argv, env)
	}
	if !c.modern {
		c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		for !strings.Contains(c.receive(), `"serverInfo"`) { // there may be noise
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return c
}

func (c *talker) send(line string) {
	c.t.Helper()
	if err := c.Send([]byte(line)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *talker) receive() string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	line, err := c.Receive(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(line)
}

// request sends a request with the _meta of its era.
func (c *talker) request(id int, method, params string) {
	c.t.Helper()
	if c.modern {
		params = strings.TrimSuffix(modernMeta+","+params, ",")
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params))
}

func (c *talker) call(id int, tool, arguments string) {
	c.t.Helper()
	c.request(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
}

// alive checks that something other than tools/call is answered.
func (c *talker) alive(id int) {
	c.t.Helper()
	c.request(id, "tools/list", "")
	if got := c.receive(); !strings.Contains(got, fmt.Sprintf(`"id":%d,`, id)) || !strings.Contains(got, `"echo"`) {
		c.t.Errorf("tools/list was answered with %.200s", got)
	}
}

// answer is what a well-formed message says.
type answer struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result struct {
		Content []struct{ Text string }
		IsError bool
	}
	Error struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func parse(t *testing.T, line string) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		t.Fatalf("%v in %.200s", err, line)
	}
	return a
}

func (a answer) text() string {
	if len(a.Result.Content) != 1 {
		return fmt.Sprintf("%d contents", len(a.Result.Content))
	}
	return a.Result.Content[0].Text
}

// post sends one HTTP request as it is.
func post(t *testing.T, url, body string, headers ...string) (status int, header http.Header, answer string) {
	t.Helper()
	status, header, stream := do(t, http.MethodPost, url, body, headers...)
	content, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	return status, header, string(content)
}

func do(t *testing.T, method, url, body string, headers ...string) (status int, header http.Header, answer io.Reader) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	// Nothing is reused and nothing is decompressed behind our back.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.StatusCode, resp.Header, resp.Body
}

func modernCall(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,"name":%q,"arguments":%s}}`, modernMeta, tool, arguments)
}

func modernHeaders(method, name string) []string {
	headers := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		headers = append(headers, "Mcp-Name", name)
	}
	return headers
}
