package n8n

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"genkan/internal/gateway"
)

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 16 << 20

func createFromFile(ctx context.Context, s *Source, call *gateway.Call, in *arguments) (answer, error) {
	name, whole := in.text("filePath"), in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	w, err := s.readFile(ctx, call, name)
	if err != nil {
		return answer{}, err
	}
	made, warnings, err := s.create(ctx, w)
	if err != nil {
		return answer{}, err
	}
	return s.written(ctx, say("Workflow created"), saved{
		ID: made.id(), Name: made.name(), Active: new(made.flag("active")), Warnings: warnings,
	}, made, whole)
}

func replaceFromFile(ctx context.Context, s *Source, call *gateway.Call, in *arguments) (answer, error) {
	id, name, publish, whole := in.id(), in.text("filePath"), in.flag("publish"), in.flag("raw")
	if in.err != nil {
		return answer{}, in.err
	}
	next, err := s.readFile(ctx, call, name)
	if err != nil {
		return answer{}, err
	}
	for _, n := range next.nodes {
		n.complete(true)
	}
	old, err := s.client.getWorkflow(ctx, id, "replace workflow")
	if err != nil {
		return answer{}, err
	}
	out := saved{ID: id}
	if err := refusal(next.check()); err != nil {
		return answer{}, err
	}
	now, err := s.save(ctx, old, next, publish, &out, "staticData", "pinData")
	if err != nil {
		return answer{}, err
	}
	message := say("Workflow replaced")
	if out.Published != nil && !*out.Published {
		message = say("Workflow saved as a draft; the published version is unchanged. publish: true or activate_workflow publishes it")
	}
	return s.written(ctx, message, out, now, whole)
}

// readFile reads a workflow from a file that the caller may read.
func (s *Source) readFile(ctx context.Context, call *gateway.Call, name string) (*workflow, error) {
	root, inside, err := s.openRoot(ctx, call, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	raw, err := readRegular(root, inside, name)
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, wrongJSON(name, raw, err)
	}
	for _, key := range []string{"name", "nodes", "connections"} {
		if len(fields[key]) == 0 {
			return nil, invalid("filePath", "%s is no workflow: it has no %s", gateway.Short(name), key)
		}
	}
	w, err := parseWorkflow(raw)
	if err != nil {
		return nil, err
	}
	for key := range w.fields {
		// What n8n itself exported has more than it takes.
		if key != "staticData" && key != "pinData" && !isPart(key) {
			delete(w.fields, key)
		}
	}
	return w, nil
}

func isPart(key string) bool {
	return key == "name" || key == "nodes" || key == "connections" || key == "settings"
}

// openRoot opens the folder in which a file must be: the caller's, or that of an absolute
// path if a caller without a folder may read there.
func (s *Source) openRoot(ctx context.Context, call *gateway.Call, name string) (*os.Root, string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return nil, "", invalid("filePath", "filePath must be the path of a JSON file")
	}
	folder, err := s.folder(ctx, call)
	if err != nil {
		return nil, "", err
	}
	given := gateway.Short(name)
	switch {
	case folder == "" && (!filepath.IsAbs(name) || s.Allowed == nil):
		return nil, "", invalid("filePath", "Your client names no folder (root) here, so filePath must be an absolute path on Genkan's machine, below the home directory or in `folders` of Genkan's configuration")
	case folder == "":
		dir, why := s.Allowed(call, filepath.Dir(name))
		if dir == "" {
			return nil, "", invalid("filePath", "Files cannot be read in the folder of %s: %s", given, why)
		}
		folder, name = dir, filepath.Join(dir, filepath.Base(name))
	case !filepath.IsAbs(name):
		name = filepath.Join(folder, name)
	}
	inside, err := filepath.Rel(folder, name)
	if err != nil || !filepath.IsLocal(inside) {
		return nil, "", invalid("filePath", "%s is not in your folder. Copy the file there", given)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, "", invalid("filePath", "The folder of %s cannot be opened", given)
	}
	return root, inside, nil
}

func (s *Source) folder(ctx context.Context, call *gateway.Call) (string, error) {
	if s.Folder != nil {
		return s.Folder(ctx, call)
	}
	dir := call.Dir
	if call.Session != nil && call.Session.Dir != "" {
		dir = call.Session.Dir
	}
	if !call.Identity.IsLocal() || !filepath.IsAbs(dir) {
		return "", nil
	}
	return dir, nil
}

// readRegular reads a regular file of limited size. Opening never waits, so a FIFO is
// refused rather than waited for.
func readRegular(root *os.Root, inside, name string) ([]byte, error) {
	shown := gateway.Short(name)
	if info, err := root.Stat(inside); err == nil && !info.Mode().IsRegular() {
		return nil, invalid("filePath", "%s is no regular file", shown)
	}
	file, err := root.OpenFile(inside, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, invalid("filePath", "There is no file %s", shown)
	case errors.Is(err, fs.ErrPermission):
		return nil, invalid("filePath", "%s may not be read", shown)
	case err != nil:
		return nil, invalid("filePath", "%s cannot be opened, or leads out of the allowed folder", shown)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return nil, invalid("filePath", "%s is no regular file", shown)
	case info.Size() > maxFile:
		return nil, invalid("filePath", "%s has more than %d MiB", shown, maxFile>>20)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil || len(raw) > maxFile {
		return nil, invalid("filePath", "%s cannot be read, or has more than %d MiB", shown, maxFile>>20)
	}
	return raw, nil
}

// wrongJSON says where a file is no JSON.
func wrongJSON(name string, raw []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return invalid("filePath", "%s must have a JSON object with name, nodes and connections", gateway.Short(name))
	}
	at := int(min(max(syntax.Offset-1, 0), int64(len(raw))))
	if strings.Contains(err.Error(), "unexpected end") {
		at = len(raw)
	}
	before := raw[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return invalid("filePath", "%s is not valid JSON: line %d, column %d: %s", gateway.Short(name), line, column, syntax)
}
