package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// step is one thing that a peer does, and what must come of it.
type step struct {
	name string
	do   func(context.Context, *visit) error
}

// The servers that may be behind genkan.
const (
	everything = "everything"
	filesystem = "filesystem"
	memory     = "memory"
)

// stepsAt are what is done at some servers.
func stepsAt(servers []string) (out []step) {
	for _, name := range servers {
		out = append(out, map[string][]step{
			everything: everythingSteps, filesystem: {filesystemStep}, memory: {memoryStep},
			gitServer: gitSteps, fetchServer: fetchSteps, timeServer: timeSteps,
		}[name]...)
	}
	return out
}

// everythingSteps are what server-everything offers. Names are looked up in
// what is listed: behind genkan they may have a prefix.
var everythingSteps = []step{
	{"tools/list", func(ctx context.Context, v *visit) error { _, err := v.tool(ctx, "echo"); return err }},
	{"tools/call", func(ctx context.Context, v *visit) error {
		return v.call(ctx, "echo", map[string]any{"message": "hello"}, "Echo: hello")
	}},
	{"structured content", func(ctx context.Context, v *visit) error {
		return v.call(ctx, "get-structured-content", map[string]any{"location": "New York"}, `"humidity":82`)
	}},
	{"progress", progress},
	{"prompts/list", func(ctx context.Context, v *visit) error {
		_, err := v.find(ctx, "prompts/list", "prompts", "name", "args-prompt")
		return err
	}},
	{"prompts/get", func(ctx context.Context, v *visit) error {
		name, err := v.find(ctx, "prompts/list", "prompts", "name", "args-prompt")
		if err != nil {
			return err
		}
		return v.ask(ctx, "prompts/get", map[string]any{"name": name, "arguments": map[string]any{"city": "Kyoto"}}, "Kyoto")
	}},
	{"resources/list", func(ctx context.Context, v *visit) error {
		_, err := v.find(ctx, "resources/list", "resources", "uri", "architecture.md")
		return err
	}},
	{"resources/read", func(ctx context.Context, v *visit) error {
		uri, err := v.find(ctx, "resources/list", "resources", "uri", "architecture.md")
		if err != nil {
			return err
		}
		return v.ask(ctx, "resources/read", map[string]any{"uri": uri}, "Everything Server")
	}},
	{"resource template", func(ctx context.Context, v *visit) error {
		uri, err := v.find(ctx, "resources/templates/list", "resourceTemplates", "uriTemplate", "dynamic/text/{resourceId}")
		if err != nil {
			return err
		}
		return v.ask(ctx, "resources/read", map[string]any{"uri": strings.ReplaceAll(uri, "{resourceId}", "7")}, "Resource 7")
	}},
	{"completion", func(ctx context.Context, v *visit) error {
		name, err := v.find(ctx, "prompts/list", "prompts", "name", "completable-prompt")
		if err != nil {
			return err
		}
		return v.ask(ctx, "completion/complete", map[string]any{
			"ref": map[string]any{"type": "ref/prompt", "name": name}, "argument": map[string]any{"name": "department", "value": "E"},
		}, "Engineering")
	}},
	{"logging/setLevel", func(ctx context.Context, v *visit) error {
		return v.ask(ctx, "logging/setLevel", map[string]any{"level": "info"}, "")
	}},
	{"elicitation", func(ctx context.Context, v *visit) error {
		return v.call(ctx, "trigger-elicitation-request", map[string]any{}, userSays)
	}},
	{"sampling", func(ctx context.Context, v *visit) error {
		return v.call(ctx, "trigger-sampling-request", map[string]any{"prompt": "hello", "maxTokens": 10}, modelSays)
	}},
}

// What the user and the model of every peer say.
const (
	userSays  = "Urashima Taro"
	modelSays = "Said by nobody's model."
)

var filesystemStep = step{"server-filesystem", func(ctx context.Context, v *visit) error {
	return v.call(ctx, "read_text_file", map[string]any{"path": v.file}, fileText)
}}

// fileText is what the file in the served folder says.
const fileText = "The door is open."

