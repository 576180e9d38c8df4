package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scripted is a peer whose answers are known.
type scripted map[string]string

func (s scripted) do(_ context.Context, method string, params map[string]any) (json.RawMessage, error) {
	if name, ok := params["name"].(string); ok {
		method += " " + name
	}
	answer, ok := s[method]
	if !ok {
		return nil, errors.New("Method not found: " + method)
	}
	return json.RawMessage(answer), nil
}

func (scripted) close() {}

func TestStepsLookNamesUp(t *testing.T) {
	for name, tt := range map[string]struct {
		peer scripted
		step string
		want string // in the error; "" for none
	}{
		"direct": {
			scripted{"tools/list": `{"tools":[{"name":"echo"}]}`, "tools/call echo": `{"content":[{"type":"text","text":"Echo: hello"}]}`},
			"tools/call", "",
		},
		"behind a prefix": {
			scripted{"tools/list": `{"tools":[{"name":"x"},{"name":"everything__echo"}]}`, "tools/call everything__echo": `{"content":[{"text":"Echo: hello"}]}`},
			"tools/call", "",
		},
		"another answer": {
			scripted{"tools/list": `{"tools":[{"name":"echo"}]}`, "tools/call echo": `{"content":[],"isError":true}`},
			"tools/call", `the result is {"content":[],"isError":true}`,
		},
		"spaces are no difference": {
			scripted{
				"tools/list":                        `{"tools":[{"name":"get-structured-content"}]}`,
				"tools/call get-structured-content": `{"structuredContent": {"humidity": 82}}`,
			},
			"structured content", "",
		},
		"not listed":   {scripted{"prompts/list": `{"prompts":[]}`}, "prompts/get", "prompts/list does not list args-prompt"},
		"no list":      {scripted{"prompts/list": `{}`}, "prompts/get", "has no prompts"},
		"no method":    {scripted{}, "resources/list", "Method not found: resources/list"},
		"no progress":  {scripted{"tools/list": `{"tools":[{"name":"trigger-long-running-operation"}]}`, "tools/call trigger-long-running-operation": `{"progress":0}`}, "progress", "no progress"},
		"some of both": {scripted{"tools/list": `{"tools":[{"name":"trigger-long-running-operation"}]}`, "tools/call trigger-long-running-operation": `{"progress":2}`}, "progress", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range everythingSteps {
				if s.name != tt.step {
					continue
				}
				err := s.do(t.Context(), &visit{peer: tt.peer})
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			}
		})
	}
}

func TestConnectChecksTheEra(t *testing.T) {
	v := &visit{peer: scripted{"connect": `{"version":"2025-11-25"}`}}
	if err := v.connect(t.Context(), legacy, target{}); err != nil {
		t.Error(err)
	}
	if err := v.connect(t.Context(), modern, target{}); err == nil {
		t.Error("a modern client that fell back to legacy counts as modern")
	}
}

