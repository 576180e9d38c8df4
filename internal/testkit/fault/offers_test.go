package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

const modernVersion = "2026-07-28"

func TestOracleGetsPrompts(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, nil, "-everything", "-entries", "7", "-page", "3")
		var names []string
		for prompt, err := range session.Prompts(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, prompt.Name)
		}
		if len(names) != 9 || names[0] != "greet" || names[8] != "prompt_6" {
			t.Errorf("the prompts are %v", names)
		}
		got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"name": "Hana", "style": "warmly"}})
		if err != nil {
			t.Fatal(err)
		}
		if said := got.Messages[0].Content.(*mcp.TextContent).Text; said != "Greet Hana warmly" {
			t.Errorf("greet returned %q", said)
		}
		for _, bad := range []*mcp.GetPromptParams{{Name: "greet"}, {Name: "nosuch"}} {
			_, err := session.GetPrompt(t.Context(), bad)
			if got := codeOf(err); got != -32602 {
				t.Errorf("%s is answered with %v", bad.Name, err)
			}
		}
	})
}

func codeOf(err error) int64 {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return 0
	}
	return rpc.Code
}

func TestOracleReadsResources(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, nil, "-everything", "-entries", "7", "-page", "3")
		resources, templates := 0, 0
		for _, err := range session.Resources(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			resources++
		}
		for _, err := range session.ResourceTemplates(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			templates++
		}
		if resources != 10 || templates != 8 {
			t.Errorf("%d resources and %d templates are listed", resources, templates)
		}
		for uri, want := range map[string]string{
			"fault://text": "fault://text version 0", "fault://note/7": "note 7", "fault://blob": "\x00\x01\x02\xff",
		} {
			got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil {
				t.Fatal(err)
			}
			if c := got.Contents[0]; c.URI != uri || c.Text+string(c.Blob) != want {
				t.Errorf("%s is %+v", uri, c)
			}
		}
		want := int64(-32002)
		if s.version == modernVersion {
			want = -32602
		}
		_, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "fault://nosuch"})
		if got := codeOf(err); got != want {
			t.Errorf("an unknown resource is answered with %v, want %d", err, want)
		}
	})
}

func TestOracleCompletes(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, nil, "-everything")
		for _, ref := range []*mcp.CompleteReference{
			{Type: "ref/prompt", Name: "greet"}, {Type: "ref/resource", URI: "fault://note/{id}"},
		} {
			got, err := session.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: "name", Value: "be"}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Completion.Values, []string{"beta", "better"}) {
				t.Errorf("%+v completes to %v", ref, got.Completion.Values)
			}
		}
		_, err := session.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "nosuch"}})
		if codeOf(err) != -32602 {
			t.Errorf("an unknown prompt is answered with %v", err)
		}
	})
}

func TestOracleHearsOfResources(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		updated := make(chan string, 16)
		record := filepath.Join(t.TempDir(), "record")
		session := s.connect(t, &mcp.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { updated <- req.Params.URI },
		}, "-everything", "-record", record)
		var subscribing sync.WaitGroup
		defer subscribing.Wait()
		subscribe := func() {
			// The oracle's modern subscription lasts as long as its stream.
			_ = session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "fault://text"})
		}
		if s.version == modernVersion {
			subscribing.Go(subscribe)
			testkit.Eventually(t, func() bool {
				return strings.Contains(strings.Join(testkit.Lines(t, record), "\n"), "resourceSubscriptions")
			}, "the subscription has arrived")
			// It has arrived, and is in force as soon as it is acknowledged.
			testkit.Eventually(t, func() bool {
				call(t, session, "touch", map[string]any{"uri": "fault://text"})
				return len(updated) > 0
			}, "the oracle is told")
		} else {
			subscribe()
			call(t, session, "touch", map[string]any{"uri": "fault://text"})
		}
		call(t, session, "touch", map[string]any{"uri": "fault://blob"}) // nobody asked for it
		select {
		case uri := <-updated:
			if uri != "fault://text" {
				t.Errorf("%s was updated", uri)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no notification came")
		}
		if err := session.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "fault://text"}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOracleHearsOfEveryList(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		heard := make(chan string, 16)
		session := s.connect(t, &mcp.ClientOptions{
			PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { heard <- "prompts" },
			ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { heard <- "resources" },
		}, "-everything")
		for kind, want := range map[string]string{"prompt": "prompts", "resource": "resources", "template": "resources"} {
			for _, tool := range []string{"add", "remove"} {
				call(t, session, tool, map[string]any{"kind": kind, "name": "fault://fresh/{x}"})
				select {
				case got := <-heard:
					if got != want {
						t.Errorf("%s %s: the %s changed", tool, kind, got)
					}
				case <-time.After(30 * time.Second):
					t.Fatalf("%s %s: no notification came", tool, kind)
				}
			}
		}
	})
}

