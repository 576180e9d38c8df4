package clients

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"genkan/internal/gateway"
	"genkan/internal/redact"
)

// Lead is an entry that leads to genkan.
type Lead struct {
	Place
	// Servers are the servers that the client sees; empty means all.
	Servers []string
	// URL is what the client calls, without a query. Token is the bearer token in
	// the file; empty if there is none.
	URL   string
	Token gateway.Secret
	// Command is the program that the client starts instead, and DataDir the value
	// of --data.
	Command string
	DataDir string
	// Client is the value of --client; empty in entries of earlier versions.
	Client string
	// Disabled is set if the client does not use the entry.
	Disabled bool
}

// Reaches reports whether the client gets a server of genkan by the entry.
func (l Lead) Reaches(server string) bool {
	return !l.Disabled && (len(l.Servers) == 0 || slices.Contains(l.Servers, server))
}

// lead returns the Lead of an entry that leads to genkan.
func (d *entryDraft) lead() Lead {
	l := Lead{Place: d.place, Disabled: d.disabled}
	if d.command != "" {
		l.Command = d.command
		l.DataDir, l.Client = flagOf(d.args, "--data"), flagOf(d.args, clientFlag)
		if only := flagOf(d.args, "--only"); only != "" {
			l.Servers = strings.Split(only, ",")
		}
		return l
	}
	if u, err := url.Parse(d.url); err == nil {
		if name, ok := strings.CutPrefix(u.Path, "/mcp/s/"); ok {
			l.Servers = []string{name}
		}
		l.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	for name, value := range d.headers {
		scheme, token, ok := strings.Cut(value, " ")
		if ok && strings.EqualFold(name, "Authorization") && strings.EqualFold(scheme, "bearer") && !redact.Placeholder(token) {
			l.Token = gateway.Secret(strings.TrimSpace(token))
		}
	}
	return l
}

// flagOf returns the value of a flag: --name value or --name=value.
func flagOf(args []string, name string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// PlainSecrets returns the servers of genkan's own configuration that have literal
// secrets. It returns none for a file that cannot be read.
func PlainSecrets(path string) []Server {
	src, err := load(path)
	if err != nil {
		return nil
	}
	format := YAML
	if bytes.HasPrefix(bytes.TrimLeft(src, bom+" \t\r\n"), []byte("{")) {
		format = JSON
	}
	f := File{Client: "genkan", Path: path, Format: format, keys: []string{"mcpServers"}}
	found, err := f.Parse(src)
	if err != nil {
		return nil
	}
	var with []Server
	for _, s := range found.Servers {
		if len(s.Secrets) > 0 {
			with = append(with, s)
		}
	}
	return with
}
