package workflow

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

// Folder is a Store in front of another one. It adds the workflows in the files of a
// folder, which nobody else can change; their tests stand under tests in the file. A
// workflow of the other store with the id of one of them is hidden.
type Folder struct {
	Store
	log *slog.Logger

	mu       sync.Mutex
	path     string
	files    map[string]*workflowFile
	byID     map[string]*workflowFile
	problems []FileProblem
}

// workflowFile is a file as it was read last.
type workflowFile struct {
	name string
	// hash is that of its content, and good its last content without a problem.
	hash    [sha256.Size]byte
	good    *Definition
	tests   []Test
	problem *FileProblem
}

// FileProblem says why a file is not used as it is.
type FileProblem struct {
	File string
	// Line is where the problem is, from 1; 0 if it concerns the whole file.
	Line   int
	Reason gateway.Text
}

// Text says where the problem is, and what.
func (p FileProblem) Text() gateway.Text {
	if p.Line > 0 {
		return gateway.Textf("%s, line %d: %s", p.File, p.Line, p.Reason)
	}
	return gateway.Textf("%s: %s", p.File, p.Reason)
}

// Bounds of a folder. A file may be as large as a definition with its tests.
const (
	mostEntries = 100_000
	mostFiles   = 1000
	largestFile = largestDefinition + largestTests
	mostBytes   = 16 << 20
)

// Files are read when nothing has happened in the folder for settle, because editors
// write them in several steps, and after settleMost at the latest.
const (
	settle     = 300 * time.Millisecond
	settleMost = 3 * time.Second
)

// NewFolder makes a Folder that has no files yet.
func NewFolder(store Store, log *slog.Logger) *Folder { return &Folder{Store: store, log: log} }

// Read reads the files *.json of the folder at path, which may begin with ~/; empty is no
// folder. validate says what keeps a definition from being enabled. Of a file with a
// problem, the last content without one stays in force. Read reports whether the
// workflows have changed.
func (f *Folder) Read(path string, validate func(d *Definition) []Problem) (changed bool) {
	path = withHome(path)
	f.mu.Lock()
	defer f.mu.Unlock()
	if path != f.path {
		changed = len(f.byID) > 0
		f.path, f.files, f.byID, f.problems = path, nil, nil, nil
	}
	if path == "" {
		return changed
	}
	told := map[string]bool{}
	for _, p := range f.problems {
		told[p.Text().String()] = true
	}
	f.problems = nil
	files, err := f.readAll(validate)
	if err == nil {
		f.files = files
	} else { // what there was stays
		f.problem(path, gateway.Textf("the folder of workflows cannot be read: %s", reasonOf(err)))
	}
	byID := map[string]*workflowFile{}
	for _, file := range slices.SortedFunc(maps.Values(f.files), func(a, b *workflowFile) int { return cmp.Compare(a.name, b.name) }) {
		if file.problem != nil {
			f.problems = append(f.problems, *file.problem)
		}
		if file.good == nil {
			continue
		}
		if first := byID[file.good.ID]; first != nil {
			f.problem(f.join(file.name), gateway.Textf("%s has a workflow with the id %q, too, and is the one that counts", first.name, file.good.ID))
			continue
		}
		byID[file.good.ID] = file
		old := f.byID[file.good.ID]
		changed = changed || old == nil || old.good != file.good
	}
	changed = changed || len(byID) != len(f.byID)
	f.byID = byID
	for _, p := range f.problems {
		if !told[p.Text().String()] {
			f.log.Warn("a workflow file is not used as it is", "file", p.File, "line", p.Line, "reason", p.Reason.String())
		}
	}
	return changed
}

// Problems returns what is wrong with files.
func (f *Folder) Problems() []FileProblem {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.problems)
}

// Watch reads the folder again when something in it changes, and has the library load its
// workflows. It returns when ctx ends.
func (f *Folder) Watch(ctx context.Context, path string, l *Library) {
	path = withHome(path)
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	defer quiet.Stop()
	unloaded := false
	read := func() {
		changed := f.Read(path, func(d *Definition) []Problem { return l.Validate(ctx, d) })
		if !changed && !unloaded {
			return
		}
		_, err := l.Load(ctx)
		if unloaded = err != nil; unloaded && ctx.Err() == nil {
			f.log.Error("changed workflow files are not used yet; the former ones stay in force", "error", err)
			quiet.Reset(settleMost)
		}
	}
	if path == "" {
		read()
		return
	}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer func() { _ = watcher.Close() }()
		// The parent tells when the folder itself is made, removed or replaced.
		err = watcher.Add(filepath.Dir(path))
		_ = watcher.Add(path)
	}
	read()
	if err != nil {
		f.log.Warn("the folder of workflows is not watched for changes; use SIGHUP", "error", err)
		return
	}
	var first time.Time
	for {
		select {
		case e, ok := <-watcher.Events:
			if !ok {
				return
			}
			name := filepath.Clean(e.Name)
			switch {
			case e.Op == fsnotify.Chmod:
				continue
			case name == path:
				_ = watcher.Add(path)
			case filepath.Dir(name) != path:
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			quiet.Reset(min(settle, max(0, settleMost-time.Since(first))))
		case err, ok := <-watcher.Errors: // events may be lost
			if !ok {
				return
			}
			f.log.Warn("watching the folder of workflows failed", "error", err)
			quiet.Reset(settle)
		case <-quiet.C:
			first = time.Time{}
			read()
		case <-ctx.Done():
			return
		}
	}
}

func withHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	switch {
	case path == "":
		return ""
	case !ok:
		return filepath.Clean(path)
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, rest)
}

// readAll reads the files. What is no regular file in the folder, also behind a link, is
// a problem, and never opened.
func (f *Folder) readAll(validate func(d *Definition) []Problem) (map[string]*workflowFile, error) {
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	names, err := f.names(root)
	if err != nil {
		return nil, err
	}
	all := map[string]*workflowFile{}
	left := int64(mostBytes)
	for _, name := range names {
		file := &workflowFile{name: name}
		if old := f.files[name]; old != nil {
			*file = *old
		}
		all[name] = file
		raw, err := readRegular(root, name, min(left, largestFile))
		left -= int64(len(raw))
		if err != nil {
			file.hash, file.problem = [sha256.Size]byte{}, &FileProblem{f.join(name), 0, reasonOf(err)}
			continue
		}
		// A problem may be gone without a change: a module may have come.
		if hash := sha256.Sum256(raw); hash != file.hash || file.problem != nil {
			file.hash = hash
			file.take(f.join(name), bytes.TrimPrefix(raw, []byte("\ufeff")), validate)
		}
	}
	return all, nil
}

// names lists the files *.json in their order.
func (f *Folder) names(root *os.Root) (names []string, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(mostEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") && !e.IsDir() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(entries) == mostEntries {
		f.problem(f.path, gateway.Textf("the folder has more than %d entries, and the others are not read", mostEntries))
	}
	if len(names) > mostFiles {
		f.problem(f.path, gateway.Textf("the folder has %d workflow files, and those after the first %d are not read: %s and so on", len(names), mostFiles, names[mostFiles]))
		names = names[:mostFiles]
	}
	return names, nil
}

// readRegular reads a regular file that has at most so many bytes.
func readRegular(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = gateway.Errorf(gateway.CodeInvalid, "it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	// O_NONBLOCK, so that a FIFO put there in between does not hold us up.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, gateway.Errorf(gateway.CodeInvalid, "it was replaced while it was read")
	}
	raw, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(raw)) > most {
		return nil, gateway.Errorf(gateway.CodeInvalid, "it is too large: a file may have %d MB, and all together %d MB", largestFile/megabyte, mostBytes/megabyte)
	}
	return raw, err
}

// take takes over the content of a file. A workflow that is enabled and cannot be run is
// taken over only if there is no former one: it then refuses the calls that it is for.
func (w *workflowFile) take(path string, raw []byte, validate func(d *Definition) []Problem) {
	w.problem = nil
	d, err := Parse(raw)
	if err == nil && !validID(d.ID) {
		err = wrongID(d.ID)
	}
	if err != nil {
		w.problem = &FileProblem{path, lineOfError(raw), reasonOf(err)}
		return
	}
	tests, err := d.Tests()
	if err != nil {
		w.problem = &FileProblem{path, lineAt(raw, int(jsonrpc.LookupSpan(raw, testsKey).Start)), reasonOf(err)}
		return
	}
	d.Version = max(d.Version, 1)
	var problems []Problem
	if d.Enabled {
		problems = validate(d)
	}
	if len(problems) > 0 {
		w.problem = &FileProblem{path, lineOfNode(raw, problems[0].Node), reasonOf(Invalid(d.ID, problems))}
		if w.good != nil {
			return
		}
	}
	w.good, w.tests = d, tests
}

// lineOfError is the line where a file stops being a definition.
func lineOfError(raw []byte) int {
	err := json.Unmarshal(raw, &Definition{})
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return lineAt(raw, int(syntax.Offset)-1)
	}
	// The places of other errors are counted from the value that has them.
	line := 0
	wrong := func(key, value, after []byte) bool {
		object := append(append(jsonrpc.AppendQuoted([]byte{'{'}, string(key)), ':'), value...)
		return json.Unmarshal(append(object, after...), &Definition{}) != nil
	}
	_ = jsonrpc.Members(raw, func(key, value []byte) bool {
		if !wrong(key, value, []byte("}")) {
			return true
		}
		start := int(jsonrpc.LookupSpan(raw, string(key)).Start)
		line = lineAt(raw, start)
		_ = jsonrpc.Elements(value, func(element []byte) bool {
			found := wrong(key, append([]byte{'['}, element...), []byte("]}"))
			if found {
				line = lineAt(raw, start+bytes.Index(raw[start:], element))
			}
			return !found
		})
		return false
	})
	return line
}

