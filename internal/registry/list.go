package registry

import (
	"encoding/json"
	"slices"

	"genkan/internal/config"
	"genkan/internal/gateway"
)

// Server describes a configured server, whether it runs or not.
type Server struct {
	Name string
	// Registered is true for servers of the database, and false for those of the
	// configuration file.
	Registered bool
	// Problem is why the server is not used; empty if it is.
	Problem gateway.Text
	// Note is a remark that is not a problem.
	Note gateway.Text
	// Definition returns the definition with literal secrets masked.
	Definition func() json.RawMessage
	// Redact masks the server's secrets in a text.
	Redact func(text string) string
}

// List describes the servers of a configuration in their order, followed by the
// registered servers that were rejected. Disabled servers are included.
func List(cfg *config.Config) []Server {
	all := make([]Server, 0, len(cfg.Servers)+len(cfg.Rejected))
	for _, s := range cfg.Servers {
		all = append(all, Server{
			Name: s.Name, Registered: s.Stored, Definition: maskedJSON(s.Name, s.Definition, s.Stored),
			Redact: func(text string) string { return redactOutput(s, text) },
		})
	}
	for _, unused := range cfg.Rejected {
		at := slices.IndexFunc(all, func(s Server) bool { return s.Name == unused.Name })
		if at >= 0 {
			all[at].Note = gateway.Textf("the database has a server of this name too, which is not used while the file declares one")
			continue
		}
		all = append(all, Server{
			Name: unused.Name, Registered: true, Problem: unused.Reason, Definition: maskedJSON(unused.Name, unused.Definition, true),
			Redact: func(text string) string { return text }, // it does not run, so it prints nothing
		})
	}
	return all
}

// maskedJSON returns a function that masks a definition, which is needed for few of
// the servers that are listed.
func maskedJSON(name string, written gateway.Secret, registered bool) func() json.RawMessage {
	return func() json.RawMessage {
		d, err := parseDefinition([]byte(written.Reveal()))
		if err != nil {
			return nil
		}
		return d.masked(name, registered).json()
	}
}
