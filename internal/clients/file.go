package clients

import (
	"os"
	"path/filepath"
	"strings"

	"genkan/internal/gateway"
)

// Scope says to whom a file belongs.
type Scope uint8

// The scopes.
const (
	// User is a file of one person, for all projects.
	User Scope = iota
	// Project is a file in a project's folder. It may be committed, so no token
	// is ever written there.
	Project
)

func (s Scope) String() string {
	if s == Project {
		return "project"
	}
	return "user"
}

// Format is the notation of a file.
type Format uint8

// The formats. JSON is read with comments and trailing commas everywhere.
const (
	JSON Format = iota
	TOML
	YAML
)

func (f Format) String() string {
	switch f {
	case TOML:
		return "TOML"
	case YAML:
		return "YAML"
	default:
		return "JSON"
	}
}

func formatOf(path string) Format {
	switch {
	case strings.HasSuffix(path, ".toml"):
		return TOML
	case strings.HasSuffix(path, ".yaml"), strings.HasSuffix(path, ".yml"):
		return YAML
	default:
		return JSON
	}
}

// File is a place where a client keeps servers. It comes from Client.Files or Find,
// which set the fields that are not exported.
type File struct {
	Client string
	Path   string
	Scope  Scope
	Format Format
	// Folder is the project's, when the file belongs to one.
	Folder string

	home    string
	windows bool
	// keys are the path to the servers.
	keys []string
	// sections is a key whose members have their own servers, under keys: the
	// projects of Claude Code.
	sections string
	// list is set if servers are a list with a key name, not a map.
	list    bool
	http    bool
	dialect dialect
}

// Bridged reports whether the file's entries start `genkan stdio` rather than
// calling a URL.
func (f File) Bridged() bool { return !f.http || f.Scope == Project }

// MayHoldToken returns an error that says why no token may be written into the
// file: other users can read it, or it may be committed.
func (f File) MayHoldToken() error {
	if folder := repositoryOf(f.Path); folder != "" {
		return gateway.Errorf(gateway.CodeDenied,
			"%s is in the repository %s, and a token in it may be committed; connect it without --url, and its entries start genkan without a token", f.Path, folder)
	}
	info, err := os.Stat(f.Path)
	if err == nil && !f.windows && info.Mode().Perm()&0o044 != 0 {
		return gateway.Errorf(gateway.CodeDenied,
			"%s can be read by other users of this machine, so no token is written into it; run `chmod 600 %s` first, or connect it without --url, and its entries start genkan without a token", f.Path, f.Path)
	}
	return nil
}

// MayChange returns an error if the file is read-only, or if it is a project's and
// a symbolic link leads out of the project: whoever wrote the project chose the
// link.
func (f File) MayChange() error {
	if err := f.staysInProject(); err != nil {
		return err
	}
	return mayChange(f.Path)
}

func (f File) staysInProject() error {
	if f.Scope != Project || f.Folder == "" {
		return nil
	}
	target, folder := resolved(f.Path, maxLinks), resolved(f.Folder, maxLinks)
	if inside, err := filepath.Rel(folder, target); err == nil && filepath.IsLocal(inside) {
		return nil
	}
	return gateway.Errorf(gateway.CodeDenied,
		"%s leads to %s, outside of the project %s, so it was left alone; replace the symbolic link with a file", f.Path, target, folder)
}

// Exists reports whether the file is there.
func (f File) Exists() bool { return exists(f.Path) }

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
