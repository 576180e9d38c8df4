package setup

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// Connections lists the clients of this machine and what can be undone.
type Connections struct {
	ConfigFile string
	// Command is what starts genkan in the entries of clients.
	Command []string
	Clients []ClientFiles
	// Changes are those that Undo takes back, the newest first.
	Changes []clients.Change
	// Unreadable are paths of records of changes that cannot be read.
	Unreadable []string
}

// ClientFiles lists the files in which a client may keep servers.
type ClientFiles struct {
	Name, Title string
	Files       []ClientFile
	// Lacking are servers of genkan, and parts such as the knowledge base, that no entry
	// of a connected client has; none for clients that are not connected.
	Lacking []string
}

// ClientFile is a file in which a client may keep servers.
type ClientFile struct {
	Path    string
	Project bool
	Exists  bool
	// Servers counts entries, Connected those of them that lead to genkan.
	Servers, Connected int
	// Names are the servers of genkan that single entries name. Such an entry fails
	// once its server is gone.
	Names []string
	// Err says why the file cannot be read.
	Err error
}

// Connections returns the clients with their files, those of a project's folder
// too. A file that several clients share is listed with the first one.
func (s *Setup) Connections(ctx context.Context, folder string) (Connections, error) {
	env, err := s.environment(folder)
	if err != nil {
		return Connections{}, err
	}
	out := Connections{Command: s.opt.Command}
	if len(out.Command) == 0 {
		out.Command = []string{clients.PlainCommand}
	}
	if out.ConfigFile, err = filepath.Abs(s.opt.ConfigFile); err != nil {
		return out, err
	}
	servers := s.servers(ctx)
	seen := map[string]bool{}
	for _, c := range clients.All() {
		one := ClientFiles{Name: c.Name, Title: c.Title}
		var leads []clients.Lead
		for _, f := range c.Files(env) {
			if seen[f.Path] {
				continue
			}
			seen[f.Path] = true
			file := ClientFile{Path: f.Path, Project: f.Scope == clients.Project, Exists: f.Exists()}
			if file.Exists {
				imported, err := clients.Read(f)
				file.Servers, file.Connected, file.Err = len(imported.Servers)+len(imported.Own), len(imported.Own), err
				file.Names = s.named(imported.Leads)
				leads = append(leads, imported.Leads...)
			}
			one.Files = append(one.Files, file)
		}
		if slices.ContainsFunc(leads, s.isOurs) {
			one.Lacking = s.lacking(leads, servers)
		}
		out.Clients = append(out.Clients, one)
	}
	out.Changes, out.Unreadable, err = s.Backups().List()
	return out, err
}

