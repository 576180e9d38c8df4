// Command mcpgo is mark3labs/mcp-go's client as a peer: it reads what to do, a
// line each, and writes what came of it. conformance/peer.go has the
// other end. It is a module of its own, so that genkan's does not know the
// library.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	p := &peer{}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var line struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		err := json.Unmarshal(in.Bytes(), &line)
		var result any
		if err == nil {
			result, err = p.do(context.Background(), line.Method, line.Params)
		}
		if err != nil {
			_ = out.Encode(map[string]any{"error": err.Error()})
			continue
		}
		_ = out.Encode(map[string]any{"result": result})
	}
	if p.client != nil {
		_ = p.client.Close()
	}
}

type peer struct {
	client   *client.Client
	progress atomic.Int64
}

func (p *peer) do(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "connect":
		return p.connect(ctx, params)
	case "tools/list":
		return ask(ctx, params, p.client.ListTools)
	case "tools/call":
		return p.call(ctx, params)
	case "prompts/list":
		return ask(ctx, params, p.client.ListPrompts)
	case "prompts/get":
		return ask(ctx, params, p.client.GetPrompt)
	case "resources/list":
		return ask(ctx, params, p.client.ListResources)
	case "resources/read":
		return ask(ctx, params, p.client.ReadResource)
	case "resources/templates/list":
		return ask(ctx, params, p.client.ListResourceTemplates)
	case "completion/complete":
		return ask(ctx, params, p.client.Complete)
	case "logging/setLevel":
		var request mcp.SetLevelRequest
		if err := json.Unmarshal(params, &request.Params); err != nil {
			return nil, err
		}
		return struct{}{}, p.client.SetLevel(ctx, request)
	default:
		return nil, fmt.Errorf("there is no method %q", method)
	}
}

// ask decodes params into a request and sends it.
func ask[Request, Result any](ctx context.Context, params json.RawMessage, send func(context.Context, Request) (Result, error)) (any, error) {
	var request Request
	if err := json.Unmarshal(fmt.Appendf(nil, `{"params":%s}`, params), &request); err != nil {
		return nil, err
	}
	return send(ctx, request)
}

func (p *peer) call(ctx context.Context, params json.RawMessage) (any, error) {
	var request mcp.CallToolRequest
	if err := json.Unmarshal(params, &request.Params); err != nil {
		return nil, err
	}
	p.progress.Store(0)
	request.Params.Meta = &mcp.Meta{ProgressToken: "progress"}
	result, err := p.client.CallTool(ctx, request)
	if err != nil {
		return nil, err
	}
	return struct {
		IsError           bool          `json:"isError,omitempty"`
		Content           []mcp.Content `json:"content"`
		StructuredContent any           `json:"structuredContent,omitempty"`
		Progress          int64         `json:"progress"`
	}{result.IsError, result.Content, result.StructuredContent, p.progress.Load()}, nil
}

// answers is what the user and the model say to everything.
type answers struct {
	content map[string]any
	reply   string
}

func (a answers) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: a.content}}, nil
}

func (a answers) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(a.reply)},
		Model:           "none",
	}, nil
}

func (p *peer) connect(ctx context.Context, params json.RawMessage) (any, error) {
	var to struct {
		URL, Token, Version, Reply string
		Command                    []string
		Content                    map[string]any
	}
	if err := json.Unmarshal(params, &to); err != nil {
		return nil, err
	}
	var wire transport.Interface
	if to.URL != "" {
		headers := map[string]string{}
		if to.Token != "" {
			headers["Authorization"] = "Bearer " + to.Token
		}
		w, err := transport.NewStreamableHTTP(to.URL, transport.WithHTTPHeaders(headers))
		if err != nil {
			return nil, err
		}
		wire = w
	} else {
		wire = transport.NewStdioWithOptions(to.Command[0], os.Environ(), to.Command[1:], transport.WithCommandStderrWriter(os.Stderr))
	}
	a := answers{to.Content, to.Reply}
	p.client = client.NewClient(wire, client.WithProtocolVersion(to.Version), client.WithElicitationHandler(a), client.WithSamplingHandler(a))
	p.client.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			p.progress.Add(1)
		}
	})
	if err := p.client.Start(ctx); err != nil {
		return nil, err
	}
	result, err := p.client.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: to.Version, ClientInfo: mcp.Implementation{Name: "mcp-go-peer", Version: "1"},
	}})
	if err != nil {
		return nil, err
	}
	return map[string]string{"version": result.ProtocolVersion}, nil
}
