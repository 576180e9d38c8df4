package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// mcpClient speaks MCP with a process over its standard input and output, as
// clients of the legacy era do.
type mcpClient struct {
	p   *process
	out *bufio.Reader
	id  int
}

// startMCP starts a server and initializes it.
func (l *lab) startMCP(name string, command ...string) (*mcpClient, error) {
	p, err := l.start(name, command...)
	if err != nil {
		return nil, err
	}
	return p.initialize()
}

func (p *process) initialize() (*mcpClient, error) {
	c := &mcpClient{p: p, out: p.stdout}
	_, err := c.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"},
	})
	if err == nil {
		err = c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s: %w: %s", p.name, err, p.lastWords())
	}
	return c, nil
}

func (c *mcpClient) send(message map[string]any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.p.stdin.Write(append(raw, '\n'))
	return err
}

// begin sends a request and does not wait; the next answers belong to those that
// were begun.
func (c *mcpClient) begin(method string, params any) error {
	c.id++
	return c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
}

// answer reads the next answer, whichever request it belongs to.
func (c *mcpClient) answer() (json.RawMessage, error) {
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		switch {
		case m.Method != "" || len(m.ID) == 0: // not an answer
		case m.Error != nil:
			return nil, fmt.Errorf("%s", m.Error)
		default:
			return m.Result, nil
		}
	}
}

func (c *mcpClient) request(method string, params any) (json.RawMessage, error) {
	if err := c.begin(method, params); err != nil {
		return nil, err
	}
	return c.answer()
}

func toolParams(tool string, arguments any) map[string]any {
	return map[string]any{"name": tool, "arguments": arguments}
}

// call calls a tool and returns the text of its answer.
func (c *mcpClient) call(tool string, arguments any) (string, error) {
	raw, err := c.request("tools/call", toolParams(tool, arguments))
	if err != nil {
		return "", err
	}
	return toolText(raw)
}

// toolText is the text of a tool's answer; what failed is an error.
func toolText(raw json.RawMessage) (string, error) {
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", err
	}
	if result.IsError || len(result.Content) == 0 {
		return "", errors.New(string(raw[:min(len(raw), 500)]))
	}
	return result.Content[0].Text, nil
}

// each calls a tool with all arguments, so many at once, and says how long that
// took.
func (c *mcpClient) each(tool string, atOnce int, arguments []any) (time.Duration, error) {
	began := time.Now()
	for sent, done := 0, 0; done < len(arguments); done++ {
		for ; sent < len(arguments) && sent-done < atOnce; sent++ {
			if err := c.begin("tools/call", toolParams(tool, arguments[sent])); err != nil {
				return 0, err
			}
		}
		raw, err := c.answer()
		if err == nil {
			_, err = toolText(raw)
		}
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
