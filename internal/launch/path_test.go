package launch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFolders(t *testing.T) {
	for name, test := range map[string]struct {
		goos  string
		paths []string
		want  []string
	}{
		"in order, each once":   {"linux", []string{"/b:/a:/b", "/c:/a"}, []string{"/b", "/a", "/c"}},
		"none that is relative": {"darwin", []string{":bin:./x:~/y:/a:"}, []string{"/a"}},
		"nothing":               {"linux", []string{"", ""}, nil},
		"windows": {
			"windows", []string{`C:\a;"D:\b c";e;\f;\\host\share;c:/g`}, []string{`C:\a`, `D:\b c`, `\\host\share`, "c:/g"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, folders(test.goos, test.paths...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	const pathext = ".COM;.EXE;.BAT;.CMD;.VBS"
	node := []string{`C:\node\npx`, `C:\node\npx.cmd`, `C:\node\npx.ps1`, `C:\node\node.exe`}
	for name, test := range map[string]struct {
		goos, command, pathext string
		dirs, files            []string
		want                   string
	}{
		"first folder first":        {"linux", "npx", "", []string{"/a", "/b"}, []string{"/b/npx", "/a/npx"}, "/a/npx"},
		"nowhere":                   {"linux", "npx", "", []string{"/a", "/b"}, []string{"/a/npm"}, ""},
		"no extensions elsewhere":   {"darwin", "npx", pathext, []string{"/a"}, []string{"/a/npx.cmd"}, ""},
		"a shim":                    {"windows", "npx", pathext, []string{`C:\node\`}, node, `C:\node\npx.cmd`},
		"a program":                 {"windows", "node", pathext, []string{`C:\node`}, node, `C:\node\node.exe`},
		"its extension is said":     {"windows", "npx.CMD", pathext, []string{`C:\node`}, []string{`C:\node\npx.CMD`}, `C:\node\npx.CMD`},
		"an extension of its own":   {"windows", "python3.12", pathext, []string{`C:\py`}, []string{`C:\py\python3.12.exe`}, `C:\py\python3.12.exe`},
		"extensions in their order": {"windows", "uvx", ".EXE;CMD", []string{`C:\a`}, []string{`C:\a\uvx.cmd`, `C:\a\uvx.exe`}, `C:\a\uvx.exe`},
		"without PATHEXT":           {"windows", "yarn", "", []string{`C:\a`}, []string{`C:\a\yarn.cmd`}, `C:\a\yarn.cmd`},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := find(test.goos, test.command, test.pathext, test.dirs, func(file string) bool { return slices.Contains(test.files, file) })
			if got != test.want || found != (test.want != "") {
				t.Errorf("found %q, %v; want %q", got, found, test.want)
			}
		})
	}
}

func TestHasFolder(t *testing.T) {
	for command, want := range map[string][2]bool{ // elsewhere, on Windows
		"npx": {false, false}, "./x": {true, true}, "/bin/x": {true, true}, `C:\x`: {false, true}, `a\b`: {false, true}, "c:x": {false, true},
	} {
		if got := [2]bool{hasFolder("linux", command), hasFolder("windows", command)}; got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

func TestTheNewestVersion(t *testing.T) {
	for want, names := range map[string]string{
		"v22.11.0": "v8.17.0 v22.9.0 v22.11.0 v20.18.1 system .cache",
		"v9.0.0":   "v9.0.0",
		"":         "lts v1.x",
	} {
		files := fstest.MapFS{}
		for name := range strings.FieldsSeq(names) {
			files[name+"/bin/node"] = &fstest.MapFile{}
		}
		entries, err := fs.ReadDir(files, ".")
		if err != nil {
			t.Fatal(err)
		}
		if got := newestVersion(entries); got != want {
			t.Errorf("of %s it is %q, want %q", names, got, want)
		}
	}
}

func TestTheUsualFolders(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".local/bin", ".cargo/bin", ".nvm/versions/node/v20.1.0/bin", ".nvm/versions/node/v9.1.0/bin", ".asdf/shims"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, dir := range existing(usualFolders(home)) {
		if below, ok := strings.CutPrefix(dir, home); ok {
			got = append(got, below)
		}
	}
	want := []string{"/.local/bin", "/.cargo/bin", "/.nvm/versions/node/v20.1.0/bin", "/.asdf/shims"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if dirs := usualFolders(""); slices.ContainsFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) }) {
		t.Errorf("without a home: %v", dirs)
	}
}
