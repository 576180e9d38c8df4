package clients

import (
	"maps"
	"slices"
	"time"

	"genkan/internal/gateway"
)

// These are the values of Server.Type. For a URL without a type, genkan detects the
// server's transport.
const (
	TypeStdio = "stdio"
	TypeHTTP  = "http"
	TypeSSE   = "sse"
)

// Server is an entry of a client's file as a server of genkan: a process if Command
// is set, an endpoint if URL is. Its texts have genkan's variables: ${VAR},
// ${VAR:-default}, ${env:VAR} and ${workspaceFolder}.
type Server struct {
	// Name is legal in genkan's configuration.
	Name string
	// OriginalName and Section are the position of the entry in its file. A section
	// is a project within the person's own file, as Claude Code has them.
	OriginalName string
	Section      string

	Command string
	Args    []string
	Env     map[string]gateway.Secret
	Cwd     string
	// EnvFile is a file with more variables that was not read; Read adds those of
	// files that can be read to Env.
	EnvFile string

	URL     string
	Headers map[string]gateway.Secret
	// Type is one of the Type constants, or empty for a URL of unknown type.
	Type string

	Disabled bool
	// Timeout and StartupTimeout are the client's settings; zero if unset.
	Timeout        time.Duration
	StartupTimeout time.Duration

	// Secrets are the literal secrets of the entry.
	Secrets []Literal
	// Inputs are values that the server needs and its file does not hold: the inputs
	// of the file that its texts refer to, and environment variables without a
	// default.
	Inputs []Input

	// private are the variables of Env that came from an envFile. Their values are
	// kept as secrets, whatever they look like.
	private map[string]bool
}

// Same reports whether two entries are the same process or endpoint. It ignores
// their names.
func (s Server) Same(other Server) bool {
	return s.Command == other.Command && slices.Equal(s.Args, other.Args) && s.Cwd == other.Cwd && s.EnvFile == other.EnvFile &&
		maps.Equal(s.Env, other.Env) && s.URL == other.URL && maps.Equal(s.Headers, other.Headers)
}

// Input is a value that a client asks for, or takes from its environment.
type Input struct {
	// ID is the client's name of the input, Variable the name in the server's texts.
	ID       string
	Variable string
	// Description is the text in the file.
	Description string
	Default     string
	// Hidden is set if the client treats it as a password.
	Hidden bool
	// Environment is set if it is an environment variable.
	Environment bool
	// Secret is the name under which its value is stored. Gather sets it.
	Secret string
}

// Note tells a person about an entry, such as a key that was left out.
type Note struct {
	// Server and Section are as in the file; both are empty for the file itself.
	Server  string
	Section string
	Text    gateway.Text
}

// Imported are the contents of a file.
type Imported struct {
	Servers []Server
	Notes   []Note
	Inputs  []Input
	// Variables are the variables that the servers need, except the workspace's
	// folder and those with a default.
	Variables []string
	// Own are the places of the entries that lead to genkan.
	Own []Place
	// Leads describe where each of Own leads.
	Leads []Lead
}

// Place is the position of an entry in its file.
type Place struct{ Section, Name string }
