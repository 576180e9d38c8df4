package kb_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/kb"
	"genkan/internal/testkit"
)

// TestDefinitions compares the tools that clients see with a golden file.
func TestDefinitions(t *testing.T) {
	tools := kb.NewTools(kb.New(nil, kb.Options{}), kb.Languages{})
	var got bytes.Buffer
	for _, tool := range tools.List(gateway.KindTool) {
		if err := json.Indent(&got, tool.Definition, "", "  "); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		got.WriteByte('\n')
	}
	testkit.GoldenFile(t, "testdata/tools.json", got.Bytes())
	if n := len(tools.List(gateway.KindTool)); n != 16 {
		t.Errorf("%d tools", n)
	}
	if prompts := tools.List(gateway.KindPrompt); prompts != nil {
		t.Errorf("prompts: %v", prompts)
	}
}
