package tour

import (
	"encoding/json"
	"regexp"
	"testing"
)

// entryOf reads an entry of Cursor's file, which has a comment.
func entryOf(t *testing.T, text, name string) (command string, args []string) {
	t.Helper()
	text = regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(text, "")
	var file struct {
		MCPServers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	entry, ok := file.MCPServers[name]
	if !ok {
		t.Fatalf("there is no entry %s in\n%s", name, text)
	}
	return entry.Command, entry.Args
}