var memoryStep = step{"server-memory", func(ctx context.Context, v *visit) error {
	entity := map[string]any{"name": v.name, "entityType": "client", "observations": []string{"was here"}}
	if err := v.call(ctx, "create_entities", map[string]any{"entities": []any{entity}}, v.name); err != nil {
		return err
	}
	return v.call(ctx, "search_nodes", map[string]any{"query": v.name}, "was here")
}}

func progress(ctx context.Context, v *visit) error {
	name, err := v.tool(ctx, "trigger-long-running-operation")
	if err != nil {
		return err
	}
	return v.progressOf(ctx, map[string]any{"name": name, "arguments": map[string]any{"duration": 0.3, "steps": 3}})
}

// progressOf makes a call during which there must be progress.
func (v *visit) progressOf(ctx context.Context, call map[string]any) error {
	raw, err := v.peer.do(ctx, "tools/call", call)
	if err != nil {
		return err
	}
	var result struct {
		Progress int `json:"progress"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return err
	}
	if result.Progress == 0 {
		return errors.New("no progress was told")
	}
	return nil
}

// visit is a peer at work.
type visit struct {
	peer peer
	name string // that nobody else has
	file string // that server-filesystem serves
	// repository is that of server-git, site what server-fetch fetches from.
	repository, site string
	// started is when all servers have started, however slow the machine.
	started time.Time
	// tools are the listed names of those that were found.
	tools map[string]string
}

// tool finds the listed name of a server's tool. Those of servers that are still
// starting appear later, and those that depend on what the client can do after it
// has said so.
func (v *visit) tool(ctx context.Context, name string) (string, error) {
	if found, ok := v.tools[name]; ok {
		return found, nil
	}
	const comes = 2 * time.Second
	deadline := time.Now().Add(comes)
	if deadline.Before(v.started) {
		deadline = v.started
	}
	for {
		found, err := v.find(ctx, "tools/list", "tools", "name", name)
		var missing *notListedError
		if err == nil && v.tools != nil {
			v.tools[name] = found
		}
		if !errors.As(err, &missing) || time.Now().After(deadline) {
			return found, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// call calls a tool; the result must contain a text, somewhere.
func (v *visit) call(ctx context.Context, tool string, arguments map[string]any, want string) error {
	name, err := v.tool(ctx, tool)
	if err != nil {
		return err
	}
	return v.ask(ctx, "tools/call", map[string]any{"name": name, "arguments": arguments}, want)
}

func (v *visit) ask(ctx context.Context, method string, params map[string]any, want string) error {
	raw, err := v.peer.do(ctx, method, params)
	if err != nil {
		return err
	}
	// Encoded again, without the spaces that some put in.
	var result any
	if err := json.Unmarshal(raw, &result); err != nil {
		return fmt.Errorf("the result is not JSON: %w", err)
	}
	if raw, err = json.Marshal(result); err != nil {
		return err
	}
	if !strings.Contains(string(raw), want) {
		return fmt.Errorf("the result is %s", raw)
	}
	return nil
}

type notListedError struct{ method, name string }

func (e *notListedError) Error() string { return e.method + " does not list " + e.name }

// find returns the first listed thing whose key ends in a text.
func (v *visit) find(ctx context.Context, method, list, key, suffix string) (string, error) {
	raw, err := v.peer.do(ctx, method, map[string]any{})
	if err != nil {
		return "", err
	}
	var result map[string]json.RawMessage
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", err
	}
	var things []map[string]any
	if err := json.Unmarshal(result[list], &things); err != nil {
		return "", fmt.Errorf("the result of %s has no %s: %w", method, list, err)
	}
	for _, thing := range things {
		if s, ok := thing[key].(string); ok && strings.HasSuffix(s, suffix) {
			return s, nil
		}
	}
	return "", &notListedError{method, suffix}
}

// connect connects, and checks that the era is the one that was meant.
func (v *visit) connect(ctx context.Context, era string, to target) error {
	params, err := to.params()
	if err != nil {
		return err
	}
	raw, err := v.peer.do(ctx, "connect", params)
	if err != nil {
		return err
	}
	var agreed struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(raw, &agreed); err != nil {
		return err
	}
	if agreed.Version != "" && agreed.Version != revision(era) {
		return fmt.Errorf("they speak %s, not %s", agreed.Version, revision(era))
	}
	return nil
}
