// Package clients reads and edits the files in which MCP clients keep their
// servers: it knows where they are, how each client writes them, and how to make
// their entries lead to genkan.
//
// Reading is lenient: an unknown key is reported and does not fail, because the
// file works for its owner. Writing is strict. A file is edited by spans, so that
// bytes outside of the change stay as they are; the result is parsed and compared
// with the intended values; and a file that cannot be parsed is never changed.
package clients

import "slices"

// Client is a program that calls MCP servers.
type Client struct {
	// Name is what commands call it: claude-code.
	Name string
	// Title is what its makers call it: Claude Code.
	Title string
	// HTTP says that it can call a URL with an Authorization header. Others start
	// `genkan stdio`.
	HTTP bool

	places  func(Environment) []place
	dialect dialect
}

// dialect is what differs between clients in how they write a server.
type dialect struct {
	// variables are the forms beyond ${…} that the client replaces.
	variables variableForms
	// timeout is the unit of the key timeout.
	timeout unit
	// plainURLIsSSE is set if the key url means the old transport and httpUrl the
	// new one.
	plainURLIsSSE bool
	// remote and local return the keys of an entry that leads to genkan.
	remote func(url string, headers []pair) []pair
	local  func(command string, args []string) []pair
}

type unit uint8

const (
	milliseconds unit = iota
	seconds
)

// All returns the known clients, in the order in which lists show them.
func All() []Client {
	return []Client{
		{
			Name: "claude-desktop", Title: "Claude Desktop", places: claudeDesktopPlaces,
			dialect: dialect{remote: typedHTTP, local: plainProcess},
		},
		{
			Name: "claude-code", Title: "Claude Code", HTTP: true, places: claudeCodePlaces,
			dialect: dialect{remote: typedHTTP, local: plainProcess},
		},
		{
			Name: "cursor", Title: "Cursor", HTTP: true, places: cursorPlaces,
			dialect: dialect{remote: plainHTTP, local: plainProcess},
		},
		{
			Name: "vscode", Title: "VS Code", HTTP: true, places: vscodePlaces,
			dialect: dialect{remote: typedHTTP, local: typedProcess},
		},
		{
			Name: "windsurf", Title: "Windsurf", HTTP: true, places: windsurfPlaces,
			dialect: dialect{remote: windsurfHTTP, local: plainProcess},
		},
		{
			Name: "codex", Title: "Codex", HTTP: true, places: codexPlaces,
			dialect: dialect{timeout: seconds, remote: codexHTTP, local: plainProcess},
		},
		{
			Name: "gemini", Title: "Gemini CLI", HTTP: true, places: geminiPlaces,
			dialect: dialect{variables: shellForm, plainURLIsSSE: true, remote: geminiHTTP, local: plainProcess},
		},
		{
			Name: "zed", Title: "Zed", HTTP: true, places: zedPlaces,
			dialect: dialect{timeout: seconds, remote: plainHTTP, local: plainProcess},
		},
		{
			Name: "cline", Title: "Cline", HTTP: true, places: clinePlaces,
			dialect: dialect{timeout: seconds, remote: clineHTTP, local: typedProcess},
		},
		{
			Name: "continue", Title: "Continue", HTTP: true, places: continuePlaces,
			dialect: dialect{variables: secretsForm, remote: continueHTTP, local: typedProcess},
		},
		{
			Name: "opencode", Title: "opencode", HTTP: true, places: opencodePlaces,
			dialect: dialect{variables: braceForm, remote: opencodeRemote, local: opencodeLocal},
		},
	}
}

// Lookup returns the client with a name.
func Lookup(name string) (Client, bool) {
	for _, c := range All() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// Title returns the name of a client as people write it.
func Title(name string) string {
	if known, ok := Lookup(name); ok {
		return known.Title
	}
	return name
}

// Files returns all files in which the client may keep servers, whether they exist
// or not. If none exists, connecting the client creates the first.
func (c Client) Files(env Environment) []File {
	var files []File
	for _, p := range c.places(env) {
		// In the home folder, a project's file may be the person's own.
		if slices.ContainsFunc(files, func(f File) bool { return f.Path == p.path }) {
			continue
		}
		d := c.dialect
		if p.remote != nil {
			d.remote = p.remote
		}
		if p.local != nil {
			d.local = p.local
		}
		f := File{
			Client: c.Name, Path: p.path, Scope: p.scope, Format: formatOf(p.path),
			home: env.Home, windows: env.windows(), keys: p.keys, sections: p.sections, list: p.list, http: c.HTTP, dialect: d,
		}
		if p.scope == Project {
			f.Folder = env.WorkDir
		}
		files = append(files, f)
	}
	return files
}

// Find returns the files of all clients that exist. A file that several clients
// share belongs to the first of them.
func Find(env Environment) []File {
	var found []File
	seen := map[string]bool{}
	for _, c := range All() {
		for _, f := range c.Files(env) {
			if !seen[f.Path] && exists(f.Path) {
				seen[f.Path] = true
				found = append(found, f)
			}
		}
	}
	return found
}
