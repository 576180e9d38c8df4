package cli

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"genkan/internal/gateway"
)

// A command with subcommands refuses a word that is none of them. It neither
// shows its help, which looks like success, nor ignores the word.
func TestParentsRefuseUnknownSubcommands(t *testing.T) {
	t.Parallel()
	newRoot := func() *cobra.Command {
		c := &command{version: "v0-test", std: Streams{Out: io.Discard, Err: io.Discard}}
		root := c.root()
		c.translateHelp(root)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		return root
	}
	var parents [][]string
	eachCommand(newRoot(), func(cmd *cobra.Command) {
		if cmd.HasSubCommands() {
			parents = append(parents, strings.Fields(cmd.CommandPath())[1:])
		}
	})
	if len(parents) < 7 {
		t.Fatalf("only these have subcommands: %q", parents)
	}
	for _, parent := range parents {
		words := []string{"no-such-word"}
		if name := strings.Join(parent, " "); name == "servers" || name == "tools" {
			words = append(words, "x") // one word is the name of a server or tool
		}
		root := newRoot()
		root.SetArgs(append(parent, words...))
		err := root.ExecuteContext(t.Context())
		var e *gateway.Error
		if err == nil {
			t.Errorf("genkan %s accepts %q", strings.Join(parent, " "), words)
			continue
		}
		if !errors.As(err, &e) {
			e = usageError(err)
		}
		if e.Code != gateway.CodeInvalid || !strings.Contains(e.Text(), `command "no-such-word"`) {
			t.Errorf("genkan %s %s: %s: %s", strings.Join(parent, " "), words, e.Code, e.Text())
		}
	}
}
