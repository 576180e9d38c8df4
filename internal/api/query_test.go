package api_test

import (
	"strings"
	"testing"
)

// TestAQueryParameterStandsOnce: which of two is meant cannot be known.
func TestAQueryParameterStandsOnce(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{"mcpServers": map[string]any{}})
	if got := d.send("GET", "/v1/tools?server=a", ""); got.status != 200 {
		t.Errorf("once: status %d: %s", got.status, got.body)
	}
	if got := d.send("GET", "/v1/tools?server=a&server=b", ""); got.status != 400 || !strings.Contains(got.body, "stands twice") {
		t.Errorf("twice: status %d: %s", got.status, got.body)
	}
}
