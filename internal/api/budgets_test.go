package api_test

import (
	"strings"
	"testing"
)

func TestBudgetsAreShown(t *testing.T) {
	t.Parallel()
	d := openDoor(t, map[string]any{
		"budget":       9000,
		"clients":      map[string]any{"ci": map[string]any{"budget": "off"}},
		"fault-budget": 4000, "fault-tools": map[string]any{"options": map[string]any{"big*": map[string]any{"budget": 700}}},
	})
	const want = `{"everybody":{"tokens":9000},"usual":false,"default":25000,"programs":[{"name":"claude-code","tokens":9000}],` +
		`"clients":[{"name":"ci","tokens":0}],"servers":[{"name":"fault","tokens":4000}],"tools":[{"server":"fault","name":"big*","tokens":700}]}`
	if got := d.send("GET", "/v1/budgets", ""); got.status != 200 || strings.TrimSpace(got.body) != want {
		t.Errorf("%d %s", got.status, got.body)
	}
}
