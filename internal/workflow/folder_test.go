package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// folderBench has a library over a folder.
type folderBench struct {
	*Library
	*bench
	folder *Folder
	store  *memory
	path   string
	log    testkit.Buffer
}

func newFolder(t *testing.T) *folderBench {
	t.Helper()
	f := &folderBench{bench: newBench(t, Options{}), store: newMemory(), path: t.TempDir()}
	f.folder = NewFolder(f.store, slog.New(slog.NewTextHandler(&f.log, nil)))
	f.Library = NewLibrary(f.folder, f.Engine, *testEnvironment, time.Now)
	return f
}

func (f *folderBench) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.path, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read reads the folder, and returns the problems with the names of files.
func (f *folderBench) read(t *testing.T) string {
	t.Helper()
	f.folder.Read(f.path, func(d *Definition) []Problem { return f.Validate(t.Context(), d) })
	if _, err := f.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range f.folder.Problems() {
		all = append(all, strings.ReplaceAll(p.Text().String(), f.path+string(filepath.Separator), ""))
	}
	return strings.Join(all, "\n")
}

// denying is a file whose workflow denies all calls with a reason. Its hook is in line 5.
func denying(id, reason, more string) string {
	return fmt.Sprintf(`{"id":%q,"name":"x","workflowType":"tools/call","enabled":true,%s
"nodes":[
{"id":"start","type":"start"},

{"id":"hook","type":"hook","data":{"hook":{"blocking":true,"script":"return {action: 'deny', reason: '%s'}"}}},
{"id":"mcp","type":"mcp-call"},
{"id":"end","type":"end"}],
"edges":[{"source":"start","target":"hook"},{"source":"hook","target":"mcp"},
{"source":"mcp","target":"end"}]}`, id, more, reason)
}

func (f *folderBench) says(t *testing.T, want string) {
	t.Helper()
	if got := f.call("do", "{}"); !strings.Contains(got, want) {
		t.Errorf("%s instead of %s", got, want)
	}
}

