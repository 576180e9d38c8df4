package clients

import (
	"bytes"
	"time"

	"genkan/internal/gateway"
)

// OwnClient is the client of changes of genkan's own configuration.
const OwnClient = "genkan"

// ownFile returns genkan's configuration as a File. A file with the ending of YAML
// may hold JSON.
func ownFile(path string, src []byte) File {
	format := formatOf(path)
	if bytes.HasPrefix(bytes.TrimLeft(src, bom+" \t\r\n"), []byte("{")) {
		format = JSON
	}
	return File{Client: OwnClient, Path: path, Format: format, keys: []string{"mcpServers"}}
}

// AddOwn returns the contents of genkan's configuration with more servers. All
// other bytes stay.
func AddOwn(path string, src []byte, servers []Server) ([]byte, error) {
	f := ownFile(path, src)
	for _, s := range servers {
		edit := containerEdit{keys: f.keys, add: &addition{s.Name, s.pairs()}}
		out, bad := edited(f.Format, src, edits{[]containerEdit{edit}})
		if bad != nil {
			return nil, bad.in(path, src)
		}
		src = out
	}
	return src, nil
}

// AddOwn adds servers to genkan's configuration and keeps a backup. It writes
// nothing if check fails for the result.
func (b Backups) AddOwn(path string, servers []Server, check func(out []byte) error) (Change, error) {
	src, created, err := Contents(path)
	if err != nil {
		return Change{}, err
	}
	out, err := AddOwn(path, src, servers)
	if err != nil {
		return Change{}, err
	}
	if err := check(out); err != nil {
		return Change{}, err
	}
	return b.write(ownFile(path, src), src, out, created)
}

// Snippet returns servers as YAML of genkan's configuration, for a person who adds
// them by hand.
func Snippet(servers []Server) string {
	out, err := AddOwn("genkan.yaml", nil, servers)
	if err != nil {
		return ""
	}
	return string(out)
}

// Definition returns the server as a JSON object with the keys of genkan's
// configuration.
func (s Server) Definition() []byte { return []byte(jsonWriter{}.value(s.pairs(), "", false)) }

// Genkan's own timeouts. A client's timeout is taken over if it is longer.
const (
	ownTimeout        = 10 * time.Minute
	ownStartupTimeout = 180 * time.Second
)

// pairs returns the server with the keys of genkan's configuration.
func (s Server) pairs() []pair {
	var all []pair
	add := func(key, value string) {
		if value != "" {
			all = append(all, pair{key, value})
		}
	}
	secrets := func(key string, values map[string]gateway.Secret) {
		var each []pair
		for name, value := range sorted(values) {
			each = append(each, pair{name, value.Reveal()})
		}
		if len(each) > 0 {
			all = append(all, pair{key, each})
		}
	}
	if s.URL != "" {
		add("url", s.URL)
		if s.Type == TypeSSE || s.Type == TypeHTTP {
			add("type", s.Type)
		}
		secrets("headers", s.Headers)
	} else {
		add("command", s.Command)
		if len(s.Args) > 0 {
			all = append(all, pair{"args", s.Args})
		}
		secrets("env", s.Env)
		add("cwd", s.Cwd)
	}
	if s.Timeout > ownTimeout {
		add("timeout", s.Timeout.String())
	}
	if s.StartupTimeout > ownStartupTimeout {
		add("startupTimeout", s.StartupTimeout.String())
	}
	if s.Disabled {
		all = append(all, pair{"disabled", true})
	}
	return all
}
