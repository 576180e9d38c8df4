package clients

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/vault"
)

// desk is a folder with one file of Cursor's.
func desk(t *testing.T, text string) (File, Backups) {
	t.Helper()
	dir := t.TempDir()
	f := fileOf(t, "cursor", "mika/.cursor/mcp.json")
	f.Path = filepath.Join(dir, "cursor", "mcp.json")
	if text != "" {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			t.Fatal(err)
		}
		fill(t, f.Path, text)
	}
	return f, Backups{Dir: filepath.Join(dir, "backups"), Vault: vault.NewMemory()}
}

func fill(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const small = `{"mcpServers": {"a": {"command": "x"}}}`

func smallPlan() Plan {
	return Plan{BaseURL: "http://127.0.0.1:3000", Token: canary, Servers: map[Place]string{{Name: "a"}: "a"}}
}

func TestUndoLeavesOthersChangesAlone(t *testing.T) {
	f, backups := desk(t, small)
	change, _, err := backups.Connect(f, smallPlan())
	if err != nil {
		t.Fatal(err)
	}
	theirs := `{"mcpServers": {"a": {"command": "theirs"}}}`
	fill(t, f.Path, theirs)
	_, err = backups.Undo(change, false)
	refusedWith(t, err, gateway.CodeConflict, "was changed after genkan")
	if contents(t, f.Path) != theirs {
		t.Error("their change is gone")
	}
	if exact, err := backups.Undo(change, true); err != nil || !exact {
		t.Fatal(exact, err)
	}
	if contents(t, f.Path) != small {
		t.Error("a forced undo did not bring the file back")
	}
	if left, _, err := backups.List(); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// Two changes are taken back one after the other, newest first, by a process
// that knows only the folder.
func TestChangesAreKept(t *testing.T) {
	f, backups := desk(t, small)
	if _, changed, err := backups.Connect(f, smallPlan()); err != nil || !changed {
		t.Fatal(changed, err)
	}
	first := contents(t, f.Path)
	if _, changed, err := backups.Connect(f, smallPlan()); err != nil || changed {
		t.Fatal("connecting again changed something", err)
	}
	second := smallPlan()
	second.Token = "another"
	if _, changed, err := backups.Connect(f, second); err != nil || !changed {
		t.Fatal(changed, err)
	}
	changes, _, err := backups.List()
	if err != nil || len(changes) != 2 {
		t.Fatal(changes, err)
	}
	for i, want := range []string{first, small} {
		if exact, err := backups.Undo(changes[i], false); err != nil || !exact {
			t.Fatal(exact, err)
		}
		if got := contents(t, f.Path); got != want {
			t.Errorf("undo left %s, want %s", got, want)
		}
	}
}

func TestNewFileIsRemovedAgain(t *testing.T) {
	f, backups := desk(t, "")
	change, changed, err := backups.Connect(f, Plan{BaseURL: "http://127.0.0.1:3000", Token: canary, Aggregate: true})
	if err != nil || !changed || !change.Created {
		t.Fatal(change, changed, err)
	}
	want := "{\n  \"mcpServers\": {\n    \"genkan\": {\n      \"url\": \"http://127.0.0.1:3000/mcp\",\n      \"headers\": {\n" +
		"        \"Authorization\": \"Bearer gk_test_token\"\n      }\n    }\n  }\n}\n"
	if got := contents(t, f.Path); got != want {
		t.Errorf("got %s", got)
	}
	if info, _ := os.Stat(f.Path); info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if exact, err := backups.Undo(change, false); err != nil || !exact || exists(f.Path) {
		t.Error("the file is still there", err)
	}
}

func TestLinksAreFollowed(t *testing.T) {
	f, backups := desk(t, small)
	target := filepath.Join(t.TempDir(), "dotfiles.json")
	if err := os.Rename(f.Path, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, f.Path); err != nil {
		t.Skip(err)
	}
	change, _, err := backups.Connect(f, smallPlan())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(f.Path); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Error("the link became a file")
	}
	if !bytes.Contains([]byte(contents(t, target)), []byte("/mcp/s/a")) {
		t.Error("the target was not changed")
	}
	if _, err := backups.Undo(change, false); err != nil || contents(t, target) != small {
		t.Error("undo", err)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, _, err := backups.Connect(f, Plan{Aggregate: true}); err == nil {
		t.Error("a link to nothing was written through")
	}
}

func TestBrokenFileIsNotTouched(t *testing.T) {
	for _, text := range []string{`{"mcpServers": {"a": `, `[]`, `{"mcpServers": 5}`, `"x"`} {
		f, backups := desk(t, text)
		plan := smallPlan()
		plan.Aggregate, plan.Servers = true, nil
		if _, _, err := backups.Connect(f, plan); err == nil {
			t.Errorf("%s was connected", text)
		}
		if contents(t, f.Path) != text || exists(backups.Dir) {
			t.Errorf("%s was touched", text)
		}
	}
}

func TestVanishedServer(t *testing.T) {
	f, backups := desk(t, `{"mcpServers": {}}`)
	_, _, err := backups.Connect(f, smallPlan())
	refusedWith(t, err, gateway.CodeConflict, "some of its servers are gone")
}

func TestDamagedBackup(t *testing.T) {
	f, backups := desk(t, small)
	change, _, err := backups.Connect(f, smallPlan())
	if err != nil {
		t.Fatal(err)
	}
	if err := backups.Vault.Save(t.Context(), backupName(change.ID), "something else"); err != nil {
		t.Fatal(err)
	}
	_, err = backups.Undo(change, false)
	refusedWith(t, err, gateway.CodeUnavailable, "gone or damaged")
	if !errors.Is(err, ErrLost) {
		t.Error("it is not said that the backup is lost")
	}
	// What is as it was already needs no backup.
	if err := os.WriteFile(f.Path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	if exact, err := backups.Undo(change, false); err != nil || !exact || contents(t, f.Path) != small {
		t.Errorf("put back by hand: %v, %v", exact, err)
	}
}

// One record that cannot be read does not hide the others.
func TestUnreadableRecord(t *testing.T) {
	f, backups := desk(t, small)
	change, _, err := backups.Connect(f, smallPlan())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"cut.json": `{"client":`, "empty.json": "", "README": "not a record"} {
		if err := os.WriteFile(filepath.Join(backups.Dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(backups.Dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	changes, unreadable, err := backups.List()
	if err != nil || len(changes) != 1 || changes[0].ID != change.ID || len(unreadable) != 3 {
		t.Fatalf("%v, unreadable %v, %v", changes, unreadable, err)
	}
	if exact, err := backups.Undo(changes[0], false); err != nil || !exact || contents(t, f.Path) != small {
		t.Errorf("%v, %v", exact, err)
	}
}

// Between reading and writing another program may have written.
func TestReplaceSeesOthers(t *testing.T) {
	f, _ := desk(t, small)
	refusedWith(t, replace(f.Path, []byte("what it was"), false, []byte("new")), gateway.CodeConflict, "just now")
	refusedWith(t, replace(f.Path, nil, true, []byte("new")), gateway.CodeConflict, "just now")
	if contents(t, f.Path) != small {
		t.Error("it was overwritten")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.Path), ".genkan-*")); len(left) > 0 {
		t.Errorf("%v is left over", left)
	}
}
