package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"

	"genkan/internal/jsonrpc"
)

// The versions that the harness speaks in each era.
const (
	modernVersion = "2026-07-28"
	legacyVersion = "2025-11-25"
)

// echo is the smallest MCP server that is right in its era: it answers echo
// with the text that it got, and does as little else as it can, so that the
// proxies before it are what is measured.
type echo struct {
	era string
	// list is the JSON array of its tools.
	list []byte
	// sessions over HTTP, legacy only.
	sessions sync.Map
}

func newEcho(era string, tools int) (*echo, error) {
	if era != "legacy" && era != "modern" {
		return nil, fmt.Errorf("%q is not an era", era)
	}
	return &echo{era: era, list: toolList(tools)}, nil
}

const echoTool = `{"name":"echo","description":"Returns the text that it is given.","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"upper":{"type":"boolean"}},"required":["text"]}}`

// toolList makes a list of echo and as many others as are asked for, of the
// size that definitions have in practice.
func toolList(others int) []byte {
	list := []byte("[" + echoTool)
	for i := range others {
		list = fmt.Appendf(list, `,{"name":"search_records_%03d","title":"Search records %d","description":"Searches the records of collection %d by text and by field. Returns at most limit matches, best first, with the fields that were asked for; an empty query lists the newest. Use the cursor of an answer to get the next page.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},"fields":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20},"cursor":{"type":"string"}},"required":["query"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`, i, i, i)
	}
	return append(list, ']')
}

// answer appends the answer to a request, without an end of line. It reports
// false for what gets none.
func (e *echo) answer(dst, message []byte) (answer []byte, msg jsonrpc.Message, ok bool) {
	msg, err := jsonrpc.Scan(message)
	if err != nil {
		return jsonrpc.AppendErrorObject(dst, msg.ID, jsonrpc.ErrorObject(jsonrpc.CodeParse, err.Error(), nil)), msg, true
	}
	if msg.Kind != jsonrpc.Request {
		return dst, msg, false
	}
	complete := ""
	if e.era == "modern" {
		complete = `"resultType":"complete",`
	}
	switch {
	case msg.Method == "tools/call":
		text := jsonrpc.Lookup(msg.Params.Get(msg.Params.Arguments), "text")
		if text == nil {
			text = []byte(`""`)
		}
		dst = jsonrpc.AppendResultHead(dst, msg.ID)
		dst = append(append(dst, '{'), complete...)
		dst = append(dst, `"content":[{"type":"text","text":`...)
		return append(append(dst, text...), "}]}}"...), msg, true
	case msg.Method == "tools/list":
		dst = jsonrpc.AppendResultHead(dst, msg.ID)
		dst = append(append(dst, '{'), complete...)
		if e.era == "modern" {
			dst = append(dst, `"ttlMs":60000,"cacheScope":"public",`...)
		}
		dst = append(append(dst, `"tools":`...), e.list...)
		return append(dst, "}}"...), msg, true
	case msg.Method == "server/discover" && e.era == "modern":
		return jsonrpc.AppendResult(dst, msg.ID, []byte(`{"resultType":"complete","supportedVersions":["`+modernVersion+`"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"public"}`)), msg, true
	case msg.Method == "initialize" && e.era == "legacy":
		return jsonrpc.AppendResult(dst, msg.ID, []byte(`{"protocolVersion":"`+legacyVersion+`","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`)), msg, true
	case msg.Method == "ping" && e.era == "legacy":
		return jsonrpc.AppendResult(dst, msg.ID, []byte("{}")), msg, true
	}
	return jsonrpc.AppendErrorObject(dst, msg.ID, jsonrpc.ErrorObject(jsonrpc.CodeMethodNotFound, "Method not found", nil)), msg, true
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodDelete && e.era == "legacy":
		e.sessions.Delete(r.Header.Get("Mcp-Session-Id"))
		w.WriteHeader(http.StatusNoContent)
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := readWhole(r.Body, r.ContentLength)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answer, msg, ok := e.answer(make([]byte, 0, len(body)+256), body)
	h := w.Header()
	if e.era == "legacy" {
		if msg.Method == "initialize" {
			session := rand.Text()
			e.sessions.Store(session, true)
			h["Mcp-Session-Id"] = []string{session}
		} else if session := r.Header.Get("Mcp-Session-Id"); session == "" {
			// A modern client asks here which era this is.
			w.WriteHeader(http.StatusBadRequest)
			return
		} else if _, known := e.sessions.Load(session); !known {
			w.WriteHeader(http.StatusNotFound)
			return
		}
	}
	if !ok {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(answer))}
	_, _ = w.Write(answer)
}

func echoFrom(args []string) (*echo, error) {
	if len(args) < 2 {
		return nil, errors.New("usage: upstream ERA TOOLS, or child ERA TOOLS [FILE]")
	}
	tools, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, err
	}
	return newEcho(args[0], tools)
}

// upstreamRole is the server over HTTP.
func upstreamRole(args []string) error {
	e, err := echoFrom(args)
	if err != nil {
		return err
	}
	return serveRole(e)
}

// childRole is the server over stdio. When the file that it is told of exists,
// it is one that hangs at its start: the same command, so that what is cached
// of it still holds.
func childRole(args []string) error {
	e, err := echoFrom(args)
	if err != nil {
		return err
	}
	if len(args) > 2 {
		if _, err := os.Stat(args[2]); err == nil {
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		}
	}
	// The line reader takes a reader that is buffered already for its own, so
	// that in tells what is left of a read.
	in, out := bufio.NewReaderSize(os.Stdin, 64<<10), bufio.NewWriterSize(os.Stdout, 64<<10)
	lines := jsonrpc.NewLineReader(in)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if answer, _, ok := e.answer(nil, line); ok {
			_, _ = out.Write(append(answer, '\n'))
		}
		// One write for all that was asked in one read, as a good server does.
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}
