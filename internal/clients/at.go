package clients

import (
	"os"
	"path/filepath"

	"genkan/internal/gateway"
)

// FileAt returns the file at a path: a client's file, or any other file with a list
// of servers.
func FileAt(env Environment, path string) (File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return File{}, err
	}
	for _, c := range All() {
		for _, f := range c.Files(env) {
			if f.Path == path {
				return f, nil
			}
		}
	}
	if f, ok := projectFileAt(env, path); ok {
		return f, nil
	}
	src, err := load(path)
	if err != nil {
		return File{}, err
	}
	f := File{Client: "file", Path: path, Format: formatOf(path), home: env.Home, windows: env.windows()}
	if repositoryOf(path) != "" {
		f.Scope = Project
	}
	root, bad := parse(f.Format, src)
	if bad != nil {
		return File{}, bad.in(path, src)
	}
	if f.keys, f.list = containerIn(root); f.keys != nil {
		// Its client is unknown, so variables may be in any client's form.
		f.dialect.variables = braceForm | secretsForm
		return f, nil
	}
	return File{}, gateway.Errorf(gateway.CodeInvalid, "%s has no list of MCP servers; such a list is called mcpServers in most files", path)
}

// projectFileAt returns the file at a path as a client's file of a project whose
// folder is somewhere above it.
func projectFileAt(env Environment, path string) (File, bool) {
	const deepest = 3 // .continue/mcpServers/x.yaml
	folder := path
	for range deepest {
		folder = filepath.Dir(folder)
		env.WorkDir = folder
		for _, c := range All() {
			for _, f := range c.Files(env) {
				if f.Path == path && f.Scope == Project {
					return f, true
				}
			}
		}
	}
	return File{}, false
}

// maxLinks bounds how many links resolved follows by itself.
const maxLinks = 40

// resolved follows the symbolic links of a path whose end need not exist.
func resolved(path string, links int) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	parent := filepath.Dir(path)
	if parent == path || links == 0 {
		return path
	}
	parent = resolved(parent, links-1)
	link, err := os.Readlink(path)
	switch {
	case err != nil:
		return filepath.Join(parent, filepath.Base(path))
	case filepath.IsAbs(link):
		return resolved(link, links-1)
	default:
		return resolved(filepath.Join(parent, link), links-1)
	}
}

// repositoryOf returns the folder of the repository that a file is in, following
// symbolic links; empty if it is in none.
func repositoryOf(path string) string {
	path = resolved(path, maxLinks)
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		for _, mark := range []string{".git", ".hg", ".jj", ".svn"} {
			if _, err := os.Stat(filepath.Join(folder, mark)); err == nil {
				return folder
			}
		}
		if folder == filepath.Dir(folder) {
			return ""
		}
	}
}
