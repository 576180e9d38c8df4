package setup

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// Selection selects files of clients.
type Selection struct {
	// Folder is the absolute path of a project, whose files are read too; empty for
	// none.
	Folder string
	// From lists names of clients and absolute paths of files; empty is every
	// client of this machine.
	From []string
}

// ImportPlan says what an import would do.
type ImportPlan struct {
	// Revision changes when something that the plan shows changes.
	Revision   string
	ConfigFile string
	// Files are those that were read, a person's own before those of projects.
	Files []ImportFile
	// Servers are those that the files have, each once.
	Servers []ImportServer
	Notes   []clients.FileNote
	// MissingVariables are environment variables that new servers use and that are
	// not set.
	MissingVariables []string
	// Connected counts entries that lead to genkan already.
	Connected int

	found  []clients.Found // known ones, and new ones with references in place of secrets
	source config.Sources
}

// ImportFile is a file that an import reads.
type ImportFile struct {
	Client, Path string
	Project      bool
	// Err says why the file was not read.
	Err error
}

// ImportServer is a server of clients' files, without its secrets.
type ImportServer struct {
	// Name is the name that genkan gives it.
	Name string
	// Known says that genkan's configuration has it.
	Known bool
	// Project says that it came with a project: whoever wrote the project chose
	// what it runs.
	Project  bool
	Disabled bool
	Origins  []clients.Origin
	// Command, Args and Folder are of a process, URL and Headers of an endpoint.
	// They have references in place of secrets, and URL has no query.
	Command   string
	Args      []string
	Folder    string
	Variables []Variable
	URL       string
	Headers   []Variable
	// Secrets counts the literal secrets that an import moves to the vault.
	Secrets int
	Inputs  []Input
	// NameOf is the client whose different server has the original name.
	NameOf string
}

// Variable is an environment variable or a header of a server.
type Variable struct {
	Name string
	// From lists what its value refers to, such as ${HOME}.
	From []string
	// Caution is the masked value of a variable that can make the process run
	// other code, such as LD_PRELOAD.
	Caution string
}

// Input is a value that a server needs and its file does not hold.
type Input struct {
	// Secret is the name that the value is kept under.
	Secret string
	// ID and Description are the client's words.
	ID, Description string
	// Default is used if no value is given. A hidden input has none.
	Default string
	// Environment says that it is an environment variable.
	Environment bool
	// Needed says that there is no value yet.
	Needed bool
}

// PlanImport reads the selected files and plans an import of their servers.
func (s *Setup) PlanImport(ctx context.Context, sel Selection) (*ImportPlan, error) {
	env, err := s.environment(sel.Folder)
	if err != nil {
		return nil, err
	}
	files, err := filesOf(env, sel.From)
	if err != nil {
		return nil, err
	}
	from, err := s.opt.Sources(ctx)
	if err != nil {
		return nil, err
	}
	cfg, err := s.readConfig(from)
	if err != nil {
		return nil, err
	}
	imports, err := s.imports()
	if err != nil {
		return nil, err
	}
	gathered := clients.Gather(files, imports, func(name string) bool {
		return slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name })
	}, cfg.IsBuiltIn)
	if slices.ContainsFunc(gathered.Found, func(f clients.Found) bool { return f.Project }) {
		inUse, err := s.secretInUse(from)
		if err != nil {
			return nil, err
		}
		gathered.AvoidSecrets(inUse)
	}
	p := &ImportPlan{ConfigFile: s.opt.ConfigFile, Connected: gathered.Own, Notes: gathered.Notes, source: from}
	p.addFiles(files, gathered.Broken)
	for _, f := range gathered.Found {
		if !f.Known {
			referred := referred(f)
			if err := check(referred, f.Secrets, from); err != nil {
				p.noteRefused(f, err)
				continue
			}
			f = referred
		}
		p.found = append(p.found, f)
	}
	for _, f := range p.found {
		p.Servers = append(p.Servers, p.server(f))
	}
	for _, name := range gathered.Variables {
		if _, set := from.Env(name); !set && slices.ContainsFunc(p.found, func(f clients.Found) bool { return !f.Known && f.Uses(name) }) {
			p.MissingVariables = append(p.MissingVariables, name)
		}
	}
	p.Revision = s.revision(p.found)
	return p, nil
}

