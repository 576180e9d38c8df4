package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHouse checks the module as it stands on disk.
func TestHouse(t *testing.T) {
	root := moduleRoot(t)
	files := goSources(t, root)
	if len(files) == 0 {
		t.Fatal("go list found no Go files: this test would pass without looking at anything")
	}
	for _, breach := range checkSources(files) {
		t.Error(breach)
	}
}

// TestNoMachinePaths looks at every file that git tracks or would add: also that
// nothing that was built is among them.
func TestNoMachinePaths(t *testing.T) {
	root := moduleRoot(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, so which files are tracked is unknown")
	}
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, fs.ErrNotExist) {
		t.Skip("not a git checkout, so which files are tracked is unknown")
	}
	// safe.directory: a checkout that another user owns, as in containers.
	listed := run(t, root, "git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	names := strings.Split(strings.TrimRight(listed, "\x00"), "\x00")
	if len(names) < 3 {
		t.Fatalf("git lists only %q: this test would pass without looking at anything", names)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			continue // deleted but not yet committed, or a link
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, breach := range checkText(name, content) {
			t.Error(breach)
		}
	}
	watchDirectories(t, root)
}

// TestPlanIsWhole finds slips in the table itself: a misspelt name would allow
// nothing and forbid nothing.
func TestPlanIsWhole(t *testing.T) {
	for room, plan := range house {
		for _, name := range strings.Fields(plan.code + " " + plan.tests) {
			if _, known := house[name]; !known {
				t.Errorf("house[%q] names %q, which is not in the plan", room, name)
			}
		}
	}
	for _, c := range confined {
		for _, name := range strings.Fields(c.rooms) {
			if _, known := house[name]; !known {
				t.Errorf("confined names %q for %s, which is not in the plan", name, c.library)
			}
		}
	}
}

// TestCheckSources shows on invented files that each breach is found, and that
// what is allowed passes.
func TestCheckSources(t *testing.T) {
	const doc = "// Package x is documented.\npackage x\n"
	importing := func(paths ...string) string {
		text := doc
		for _, p := range paths {
			text += "import _ \"" + p + "\"\n"
		}
		return text
	}
	long := doc + strings.Repeat("// line\n", maxLines)

	tests := []struct {
		name, path, text string
		want             string // part of the only breach; "" for none
	}{
		{"vocabulary", "internal/kb/x.go", importing("genkan/internal/gateway", "genkan/internal/jsonrpc"), ""},
		{"own packages", "internal/api/x.go", importing("genkan/internal/api/client"), ""},
		{"gateway imports us", "internal/gateway/x.go", importing("genkan/internal/jsonrpc"), "imports nothing of this module"},
		{"gateway imports a library", "internal/gateway/x.go", importing("golang.org/x/sync/errgroup"), "only the standard library"},
		{"gateway imports the standard library", "internal/gateway/x.go", importing("encoding/json", "fmt"), ""},
		{"room to room", "internal/kb/x.go", importing("genkan/internal/catalog"), "kb may not import catalog"},
		{"room to room, below", "internal/kb/below/x.go", importing("genkan/internal/n8n/node"), "kb may not import n8n"},
		{"alone, to its own room", "internal/kb/graph/x.go", importing("genkan/internal/kb"), "kb/graph stands alone"},
		{"alone, to a library", "internal/kb/graph/x.go", importing("golang.org/x/sync/errgroup"), "kb/graph stands alone"},
		{"alone", "internal/kb/graph/x.go", importing("slices"), ""},
		{"room to room, other build", "internal/kb/x_windows.go", "//go:build windows\n\n" + importing("genkan/internal/n8n"), "kb may not import n8n"},
		{"room to room, in a test", "internal/kb/x_test.go", importing("genkan/internal/n8n"), "tests of kb may not import n8n"},
		{"workflow to script", "internal/workflow/x.go", importing("genkan/internal/script"), ""},
		{"script to workflow", "internal/script/x.go", importing("genkan/internal/workflow"), "script may not import workflow"},
		{"store to room", "internal/sqlite/x.go", importing("genkan/internal/kb"), ""},
		{"store to store", "internal/sqlite/x.go", importing("genkan/internal/postgres"), "sqlite may not import postgres"},
		{"room to store", "internal/kb/x.go", importing("genkan/internal/sqlite"), "kb may not import sqlite"},
		{"room's test to store", "internal/kb/x_test.go", importing("genkan/internal/sqlite", "genkan/internal/testkit"), ""},
		{"edge to store", "internal/mcpserver/x.go", importing("genkan/internal/sqlite"), "mcpserver may not import sqlite"},
		{"edge to edge", "internal/web/x.go", importing("genkan/internal/api"), "web may not import api"},
		{"edge to room", "internal/api/x.go", importing("genkan/internal/catalog"), ""},
		{"room to language", "internal/kb/x.go", importing("genkan/internal/lang"), "kb may not import lang"},
		{"lock to language", "internal/lock/x.go", importing("genkan/internal/lang"), ""},
		{"store to language", "internal/sqlite/x.go", importing("genkan/internal/lang"), "sqlite may not import lang"},
		{"language to library", "internal/lang/x.go", importing("golang.org/x/text/language"), "only the standard library"},
		{"room to app", "internal/kb/x.go", importing("genkan/internal/app"), "kb may not import app"},
		{"app to all", "internal/app/x.go", importing("genkan/internal/sqlite", "genkan/internal/web", "genkan/internal/kb"), ""},
		{"app to cli", "internal/app/x.go", importing("genkan/internal/cli"), "app may not import cli"},
		{"app to test support", "internal/app/x.go", importing("genkan/internal/testkit"), "app may not import testkit"},
		{"main", "cmd/genkan/main.go", importing("genkan/internal/cli", "genkan/internal/app"), ""},
		{"library behind its door", "internal/record/x.go", importing("github.com/prometheus/client_golang/prometheus"), ""},
		{"library elsewhere", "internal/kb/x.go", importing("github.com/prometheus/client_golang/prometheus"), "kb may not import github.com/prometheus"},
		{"go-sdk in code", "internal/mcpserver/x.go", importing("github.com/modelcontextprotocol/go-sdk/mcp"), "only testkit may"},
		{"go-sdk in tests", "internal/mcpserver/x_test.go", importing("github.com/modelcontextprotocol/go-sdk/mcp"), ""},
		{"testing in code", "internal/kb/x.go", importing("testing"), "kb may not import testing"},
		{"unknown package", "internal/util/x.go", doc, `"util" is not in the plan; add it`},
		{"unknown place", "pkg/x/x.go", doc, `"pkg/x" is not in the plan; add it`},
		{"init", "internal/kb/x.go", doc + "func init() {}\n", "kb/x.go:3: init()"},
		{"a method called init", "internal/kb/x.go", doc + "type t int\nfunc (t) init() {}\n", ""},
		{"no package comment", "internal/kb/x.go", "package kb\n", "no package comment"},
		{"package comment only in a test", "internal/kb/x_test.go", doc, "no package comment"},
		{"too long", "internal/kb/x.go", long, "702 lines"},
		{"long but generated", "internal/kb/x.go", "// Code generated by hand. DO NOT EDIT.\n\n" + long, ""},
		{"does not parse", "internal/kb/x.go", "package", "does not parse"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := []source{{path: tt.path, text: tt.text}}
			if strings.HasSuffix(tt.path, "_test.go") && tt.want != "no package comment" {
				dir := tt.path[:strings.LastIndex(tt.path, "/")]
				files = append(files, source{path: dir + "/doc.go", text: doc})
			}
			got := checkSources(files)
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("breaches %q, want none", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("breaches %q, want one that says %q", got, tt.want)
			}
		})
	}
}

