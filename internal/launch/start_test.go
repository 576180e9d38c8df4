package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

// Of the command and the folder, that one is named which is not there.
func TestWhatIsMissing(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	for _, c := range []struct {
		command Command
		want    string
	}{
		{Command{Name: "node", Dir: gone}, `the folder "` + gone + `" that it is to run in does not exist`},
		{Command{Name: "/no/node", Dir: t.TempDir()}, `its command "/no/node" does not exist`},
		{Command{Name: "/no/node"}, `its command "/no/node" does not exist`},
	} {
		got := gateway.AsError(startError(c.command, os.ErrNotExist)).Error()
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c.command, got)
		}
	}
}