// lineOfNode is the line where a node begins; 0 if there is none.
func lineOfNode(raw []byte, id string) (line int) {
	_ = jsonrpc.Elements(jsonrpc.Lookup(raw, "nodes"), func(element []byte) bool {
		if id != "" && jsonrpc.LookupText(element, "id") == id {
			line = lineAt(raw, bytes.Index(raw, element))
		}
		return line == 0
	})
	return line
}

func lineAt(raw []byte, offset int) int {
	return 1 + bytes.Count(raw[:min(max(offset, 0), len(raw))], []byte("\n"))
}

// reasonOf is what an error says, without the path, which the surrounding text has.
func reasonOf(err error) gateway.Text {
	var e *gateway.Error
	if errors.As(err, &e) {
		if len(e.Problems) == 1 {
			return e.Problems[0].Text
		}
		return gateway.Text{Format: e.Message, Values: e.Values}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return gateway.Textf("%s", err.Error())
}

func (f *Folder) join(name string) string { return filepath.Join(f.path, name) }

func (f *Folder) problem(file string, reason gateway.Text) {
	f.problems = append(f.problems, FileProblem{File: file, Reason: reason})
}

// find returns the workflow of a file; the error names the file, for those who would
// change it.
func (f *Folder) find(id string) (Stored, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file := f.byID[id]
	if file == nil {
		return Stored{}, nil
	}
	s := Stored{Definition: file.good, File: f.join(file.name)}
	if s.Enabled {
		s.Running = s.Version
	}
	return s, ownedByFile(id, s.File)
}

func ownedByFile(id, file string) error {
	return gateway.Errorf(gateway.CodeConflict, "workflow %q is written in the file %s and can only be changed there", id, file)
}

// Workflows returns the newest version of each workflow, those of files included.
func (f *Folder) Workflows(ctx context.Context) ([]Stored, error) {
	all, err := f.Store.Workflows(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	ids := slices.Collect(maps.Keys(f.byID))
	f.mu.Unlock()
	all = slices.DeleteFunc(all, func(s Stored) bool { return slices.Contains(ids, s.ID) })
	for _, id := range ids {
		if s, _ := f.find(id); s.File != "" {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Stored) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// Workflow returns a version of a workflow; 0 is the newest. One of a file has one.
func (f *Folder) Workflow(ctx context.Context, id string, version int) (Stored, error) {
	s, _ := f.find(id)
	switch {
	case s.File == "":
		return f.Store.Workflow(ctx, id, version)
	case version != 0 && version != s.Version:
		return Stored{}, NoWorkflow(id, version)
	}
	return s, nil
}

// Versions returns all versions of a workflow, the newest first.
func (f *Folder) Versions(ctx context.Context, id string) ([]Version, error) {
	if s, _ := f.find(id); s.File != "" {
		return []Version{{Definition: s.Definition}}, nil
	}
	return f.Store.Versions(ctx, id)
}

// PutWorkflow adds a version, but not to the workflow of a file.
func (f *Folder) PutWorkflow(ctx context.Context, d *Definition, draft string, base Millis, tests ...Test) error {
	if _, err := f.find(d.ID); err != nil {
		return err
	}
	return f.Store.PutWorkflow(ctx, d, draft, base, tests...)
}

// RunWorkflow says which version runs. For the workflow of a file the file says it.
func (f *Folder) RunWorkflow(ctx context.Context, id string, version int, at Millis) error {
	if _, err := f.find(id); err != nil {
		return err
	}
	return f.Store.RunWorkflow(ctx, id, version, at)
}

// DeleteWorkflow removes a workflow that is not in a file.
func (f *Folder) DeleteWorkflow(ctx context.Context, id string) error {
	if _, err := f.find(id); err != nil {
		return err
	}
	return f.Store.DeleteWorkflow(ctx, id)
}

// Tests returns the tests of a workflow.
func (f *Folder) Tests(ctx context.Context, id string) ([]Test, error) {
	f.mu.Lock()
	file := f.byID[id]
	f.mu.Unlock()
	if file != nil {
		return file.tests, nil
	}
	return f.Store.Tests(ctx, id)
}

// PutTests adds tests to a workflow that is not in a file.
func (f *Folder) PutTests(ctx context.Context, id string, tests []Test) error {
	if _, err := f.find(id); err != nil {
		return err
	}
	return f.Store.PutTests(ctx, id, tests)
}

// DeleteTest removes a test of a workflow that is not in a file.
func (f *Folder) DeleteTest(ctx context.Context, id, test string) error {
	if _, err := f.find(id); err != nil {
		return err
	}
	return f.Store.DeleteTest(ctx, id, test)
}
