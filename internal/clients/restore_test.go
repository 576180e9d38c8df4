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

// Entries that its person has written lead to genkan too, and are theirs. What connecting
// added goes.
func TestUndoRemovesOnlyWhatConnectingAdded(t *testing.T) {
	f, backups := desk(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	if _, _, err := backups.Connect(f, smallPlan()); err != nil {
		t.Fatal(err)
	}
	for _, add := range []string{"kb", "later"} {
		if _, changed, err := backups.Connect(f, Plan{Bridge: true, Add: []string{add}}); err != nil || !changed {
			t.Fatal(changed, err)
		}
	}
	theirs := []string{
		`"work": {"command": "genkan", "args": ["--data", "/srv/work", "stdio"]}`,
		`"office": {"url": "https://tools.office.example/mcp/s/wiki"}`,
	}
	begin := `"mcpServers": {`
	fill(t, f.Path, strings.Replace(contents(t, f.Path), begin, begin+strings.Join(theirs, ", ")+", ", 1))
	changes, _, err := backups.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		if exact, err := backups.Undo(change, false); err != nil || exact {
			t.Fatal(exact, err)
		}
	}
	want, _ := parse(f.Format, []byte(`{"mcpServers": {`+strings.Join(theirs, ", ")+`, "a": {"command": "x"}}}`))
	if got, _ := parse(f.Format, []byte(contents(t, f.Path))); !same(got, want) {
		t.Error(contents(t, f.Path))
	}
}

// The backup of a change is lost, so an earlier change of the file takes its place.
func TestUndoRemovesWhatALostChangeAdded(t *testing.T) {
	f, backups := desk(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	first, _, err := backups.Connect(f, smallPlan())
	if err != nil {
		t.Fatal(err)
	}
	lost, _, err := backups.Connect(f, Plan{Bridge: true, Add: []string{"later"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := backups.Vault.Delete(t.Context(), backupName(lost.ID)); err != nil {
		t.Fatal(err)
	}
	if exact, err := backups.Undo(first, false); err != nil || exact {
		t.Fatal(exact, err)
	}
	if got := contents(t, f.Path); got != `{"mcpServers": {"a": {"command": "x"}}}` {
		t.Error(got)
	}
}

// Records of earlier versions do not say what was added: it is what these versions add.
func TestUndoOfAnEarlierVersionsChange(t *testing.T) {
	f, backups := desk(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	for _, plan := range []Plan{smallPlan(), {Bridge: true, Add: []string{"kb"}}} {
		if _, _, err := backups.Connect(f, plan); err != nil {
			t.Fatal(err)
		}
	}
	changes, _, err := backups.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		path := backups.record(change.ID)
		text := contents(t, path)
		fill(t, path, text[:strings.LastIndex(text, `,"added"`)]+"}")
	}
	text := strings.Replace(contents(t, f.Path), "{", `{"theirs": 1, `, 1)
	fill(t, f.Path, strings.Replace(text, `"mcpServers": {`, `"mcpServers": {"work": {"command": "genkan", "args": ["stdio"]}, `, 1))
	if changes, _, err = backups.List(); err != nil || len(changes) != 2 {
		t.Fatal(changes, err)
	}
	for _, change := range changes {
		if _, err := backups.Undo(change, false); err != nil {
			t.Fatal(err)
		}
	}
	if got := contents(t, f.Path); strings.Contains(got, "genkan-kb") || !strings.Contains(got, `"work"`) || !strings.Contains(got, `"a": {"command": "x"}`) {
		t.Error(got)
	}
}
