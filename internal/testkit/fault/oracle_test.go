package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/testkit"
)

// The official SDK's client is the oracle: whatever it can do with a correct
// server, it can do with ours, in both eras and over both transports.

// setting is one combination that everything must hold in.
type setting struct {
	name    string
	version string
	http    bool
	args    []string
}

func settings() []setting {
	return []setting{
		{"legacy stdio", "2025-11-25", false, []string{"-era", "legacy"}},
		{"modern stdio", "2026-07-28", false, []string{"-era", "modern"}},
		{"legacy stdio of both", "2025-06-18", false, nil},
		{"modern stdio of both", "2026-07-28", false, nil},
		{"legacy http", "2025-11-25", true, []string{"-era", "legacy"}},
		{"legacy http sse", "2025-11-25", true, []string{"-era", "legacy", "-sse"}},
		{"modern http", "2026-07-28", true, []string{"-era", "modern"}},
		{"modern http sse", "2026-07-28", true, []string{"-era", "modern", "-sse"}},
		{"legacy http of both", "2025-03-26", true, nil},
		{"modern http of both", "2026-07-28", true, nil},
	}
}

// everySetting runs a test in all of them.
func everySetting(t *testing.T, test func(t *testing.T, s setting)) {
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// connect starts a server and connects the oracle to it.
func (s setting) connect(t *testing.T, opts *mcp.ClientOptions, args ...string) *mcp.ClientSession {
	t.Helper()
	args = append(slices.Clone(s.args), args...)
	var transport mcp.Transport
	if s.http {
		own := &http.Transport{}
		t.Cleanup(own.CloseIdleConnections)
		transport = &mcp.StreamableClientTransport{
			Endpoint:   testkit.StartFaultHTTP(t, args...),
			HTTPClient: &http.Client{Transport: own},
		}
	} else {
		transport = &mcp.CommandTransport{Command: command(t, args...)}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, opts)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: s.version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != s.version {
		t.Fatalf("the protocol version is %s, want %s", got, s.version)
	}
	return session
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	name, argv, env := testkit.FaultCommand(t, args...)
	cmd := exec.Command(name, argv...)
	for key, value := range env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	return cmd
}

func call(t *testing.T, session *mcp.ClientSession, name string, arguments map[string]any) string {
	t.Helper()
	if arguments == nil {
		arguments = map[string]any{} // the SDK would send null
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text(t, result)
}

func text(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	if len(result.Content) != 1 {
		t.Fatalf("the result has %d contents", len(result.Content))
	}
	content, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the content is a %T", result.Content[0])
	}
	if result.IsError {
		return "error: " + content.Text
	}
	return content.Text
}

func TestOracleCallsTools(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, nil)
		if got := call(t, session, "echo", map[string]any{"text": "こんにちは <&>\n"}); got != "こんにちは <&>\n" {
			t.Errorf("echo returned %q", got)
		}
		if got := call(t, session, "echo", nil); got != "error: echo needs a text" {
			t.Errorf("echo without text returned %q", got)
		}
		if got := call(t, session, "env", nil); !strings.Contains(got, "GENKAN_FAULT_SERVER=1") {
			t.Errorf("env returned %q", got)
		}
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nosuch"})
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != -32602 {
			t.Errorf("an unknown tool is answered with %v", err)
		}
		_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "raw", Arguments: map[string]any{
			"error_json": `{"code":-1,"message":"m","data":{"k":1e2}}`,
		}})
		if !errors.As(err, &rpc) || rpc.Code != -1 || string(rpc.Data) != `{"k":1e2}` {
			t.Errorf("raw error came as %v", err)
		}
	})
}

func TestOracleListsTools(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, nil, "-tools", "40", "-page", "15", "-param-tool")
		seen := make(map[string]bool)
		for tool, err := range session.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if seen[tool.Name] {
				t.Errorf("%s is listed twice", tool.Name)
			}
			seen[tool.Name] = true
			if tool.Description == "" || tool.InputSchema == nil {
				t.Errorf("%s lacks a description or a schema", tool.Name)
			}
		}
		if want := 13 + 40; len(seen) != want {
			t.Errorf("%d tools are listed, want %d", len(seen), want)
		}
		if got := call(t, session, "list_issue", map[string]any{"limit": 3}); got != `list_issue {"limit":3}` {
			t.Errorf("list_issue returned %q", got)
		}
		if got := call(t, session, "lookup", map[string]any{"region": "大阪"}); got != "大阪" {
			t.Errorf("lookup returned %q", got)
		}
	})
}