// named returns the servers that entries for this data directory name, each once.
func (s *Setup) named(leads []clients.Lead) (names []string) {
	for _, l := range leads {
		if !s.isOurs(l) {
			continue
		}
		for _, name := range l.Servers {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// isOurs reports whether an entry is in use and leads to this data directory.
func (s *Setup) isOurs(l clients.Lead) bool {
	return !l.Disabled && (l.DataDir == "" || isSameFolder(l.DataDir, s.opt.DataDir))
}

// lacking returns the servers that none of the entries has, each once.
func (s *Setup) lacking(leads []clients.Lead, servers []string) (lacking []string) {
	for _, server := range servers {
		if !slices.Contains(lacking, server) && !slices.ContainsFunc(leads, func(l clients.Lead) bool { return s.isOurs(l) && l.Reaches(server) }) {
			lacking = append(lacking, server)
		}
	}
	return lacking
}

// servers returns the names of the servers that are on, and of genkan's own; none if the
// configuration cannot be read.
func (s *Setup) servers(ctx context.Context) []string {
	from, err := s.opt.Sources(ctx)
	if err != nil {
		return nil
	}
	cfg, err := s.readConfig(from)
	if err != nil {
		return nil
	}
	return serversOf(cfg)
}

func serversOf(cfg *config.Config) (names []string) {
	for _, server := range cfg.Servers {
		if !server.Disabled {
			names = append(names, server.Name)
		}
	}
	for _, instance := range cfg.N8N {
		names = append(names, instance.Name)
	}
	if !cfg.Knowledge.Off {
		names = append(names, config.KnowledgeSource)
	}
	return names
}

func isSameFolder(a, b string) bool {
	one, err := filepath.Abs(a)
	other, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && one == other
}

// UndoRequest says what to undo.
type UndoRequest struct {
	// Client is a name, or clients.OwnClient for what imports added to genkan's
	// configuration; empty is every client but that.
	Client string
	// Force also overwrites what others have changed since.
	Force bool
}

// UndoState is what became of a file.
type UndoState string

// The states of a file after Undo.
const (
	// UndoRestored: the file has its former bytes.
	UndoRestored UndoState = "restored"
	// UndoEntries: the entries are what they were; what others have changed stays.
	UndoEntries UndoState = "entries"
	// UndoRemoved: the file, which did not exist before, is removed.
	UndoRemoved UndoState = "removed"
	// UndoFailed: the file was left alone because of an error.
	UndoFailed UndoState = "failed"
)

// UndoneFile is what became of a file.
type UndoneFile struct {
	Client, Path string
	State        UndoState
	Err          error
}

// Undo restores files. It goes on after a file that cannot be restored. Where a
// backup is lost, an earlier one of the same file takes its place. Unreadable are
// paths of records of changes that cannot be read.
func (s *Setup) Undo(ctx context.Context, req UndoRequest) (files []UndoneFile, unreadable []string, err error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	if req.Client != "" && req.Client != clients.OwnClient {
		if _, err := lookup(req.Client); err != nil {
			return nil, nil, err
		}
	}
	changes, unreadable, err := s.Backups().List()
	if err != nil {
		return nil, nil, err
	}
	changes = slices.DeleteFunc(changes, func(c clients.Change) bool { return !req.includes(c) })
	files = s.undoAll(changes, req.Force)
	return files, unreadable, s.revokeDisconnected(ctx, changes)
}

func (r UndoRequest) includes(c clients.Change) bool {
	if r.Client == "" {
		return c.Client != clients.OwnClient
	}
	return c.Client == r.Client
}

func (s *Setup) undoAll(changes []clients.Change, force bool) []UndoneFile {
	var done, failed []UndoneFile
	failure := func(c clients.Change, err error) UndoneFile {
		return UndoneFile{Client: c.Client, Path: c.Path, State: UndoFailed, Err: err}
	}
	stuck := map[string]bool{}
	type loss struct {
		clients.Change
		err error
	}
	var lost []loss
	for _, c := range changes {
		if stuck[c.Path] {
			continue // earlier changes can only be undone after this one
		}
		exact, err := s.Backups().Undo(c, force)
		one := UndoneFile{Client: c.Client, Path: c.Path, State: UndoEntries}
		switch {
		case errors.Is(err, clients.ErrLost):
			lost = append(lost, loss{c, err})
			continue
		case err != nil:
			stuck[c.Path] = true
			failed = append(failed, failure(c, err))
			continue
		case c.Created:
			one.State = UndoRemoved
		case exact:
			one.State = UndoRestored
		}
		// A file may have several changes; its last state counts.
		if i := slices.IndexFunc(done, func(f UndoneFile) bool { return f.Path == c.Path }); i >= 0 {
			done[i] = one
		} else {
			done = append(done, one)
		}
		lost = slices.DeleteFunc(lost, func(l loss) bool {
			if l.Path == c.Path {
				s.Backups().Forget(l.Change)
			}
			return l.Path == c.Path
		})
	}
	for _, l := range lost {
		failed = append(failed, failure(l.Change, l.err))
	}
	return append(done, failed...)
}

// revokeDisconnected revokes the tokens of clients that have no changed file left.
func (s *Setup) revokeDisconnected(ctx context.Context, undone []clients.Change) error {
	left, _, err := s.Backups().List()
	if err != nil {
		return err
	}
	for _, c := range undone {
		if slices.ContainsFunc(left, func(other clients.Change) bool { return other.Client == c.Client }) {
			continue
		}
		if err := s.revokeToken(ctx, c.Client); err != nil {
			return err
		}
	}
	return nil
}

// Before returns the contents of a file before the change with an id. They may
// hold secrets.
func (s *Setup) Before(id string) ([]byte, error) {
	all, _, err := s.Backups().List()
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if c.ID == id {
			return s.Backups().Before(c)
		}
	}
	return nil, gateway.Errorf(gateway.CodeNotFound, "there is no change %s; `genkan undo --list` shows them", id)
}