func TestOracleHearsTheLog(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		heard := make(chan string, 16)
		session := s.connect(t, &mcp.ClientOptions{
			LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
				heard <- fmt.Sprint(req.Params.Level, " ", req.Params.Data)
			},
		}, "-everything")
		meta := mcp.Meta{}
		if s.version == modernVersion {
			if got := call(t, session, "log", map[string]any{"level": "emergency", "text": "x"}); got != "not logged" {
				t.Errorf("a modern client that did not ask: %s", got)
			}
			meta[mcp.MetaKeyLogLevel] = "warning"
		} else if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "warning"}); err != nil {
			t.Fatal(err)
		}
		for level, want := range map[string]string{"info": "not logged", "warning": "logged", "alert": "logged"} {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: "log", Meta: meta, Arguments: map[string]any{"level": level, "text": "it is so"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, result); got != want {
				t.Errorf("%s: %s", level, got)
			}
			if want == "not logged" {
				continue
			}
			select {
			case got := <-heard:
				if got != level+" it is so" {
					t.Errorf("%s came as %s", level, got)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s: no message came", level)
			}
		}
	})
}

// asking is an oracle that can be asked everything.
func asking() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if req.Params.Mode == "url" {
				return &mcp.ElicitResult{Action: "accept"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "to " + req.Params.Message}}, nil
		},
		CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: req.Params.Messages[0].Content}, nil
		},
	}
}

func TestOracleIsAskedEverything(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, asking(), "-everything")
		for name, c := range map[string]struct {
			arguments map[string]any
			answers   int
			want      string
		}{
			"a form":          {map[string]any{"message": "Who"}, 1, "to Who (1)"},
			"a URL":           {map[string]any{"what": "url"}, 1, `"action":"accept"`},
			"a sample":        {map[string]any{"what": "sample", "message": "Say"}, 1, "Say (1)"},
			"roots":           {map[string]any{"what": "roots"}, 1, `"roots"`},
			"several rounds":  {map[string]any{"rounds": 3}, 3, "(3)"},
			"several at once": {map[string]any{"at_once": 3}, 3, "(3)"},
			"both":            {map[string]any{"rounds": 2, "at_once": 2}, 4, "(4)"},
		} {
			got := call(t, session, "ask", c.arguments)
			var answers []json.RawMessage
			if err := json.Unmarshal([]byte(got), &answers); err != nil || len(answers) != c.answers || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s", name, got)
			}
		}
		prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "interview"})
		if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, "What is your name? (1)") {
			t.Errorf("interview is answered with %v, %v", prompt, err)
		}
		resource, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "fault://asked"})
		if err != nil || !strings.Contains(resource.Contents[0].Text, "What is your name? (1)") {
			t.Errorf("fault://asked is answered with %v, %v", resource, err)
		}
	})
}

// Gates let a test hold calls where it wants them.
func TestGates(t *testing.T) {
	everySetting(t, func(t *testing.T, s setting) {
		session := s.connect(t, asking(), "-everything")
		gate := filepath.Join(t.TempDir(), "gate")
		held := make(chan string, 2)
		for _, arguments := range []map[string]any{{"before": gate, "message": "before"}, {"after": gate, "message": "after"}} {
			go func() {
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: arguments})
				if err != nil {
					held <- err.Error()
					return
				}
				held <- result.Content[0].(*mcp.TextContent).Text
			}()
		}
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := <-held; !strings.Contains(got, "to ") {
				t.Errorf("answered %s", got)
			}
		}
		if got := call(t, session, "hold", map[string]any{"gate": gate, "text": "x"}); got != "held x" {
			t.Errorf("hold returned %s", got)
		}
	})
}