func TestCheckText(t *testing.T) {
	// Spelt in two parts, or this file would be its own breach.
	const home, tmp = "/ho" + "me/ann/x", "/t" + "mp/x"
	tests := []struct {
		text string
		want int
	}{
		{"see " + home, 1},
		{`"` + home + `", "` + tmp + `"`, 2},
		{"file://" + tmp, 1},
		{"PATH=/bin:" + tmp, 1},
		{"one\ntwo\n" + tmp, 1},
		{"https://example.com" + home, 0},
		{"docs" + tmp, 0},
		{"${DIR}" + tmp, 0},
		{"/tmp is a directory", 0},
		{"\x00 " + home, 0},
	}
	if got := checkText("bench", make([]byte, maxFile+1)); len(got) != 1 {
		t.Errorf("a file that was built: %q", got)
	}
	for _, tt := range tests {
		if got := checkText("f", []byte(tt.text)); len(got) != tt.want {
			t.Errorf("checkText(%q) = %q, want %d breaches", tt.text, got, tt.want)
		}
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", module))
}

// goSources reads every Go file of every package of the module, those that
// this platform leaves out included.
func goSources(t *testing.T, root string) []source {
	t.Helper()
	listed := run(t, root, "go", "list", "-e",
		"-json=Dir,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles", "./...")
	var files []source
	decoder := json.NewDecoder(strings.NewReader(listed))
	for {
		var pkg struct {
			Dir                                                          string
			GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
		}
		err := decoder.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(pkg.GoFiles, pkg.CgoFiles, pkg.IgnoredGoFiles, pkg.TestGoFiles, pkg.XTestGoFiles) {
			file := filepath.Join(pkg.Dir, name)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			relative, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, source{path: filepath.ToSlash(relative), text: string(text)})
		}
	}
	watchDirectories(t, root)
	return files
}

// watchDirectories reads the module's directories for the sake of go test's
// cache: it keeps a result as long as what the test itself has opened is
// unchanged, and does not see what go list and git have looked at. Without
// this, a new package would meet an old "ok (cached)".
func watchDirectories(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed while we looked
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return string(out)
}
