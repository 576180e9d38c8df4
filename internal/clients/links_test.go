package clients

import (
	"os"
	"path/filepath"
	"testing"

	"genkan/internal/gateway"
)

// linkable are a project, and a folder beside it with a file.
func linkable(t *testing.T) (f File, outside string, backups Backups) {
	t.Helper()
	_, backups = desk(t, "")
	dir, err := filepath.EvalSymlinks(filepath.Dir(backups.Dir))
	if err != nil {
		t.Fatal(err)
	}
	env := mac()
	env.Home, env.WorkDir = filepath.Join(dir, "home"), filepath.Join(dir, "project")
	outside = filepath.Join(dir, "outside")
	for _, folder := range []string{outside, env.WorkDir, filepath.Join(env.Home, ".cursor")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, filepath.Join(outside, "mcp.json"), small)
	cursor, _ := Lookup("cursor")
	return cursor.Files(env)[1], outside, backups
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Skip("no links here:", err)
	}
}

// A repository can hold links to anything that its person may write.
func TestLinksDoNotLeadOutOfAProject(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, f File, outside string){
		"a file":         func(t *testing.T, f File, _ string) { symlink(t, "../../outside/mcp.json", f.Path) },
		"a folder":       func(t *testing.T, f File, outside string) { symlink(t, outside, filepath.Dir(f.Path)) },
		"a file to come": func(t *testing.T, f File, _ string) { symlink(t, "../../outside/new.json", f.Path) },
		"a folder to come": func(t *testing.T, f File, outside string) {
			symlink(t, filepath.Join(outside, "new"), filepath.Dir(f.Path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, outside, backups := linkable(t)
			prepare(t, f, outside)
			plan := Plan{Aggregate: true, Bridge: true}
			_, _, err := backups.Connect(f, plan)
			refusedWith(t, err, gateway.CodeDenied, outside, f.Folder)
			refusedWith(t, f.MayChange(), gateway.CodeDenied, outside, f.Folder)
			entries, err := os.ReadDir(outside)
			if err != nil || len(entries) != 1 || contents(t, filepath.Join(outside, "mcp.json")) != small {
				t.Errorf("%v is outside (%v)", entries, err)
			}
			if changes, _, err := backups.List(); err != nil || len(changes) != 0 {
				t.Error("a change is remembered that was not made", err)
			}
		})
	}
}

// Links within a project, the link that a project is, and links of the person's own
// lead where they should.
func TestOtherLinksAreFollowed(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, f *File, outside string) (target string){
		"within the project": func(t *testing.T, f *File, _ string) string {
			target := filepath.Join(f.Folder, "shared.json")
			symlink(t, "../shared.json", f.Path)
			return target
		},
		"the project": func(t *testing.T, f *File, _ string) string {
			symlink(t, f.Folder, f.Folder+"-link")
			target := f.Path
			f.Folder += "-link"
			f.Path = filepath.Join(f.Folder, ".cursor", "mcp.json")
			return target
		},
		"the person's own": func(t *testing.T, f *File, outside string) string {
			f.Scope, f.Folder, f.Path = User, "", filepath.Join(f.home, ".cursor", "mcp.json")
			target := filepath.Join(outside, "mcp.json")
			symlink(t, target, f.Path)
			return target
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, outside, backups := linkable(t)
			target := prepare(t, &f, outside)
			if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
				t.Fatal(err)
			}
			fill(t, target, small)
			plan := Plan{Bridge: true, Servers: map[Place]string{{Name: "a"}: "a"}}
			change, changed, err := backups.Connect(f, plan)
			if err != nil || !changed || contents(t, target) == small {
				t.Fatal(changed, err)
			}
			if exact, err := backups.Undo(change, false); err != nil || !exact || contents(t, target) != small {
				t.Error(exact, err)
			}
		})
	}
}

// What was a file or a folder may be a link when a change is undone.
func TestUndoFollowsNoNewLink(t *testing.T) {
	for name, swapped := range map[string]func(f File) string{
		"file":   func(f File) string { return f.Path },
		"folder": func(f File) string { return filepath.Dir(f.Path) },
	} {
		for _, before := range []string{small, ""} {
			for _, force := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					f, backups := desk(t, before)
					plan := Plan{Aggregate: true, Bridge: true}
					if _, changed, err := backups.Connect(f, plan); err != nil || !changed {
						t.Fatal(changed, err)
					}
					const theirs = `{"mcpServers": {"b": {"command": "theirs"}}}`
					at := swapped(f)
					moved := at + "-moved"
					if err := os.Rename(at, moved); err != nil {
						t.Fatal(err)
					}
					symlink(t, moved, at)
					fill(t, f.Path, theirs)
					changes, _, err := backups.List() // as another process would
					if err != nil || len(changes) != 1 {
						t.Fatal(changes, err)
					}
					_, err = backups.Undo(changes[0], force)
					refusedWith(t, err, gateway.CodeDenied, f.Path, moved)
					if got := contents(t, f.Path); got != theirs {
						t.Errorf("undo left %s", got)
					}
				})
			}
		}
	}
}

// Some clients put a file in place of a link when they save.
func TestUndoRestoresAFileThatWasALink(t *testing.T) {
	f, outside, backups := linkable(t)
	f.Scope, f.Folder, f.Path = User, "", filepath.Join(f.home, ".cursor", "mcp.json")
	symlink(t, filepath.Join(outside, "mcp.json"), f.Path)
	change, _, err := backups.Connect(f, Plan{Bridge: true, Servers: map[Place]string{{Name: "a"}: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	now := contents(t, f.Path)
	if err := os.Remove(f.Path); err != nil {
		t.Fatal(err)
	}
	fill(t, f.Path, now)
	if exact, err := backups.Undo(change, false); err != nil || !exact || contents(t, f.Path) != small {
		t.Error(exact, err)
	}
}
