package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/mcpserver"
	"genkan/internal/testkit"
)

// The official SDK's client is the oracle: it knows nothing of us.

// bearer adds the token to what the SDK sends.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// sdkTransport connects the SDK over HTTP, SSE or stdio.
func (h *house) sdkTransport(kind string) mcp.Transport {
	h.tb.Helper()
	if kind != "stdio" {
		transport := &http.Transport{}
		h.tb.Cleanup(transport.CloseIdleConnections)
		client := &http.Client{Transport: bearer{h.token, transport}}
		if kind == "SSE" {
			return &mcp.SSEClientTransport{Endpoint: h.base + "/sse", HTTPClient: client}
		}
		return &mcp.StreamableClientTransport{Endpoint: h.base + "/mcp", HTTPClient: client}
	}
	serverIn, clientOut, err := os.Pipe()
	if err != nil {
		h.tb.Fatal(err)
	}
	clientIn, serverOut, err := os.Pipe()
	if err != nil {
		h.tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = h.process.ServeStdio(context.Background(), serverIn, serverOut, mcpserver.StdioOptions{})
		_ = serverOut.Close()
	}()
	h.tb.Cleanup(func() {
		_ = clientOut.Close()
		<-done
		_ = serverIn.Close()
		_ = clientIn.Close()
	})
	return &mcp.IOTransport{Reader: clientIn, Writer: clientOut}
}

// TestOfficialClient lists, calls, follows progress and hears of changes with
// the SDK's client, in every version that it speaks, over all transports.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"old": child(t, "-era", "legacy"), "new": sibling(t, "-era", "modern")}, map[string]any{"pageSize": 5})
	for i, kind := range []string{"HTTP", "SSE", "stdio"} {
		for j, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
			if kind == "SSE" && version == "2026-07-28" {
				continue // it is of the legacy era
			}
			if !testkit.OneIn(2, i, j) {
				continue
			}
			t.Run(kind+" "+version, func(t *testing.T) { h.officialClient(t, kind, version) })
		}
	}
}

func (h *house) officialClient(t *testing.T, kind, version string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	changed := make(chan struct{}, 100)
	var mu sync.Mutex
	var progress []string
	client := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			progress = append(progress, fmt.Sprintf("%v %v/%v", r.Params.ProgressToken, r.Params.Progress, r.Params.Total))
		},
	})
	inner := *h
	inner.tb = t
	session, err := client.Connect(ctx, inner.sdkTransport(kind), &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("the SDK speaks %s with us, want %s", got, version)
	}

	names := map[string]bool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if names[tool.Name] {
			t.Errorf("%s is listed twice", tool.Name)
		}
		names[tool.Name] = true
	}
	for _, server := range []string{"old", "new"} {
		if !names[server+"__echo"] || !names[server+"__elicit"] {
			t.Errorf("the list has %v", names)
		}
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: server + "__echo", Arguments: map[string]any{"text": "こんにちは <&>"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Content[0].(*mcp.TextContent).Text; got != "こんにちは <&>" || result.IsError {
			t.Errorf("echo returned %q", got)
		}
		result, err = session.CallTool(ctx, &mcp.CallToolParams{Name: server + "__echo"})
		if err != nil || !result.IsError {
			t.Errorf("a tool's own failure came as %v, %v", result, err)
		}
		for _, token := range []any{"tok", 42} {
			mu.Lock()
			progress = nil
			mu.Unlock()
			params := &mcp.CallToolParams{Name: server + "__progress", Arguments: map[string]any{"n": 2}}
			params.SetProgressToken(token)
			if _, err := session.CallTool(ctx, params); err != nil {
				t.Fatal(err)
			}
			// Over stdio the SDK may hand out the answer before what came first.
			want := fmt.Sprintf("[%v 1/2 %v 2/2]", token, token)
			testkit.Eventually(t, func() bool {
				mu.Lock()
				defer mu.Unlock()
				return fmt.Sprint(progress) == want
			}, "progress is %s", want)
		}
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "no_such_tool"}); err == nil {
		t.Error("a tool that is not there was called")
	}
	h.changeIsHeard(ctx, t, session, changed)
}

// changeIsHeard adds a tool until the client hears of a change: the stream on
// which it does so may not be open yet when Connect returns.
func (h *house) changeIsHeard(ctx context.Context, t *testing.T, session *mcp.ClientSession, changed <-chan struct{}) {
	t.Helper()
	for i := 0; ; i++ {
		name := fmt.Sprintf("%p_%d", session, i)
		if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "old__add_tool", Arguments: map[string]any{"name": name}}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-changed:
			return
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the client never heard of a change")
		}
	}
}
