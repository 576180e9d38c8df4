package clients

import (
	"encoding/base64"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"genkan/internal/gateway"
)

// entryDraft is an entry as the client wrote it, while it is read.
type entryDraft struct {
	file  File
	place Place
	notes []gateway.Text

	command  string
	args     []string
	env      map[string]string
	cwd      string
	envFile  string
	url      string
	kind     string
	headers  map[string]string
	disabled bool
	timeout  time.Duration
	startup  time.Duration

	variables []string
	inputs    []string
}

func (d *entryDraft) note(format string, values ...any) {
	d.notes = append(d.notes, gateway.Textf(format, values...))
}

// read reads the keys of all clients, because people copy entries from one client
// to another. Only keys that clients use differently depend on the file's client.
func (d *entryDraft) read(n *node, named bool) {
	for _, e := range n.entries {
		switch e.key {
		case "command":
			d.readCommand(e.value)
		case "args", "arguments":
			d.args = append(d.args, d.texts(e.key, e.value)...)
		case "env", "environment":
			d.env = merged(d.env, d.pairs(e.key, e.value))
		case "env_vars":
			d.passOn(e.value)
		case "cwd":
			d.cwd = d.one(e.key, e.value)
		case "url":
			d.url = d.text(e.key, e.value)
			if d.file.dialect.plainURLIsSSE && d.kind == "" {
				d.kind = TypeSSE
			}
		case "serverUrl", "httpUrl":
			d.url = d.text(e.key, e.value)
			if e.key == "httpUrl" {
				d.kind = TypeHTTP
			}
		case "type", "transport", "transportType":
			if e.value.is(kindMap) {
				d.read(e.value, false)
			} else {
				d.readType(d.one(e.key, e.value))
			}
		case "disabled", "enabled":
			if e.value.is(kindBool) {
				d.disabled = (e.value.text == "true") == (e.key == "disabled")
			}
		case "name":
			if !named {
				d.kept(e.key)
			}
		default:
			d.readHeaders(e)
		}
	}
}

// readHeaders reads the keys that set headers of an endpoint.
func (d *entryDraft) readHeaders(e entry) {
	switch e.key {
	case "headers", "http_headers":
		d.headers = merged(d.headers, d.pairs(e.key, e.value))
	case "env_http_headers":
		for name, variable := range d.pairs(e.key, e.value) {
			d.headers = merged(d.headers, map[string]string{name: "${" + variable + "}"})
		}
	case "bearer_token_env_var":
		if v := d.one(e.key, e.value); v != "" {
			d.headers = merged(d.headers, map[string]string{"Authorization": "Bearer ${" + v + "}"})
		}
	case "apiKey":
		if v := d.one(e.key, e.value); v != "" && d.file.Client == "continue" {
			d.headers = merged(d.headers, map[string]string{"Authorization": "Bearer " + v})
		}
	case "requestOptions", "requestInit":
		for _, option := range e.value.entries {
			if option.key == "headers" {
				d.headers = merged(d.headers, d.pairs("headers", option.value))
			} else {
				d.note("%s is not known to genkan, so it was left out", e.key+"."+option.key)
			}
		}
	default:
		d.readTimes(e)
	}
}

func (d *entryDraft) readTimes(e entry) {
	switch e.key {
	case "timeout":
		d.timeout = d.duration(e.value, d.file.dialect.timeout)
	case "tool_timeout_sec":
		d.timeout = d.duration(e.value, seconds)
	case "startup_timeout_sec":
		d.startup = d.duration(e.value, seconds)
	case "startup_timeout_ms", "connectionTimeout":
		d.startup = d.duration(e.value, milliseconds)
	case "envFile":
		d.envFile = d.one(e.key, e.value)
	case "headersHelper", "oauth", "auth", "authProviderType":
		d.note("%s is not known to genkan, so it was left out", e.key)
	case "$schema", "source", "description", "gallery", "version":
		// These keys say nothing about how the server is reached or used.
	default:
		d.kept(e.key)
	}
}

// kept records a key that stays in the client's file.
func (d *entryDraft) kept(key string) {
	if d.file.Client == pastedText {
		d.note("%s is not known to genkan, so it was left out", key)
		return
	}
	d.note("%s stays in the client's file; genkan does not read it", key)
}

