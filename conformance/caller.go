package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/api/client"
)

// What the role of the client is told, beside what the suite tells it.
const (
	envCaller = "CONFORMANCE_CALLER" // the era of the client before genkan
	envGenkan = "CONFORMANCE_GENKAN" // the binary; none to talk to the suite's server directly
	envDir    = "CONFORMANCE_DIR"    // for genkan's data and log
)

// callerPatience ends before the suite loses its own, which would leave this
// process and its genkan behind.
const callerPatience = 25 * time.Second

// actAsClient does what a scenario of the suite expects of a client, through
// genkan if there is one.
func actAsClient(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, callerPatience)
	defer cancel()
	c := &caller{era: os.Getenv(envCaller), address: address}
	if genkan := os.Getenv(envGenkan); genkan != "" {
		l, err := openLab(ctx, options{genkan: genkan, keep: os.Getenv(envDir)}, io.Discard)
		if err != nil {
			return err
		}
		defer l.close()
		d, err := l.openDoor("client", map[string]server{"suite": server{URL: address}.bare()})
		if err != nil {
			return err
		}
		if err := d.untilReady(ctx); err != nil {
			return err
		}
		tools, err := d.api().Tools(ctx, client.ToolFilter{})
		if err != nil {
			return err
		}
		for _, tool := range tools {
			c.listed = append(c.listed, tool.Name)
		}
		c.address, c.token = d.url(), d.token
	}
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	act, ok := acts[scenario]
	if !ok {
		return fmt.Errorf("nobody has said what a client does in scenario %q", scenario)
	}
	return act(ctx, c)
}

// caller is the client before genkan: the Go SDK's.
type caller struct {
	era, address, token string
	// listed are the tools that genkan lists; nil without genkan.
	listed []string
}

// connect opens a session. What the server asks the user for is answered with
// content, if there is any.
func (c *caller) connect(ctx context.Context, content map[string]any) (*mcp.ClientSession, error) {
	opts := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if content != nil {
		opts.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: content}, nil
		}
	}
	transport := &mcp.StreamableClientTransport{Endpoint: c.address, HTTPClient: &http.Client{Transport: bearer(c.token)}}
	return mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1"}, opts).
		Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision(c.era)})
}

// bearer adds a token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// acts are what a client does in each scenario.
var acts = map[string]func(context.Context, *caller) error{
	"initialize":                          with(nil, listTools),
	"request-metadata":                    with(nil, listTools),
	"json-schema-ref-no-deref":            with(nil, listTools),
	"tools_call":                          with(nil, call("add_numbers", map[string]any{"a": 5, "b": 3})),
	"sse-retry":                           with(nil, call("test_reconnection", nil)),
	"elicitation-sep1034-client-defaults": with(map[string]any{}, call("test_client_elicitation_defaults", nil)),
	"json-schema-2020-12-preservation":    with(nil, echoSchema),
	"sep-2322-client-request-state":       with(map[string]any{"confirmed": true}, answerRequests),
	"http-standard-headers":               with(nil, oneOfEach),
	"http-custom-headers":                 with(nil, givenCalls),
	"http-invalid-tool-headers":           callAll,
}

type action func(context.Context, *mcp.ClientSession) error

// with opens a session for an action.
func with(content map[string]any, do action) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		session, err := c.connect(ctx, content)
		if err != nil {
			return err
		}
		return errors.Join(do(ctx, session), session.Close())
	}
}

func listTools(ctx context.Context, s *mcp.ClientSession) error {
	_, err := s.ListTools(ctx, nil)
	return err
}

func call(tool string, arguments map[string]any) action {
	return func(ctx context.Context, s *mcp.ClientSession) error {
		if arguments == nil {
			arguments = map[string]any{}
		}
		if err := listTools(ctx, s); err != nil {
			return err
		}
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		return err
	}
}

// echoSchema shows the suite what has become of its schema.
func echoSchema(ctx context.Context, s *mcp.ClientSession) error {
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, tool := range list.Tools {
		if tool.Name == "json_schema_2020_12_tool" {
			return call("json_schema_echo", map[string]any{"schema": tool.InputSchema})(ctx, s)
		}
	}
	return errors.New("the tool with the schema is not listed")
}

// answerRequests calls tools that ask for input and for their state back. Some
// are made to fail.
func answerRequests(ctx context.Context, s *mcp.ClientSession) error {
	for _, tool := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
		tell(tool, call(tool, nil)(ctx, s))
	}
	return nil
}

// oneOfEach uses every kind of name that goes into a header.
func oneOfEach(ctx context.Context, s *mcp.ClientSession) error {
	if list, err := s.ListTools(ctx, nil); err == nil && len(list.Tools) > 0 {
		tell("tools/call", call(list.Tools[0].Name, nil)(ctx, s))
	} else {
		tell("tools/list", err)
	}
	if list, err := s.ListResources(ctx, nil); err == nil && len(list.Resources) > 0 {
		_, err = s.ReadResource(ctx, &mcp.ReadResourceParams{URI: list.Resources[0].URI})
		tell("resources/read", err)
	} else {
		tell("resources/list", err)
	}
	if list, err := s.ListPrompts(ctx, nil); err == nil && len(list.Prompts) > 0 {
		_, err = s.GetPrompt(ctx, &mcp.GetPromptParams{Name: list.Prompts[0].Name})
		tell("prompts/get", err)
	} else {
		tell("prompts/list", err)
	}
	return nil
}

// givenCalls makes the calls that the suite wants to see.
func givenCalls(ctx context.Context, s *mcp.ClientSession) error {
	var given struct {
		ToolCalls []struct {
			Name      string         `json:"name"`
			Arguments map[string]any `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given); err != nil {
		return err
	}
	for _, c := range given.ToolCalls {
		tell(c.Name, call(c.Name, c.Arguments)(ctx, s))
	}
	return nil
}

// callAll calls every tool that is listed: those with impossible headers must
// not be. The SDK hides these by itself, in every list that it reads, so what
// genkan lists is read from its API.
func callAll(ctx context.Context, c *caller) error {
	listed := c.listed
	return with(nil, func(ctx context.Context, s *mcp.ClientSession) error {
		// Also where the names are known: the SDK makes headers by the list.
		list, err := s.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		if listed == nil {
			for _, tool := range list.Tools {
				listed = append(listed, tool.Name)
			}
		}
		for _, tool := range listed {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"region": "us-west1"}})
			tell(tool, err)
		}
		return nil
	})(ctx, c)
}

// tell notes a failure that does not end a scenario; the suite's checks judge
// it.
func tell(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	}
}
