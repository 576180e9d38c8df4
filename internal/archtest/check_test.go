package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxLines is where a file is too long to read in one sitting. The style aims
// at 600; the rest is slack for the change that is under way.
const maxLines = 700

// source is one Go file. Its path is relative to the module and uses slashes.
type source struct {
	path string
	text string
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// room is the row of the plan that the file stands in: "kb" for
// internal/kb/graph/x.go, "cmd" for cmd/genkan/main.go.
func (s source) room() string { return roomOf(module + "/" + path.Dir(s.path)) }

// roomOf turns an import path of this module into a key of the plan. Outside
// internal and cmd it is the path itself, which the plan does not know.
func roomOf(importPath string) string {
	rest := strings.TrimPrefix(importPath, module+"/")
	if below, ok := strings.CutPrefix(rest, "internal/"); ok {
		name, _, _ := strings.Cut(below, "/")
		return name
	}
	if rest == "cmd" || strings.HasPrefix(rest, "cmd/") {
		return "cmd"
	}
	return rest
}

func ours(importPath string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// standard reports whether the path is of the standard library: only there has
// the first element no dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !ours(importPath) && !strings.Contains(first, ".")
}

func has(names, name string) bool { return slices.Contains(strings.Fields(names), name) }

// checkSources returns every breach of the plan in the given files, in the
// order of the files. It looks at syntax only, so that build tags hide nothing.
func checkSources(files []source) []string {
	var breaches []string
	report := func(where, format string, args ...any) {
		breaches = append(breaches, where+": "+fmt.Sprintf(format, args...))
	}

	documented := map[string]bool{} // by directory; a key for every directory seen
	for _, f := range files {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			report(f.path, "does not parse: %v", err)
			continue
		}
		dir := path.Dir(f.path)
		documented[dir] = documented[dir] || (!f.isTest() && parsed.Doc.Text() != "")

		if _, known := house[f.room()]; known {
			for _, spec := range parsed.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				if breach := checkImport(f, imported); breach != "" {
					report(f.path+":"+strconv.Itoa(fset.Position(spec.Pos()).Line), "%s", breach)
				}
			}
		}
		for _, decl := range parsed.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				report(f.path+":"+strconv.Itoa(fset.Position(fn.Pos()).Line),
					"init() runs behind everybody's back; call it from where the value is needed")
			}
		}
		if n := lines(f.text); n > maxLines && !ast.IsGenerated(parsed) {
			report(f.path, "%d lines; split it by subject, %d is the most", n, maxLines)
		}
	}

	unknown := map[string]bool{}
	for _, dir := range sortedKeys(documented) {
		if !documented[dir] {
			report(dir, "no package comment; say in one paragraph what this package is for in the house")
		}
		room := roomOf(module + "/" + dir)
		if _, known := house[room]; !known && !unknown[room] {
			unknown[room] = true
			report(dir, "%q is not in the plan; add it to house in internal/archtest/house_test.go, deciding what it may import", room)
		}
	}
	return breaches
}

// checkImport returns what is wrong with an import, or "".
func checkImport(f source, imported string) string {
	from := f.room()
	plan := house[from]

	if dir := strings.TrimPrefix(path.Dir(f.path), "internal/"); has(alone, dir) && !f.isTest() && !standard(imported) {
		return fmt.Sprintf("%s stands alone: it imports only the standard library, not %s", dir, imported)
	}
	if ours(imported) {
		to := roomOf(imported)
		switch {
		case to == from, has(plan.code, to):
			return ""
		case f.isTest() && has(plan.tests, to):
			return ""
		case f.isTest():
			return fmt.Sprintf("tests of %s may not import %s; they may import: %s %s", from, to, plan.code, plan.tests)
		case plan.code == "":
			return fmt.Sprintf("%s may not import %s; it imports nothing of this module", from, to)
		}
		return fmt.Sprintf("%s may not import %s; it may import: %s. Declare an interface here and let app connect the two",
			from, to, plan.code)
	}

	if f.isTest() {
		return ""
	}
	if has(standardLibraryOnly, from) && !standard(imported) {
		return fmt.Sprintf("%s imports only the standard library, not %s", from, imported)
	}
	for _, c := range confined {
		if (imported == c.library || strings.HasPrefix(imported, c.library+"/")) && !has(c.rooms, from) {
			return fmt.Sprintf("%s may not import %s, only %s may: %s", from, imported, c.rooms, c.why)
		}
	}
	return ""
}

// machineRoots are the directories that machinePath looks for.
var machineRoots = []string{"home", "root", "tmp", "work"}

// machinePath is an absolute path that exists on one machine only. What comes
// before it keeps URLs and relative paths out.
var machinePath = regexp.MustCompile("(?:^|[\\s\"'`=:(\\[{<>,;|]|file://)(/(?:" + strings.Join(machineRoots, "|") + ")/[\\w.~-]+)")

// maxFile is how large a file of the project may be. The dictionary of the search is
// the largest; what is larger was built or measured, and is not to be committed.
const maxFile = 3 << 19

// checkText returns the machine paths in a text file. Binary files have none. What
// is too large is no file of the project.
func checkText(name string, content []byte) []string {
	if len(content) > maxFile {
		return []string{fmt.Sprintf("%s has %d bytes; what was built or measured is not committed", name, len(content))}
	}
	if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
		return nil
	}
	var breaches []string
	for i, line := range bytes.Split(content, []byte("\n")) {
		if !slices.ContainsFunc(machineRoots, func(root string) bool { return bytes.Contains(line, []byte("/"+root+"/")) }) {
			continue // most lines; the expression is slow
		}
		for _, m := range machinePath.FindAllSubmatch(line, -1) {
			breaches = append(breaches, fmt.Sprintf("%s:%d: %s is a path of one machine; "+
				"use t.TempDir, a relative path, or /srv/example in an example", name, i+1, m[1]))
		}
	}
	return breaches
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