// readCommand reads the key command. In opencode it includes the arguments; Zed
// once had a map.
func (d *entryDraft) readCommand(n *node) {
	switch {
	case n.is(kindList):
		words := d.texts("command", n)
		if len(words) > 0 {
			d.command, d.args = words[0], append(words[1:], d.args...)
		}
	case n.is(kindMap):
		for _, e := range n.entries {
			switch e.key {
			case "path":
				d.command = d.text(e.key, e.value)
			case "args":
				d.args = append(d.args, d.texts(e.key, e.value)...)
			case "env":
				d.env = merged(d.env, d.pairs(e.key, e.value))
			}
		}
	default:
		d.command = d.text("command", n)
	}
}

func (d *entryDraft) readType(word string) {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(word)) {
	case "http", "streamablehttp":
		d.kind = TypeHTTP
	case "sse":
		d.kind = TypeSSE
	case "stdio", "local", "remote", "":
	default:
		d.note("the type is none that genkan knows, so the server has to show how it is called")
	}
}

// passOn reads the names of variables that the process inherits.
func (d *entryDraft) passOn(n *node) {
	for _, e := range n.entries {
		name := e.value.text
		if e.value.is(kindMap) {
			name = e.value.textAt("name")
		}
		if variableName().MatchString(name) {
			d.env = merged(d.env, map[string]string{name: "${" + name + "}"})
		}
	}
}

func merged(into, from map[string]string) map[string]string {
	if into == nil {
		into = map[string]string{}
	}
	for key, value := range from {
		into[key] = value
	}
	return into
}

func (d *entryDraft) one(key string, n *node) string {
	if n.scalar() {
		return n.text
	}
	if !n.is(kindNull) {
		d.note("%s has a value of another kind than expected, so it was left out", key)
	}
	return ""
}

// text returns a text. In a pasted text, which a person can correct, a number is neither a
// command nor an address.
func (d *entryDraft) text(key string, n *node) string {
	if d.file.Client == pastedText && n.scalar() && !n.is(kindText) {
		d.note("%s has a value of another kind than expected, so it was left out", key)
		return ""
	}
	return d.one(key, n)
}

func (d *entryDraft) texts(key string, n *node) []string {
	if !n.is(kindList) {
		if s := d.one(key, n); s != "" {
			return []string{s}
		}
		return nil
	}
	var all []string
	for _, e := range n.entries {
		if e.value.scalar() {
			all = append(all, e.value.text)
		} else {
			d.note("%s has a value of another kind than expected, so it was left out", key)
		}
	}
	return all
}

func (d *entryDraft) pairs(key string, n *node) map[string]string {
	if !n.is(kindMap) {
		d.one(key, n)
		return nil
	}
	all := map[string]string{}
	for _, e := range n.entries {
		if e.value.scalar() {
			all[e.key] = e.value.text
		} else if !e.value.is(kindNull) {
			d.note("%s has a value of another kind than expected, so it was left out", key+"."+e.key)
		}
	}
	return all
}

// duration reads a number of units; 0 if it is not a positive number.
func (d *entryDraft) duration(n *node, u unit) time.Duration {
	if !n.is(kindNumber) {
		return 0
	}
	value, err := strconv.ParseFloat(n.text, 64)
	if err != nil || math.IsNaN(value) || value <= 0 {
		return 0
	}
	if u == seconds {
		value *= 1000
	}
	if value > float64((24 * time.Hour).Milliseconds()) {
		return 24 * time.Hour
	}
	return time.Duration(value) * time.Millisecond
}

// own reports whether the entry leads to genkan already.
func (d *entryDraft) own() bool {
	if d.command != "" {
		at := slices.Index(d.args, "stdio")
		if at < 0 {
			return false
		}
		// The program may have another name, so its arguments are checked as well.
		// Earlier versions wrote no client.
		rest := d.args[at+1:]
		if len(rest) >= 2 && rest[0] == clientFlag {
			rest = rest[2:]
		}
		only := len(rest) == 2 && rest[0] == "--only"
		return baseName(d.command) == "genkan" || only || d.place.Name == aggregateName && len(rest) == 0
	}
	u, err := url.Parse(d.url)
	if err != nil || d.url == "" {
		return false
	}
	return strings.HasPrefix(u.Path, "/mcp/s/") || d.place.Name == aggregateName && u.Path == "/mcp"
}

