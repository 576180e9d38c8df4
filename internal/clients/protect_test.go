package clients

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"genkan/internal/gateway"
	"genkan/internal/vault"
)

// A file that does not exist yet is in a repository if a link on the way to it
// leads into one.
func TestTokensStayOutOfRepositoriesBehindLinks(t *testing.T) {
	for name, link := range map[string]func(home, repository string) error{
		"folder":        func(home, repository string) error { return os.Symlink(repository, filepath.Join(home, ".cursor")) },
		"file":          func(home, repository string) error { return linkFile(home, filepath.Join(repository, "mcp.json")) },
		"relative file": func(home, _ string) error { return linkFile(home, "../../dotfiles/cursor/mcp.json") },
		"loop":          func(home, _ string) error { return linkFile(home, "mcp.json") },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			repository := filepath.Join(home, "dotfiles", "cursor")
			for _, folder := range []string{repository, filepath.Join(home, "dotfiles", ".git"), filepath.Join(home, "mika")} {
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := link(filepath.Join(home, "mika"), repository); err != nil {
				t.Fatal(err)
			}
			f := fileOf(t, "cursor", "mika/.cursor/mcp.json")
			f.Path = filepath.Join(home, "mika", ".cursor", "mcp.json")
			if name == "loop" {
				if err := f.MayHoldToken(); err != nil {
					t.Error(err)
				}
				return
			}
			refusedWith(t, f.MayHoldToken(), gateway.CodeDenied, "may be committed")
			backups := Backups{Dir: filepath.Join(home, "backups"), Vault: vault.NewMemory()}
			_, _, err := backups.Connect(f, Plan{BaseURL: "http://127.0.0.1:3000", Token: canary, Aggregate: true})
			refusedWith(t, err, gateway.CodeDenied, "may be committed")
			if _, err := os.Stat(filepath.Join(repository, "mcp.json")); err == nil {
				t.Error("the file was written")
			}
		})
	}
}

func linkFile(home, to string) error {
	if err := os.Mkdir(filepath.Join(home, ".cursor"), 0o700); err != nil {
		return err
	}
	return os.Symlink(to, filepath.Join(home, ".cursor", "mcp.json"))
}

// crashing is a vault that looks at the backups in the middle of a change, as
// they are when the process is killed there.
type crashing struct {
	Vault
	look func()
}

func (c crashing) Save(ctx context.Context, name string, value gateway.Secret) error {
	c.look()
	err := c.Vault.Save(ctx, name, value)
	c.look()
	return err
}

func TestKilledConnectLeavesNoUnreadableRecord(t *testing.T) {
	f, backups := desk(t, small)
	looks := 0
	backups.Vault = crashing{backups.Vault, func() {
		looks++
		records, err := filepath.Glob(filepath.Join(backups.Dir, "*.json"))
		if err != nil || len(records) > 0 {
			t.Errorf("there are records before they are whole: %v (%v)", records, err)
		}
	}}
	if _, changed, err := backups.Connect(f, smallPlan()); err != nil || !changed || looks != 2 {
		t.Fatal(changed, looks, err)
	}
	// What a killed process leaves is no record.
	fill(t, filepath.Join(backups.Dir, "20260102T030405.000000000Z-cursor.json.new"), "")
	changes, unreadable, err := backups.List()
	if err != nil || len(changes) != 1 || len(unreadable) != 0 {
		t.Errorf("%d changes, unreadable %v (%v)", len(changes), unreadable, err)
	}
	left, err := filepath.Glob(filepath.Join(backups.Dir, "*.new"))
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// The file has no blocks on the disk, but would take a terabyte of memory.
func TestHugeFilesAreNotRead(t *testing.T) {
	f, backups := desk(t, small)
	if err := os.Truncate(f.Path, 1<<40); err != nil {
		t.Skip("no such files here:", err)
	}
	_, err := Read(f)
	refusedWith(t, err, gateway.CodeInvalid, "larger than 32 MiB")
	_, _, err = backups.Connect(f, smallPlan())
	refusedWith(t, err, gateway.CodeInvalid, "larger than 32 MiB")
}

func TestReadOnlyFilesAreLeftAlone(t *testing.T) {
	f, backups := desk(t, small)
	if err := os.Chmod(f.Path, 0o400); err != nil {
		t.Fatal(err)
	}
	_, _, err := backups.Connect(f, smallPlan())
	refusedWith(t, err, gateway.CodeDenied, "chmod u+w")
	if contents(t, f.Path) != small {
		t.Error("the file was changed")
	}
	if changes, _, err := backups.List(); err != nil || len(changes) != 0 {
		t.Error("a change is remembered that was not made", err)
	}
}

func TestLostBackupsAreNoticed(t *testing.T) {
	f, backups := desk(t, small)
	if known, _ := backups.Restorable(f.Path); known {
		t.Error("a change is known that was not made")
	}
	first, _, err := backups.Connect(f, smallPlan())
	if err != nil {
		t.Fatal(err)
	}
	plan := smallPlan()
	plan.Token = "another"
	second, _, err := backups.Connect(f, plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lost string
		want bool
	}{{"", true}, {second.ID, true}, {first.ID, false}} {
		if err := backups.Vault.Delete(t.Context(), backupName(c.lost)); err != nil {
			t.Fatal(err)
		}
		if known, restorable := backups.Restorable(f.Path); !known || restorable != c.want {
			t.Errorf("without %q: known %v, restorable %v", c.lost, known, restorable)
		}
	}
}
