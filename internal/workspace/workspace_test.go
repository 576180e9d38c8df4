package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"genkan/internal/gateway"
)

var (
	local = gateway.LocalIdentity("editor")
	admin = gateway.Identity{ClientID: "admin", Admin: true}
	token = gateway.Identity{ClientID: "agent"}
)

// folders makes a home with a data directory, and a folder beside it.
func folders(t *testing.T) (root string, rules *Rules) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{
		"home/project/src", "home/.ssh", "home/project/.git", "home/.local/share/genkan/run", "home/.local/share/other",
		"srv/shared/deep", "srv/other", "etc", "home/setup/deep",
	} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return root, &Rules{
		Private: []string{filepath.Join(root, "home/.local/share/genkan")}, Home: filepath.Join(root, "home"),
		ConfigFile: filepath.Join(root, "home/setup/genkan.yaml"), Allowed: []string{filepath.Join(root, "srv/shared")},
	}
}

func TestWhereCallersMayWork(t *testing.T) {
	root, rules := folders(t)
	for _, test := range []struct {
		dir           string
		local, remote string // why not; empty where it is allowed
	}{
		{"home/project", "", ""},
		{"home/project/src/", "", ""},
		{"home/project/../project/src", "", ""},
		{"srv/shared", "", ""},
		{"srv/shared/deep", "", ""},
		{"srv/other", "", "`folders`"},
		{"srv/shared/../other", "", "`folders`"},
		{"srv", "", "`folders`"},
		{"etc", "", "`folders`"},
		{"home/.ssh", "", "hidden"},
		{"home/project/.git", "", "hidden"},
		{"home/.local/share/other", "", "hidden"},
		{"home/setup", "", "configuration"},
		{"home/setup/deep", "", ""},
		{"home", "home directory", "home directory"},
		{"home/project/..", "home directory", "home directory"},
		{"home/.local/share/genkan", "own data", "own data"},
		{"home/.local/share/genkan/run", "own data", "own data"},
		{"home/.local/share/other/../genkan/", "own data", "own data"},
		{"home/.local/share", "own data", "own data"},
		{"home/.local", "own data", "own data"},
		{".", "own data", "own data"},
		{"home/nothing", "no such folder", "no such folder"},
	} {
		dir := root + "/" + test.dir
		for who, want := range map[*gateway.Identity]string{&local: test.local, &admin: test.local, &token: test.remote} {
			path, why := rules.Check(*who, dir)
			switch {
			case want == "" && (why.Format != "" || path != filepath.Clean(dir)):
				t.Errorf("%s in %s: %q, refused because %q", who.ClientID, test.dir, path, why)
			case want != "" && (path != "" || !strings.Contains(why.String(), want)):
				t.Errorf("%s in %s: %q, refused because %q, want %q", who.ClientID, test.dir, path, why, want)
			}
		}
	}
	for _, dir := range []string{filepath.VolumeName(root) + string(filepath.Separator), "relative", "", "."} {
		if path, why := rules.Check(local, dir); path != "" || why.Format == "" {
			t.Errorf("%q is a folder to work in: %q", dir, path)
		}
	}
	file := filepath.Join(root, "home/project/file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, _ := rules.Check(local, file); path != "" {
		t.Error("a file is a folder to work in")
	}
}

// A link counts as what it leads to, in the folder that a caller names and in
// genkan's own.
func TestLinksCountAsWhatTheyLeadTo(t *testing.T) {
	root, rules := folders(t)
	link := func(to, name string) string {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.Symlink(filepath.Join(root, to), name); err != nil {
			t.Skip(err)
		}
		return name
	}
	if path, why := rules.Check(token, link("home/project/src", "home/src")); path != filepath.Join(root, "home/project/src") {
		t.Errorf("a link to a folder gives %q: %s", path, why)
	}
	for name, to := range map[string]string{
		"data": "home/.local/share/genkan", "inside": "home/.local/share/genkan/run", "parent": "home/.local/share", "house": "home",
	} {
		if path, _ := rules.Check(local, link(to, "home/"+name)); path != "" {
			t.Errorf("a link to %s is a folder to work in", to)
		}
	}
	for name, to := range map[string]string{"secrets": "home/.ssh", "system": "etc"} {
		if path, _ := rules.Check(token, link(to, "home/"+name)); path != "" {
			t.Errorf("a token works in %s through a link", to)
		}
	}
	if path, _ := rules.Check(token, link("etc", "srv/shared/system")); path != "" {
		t.Error("a token leaves an allowed folder through a link")
	}
	// The configuration may be a link into a folder of dotfiles.
	if err := os.WriteFile(filepath.Join(root, "home/project/src/genkan.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link("home/project/src/genkan.yaml", "home/setup/genkan.yaml")
	if path, _ := rules.Check(token, filepath.Join(root, "home/project/src")); path != "" {
		t.Error("a token works where the configuration is linked to")
	}
	rules.Private = []string{link("home/.local/share/genkan", "home/project/genkan")}
	for _, dir := range []string{"home/project", "home/.local/share", "home/.local/share/genkan/run"} {
		if path, _ := rules.Check(local, filepath.Join(root, dir)); path != "" {
			t.Errorf("%s is a folder to work in, though the data directory is linked there", dir)
		}
	}
}

// Where the file system ignores case, another spelling is the same folder.
func TestSpellingDoesNotMatter(t *testing.T) {
	root, rules := folders(t)
	spelled := filepath.Join(root, "HOME/.LOCAL/SHARE/GENKAN")
	if _, err := os.Stat(spelled); err != nil {
		t.Skip("the file system here tells case apart on " + runtime.GOOS)
	}
	if path, _ := rules.Check(local, spelled); path != "" {
		t.Errorf("another spelling of the data directory is a folder to work in: %s", path)
	}
}

// Without a home directory only the folders of the configuration are left to
// callers with a token.
func TestWithoutAHome(t *testing.T) {
	root, rules := folders(t)
	rules.Home = ""
	if path, _ := rules.Check(token, filepath.Join(root, "home/project")); path != "" {
		t.Error("a token works anywhere")
	}
	if _, why := rules.Check(token, filepath.Join(root, "srv/shared")); why.Format != "" {
		t.Error(why)
	}
}

// A folder of the configuration that begins with ~ is below the home directory.
func TestAllowedFoldersBelowTheHomeDirectory(t *testing.T) {
	t.Parallel()
	root, rules := folders(t)
	hidden := filepath.Join(root, "home/.local/share/other")
	for _, test := range []struct {
		allowed, home string
		want          bool
	}{
		{"~/.local/share/other", rules.Home, true},
		{"~" + string(filepath.Separator) + ".local", rules.Home, true},
		{"~", rules.Home, true},
		{"~other", rules.Home, false},
		{"~/.ssh", rules.Home, false},
		{"~/.local/share/other", "", false},
		{"~", "", false},
	} {
		r := *rules
		r.Home, r.Allowed = test.home, []string{test.allowed}
		if path, reason := r.Check(token, hidden); (path != "") != test.want {
			t.Errorf("%s with the home directory %q: %q, %v", test.allowed, test.home, path, reason)
		}
	}
}
