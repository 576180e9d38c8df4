package main

import (
	"bytes"
	"fmt"
	"strings"
)

// target is somebody who is asked, and how.
type target struct {
	Address string `json:"address"`
	Era     string `json:"era"`
	// Token is sent to everybody; only genkan looks at it.
	Token string `json:"token"`
	// Method is tools/call, tools/list or initialize.
	Method string `json:"method"`
	// Tool is the name to call.
	Tool string `json:"tool,omitempty"`
	// Size is the arguments' size in bytes, or Text what they say.
	Size int    `json:"size,omitempty"`
	Text string `json:"text,omitempty"`
	// Fixed is for somebody who has one answer: every request has the same id,
	// and no session is opened.
	Fixed bool `json:"fixed,omitempty"`
}

// idPlace marks where the number of a request goes. It has a fixed width, so
// that a request is built once and its answers are of one length.
const idPlace = "1000000000"

// request builds the bytes of the HTTP request, and says where its id is.
func (t target) request(session string) (raw []byte, idAt int) {
	body := t.body()
	var b strings.Builder
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\n", t.Address)
	b.WriteString("User-Agent: bench/1\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n")
	fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", t.Token)
	if t.Era == "modern" {
		fmt.Fprintf(&b, "MCP-Protocol-Version: %s\r\nMcp-Method: %s\r\n", modernVersion, t.Method)
		if t.Tool != "" {
			fmt.Fprintf(&b, "Mcp-Name: %s\r\n", t.Tool)
		}
	} else if session != "" {
		fmt.Fprintf(&b, "MCP-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\n", legacyVersion, session)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	head := b.Len()
	b.WriteString(body)
	return []byte(b.String()), head + strings.Index(body, idPlace)
}

func (t target) body() string {
	var members []string
	switch t.Method {
	case "tools/call":
		args := arguments(t.Size)
		if t.Text != "" {
			args = fmt.Appendf(nil, `{"text":%q}`, t.Text)
		}
		members = append(members, fmt.Sprintf(`"name":%q,"arguments":%s`, t.Tool, args))
	case "initialize":
		members = append(members, `"protocolVersion":"`+legacyVersion+`","capabilities":{},"clientInfo":{"name":"bench","version":"1"}`)
	}
	if t.Era == "modern" {
		members = append(members, `"_meta":{"io.modelcontextprotocol/protocolVersion":"`+modernVersion+
			`","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`)
	}
	return `{"jsonrpc":"2.0","id":` + idPlace + `,"method":"` + t.Method + `","params":{` + strings.Join(members, ",") + `}}`
}

// notification builds notifications/initialized.
func (t target) notification(session string) []byte {
	const body = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	return fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"+
		"Authorization: Bearer %s\r\nMCP-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
		t.Address, t.Token, legacyVersion, session, len(body), body)
}

// arguments is an object of size bytes: prose in lines, as tools get it, with
// the escapes that line ends and quotes need.
func arguments(size int) []byte {
	head, tail := []byte(`{"upper":false,"text":"`), []byte(`"}`)
	const prose = `The visitor leaves the shoes at the door and says \"good day\".\n`
	text := bytes.Repeat([]byte(prose), size/len(prose)+1)
	n := max(size-len(head)-len(tail), 1)
	text = text[:n]
	// An escape must not be cut in half.
	for i := n - 1; i >= 0 && text[i] == '\\'; i-- {
		text[i] = '.'
	}
	return append(append(head, text...), tail...)
}
