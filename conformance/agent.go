package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An agent in search mode sees five tools and finds the others with them. These
// steps are what such an agent does: they know what they want, and no name of a
// tool that was not found by a search.

// inSearchMode is the wire of these visits.
const inSearchMode = "HTTP, search mode"

var agentSteps = []step{
	{"five tools", func(ctx context.Context, v *visit) error {
		raw, err := v.peer.do(ctx, "tools/list", map[string]any{})
		if err != nil {
			return err
		}
		var list struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != "call_read_tool call_tool describe_tool read_result search_tools" {
			return errors.New("the list is " + got)
		}
		return nil
	}},
	{"search, describe, read", func(ctx context.Context, v *visit) error {
		id, err := v.search(ctx, "read the contents of a text file", "call_read_tool")
		if err != nil {
			return err
		}
		if err := v.ask(ctx, "tools/call", calling("describe_tool", map[string]any{"name": id}), `"definition"`); err != nil {
			return err
		}
		return v.through(ctx, "call_read_tool", id, map[string]any{"path": v.file}, fileText)
	}},
	{"search, write", func(ctx context.Context, v *visit) error {
		id, err := v.search(ctx, "remember a new entity in the knowledge graph", "call_tool")
		if err != nil {
			return err
		}
		entity := map[string]any{"name": v.name, "entityType": "agent", "observations": []string{"looked for it"}}
		return v.through(ctx, "call_tool", id, map[string]any{"entities": []any{entity}}, v.name)
	}},
	{"search in Japanese", func(ctx context.Context, v *visit) error {
		id, err := v.search(ctx, "二つの数を足す", "")
		if err != nil {
			return err
		}
		return v.through(ctx, "call_tool", id, map[string]any{"a": 19, "b": 23}, "42")
	}},
	{"a write is no read", func(ctx context.Context, v *visit) error {
		id, err := v.search(ctx, "create a directory", "call_tool")
		if err != nil {
			return err
		}
		err = v.through(ctx, "call_read_tool", id, map[string]any{"path": v.file + ".never"}, `"isError":true`)
		if err != nil && strings.Contains(err.Error(), "call_read_tool does not call it") {
			return nil // the Inspector ends with an error when a tool does
		}
		return err
	}},
	{"progress", func(ctx context.Context, v *visit) error {
		id, err := v.search(ctx, "long running operation with progress", "")
		if err != nil {
			return err
		}
		return v.progressOf(ctx, calling("call_tool", map[string]any{"name": id, "arguments": map[string]any{"duration": 0.3, "steps": 3}}))
	}},
	{"elicitation", func(ctx context.Context, v *visit) error {
		id, err := v.search(ctx, "ask the user by an elicitation request", "")
		if err != nil {
			return err
		}
		return v.through(ctx, "call_tool", id, map[string]any{}, userSays)
	}},
	{"nothing fits", func(ctx context.Context, v *visit) error {
		return v.ask(ctx, "tools/call", calling("search_tools", map[string]any{"query": "brew espresso xylophone"}), "no_match\\\":true")
	}},
}

func calling(tool string, arguments map[string]any) map[string]any {
	return map[string]any{"name": tool, "arguments": arguments}
}

// through calls a tool that was found by means of one of the two.
func (v *visit) through(ctx context.Context, by, id string, arguments map[string]any, want string) error {
	return v.ask(ctx, "tools/call", calling(by, map[string]any{"name": id, "arguments": arguments}), want)
}

// search is the best hit's id; callWith says which of the two must be named to
// call it with, "" for either.
func (v *visit) search(ctx context.Context, query, callWith string) (string, error) {
	raw, err := v.peer.do(ctx, "tools/call", calling("search_tools", map[string]any{"query": query}))
	if err != nil {
		return "", err
	}
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	var found struct {
		Results []struct {
			ID       string `json:"id"`
			CallWith string `json:"call_with"`
		} `json:"results"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", err
	}
	if len(result.Content) == 0 || json.Unmarshal([]byte(result.Content[0].Text), &found) != nil || len(found.Results) == 0 {
		return "", fmt.Errorf("search_tools found nothing for %q: %s", query, raw)
	}
	if best := found.Results[0]; callWith != "" && best.CallWith != callWith {
		return "", fmt.Errorf("the best hit for %q is %s, to be called with %s", query, best.ID, best.CallWith)
	}
	return found.Results[0].ID, nil
}

// reading is a peer that counts what a model reads and writes: of the list the
// names, descriptions and input schemas, and its calls with the texts of their
// results. A token is about four bytes.
type reading struct {
	peer
	list, calls int
}

const bytesPerToken = 4

func (r *reading) do(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	raw, err := r.peer.do(ctx, method, params)
	if err != nil {
		return nil, err
	}
	var seen struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &seen); err != nil {
		return nil, err
	}
	switch method {
	case "tools/list":
		r.list = 0 // however often it is asked for, a model has it once
		for _, tool := range seen.Tools {
			r.list += len(tool.Name) + len(tool.Description) + len(tool.InputSchema)
		}
	case "tools/call":
		said, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		r.calls += len(said)
		for _, part := range seen.Content {
			r.calls += len(part.Text)
		}
	}
	return raw, nil
}

// bill is what one task costs a model that has all tools, or searches.
type bill struct {
	mode        string
	list, calls int
}

// bills has one client do the same task in both modes: read a file.
func (l *lab) bills(to target) ([]bill, error) {
	l.say("tokens with all tools and in search mode")
	ctx, cancel := context.WithTimeout(l.ctx, stepLimit)
	defer cancel()
	var out []bill
	for _, mode := range []string{"all", "search"} {
		there := to
		there.URL += "?mode=" + mode
		there.Version = revision(legacy)
		r := &reading{peer: &goSDKPeer{}}
		v := &visit{peer: r, file: l.servedFile()}
		err := v.connect(ctx, legacy, there)
		if err == nil && mode == "all" {
			err = v.call(ctx, "read_text_file", map[string]any{"path": v.file}, fileText)
		}
		if err == nil && mode == "search" {
			for _, s := range agentSteps[:2] {
				if err = s.do(ctx, v); err != nil {
					break
				}
			}
		}
		r.close()
		if err != nil {
			return nil, fmt.Errorf("mode %s: %w", mode, err)
		}
		out = append(out, bill{mode, r.list / bytesPerToken, r.calls / bytesPerToken})
	}
	return out, nil
}

func printBills(out io.Writer, bills []bill) {
	if len(bills) == 0 {
		return
	}
	fmt.Fprintln(out, "\nTokens to read a file (four bytes each):")
	for _, b := range bills {
		fmt.Fprintf(out, "  %-7s list %d, calls and answers %d\n", b.mode, b.list, b.calls)
	}
}

func billsMarkdown(bills []bill) string {
	var b strings.Builder
	b.WriteString("\n| mode | tokens of the list, in every turn | tokens of the calls and answers to read one file |\n|---|---|---|\n")
	for _, one := range bills {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", one.mode, one.list, one.calls)
	}
	return b.String()
}
