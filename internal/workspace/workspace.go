// Package workspace decides which folders servers may work in for a caller. A
// caller names its folder itself: in MCP roots, in options.folder of REST, or by
// the directory it was started in. The servers run as genkan's user and read what
// that user can read, so the folder decides what a caller gets to see.
package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// Rules say which folders callers may choose.
type Rules struct {
	// Private are genkan's own folders. Nobody works in them, below them, or in a
	// folder that contains them.
	Private []string
	// ConfigFile is the configuration. Whoever can write it decides which commands
	// run, so callers with a token do not work in a folder that contains it.
	ConfigFile string
	// Home is the user's home directory; empty if it is not known.
	Home string
	// Allowed are the folders of the configuration in which, and below which,
	// callers with a token may work. A path may begin with ~, the home directory.
	Allowed []string
}

// Check returns the folder that a caller has named, as the path of a folder
// without symbolic links. If the caller may not work there, the path is empty and
// the text says why. Check looks at the file system, and its answer holds for the
// moment only.
//
// Folders are compared as files, not by their names: that covers links, mounts
// and file systems that ignore case.
func (r *Rules) Check(who gateway.Identity, dir string) (string, gateway.Text) {
	if !filepath.IsAbs(dir) {
		return "", gateway.Textf("it is no absolute path")
	}
	allowed := r.expandAllowed()
	if !who.IsLocal() && isShare(dir) && !slices.ContainsFunc(allowed, isShare) {
		// Only looking at it would send the user's credentials to its host.
		return "", gateway.Textf("callers with a token work below the home directory or in the `folders` of the configuration; add it there")
	}
	path, err := filepath.EvalSymlinks(filepath.Clean(dir))
	if err != nil {
		return "", gateway.Textf("there is no such folder on this machine, or it cannot be read")
	}
	chain, err := ancestors(path)
	if err != nil || !chain[0].info.IsDir() {
		return "", gateway.Textf("there is no such folder on this machine, or it cannot be read")
	}
	if filepath.Dir(path) == path {
		return "", gateway.Textf("it is the root of a file system")
	}
	home, _ := os.Stat(r.Home)
	if home != nil && os.SameFile(chain[0].info, home) {
		return "", gateway.Textf("it is the home directory")
	}
	for _, private := range r.Private {
		if touches(chain, private) {
			return "", gateway.Textf("it contains genkan's own data, or is part of it")
		}
	}
	if who.IsLocal() {
		return path, gateway.Text{}
	}
	if r.ConfigFile != "" {
		for _, file := range []string{r.ConfigFile, resolved(r.ConfigFile)} {
			if contains(chain[0].info, filepath.Dir(file)) {
				return "", gateway.Textf("it contains genkan's configuration")
			}
		}
	}
	for _, folder := range allowed {
		if info, err := os.Stat(folder); err == nil && at(chain, info) >= 0 {
			return path, gateway.Text{}
		}
	}
	below := -1
	if home != nil {
		below = at(chain, home)
	}
	if below < 0 {
		return "", gateway.Textf("callers with a token work below the home directory or in the `folders` of the configuration; add it there")
	}
	for _, one := range chain[:below] {
		if strings.HasPrefix(filepath.Base(one.path), ".") {
			return "", gateway.Textf("it is hidden, and callers with a token work in hidden folders only if `folders` of the configuration names them; add it there")
		}
	}
	return path, gateway.Text{}
}

// expandAllowed returns the allowed folders with the home directory in the place of
// ~. Without a home directory, no folder is below it.
func (r *Rules) expandAllowed() []string {
	expanded := make([]string, 0, len(r.Allowed))
	for _, folder := range r.Allowed {
		if folder == "~" || len(folder) > 1 && folder[0] == '~' && os.IsPathSeparator(folder[1]) {
			if r.Home == "" {
				continue
			}
			folder = filepath.Join(r.Home, folder[1:])
		}
		expanded = append(expanded, folder)
	}
	return expanded
}

// isShare reports whether a path is on another machine, as Windows writes that.
func isShare(path string) bool { return strings.HasPrefix(filepath.VolumeName(path), `\\`) }

// ancestor is a folder on the way from a folder to the root.
type ancestor struct {
	path string
	info os.FileInfo
}

// ancestors are a folder and all that contain it, from the inside out.
func ancestors(path string) ([]ancestor, error) {
	var chain []ancestor
	for {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		chain = append(chain, ancestor{path, info})
		if filepath.Dir(path) == path {
			return chain, nil
		}
		path = filepath.Dir(path)
	}
}

// at is the place of a folder in a chain; -1 if it is not there.
func at(chain []ancestor, folder os.FileInfo) int {
	for i, one := range chain {
		if os.SameFile(one.info, folder) {
			return i
		}
	}
	return -1
}

// touches reports whether a folder is a private one, is inside it, or contains
// it. A private folder that cannot be read touches everything.
func touches(chain []ancestor, private string) bool {
	info, err := os.Stat(private)
	if os.IsNotExist(err) {
		return false
	}
	return err != nil || at(chain, info) >= 0 || contains(chain[0].info, private)
}

// contains reports whether a folder contains another, or is the same. It is true
// when the other one cannot be read.
func contains(outer os.FileInfo, inner string) bool {
	inner, err := filepath.Abs(inner)
	if err != nil {
		return true
	}
	// The way that the path names and the one that links lead to may differ.
	for _, path := range []string{inner, resolved(inner)} {
		chain, err := ancestors(path)
		if err != nil || at(chain, outer) >= 0 {
			return true
		}
	}
	return false
}

// resolved is a path without links, or the path itself if it cannot be resolved.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
