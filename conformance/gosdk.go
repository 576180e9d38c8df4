package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goSDKPeer is the Go SDK's client.
type goSDKPeer struct {
	session  *mcp.ClientSession
	progress atomic.Int64
}

func (p *goSDKPeer) close() {
	if p.session != nil {
		_ = p.session.Close()
	}
}

func (p *goSDKPeer) do(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	if method == "connect" {
		return p.connect(ctx, raw)
	}
	switch s := p.session; method {
	case "tools/list":
		return ask(ctx, raw, s.ListTools)
	case "tools/call":
		return p.call(ctx, raw)
	case "prompts/list":
		return ask(ctx, raw, s.ListPrompts)
	case "prompts/get":
		return ask(ctx, raw, s.GetPrompt)
	case "resources/list":
		return ask(ctx, raw, s.ListResources)
	case "resources/read":
		return ask(ctx, raw, s.ReadResource)
	case "resources/templates/list":
		return ask(ctx, raw, s.ListResourceTemplates)
	case "completion/complete":
		return ask(ctx, raw, s.Complete)
	case "logging/setLevel":
		//nolint:staticcheck // deprecated in the modern era, and what legacy clients do
		return ask(ctx, raw, func(ctx context.Context, p *mcp.SetLoggingLevelParams) (*struct{}, error) {
			return nil, s.SetLoggingLevel(ctx, p) //nolint:staticcheck // as above
		})
	default:
		return nil, fmt.Errorf("there is no method %q", method)
	}
}

// ask decodes params, sends them, and encodes the result.
func ask[Params, Result any](ctx context.Context, raw json.RawMessage, send func(context.Context, *Params) (*Result, error)) (json.RawMessage, error) {
	var params Params
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	result, err := send(ctx, &params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

func (p *goSDKPeer) call(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	var params mcp.CallToolParams
	if err := json.Unmarshal(raw, &params); err != nil {
		return nil, err
	}
	p.progress.Store(0)
	params.Meta = mcp.Meta{}
	params.SetProgressToken("progress")
	result, err := p.session.CallTool(ctx, &params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"isError": result.IsError, "content": result.Content,
		"structuredContent": result.StructuredContent, "progress": p.progress.Load(),
	})
}

func (p *goSDKPeer) connect(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	var to target
	if err := json.Unmarshal(raw, &to); err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk-peer", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: to.Content}, nil
		},
		//nolint:staticcheck // deprecated, and alive until mid-2027
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "none", Content: &mcp.TextContent{Text: to.Reply}}, nil
		},
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { p.progress.Add(1) },
	})
	var wire mcp.Transport
	if to.URL != "" {
		wire = &mcp.StreamableClientTransport{Endpoint: to.URL, HTTPClient: &http.Client{Transport: bearer(to.Token)}}
	} else {
		cmd := exec.Command(to.Command[0], to.Command[1:]...)
		cmd.Env = cleanEnvironment()
		wire = &mcp.CommandTransport{Command: cmd}
	}
	session, err := client.Connect(ctx, wire, &mcp.ClientSessionOptions{ProtocolVersion: to.Version})
	if err != nil {
		return nil, err
	}
	p.session = session
	return json.Marshal(map[string]string{"version": session.InitializeResult().ProtocolVersion})
}
