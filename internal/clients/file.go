package clients

import (
	"os"
	"strings"
)

// Scope is who a file belongs to.
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

// File is a place where a client keeps servers. It comes from Client.Files or
// Find, which know what else there is to know about it.
type File struct {
	Client string
	Path   string
	Scope  Scope
	Format Format
	// Folder is the project's, when the file belongs to one.
	Folder string

	home    string
	windows bool
	// keys lead to the servers.
	keys []string
	// sections is a key whose members have servers of their own, under keys:
	// the projects of Claude Code.
	sections string
	// list says that servers are a list with a key name, not a map.
	list    bool
	http    bool
	dialect dialect
}

// Bridged reports whether the file's entries start `genkan stdio` rather than
// calling a URL.
func (f File) Bridged() bool { return !f.http || f.Scope == Project }

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
