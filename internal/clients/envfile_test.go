package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvFilesAreReadAsVSCodeDoes(t *testing.T) {
	for _, c := range []struct {
		text    string
		want    map[string]string
		skipped int
	}{
		{"A=1\nB = two words \n", map[string]string{"A": "1", "B": "two words"}, 0},
		{"\ufeff# comment\r\n\r\nexport A=1\r\n", map[string]string{"A": "1"}, 0},
		{"A=x # comment\nB='x # y'\nC=\"x # y\" # z\n", map[string]string{"A": "x", "B": "x # y", "C": "x # y"}, 0},
		{`A="one\ntwo"` + "\n" + `B='one\ntwo'` + "\n" + `C="say \"hi\""`, map[string]string{"A": "one\ntwo", "B": `one\ntwo`, "C": `say "hi"`}, 0},
		{"KEY=\"-----BEGIN\nabc\n-----END\"\nB=`x`\n", map[string]string{"KEY": "-----BEGIN\nabc\n-----END", "B": "x"}, 0},
		{"A=\nB=a=b=c\nC=${A}\n", map[string]string{"A": "", "B": "a=b=c", "C": "${A}"}, 0},
		{"A=\"open\nB=2\n", map[string]string{"A": `"open`, "B": "2"}, 0},
		{"A=1\nA=2", map[string]string{"A": "2"}, 0},
		{"no assignment\n1A=x\nB-C=x\n\x00=x\nD=1", map[string]string{"D": "1"}, 4},
		{"", map[string]string{}, 0},
	} {
		got, skipped := parseEnvFile(c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || skipped != c.skipped {
			t.Errorf("%q: skipped %d, want %d\n%s", c.text, skipped, c.skipped, diff)
		}
	}
}

// projectFile puts a text into VS Code's file of a project.
func projectFile(t *testing.T, home, text string) File {
	t.Helper()
	env := Environment{GOOS: "linux", Home: home, WorkDir: filepath.Join(home, "project")}
	path := filepath.Join(env.WorkDir, ".vscode", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	fill(t, path, text)
	f, err := FileAt(env, path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Two servers that differ in their envFile only are two, each with its own
// variables, which are kept as secrets.
func TestEnvFilesBelongToTheirServers(t *testing.T) {
	home := t.TempDir()
	f := projectFile(t, home, `{"servers": {
		"test": {"command": "db", "envFile": "${workspaceFolder}/test.env", "env": {"MODE": "entry"}},
		"live": {"command": "db", "envFile": "live.env", "env": {"MODE": "entry"}},
		"home": {"command": "db", "envFile": "${userHome}/home.env", "env": {"MODE": "entry"}}}}`)
	fill(t, filepath.Join(f.Folder, "test.env"), "DB=one\nMODE=file\nEMPTY=\n")
	fill(t, filepath.Join(f.Folder, "live.env"), "DB=two ${X} $$\n")
	fill(t, filepath.Join(home, "home.env"), "DB=three\n")
	g := Gather([]File{f}, Imports{}, nobody, nobody)
	if len(g.Found) != 3 {
		t.Fatalf("found %d servers, want 3: %+v", len(g.Found), g.Found)
	}
	for i, want := range []string{"one", "two ${X} $$", "three"} {
		s := g.Found[i]
		if s.Env["DB"].Reveal() != want || s.Env["MODE"].Reveal() != "entry" {
			t.Errorf("%s has DB=%q, MODE=%q", s.Name, s.Env["DB"].Reveal(), s.Env["MODE"].Reveal())
		}
		if len(s.Secrets) != 1 || s.Secrets[0].Value.Reveal() != want {
			t.Errorf("%s keeps %+v as secrets", s.Name, s.Secrets)
			continue
		}
		s.Refer(s.Secrets[0], "${secret:x}")
		if got := s.Env["DB"].Reveal(); got != "${secret:x}" {
			t.Errorf("%s refers to it as %q", s.Name, got)
		}
	}
	if _, there := g.Found[0].Env["EMPTY"]; !there {
		t.Error("an empty variable is lost")
	}
}

// An envFile that cannot be read is told. It neither holds up the import nor
// makes two servers one.
func TestEnvFilesThatCannotBeRead(t *testing.T) {
	home := t.TempDir()
	f := projectFile(t, home, `{"servers": {
		"a": {"command": "db", "envFile": "missing.env"},
		"b": {"command": "db", "envFile": "other.env"},
		"d": {"command": "db", "envFile": "large.env"},
		"e": {"command": "db", "envFile": "${env:SOMEWHERE}/x.env"},
		"f": {"url": "http://127.0.0.1:9/mcp", "envFile": "x.env"},
		"g": {"command": "db", "envFile": "."}}}`)
	fill(t, filepath.Join(f.Folder, "large.env"), "A=1\n"+strings.Repeat("#", maxEnvFile))
	g := Gather([]File{f}, Imports{}, nobody, nobody)
	if len(g.Found) != 6 {
		t.Errorf("found %d servers, want 6", len(g.Found))
	}
	told := map[string]string{}
	for _, n := range g.Notes {
		told[n.Server] += n.Text.String()
	}
	for server, want := range map[string]string{
		"a": "missing.env does not exist", "b": "other.env does not exist", "d": "larger than 256 KiB",
		"e": "depends on the folder", "f": "envFile is not known to genkan", "g": "not a regular file",
	} {
		if !strings.Contains(told[server], want) {
			t.Errorf("of %s is told %q, want %q", server, told[server], want)
		}
	}
	// A person's own file is for all projects, so that none of them is meant.
	own := written(t, "cursor", `{"mcpServers": {"x": {"command": "db", "envFile": "${workspaceFolder}/.env"}, "y": {"command": "db", "envFile": ".env"}}}`)
	if g := Gather([]File{own}, Imports{}, nobody, nobody); len(g.Found) != 2 || !strings.Contains(g.Notes[0].Text.String(), "depends on the folder") {
		t.Errorf("found %d servers, notes %v", len(g.Found), g.Notes)
	}
}

func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\nexport B='x\ny' # z\n")
	f.Fuzz(func(t *testing.T, text string) {
		variables, _ := parseEnvFile(text)
		for name := range variables {
			if !variableName().MatchString(name) {
				t.Errorf("%q is no name of a variable", name)
			}
		}
	})
}