func TestOracleCallsConcurrently(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		slow := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "sleep", Arguments: map[string]any{"ms": 600_000}})
			slow <- err
		}()
		var calls sync.WaitGroup
		for i := range 20 {
			calls.Go(func() {
				want := fmt.Sprint("call ", i)
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": want}})
				if err != nil {
					t.Error(err)
				} else if got := result.Content[0].(*mcp.TextContent).Text; got != want {
					t.Errorf("echo returned %q, want %q", got, want)
				}
			})
		}
		calls.Wait()
		cancel()
		if err := <-slow; err == nil {
			t.Error("the cancelled call succeeded")
		}
	})
}

func TestOracleSeesProgress(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		var mu sync.Mutex
		var steps []float64
		session := s.connect(t, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
				mu.Lock()
				defer mu.Unlock()
				if req.Params.ProgressToken != "token" {
					t.Errorf("the progress token is %v", req.Params.ProgressToken)
				}
				steps = append(steps, req.Params.Progress)
			},
		})
		params := &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{"n": 3}}
		params.SetProgressToken("token")
		result, err := session.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, result); got != "3 steps" {
			t.Errorf("progress returned %q", got)
		}
		testkit.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Equal(steps, []float64{1, 2, 3})
		}, "all progress arrived in order")
		if got := call(t, session, "progress", map[string]any{"n": 3}); got != "3 steps" {
			t.Errorf("progress without a token returned %q", got)
		}
	})
}

func TestOracleHearsOfChanges(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		changed := make(chan struct{}, 16)
		session := s.connect(t, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		})
		names := func() []string {
			list, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			return names
		}
		await := func() {
			t.Helper()
			select {
			case <-changed:
			case <-time.After(30 * time.Second):
				t.Fatal("no notification came")
			}
		}
		call(t, session, "add_tool", map[string]any{"name": "fresh"})
		await()
		if !slices.Contains(names(), "fresh") {
			t.Error("the added tool is not listed")
		}
		call(t, session, "remove_tool", map[string]any{"name": "fresh"})
		await()
		if slices.Contains(names(), "fresh") {
			t.Error("the removed tool is still listed")
		}
	})
}

func TestOracleIsAsked(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Hana, asked: " + req.Params.Message}}, nil
			},
		})
		got := call(t, session, "elicit", map[string]any{"message": "Who?"})
		var answer struct {
			Action  string
			Content struct{ Name string }
		}
		if err := json.Unmarshal([]byte(got), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Action != "accept" || answer.Content.Name != "Hana, asked: Who?" {
			t.Errorf("elicit returned %s", got)
		}
	})
	t.Run("without the capability", func(t *testing.T) {
		everySetting(t, func(t *testing.T, s setting) {
			session := s.connect(t, nil)
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "elicit"})
			var rpc *jsonrpc.Error
			modern := s.version == "2026-07-28"
			if modern && (!errors.As(err, &rpc) || rpc.Code != -32021) {
				t.Errorf("elicit is answered with %v, want -32021", err)
			}
			if !modern && (err != nil || !result.IsError) {
				t.Errorf("elicit is answered with %v, %v, want a failed result", result, err)
			}
		})
	})
}

func TestOracleCancels(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		record := filepath.Join(t.TempDir(), "record")
		session := s.connect(t, nil, "-record", record)
		ctx, cancel := context.WithCancel(t.Context())
		answered := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "sleep", Arguments: map[string]any{"ms": 600_000}})
			answered <- err
		}()
		testkit.Eventually(t, func() bool {
			return slices.ContainsFunc(testkit.Lines(t, record), func(line string) bool { return strings.Contains(line, "600000") })
		}, "the call has arrived")
		cancel()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled call returned %v", err)
		}
		testkit.Eventually(t, func() bool {
			return slices.ContainsFunc(testkit.Lines(t, record), func(line string) bool { return strings.HasPrefix(line, "cancelled ") })
		}, "the server has noticed the cancellation")
		if got := call(t, session, "echo", map[string]any{"text": "still here"}); got != "still here" {
			t.Errorf("echo returned %q", got)
		}
	})
}
