package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
)

// Of several patterns, the first that says a thing counts, for each thing.
func TestOptionsOfATool(t *testing.T) {
	t.Parallel()
	s := Server{ToolOptions: []ToolOptions{
		{Pattern: "read_now", ExecuteOptions: gateway.ExecuteOptions{Retries: gateway.NoRetries}, ToolLabels: ToolLabels{Tags: []string{}}},
		{Pattern: "read_*", ExecuteOptions: gateway.ExecuteOptions{Timeout: time.Hour, Retries: 3}, ToolLabels: ToolLabels{Category: "reading", Tags: []string{"r"}}},
		{Pattern: "*", ExecuteOptions: gateway.ExecuteOptions{Timeout: time.Second, RetryDelay: time.Millisecond}, ToolLabels: ToolLabels{Version: "2", Category: "other"}},
	}}
	for tool, want := range map[string]ToolLabels{
		"read_now":  {Version: "2", Category: "reading", Tags: []string{}},
		"read_more": {Version: "2", Category: "reading", Tags: []string{"r"}},
		"write":     {Version: "2", Category: "other"},
	} {
		if diff := cmp.Diff(want, s.LabelsOf(tool)); diff != "" {
			t.Errorf("%s: %s", tool, diff)
		}
	}
	for tool, want := range map[string]gateway.ExecuteOptions{
		"read_now":  {Timeout: time.Hour, Retries: gateway.NoRetries, RetryDelay: time.Millisecond},
		"read_more": {Timeout: time.Hour, Retries: 3, RetryDelay: time.Millisecond},
		"write":     {Timeout: time.Second, RetryDelay: time.Millisecond},
	} {
		if got := s.OptionsOf(tool); got != want {
			t.Errorf("%s: %+v, want %+v", tool, got, want)
		}
	}
	if got := (Server{}).OptionsOf("any"); got != (gateway.ExecuteOptions{}) {
		t.Errorf("without any: %+v", got)
	}
}

// A budget is set for all, a client, a server and a tool; what is nearer to the tool
// counts first.
func TestBudgets(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
budget: 20000
clients: {cursor: {budget: off}, ci: {budget: 700}}
mcpServers:
  a: {command: x, budget: 9000, tools: {options: {"big_*": {budget: false}, "*_row": {budget: 600}}}}
  b: {command: x}
`, environ(), Flags{})
	a, b := c.Servers[0], c.Servers[1]
	for what, pair := range map[string][2]int{
		"all":             {c.Budget, 20000},
		"a client":        {c.Client("ci").Budget, 700},
		"a local client":  {c.Client("local:cursor").Budget, gateway.NoBudget},
		"another client":  {c.Client("other").Budget, 0},
		"a server":        {a.OptionsOf("x").Budget, 9000},
		"a tool":          {a.OptionsOf("a_row").Budget, 600},
		"a tool, off":     {a.OptionsOf("big_row").Budget, gateway.NoBudget},
		"another server":  {b.OptionsOf("x").Budget, 0},
		"nothing is said": {defaults().Budget, 0},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", what, pair[0], pair[1])
		}
	}
	for _, bad := range []string{"499", "0", "-1", "many", "25k", "true", "1.5", "1e9", "[1]", `"25000"`, "99999999999999999999"} {
		if _, err := load([]byte("budget: "+bad), "genkan.yaml", Sources{}, Flags{}); err == nil || !strings.Contains(err.Error(), "budget must be a number of tokens in digits, 500 or more; off is any number") {
			t.Errorf("budget: %s: %v", bad, err)
		}
	}
}

// Without any budget nothing is made ready for large answers.
func TestHasBudget(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, "budget: 20000": true, "budget: off": false,
		"budget: off\nclients: {ci: {budget: 700}}":                                              true,
		"budget: off\nclients: {ci: {budget: off}}":                                              false,
		"budget: off\nmcpServers: {a: {command: x, budget: 700}}":                                true,
		"budget: off\nmcpServers: {a: {command: x, tools: {options: {\"b_*\": {budget: 700}}}}}": true,
		"budget: off\nmcpServers: {a: {command: x, budget: off}}":                                false,
	} {
		if got := mustLoad(t, text, environ(), Flags{}).HasBudget(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
