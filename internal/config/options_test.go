package config

import (
	"testing"
	"time"

	"genkan/internal/gateway"
)

// Of several patterns, the first that says a thing counts, for each thing.
func TestOptionsOfATool(t *testing.T) {
	t.Parallel()
	s := Server{ToolOptions: []ToolOptions{
		{"read_now", gateway.ExecuteOptions{Retries: gateway.NoRetries}},
		{"read_*", gateway.ExecuteOptions{Timeout: time.Hour, Retries: 3}},
		{"*", gateway.ExecuteOptions{Timeout: time.Second, RetryDelay: time.Millisecond}},
	}}
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
