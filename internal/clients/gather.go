package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/gateway"
)

// Origin is an entry of a client's file.
type Origin struct {
	Client  string `json:"client"`
	Path    string `json:"path"`
	Section string `json:"section,omitempty"`
	Name    string `json:"name"`
}

// Found is a server of one or more files. Its Name is the one that genkan gives it.
type Found struct {
	Server
	Origins []Origin
	// Project says that all of its origins are files of a project: the project's
	// authors decide what it runs.
	Project bool
	// Known says that genkan's configuration has it already.
	Known bool
	// Digest identifies the server by its definition, with its secrets.
	Digest string
}

// FileNote is a note about a file.
type FileNote struct {
	File File
	Note
}

// Gathered is the union of several files.
type Gathered struct {
	Found     []Found
	Notes     []FileNote
	Variables []string
	// Own counts the entries that lead to genkan.
	Own int
	// Broken are the files that could not be read.
	Broken []BrokenFile
}

// BrokenFile is a file that could not be read.
type BrokenFile struct {
	File File
	Err  error
}

// Gather merges the servers of files. before are earlier imports, and taken reports
// whether genkan's configuration has a server of a name. No new server gets a name that is
// reserved for genkan itself.
//
// A person's own files come before those of projects, so that a project can
// neither take the name of an own server nor change its definition. The inputs that
// a file declares apply to its own servers only.
func Gather(files []File, before Imports, taken, reserved func(name string) bool) Gathered {
	g := Gathered{}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int { return int(a.Scope) - int(b.Scope) })
	names := map[string]bool{}
	read := make([]Imported, len(files))
	// A name that needs no change is not taken by one that does.
	type owner struct {
		digest string
		scope  Scope
	}
	owners := map[string]owner{}
	for i, f := range files {
		imported, err := Read(f)
		if err != nil {
			g.Broken = append(g.Broken, BrokenFile{f, err})
			continue
		}
		read[i] = imported
		for _, s := range imported.Servers {
			if _, twice := owners[s.OriginalName]; !twice && gateway.IsServerName(s.OriginalName) {
				owners[s.OriginalName] = owner{s.digest(), f.Scope}
			}
		}
	}
	for i, f := range files {
		imported := read[i]
		g.Own += len(imported.Own)
		for _, n := range imported.Notes {
			g.Notes = append(g.Notes, FileNote{f, n})
		}
		g.Variables = append(g.Variables, imported.Variables...)
		for _, s := range imported.Servers {
			used := func(name string) bool {
				owner, ok := owners[name]
				ok = ok && owner.scope <= f.Scope // a project takes no name from an own server
				return names[name] || taken(name) || reserved(name) || ok && name != s.OriginalName && owner.digest != s.digest()
			}
			g.add(f, s, before, used, taken, reserved)
			for _, found := range g.Found {
				names[found.Name] = true
			}
		}
	}
	slices.Sort(g.Variables)
	g.Variables = slices.Compact(g.Variables)
	return g
}

// add adds a server, or another origin of a server that is there already.
func (g *Gathered) add(f File, s Server, before Imports, used, configured, reserved func(string) bool) {
	origin := Origin{f.Client, f.Path, s.Section, s.OriginalName}
	digest := s.digest()
	for i := range g.Found {
		if g.Found[i].Digest == digest {
			g.Found[i].Origins = append(g.Found[i].Origins, origin)
			if f.Scope == Project && !g.Found[i].Project {
				return // a project cannot switch an own server on
			}
			// It is disabled if it is so in all files.
			g.Found[i].Disabled = g.Found[i].Disabled && s.Disabled
			return
		}
	}
	found := Found{Server: s, Origins: []Origin{origin}, Project: f.Scope == Project, Digest: digest}
	if name, ok := before.named(origin, digest); ok && configured(name) {
		found.Name, found.Known = name, true
	} else {
		wish := nameFor(s.OriginalName, s)
		found.Name = gateway.ServerName(wish, used)
		if plain := gateway.ServerName(wish, nobody); reserved(plain) {
			note := Note{Server: s.OriginalName, Section: s.Section, Text: gateway.Textf("genkan itself uses the name %s, so the server is called %s", plain, found.Name)}
			g.Notes = append(g.Notes, FileNote{f, note})
		}
	}
	found.nameSecrets(nobody)
	g.Found = append(g.Found, found)
}

