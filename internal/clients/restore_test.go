package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"genkan/internal/vault"
)

// Clients write into their files while they are connected: counters, trusted
// folders. Undo keeps that and puts the entries back as they were.
func TestUndoAfterTheClientWrote(t *testing.T) {
	for _, sample := range samples {
		f, src := fileOf(t, sample.client, sample.ending), testdata(t, sample.data)
		for _, aggregate := range []bool{false, true} {
			if f.Format == YAML {
				continue // refused, see docs/rough_edges.md
			}
			t.Run(sample.data, func(t *testing.T) {
				dir := t.TempDir()
				f.Folder, f.Path = dir, filepath.Join(dir, "file"+filepath.Ext(f.Path))
				if err := os.WriteFile(f.Path, src, 0o600); err != nil {
					t.Fatal(err)
				}
				imported, err := Read(f)
				if err != nil {
					t.Fatal(err)
				}
				backups := Backups{Dir: filepath.Join(dir, "backups"), Vault: vault.NewMemory()}
				plan := planFor(imported)
				plan.Aggregate = aggregate
				if _, _, err := backups.Connect(f, plan); err != nil {
					t.Fatal(err)
				}
				theirs := `"written": {"by": "the client"}, `
				text := contents(t, f.Path)
				if f.Format == TOML {
					theirs = "written = \"by the client\"\n"
					text = theirs + text
				} else {
					at := strings.Index(text, "{\n") + 1
					if at == 0 {
						at = 1
					}
					text = text[:at] + theirs + text[at:]
				}
				fill(t, f.Path, text)

				changes, _, err := backups.List() // as another process would
				if err != nil || len(changes) != 1 {
					t.Fatal(changes, err)
				}
				exact, err := backups.Undo(changes[0], false)
				if err != nil || exact {
					t.Fatal(exact, err)
				}
				after := contents(t, f.Path)
				if !strings.Contains(after, theirs) || strings.Contains(after, canary) {
					t.Errorf("undo left:\n%s", after)
				}
				want, _ := parse(f.Format, src)
				got, bad := parse(f.Format, []byte(strings.Replace(after, theirs, "", 1)))
				if bad != nil || !same(got, want) {
					t.Errorf("the servers are not what they were:\n%s", after)
				}
			})
		}
	}
}

// An entry that its person has made to lead elsewhere is theirs.
func TestUndoKeepsWhatLeadsElsewhere(t *testing.T) {
	f, backups := desk(t, `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`)
	plan := smallPlan()
	plan.Servers[Place{Name: "b"}] = "b"
	change, _, err := backups.Connect(f, plan)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, f.Path, strings.Replace(contents(t, f.Path), "http://127.0.0.1:3000/mcp/s/b", "https://b.example/mcp", 1))
	if exact, err := backups.Undo(change, false); err != nil || exact {
		t.Fatal(exact, err)
	}
	if got := contents(t, f.Path); !strings.Contains(got, `"a": {"command": "x"}`) || !strings.Contains(got, "https://b.example/mcp") {
		t.Error(got)
	}
}
