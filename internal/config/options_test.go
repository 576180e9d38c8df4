package config

import (
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