func TestWorkflowsInFiles(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	ctx := t.Context()
	f.write(t, "b.json", "\ufeff"+denying("b", "one", `"tests":[{"id":"t","expect":{"outcome":"ok"}}],`))
	f.write(t, "a.json", strings.Replace(denying("a", "never", `"version":7,`), `"enabled":true`, `"enabled":false`, 1))
	f.write(t, "readme.txt", "no workflow")
	f.write(t, ".hidden.json", "no workflow")
	if err := os.Mkdir(filepath.Join(f.path, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := f.read(t); got != "" {
		t.Error(got)
	}
	f.says(t, "refused this call: one")
	if f.folder.Read(f.path, nil) {
		t.Error("nothing changed")
	}
	// They are among the others.
	if _, err := f.Save(ctx, *flow("aa", "start → mcp → end"), 0); err != nil {
		t.Fatal(err)
	}
	all, err := f.folder.Workflows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s@%d %d %s", s.ID, s.Version, s.Running, filepath.Base(s.File)))
	}
	if text := strings.Join(got, ", "); text != "a@7 0 a.json, aa@1 0 ., b@1 1 b.json" {
		t.Error(text)
	}
	if s, err := f.folder.Workflow(ctx, "a", 7); err != nil || s.Version != 7 {
		t.Error(s, err)
	}
	_, err = f.folder.Workflow(ctx, "a", 1)
	wantError(t, err, gateway.CodeNotFound, "there is no version 1")
	if versions, err := f.folder.Versions(ctx, "a"); err != nil || len(versions) != 1 {
		t.Error(versions, err)
	}
	if results, err := f.RunTests(ctx, "b", 0); err != nil || len(results) != 1 || results[0].Passed {
		t.Error(results, err)
	}
	// Nobody else changes them.
	_, saved := f.Save(ctx, *flow("b", "start → mcp → end"), 0)
	_, rolled := f.Rollback(ctx, "b", 1)
	for name, err := range map[string]error{
		"save": saved, "roll back": rolled, "enable": f.Enable(ctx, "b", 0), "force": f.ForceEnable(ctx, "b", 0),
		"disable": f.Disable(ctx, "b"), "delete": f.Delete(ctx, "b"),
		"save a test": f.SaveTest(ctx, "b", Test{ID: "t"}), "delete a test": f.DeleteTest(ctx, "b", "t"),
		"put": f.folder.PutWorkflow(ctx, &Definition{ID: "b", Version: 2}, "", 0),
	} {
		if e := gateway.AsError(err); e == nil || e.Code != gateway.CodeConflict || !strings.Contains(e.Text(), `workflow "b" is written in the file `+filepath.Join(f.path, "b.json")+" and") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.says(t, "refused this call: one")
	// Files change and go.
	f.write(t, "b.json", denying("b", "two", ""))
	f.read(t)
	f.says(t, "refused this call: two")
	if err := os.Remove(filepath.Join(f.path, "b.json")); err != nil {
		t.Fatal(err)
	}
	f.read(t)
	f.says(t, "done")
	if _, err := f.Save(ctx, *flow("b", "start → mcp → end"), 0); err != nil {
		t.Error(err)
	}
	if !f.folder.Read("", nil) {
		t.Error("a folder that is not configured any more has workflows")
	}
}

func TestMistakesInFiles(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	good := denying("w", "good", "")
	for name, c := range map[string]struct{ content, want string }{
		"empty":        {"", "w.json, line 1: this is not a workflow: unexpected end of JSON input."},
		"syntax":       {"{\n\"id\": \"w\",\n}", "w.json, line 3: this is not a workflow: invalid character '}'"},
		"cut off":      {good[:len(good)-20], "w.json, line 9: this is not a workflow"},
		"no object":    {"\n[]", "w.json: this is not a workflow"},
		"not UTF-8":    {strings.Replace(good, `"x"`, "\"\xff\"", 1), "w.json: this is not a workflow: it is not a text file in UTF-8"},
		"a wrong type": {"\n\n" + strings.Replace(good, `"edges":[`, `"order":"first",`+"\n\"edges\":[", 1), "w.json, line 10: order must be an integer"},
		"a time":       {strings.Replace(good, `"nodes"`, `"createdAt":"today","nodes"`, 1), "w.json, line 2: createdAt must be a number"},
		"a node":       {strings.Replace(good, `"id":"mcp"`, `"id":5`, 1), "w.json, line 6: nodes.id must be a string"},
		"an edge":      {strings.Replace(good, `"source":"mcp"`, `"source":[]`, 1), "w.json, line 9: edges.source must be a string"},
		"an id":        {strings.Replace(good, `"w"`, `"a/b"`, 1), `w.json: "a/b" cannot be an id`},
		"no id":        {"{}", `w.json: "" cannot be an id`},
		"tests":        {strings.Replace(good, `"nodes"`, `"tests":{},"nodes"`, 1), "w.json, line 2: its tests cannot be read"},
		"a test":       {strings.Replace(good, `"nodes"`, `"tests":[{"id":"a/b"}],"nodes"`, 1), `w.json, line 2: "a/b" cannot be an id`},
		"a script":     {strings.Replace(good, "return {", "return {{", 1), `w.json, line 5: workflow "w" cannot run: node "hook", line 1`},
		"the graph":    {strings.Replace(good, `"start"}`, `"begin"}`, 1), `w.json, line 3: workflow "w" cannot run: node "start": there is no node type "begin"`},
		"too large":    {good + strings.Repeat(" ", largestFile), "w.json: it is too large: a file may have 8 MB"},
	} {
		f.write(t, "w.json", good)
		if got := f.read(t); got != "" {
			t.Fatal(got)
		}
		f.write(t, "w.json", c.content)
		if got := f.read(t); !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %s\nwanted %s", name, got, c.want)
		}
		f.says(t, "refused this call: good") // the last good state
	}
	if n := strings.Count(f.log.String(), "a workflow file is not used as it is"); n != 16 {
		t.Errorf("%d problems are logged", n)
	}
	f.read(t)
	if n := strings.Count(f.log.String(), "\n"); n != 16 {
		t.Error("a problem is logged again")
	}
	// Other files do not suffer, and of two with an id the first counts.
	f.write(t, "w.json", "{")
	f.write(t, "x.json", denying("w", "second", `"order":-1,`))
	f.write(t, "y.json", denying("y", "other", `"order":-2,`))
	if got := f.read(t); !strings.Contains(got, `x.json: w.json has a workflow with the id "w", too`) {
		t.Error(got)
	}
	f.says(t, "refused this call: other")
}

// Without a last good state, a workflow that cannot be run refuses what it is for.
func TestFileThatIsBrokenFromTheStart(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.write(t, "w.json", strings.Replace(denying("w", "x", `"match":{"tools":["*__do"]},`), `"script":`, `"module":"m","script":`, 1))
	if got := f.read(t); !strings.Contains(got, `w.json, line 5: workflow "w" cannot run: node "hook": there is no hook module "m"`) {
		t.Error(got)
	}
	f.says(t, "denied: workflow")
	if got := f.call("other", "{}"); !strings.Contains(got, "done") {
		t.Error(got)
	}
	// The problem goes when the module comes.
	if err := f.store.PutModule(t.Context(), Module{ID: "m", Version: 1, Script: "return {action: 'deny', reason: 'by m'}"}); err != nil {
		t.Fatal(err)
	}
	if got := f.read(t); got != "" {
		t.Error(got)
	}
	f.says(t, "refused this call: by m")
}

func TestHostileFolder(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(outside, []byte(denying("outside", "outside", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(f.path, "sub")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	f.write(t, "sub/target", denying("linked", "linked", `"order":-1,`))
	for name, target := range map[string]string{
		"out.json": outside, "loop.json": "loop.json", "gone.json": "none", "up.json": "../..", "zero.json": "/dev/zero", "in.json": "sub/target",
	} {
		if err := os.Symlink(target, filepath.Join(f.path, name)); err != nil {
			t.Skip(err)
		}
	}
	makeFIFO(t, filepath.Join(f.path, "fifo.json"))
	got := f.read(t)
	for _, name := range []string{"out", "loop", "gone", "up", "zero", "fifo"} {
		if !strings.Contains(got, name+".json: ") {
			t.Errorf("%s is no problem: %s", name, got)
		}
	}
	f.says(t, "refused this call: linked")
	if all, _ := f.folder.Workflows(t.Context()); len(all) != 1 {
		t.Error(all)
	}
}

// An export of a workflow that is as large as one may be can be a file.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	d := flow("w", "start → mcp → end")
	d.Description = strings.Repeat("x", 3<<20)
	exported, err := d.WithTests([]Test{{ID: "t", Name: strings.Repeat("x", 3<<20)}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(exported)
	if err != nil {
		t.Fatal(err)
	}
	f.write(t, "w.json", string(raw))
	if got := f.read(t); got != "" {
		t.Error(got)
	}
	if tests, err := f.Tests(t.Context(), "w"); err != nil || len(tests) != 1 {
		t.Errorf("%d tests, %v", len(tests), err)
	}
}

func TestHugeFolder(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	many, large := testkit.Count(1500, 10_000), testkit.Count(20, 100)
	for i := range many {
		f.write(t, fmt.Sprintf("m%05d.json", i), `{"id":"m`+fmt.Sprint(i)+`"}`)
	}
	if got := f.read(t); got != fmt.Sprintf("%s: the folder has %d workflow files, and those after the first 1000 are not read: m01000.json and so on", f.path, many) {
		t.Error(got)
	}
	if all, _ := f.folder.Workflows(t.Context()); len(all) != mostFiles {
		t.Errorf("%d workflows", len(all))
	}
	// Files of 1 MB, of which 15 are less than 16 MB, and one of 100 MB, which is sparse.
	for i := range large {
		f.write(t, fmt.Sprintf("a%03d.json", i), `{"id":"a`+fmt.Sprint(i)+`"}`+strings.Repeat(" ", 1<<20))
	}
	f.write(t, "aa.json", "")
	if err := os.Truncate(filepath.Join(f.path, "aa.json"), 100<<20); err != nil {
		t.Fatal(err)
	}
	if got := f.read(t); strings.Count(got, "it is too large: a file may have 8 MB, and all together 16 MB") != large-15+1 {
		t.Error(got)
	}
	if err := os.RemoveAll(f.path); err != nil {
		t.Fatal(err)
	}
	if got := f.read(t); !strings.Contains(got, "the folder of workflows cannot be read: ") {
		t.Error(got)
	}
	if all, _ := f.folder.Workflows(t.Context()); len(all) < 500 {
		t.Errorf("of a folder that cannot be read, %d workflows stay", len(all))
	}
}

func TestFolderIsWatched(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	f.path = filepath.Join(f.path, "later")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { f.folder.Watch(ctx, f.path, f.Library); close(done) }()
	defer func() { cancel(); <-done }()
	becomes := func(want string) {
		t.Helper()
		testkit.Eventually(t, func() bool { return strings.Contains(f.call("do", "{}"), want) }, "%s", want)
	}
	// The folder is made, filled, and replaced.
	testkit.Eventually(t, func() bool { return len(f.folder.Problems()) == 1 }, "a problem")
	for _, reason := range []string{"one", "two"} {
		draft := f.path + "-draft"
		if err := os.Mkdir(draft, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(draft, "w.json"), []byte(denying("w", reason, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(f.path); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(draft, f.path); err != nil {
			t.Fatal(err)
		}
		becomes("refused this call: " + reason)
		f.write(t, "w.json", denying("w", reason+", written", ""))
		becomes(reason + ", written")
	}
	// A folder that is never left alone is read all the same.
	busy, stop := context.WithCancel(ctx)
	var writer sync.WaitGroup
	writer.Go(func() {
		for busy.Err() == nil {
			_ = os.WriteFile(filepath.Join(f.path, "noise"), nil, 0o600)
			time.Sleep(settle / 20)
		}
	})
	f.write(t, "w.json", denying("w", "in the noise", ""))
	becomes("in the noise")
	stop()
	writer.Wait()
	f.write(t, "w.json", "{")
	testkit.Eventually(t, func() bool { return len(f.folder.Problems()) == 1 }, "a problem")
	becomes("in the noise")
	f.write(t, "new", denying("w", "three", ""))
	if err := os.Rename(filepath.Join(f.path, "new"), filepath.Join(f.path, "w.json")); err != nil {
		t.Fatal(err)
	}
	becomes("refused this call: three")
	if err := os.Remove(filepath.Join(f.path, "w.json")); err != nil {
		t.Fatal(err)
	}
	becomes("done")
}