// filesOf returns the selected files. Without a selection it returns those of all
// clients on this machine, which may be none.
func filesOf(env clients.Environment, from []string) ([]clients.File, error) {
	if len(from) == 0 {
		return clients.Find(env), nil
	}
	var all []clients.File
	for _, one := range from {
		if filepath.IsAbs(one) {
			f, err := clients.FileAt(env, one)
			if err != nil {
				return nil, err
			}
			all = append(all, f)
			continue
		}
		files, err := filesOfClient(env, one)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

func filesOfClient(env clients.Environment, name string) ([]clients.File, error) {
	known, ok := clients.Lookup(name)
	if !ok {
		return nil, UnknownClientOrFile(name)
	}
	var files []clients.File
	var paths []string
	for _, f := range known.Files(env) {
		if exists(f.Path) {
			files = append(files, f)
		}
		paths = append(paths, f.Path)
	}
	if len(files) == 0 {
		return nil, gateway.Errorf(gateway.CodeNotFound, "%s has no servers on this machine; looked for %s", known.Title, gateway.Names(paths))
	}
	return files, nil
}

// secretInUse returns a function that reports whether a secret of a name is kept,
// or genkan's configuration refers to one.
func (s *Setup) secretInUse(from config.Sources) (func(name string) bool, error) {
	own, _, err := clients.Contents(s.opt.ConfigFile)
	if err != nil {
		return nil, err
	}
	texts := []string{string(own)}
	for _, k := range from.Stored {
		texts = append(texts, string(k.Definition))
	}
	return func(name string) bool {
		for _, text := range texts {
			if strings.Contains(text, ":"+name+"}") { // ${secret:NAME} or ${input:NAME}
				return true
			}
		}
		_, found, err := from.Secret(name)
		return found || err != nil
	}, nil
}

// referred returns the server with references in place of its literal secrets and
// of its inputs.
func referred(f clients.Found) clients.Found {
	f.Env, f.Headers, f.Args = maps.Clone(f.Env), maps.Clone(f.Headers), slices.Clone(f.Args)
	for _, l := range f.Secrets {
		f.Refer(l, "${secret:"+l.Variable+"}")
	}
	for _, in := range f.Inputs {
		if !in.Environment {
			f.ReferInput(in)
		}
	}
	return f
}

// check returns an error if genkan's configuration cannot have the server.
func check(f clients.Found, secrets []clients.Literal, from config.Sources) error {
	_, err := config.CheckServer(f.Name, f.Definition(), config.Sources{Env: from.Env, Secret: func(name string) (gateway.Secret, bool, error) {
		if i := slices.IndexFunc(secrets, func(l clients.Literal) bool { return l.Variable == name }); i >= 0 {
			return secrets[i].Value, true, nil
		}
		return from.Secret(name)
	}})
	return err
}

// noteRefused notes why a server is left out. It does not keep the others from
// being imported.
func (p *ImportPlan) noteRefused(f clients.Found, err error) {
	for _, o := range f.Origins {
		p.Notes = append(p.Notes, clients.FileNote{
			File: clients.File{Client: o.Client, Path: o.Path},
			Note: clients.Note{Server: o.Name, Section: o.Section, Text: gateway.Textf("it was left out: %s", gateway.AsError(err))},
		})
	}
}

func (p *ImportPlan) addFiles(files []clients.File, broken []clients.BrokenFile) {
	for _, scope := range []clients.Scope{clients.User, clients.Project} {
		for _, f := range files {
			if f.Scope != scope {
				continue
			}
			one := ImportFile{Client: f.Client, Path: f.Path, Project: f.Scope == clients.Project}
			for _, b := range broken {
				if b.File.Path == f.Path && b.File.Client == f.Client {
					one.Err = b.Err
				}
			}
			p.Files = append(p.Files, one)
		}
	}
}

// server returns what may be shown of a server.
func (p *ImportPlan) server(f clients.Found) ImportServer {
	out := ImportServer{Name: f.Name, Known: f.Known, Project: f.Project, Disabled: f.Disabled, Origins: f.Origins}
	if first := f.Origins[0]; f.Name != first.Name {
		for _, other := range p.found {
			if other.Name == first.Name && len(other.Origins) > 0 {
				out.NameOf = other.Origins[0].Client
			}
		}
	}
	if f.Known {
		return out
	}
	out.Secrets = len(f.Secrets)
	if f.URL != "" {
		out.URL, out.Headers = withoutQuery(f.URL), variables(f.Headers, f.Secrets, false)
	} else {
		out.Command, out.Args, out.Variables = f.Command, f.Args, variables(f.Env, f.Secrets, true)
		if f.Cwd != f.Section {
			out.Folder = f.Cwd
		}
	}
	for _, in := range f.Inputs {
		out.Inputs = append(out.Inputs, Input{
			Secret: in.Secret, ID: in.ID, Description: in.Description, Default: clients.Mask(defaultOf(in)),
			Environment: in.Environment, Needed: p.needed(in),
		})
	}
	return out
}

// needed reports whether an input has no value yet.
func (p *ImportPlan) needed(in clients.Input) bool {
	name := in.Secret
	if in.Environment {
		if _, set := p.source.Env(in.Variable); set {
			return false
		}
		name = in.Variable // the configuration finds the secret of this name, too
	}
	_, found, err := p.source.Secret(name)
	return err == nil && !found
}

// defaultOf returns the default of an input. One that is typed like a password has
// none: the file would hold a key in plain text.
func defaultOf(in clients.Input) string {
	if in.Hidden {
		return ""
	}
	return in.Default
}

// withoutQuery returns a URL without its query, which may hold keys that do not
// look like any; only the variables in it are named.
func withoutQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	text := u.Scheme + "://" + u.Host + u.Path
	if u.RawQuery != "" {
		text += "?…" + strings.Join(clients.References(u.RawQuery), "…")
	}
	return text
}

// variables names variables or headers, with what their values refer to. It leaves
// out the references to their own literal secrets.
func variables(values map[string]gateway.Secret, own []clients.Literal, ofProcess bool) []Variable {
	var all []Variable
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name].Reveal()
		one := Variable{Name: name, From: slices.DeleteFunc(clients.References(value), func(r string) bool {
			return slices.ContainsFunc(own, func(l clients.Literal) bool { return r == "${secret:"+l.Variable+"}" })
		})}
		if ofProcess && clients.Steers(name) {
			one.Caution = clients.Mask(value)
		}
		all = append(all, one)
	}
	return all
}

// revision returns a text that changes with the servers of a plan and with the
// names of their secrets.
func (s *Setup) revision(found []clients.Found) string {
	h := hmac.New(sha256.New, s.key)
	for _, f := range found {
		_, _ = fmt.Fprintf(h, "%q %s %t %t %t", f.Name, f.Digest, f.Known, f.Project, f.Disabled) // a hash takes every write
		for _, l := range f.Secrets {
			_, _ = fmt.Fprintf(h, " %q", l.Variable)
		}
		for _, in := range f.Inputs {
			_, _ = fmt.Fprintf(h, " %q", in.Secret)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