// server returns the entry as a server of genkan.
func (d *entryDraft) server() Server {
	s := Server{
		OriginalName: d.place.Name, Section: d.place.Section,
		Disabled: d.disabled, Timeout: d.timeout, StartupTimeout: d.startup,
	}
	if d.url != "" {
		if d.command != "" {
			d.note("the entry has both a command and a url; the url was taken")
		}
		if d.envFile != "" {
			d.note("%s is not known to genkan, so it was left out", "envFile")
		}
		d.takeUser()
		s.URL, s.Type, s.Headers = d.said(d.url), d.kind, d.secrets(d.headers)
		return s
	}
	s.Type, s.Command, s.Env, s.Cwd = TypeStdio, d.said(d.command), d.secrets(d.env), d.said(d.cwd)
	for _, arg := range d.args {
		s.Args = append(s.Args, d.said(arg))
	}
	if folder := d.folder(); folder != "" {
		// Clients start a project's servers in its folder.
		switch {
		case s.Cwd == "" || s.Cwd == ".":
			s.Cwd = folder
		case !absolute(s.Cwd):
			s.Cwd = strings.TrimRight(folder, `/\`) + "/" + strings.TrimPrefix(s.Cwd, "./")
		}
	}
	s.EnvFile = d.envPath(s.Cwd)
	return s
}

// envPath returns the path of the entry's envFile. It stays relative, or keeps its
// variables, if the folder is unknown.
func (d *entryDraft) envPath(cwd string) string {
	folder := d.folder()
	path := d.file.translate(d.envFile).text
	if rest, ok := strings.CutPrefix(path, "~"); ok && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, `\`)) {
		path = d.file.home + rest
	}
	if folder == "" {
		folder = cwd
	} else {
		path = strings.ReplaceAll(path, workspaceFolder, strings.TrimRight(folder, `/\`))
	}
	if path == "" || absolute(path) || !absolute(folder) || strings.Contains(folder, "${") {
		return path
	}
	return strings.TrimRight(folder, `/\`) + "/" + strings.TrimPrefix(path, "./")
}

// takeUser moves the user name and password of a URL to the Authorization header:
// genkan shows URLs and never headers.
func (d *entryDraft) takeUser() {
	address, authorization, ok := WithoutUser(d.url)
	if !ok {
		return
	}
	d.url = address
	for name := range d.headers {
		if strings.EqualFold(name, "Authorization") {
			return
		}
	}
	d.headers = merged(d.headers, map[string]string{"Authorization": authorization})
}

// WithoutUser returns a URL without its user name and password, and the value of
// the Authorization header that replaces them. It reports false if there are none.
func WithoutUser(address string) (bare, authorization string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || strings.Contains(u.User.String(), "%7B") {
		return "", "", false // a variable in it has to be put in place first
	}
	password, _ := u.User.Password()
	authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	u.User = nil
	return u.String(), authorization, true
}

// folder returns the project's folder; empty if the entry belongs to none.
func (d *entryDraft) folder() string {
	if d.place.Section != "" {
		return d.place.Section
	}
	return d.file.Folder
}

func absolute(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\`) || strings.HasPrefix(path, "~") ||
		strings.HasPrefix(path, "${") || len(path) > 1 && path[1] == ':'
}

// said translates the variables of a text, and records them.
func (d *entryDraft) said(s string) string {
	t := d.file.translate(s)
	d.variables = append(d.variables, t.variables...)
	d.inputs = append(d.inputs, t.inputs...)
	for _, form := range t.unknown {
		d.note("%s means nothing to genkan and stays as it is written", form)
	}
	return t.text
}

func (d *entryDraft) secrets(values map[string]string) map[string]gateway.Secret {
	if len(values) == 0 {
		return nil
	}
	secrets := make(map[string]gateway.Secret, len(values))
	for key, value := range sorted(values) {
		secrets[key] = gateway.Secret(d.said(value))
	}
	return secrets
}
