package mcpserver_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"genkan/internal/testkit"
	"genkan/internal/testkit/conversation"
)

// TestConversations plays what is written down in testdata, over both
// transports: a client hears the same words whichever way it came.
func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			for _, transport := range []string{"HTTP", "stdio"} {
				t.Run(transport, func(t *testing.T) { playOver(t, file, transport) })
			}
		})
	}
}

func playOver(t *testing.T, file, transport string) {
	t.Helper()
	var h *house // one for all who speak
	conversation.Play(t, file, func(t *testing.T, arc *txtar.Archive) testkit.Conn {
		if h == nil {
			// The second time all lists are known from the start, and nothing
			// is said about them.
			h = openHouse(t, servers{"fault": child(t, flagsOf(arc)...)}).again()
		}
		if transport == "HTTP" {
			return testkit.NewHTTPConn(h.base+"/mcp", h.token, nil)
		}
		return h.stdio()
	})
}

func flagsOf(arc *txtar.Archive) []string {
	for _, f := range arc.Files {
		if f.Name == "flags" {
			return strings.Fields(string(f.Data))
		}
	}
	return nil
}