func TestPeersReport(t *testing.T) {
	lost := []outcome{{"connect", ""}, {"prompts/list", "not | found"}, {"tools/call", ""}, {"prompts/get", "not | found"}}
	r := peersReport{
		{"Go SDK", legacy, direct, "everything over HTTP", lost},
		{"Go SDK", modern, overHTTP, "everything over HTTP", lost},
		{"mcp-go", modern, overHTTP, "everything over HTTP", lost},
	}
	if got := r.failures(); got != 4 {
		t.Errorf("%d failures, not the 4 that were behind genkan", got)
	}
	var out strings.Builder
	r.print(&out)
	want := `CLIENT  ERA     TO GENKAN     BEHIND IT             OK
Go SDK  legacy  none: direct  everything over HTTP  2 of 4
Go SDK  modern  HTTP          everything over HTTP  2 of 4
mcp-go  modern  HTTP          everything over HTTP  2 of 4

Go SDK, legacy, none: direct, everything over HTTP
Go SDK, modern, HTTP, everything over HTTP
mcp-go, modern, HTTP, everything over HTTP
  prompts/list, prompts/get: not | found
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if got, want := r.markdown(), `| mcp-go | modern | HTTP | everything over HTTP | 2 of 4 | connect, tools/call | prompts/list, prompts/get: not \| found |`; !strings.Contains(got, want) {
		t.Errorf("%q is not in:\n%s", want, got)
	}
}

// TestAnAgentKnowsNoNames: a step of an agent fails when the search finds
// nothing, or what must be called in another way.
func TestAnAgentKnowsNoNames(t *testing.T) {
	hit := func(id, with string) string {
		text, _ := json.Marshal(`{"results":[{"id":"` + id + `","call_with":"` + with + `"}]}`)
		return `{"content":[{"type":"text","text":` + string(text) + `}]}`
	}
	for name, tt := range map[string]struct {
		peer scripted
		step string
		want string // in the error; "" for none
	}{
		"found and read": {
			scripted{
				"tools/call search_tools": hit("fs__read", "call_read_tool"), "tools/call describe_tool": `{"definition":1}`,
				"tools/call call_read_tool": `{"content":[{"text":"` + fileText + `"}]}`,
			},
			"search, describe, read", "",
		},
		"nothing found":   {scripted{"tools/call search_tools": `{"content":[{"text":"{\"results\":[]}"}]}`}, "search, write", "found nothing"},
		"the wrong class": {scripted{"tools/call search_tools": hit("fs__write", "call_tool")}, "search, describe, read", "to be called with call_tool"},
		"one tool":        {scripted{"tools/list": `{"tools":[{"name":"search_tools"}]}`}, "five tools", "the list is search_tools"},
	} {
		t.Run(name, func(t *testing.T) {
			at := slices.IndexFunc(agentSteps, func(s step) bool { return s.name == tt.step })
			err := agentSteps[at].do(t.Context(), &visit{peer: tt.peer})
			if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestStepsThatMustFail(t *testing.T) {
	const list = `{"tools":[{"name":"time__get_current_time"}]}`
	for name, tt := range map[string]struct {
		answer string
		want   string // in the error; "" for none
	}{
		"the tool's error": {`{"isError":true,"content":[{"text":"Invalid timezone: Mars"}]}`, ""},
		"another error":    {`{"isError":true,"content":[{"text":"no tools today"}]}`, "the error is"},
		"no error":         {`{"content":[{"text":"Invalid timezone: Mars"}]}`, "the result is no error"},
	} {
		t.Run(name, func(t *testing.T) {
			peer := scripted{"tools/list": list, "tools/call time__get_current_time": tt.answer}
			err := timeSteps[len(timeSteps)-1].do(t.Context(), &visit{peer: peer})
			if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestEveryServerHasSteps(t *testing.T) {
	for _, a := range arrangements() {
		for _, name := range a.servers {
			if len(stepsAt([]string{name})) == 0 {
				t.Errorf("nothing is done at %s", name)
			}
		}
	}
}

func TestLeftoversAreFound(t *testing.T) {
	if !findsLeftovers {
		t.Skip("this system does not tell the environment of processes")
	}
	l := &lab{ctx: t.Context(), dir: t.TempDir()}
	sleep := exec.CommandContext(t.Context(), "sleep", "60")
	for k, v := range l.marked(map[string]server{"one": {Command: "sleep"}}, "mark")["one"].Env {
		sleep.Env = append(sleep.Env, k+"="+v)
	}
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	if got := withMark(l.fullMark("mark")); len(got) != 1 || got[0] != "sleep 60" {
		t.Errorf("left are %q", got)
	}
	if got := withMark(l.fullMark("another")); len(got) != 0 {
		t.Errorf("the marks of others count: %q", got)
	}
	_ = sleep.Process.Kill()
	_ = sleep.Wait()
	if err := l.leftovers("mark"); err != nil {
		t.Error(err)
	}
}

func TestWithoutPythonTheRunFails(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := (&lab{ctx: t.Context()}).installPython()
	if err == nil || !strings.Contains(err.Error(), "no Python 3.10 or newer is found") {
		t.Errorf("the error is %v", err)
	}
}