// AvoidSecrets gives the secrets of servers that came with a project names for
// which inUse reports false. Otherwise a project could replace the value of an own
// secret, or give a value to one that an own server waits for.
func (g *Gathered) AvoidSecrets(inUse func(name string) bool) {
	for i := range g.Found {
		if g.Found[i].Project {
			g.Found[i].nameSecrets(inUse)
		}
	}
}

// nameSecrets names the secrets and inputs of the server. An input of an own file
// has the name of its variable, so that own servers share it. The name of a
// project's input begins with the server's name and a dot, which no environment
// variable has: ${NAME} in the configuration falls back to the secret NAME.
func (f *Found) nameSecrets(inUse func(name string) bool) {
	free := unusedName(inUse)
	f.Secrets = named(f.Server, free)
	f.Inputs = slices.Clone(f.Inputs)
	for i, in := range f.Inputs {
		f.Inputs[i].Secret = in.Variable
		if f.Project {
			f.Inputs[i].Secret = free(f.Name + "." + in.Variable)
		}
	}
}

// unusedName returns a function that makes names unique.
func unusedName(inUse func(name string) bool) func(name string) string {
	taken := map[string]bool{}
	return func(name string) string {
		free := name
		for n := 2; taken[free] || inUse(free); n++ {
			free = name + "-" + strconv.Itoa(n)
		}
		taken[free] = true
		return free
	}
}

// named returns the literal secrets of a server with the names that the vault has
// for them: the server's name, and where they stood.
func named(s Server, free func(name string) string) []Literal {
	secrets := slices.Clone(s.Secrets)
	for i := range secrets {
		where := secrets[i].Key
		if where == "" {
			where = secrets[i].Where
		}
		name := s.Name + "." + strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
				return r
			}
			return '_'
		}, where)
		secrets[i].Variable = free(name)
	}
	return secrets
}

// digest returns a hash of the server's definition without its name.
func (s Server) digest() string {
	h := sha256.New()
	text := func(t string) { _, _ = fmt.Fprintf(h, "%d:%s", len(t), t) } // a hash takes every write
	text(s.Command)
	_, _ = fmt.Fprintf(h, "%d:", len(s.Args))
	for _, a := range s.Args {
		text(a)
	}
	for _, m := range []map[string]gateway.Secret{s.Env, s.Headers} {
		_, _ = fmt.Fprintf(h, "%d:", len(m))
		for key, value := range sorted(m) {
			text(key)
			text(value.Reveal())
		}
	}
	text(s.Cwd)
	text(s.URL)
	if s.EnvFile != "" { // absent from the digests of earlier versions
		text(s.EnvFile)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Uses reports whether the server refers to a variable.
func (s Server) Uses(variable string) bool {
	changed := s
	changed.Args, changed.Env, changed.Headers = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers)
	changed.Replace(variable, "")
	return changed.digest() != s.digest()
}

// Replace replaces a variable with a reference, such as ${KEY} with ${secret:KEY}.
func (s *Server) Replace(variable, reference string) {
	s.replace("${"+variable+"}", reference, "${env:"+variable+"}", reference)
}

// ReferInput replaces an input with a reference to its secret. ${env:NAME} is an
// environment variable and never an input of VS Code.
func (s *Server) ReferInput(in Input) {
	reference := "${secret:" + in.Secret + "}"
	if in.Environment {
		s.Replace(in.Variable, reference)
	} else {
		s.replace("${"+in.Variable+"}", reference)
	}
}

func (s *Server) replace(oldnew ...string) {
	put := strings.NewReplacer(oldnew...).Replace
	s.Command, s.Cwd, s.URL = put(s.Command), put(s.Cwd), put(s.URL)
	for i := range s.Args {
		s.Args[i] = put(s.Args[i])
	}
	for _, m := range []map[string]gateway.Secret{s.Env, s.Headers} {
		for key, value := range m {
			m[key] = gateway.Secret(put(value.Reveal()))
		}
	}
}
