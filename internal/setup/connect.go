package setup

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// ConnectRequest says which clients to connect, and how.
type ConnectRequest struct {
	// Folder is the absolute path of a project, whose files count too; empty for
	// none.
	Folder string
	// Clients are names; empty is every client that has a file here, and with Add every
	// client that has an entry that leads here.
	Clients []string
	// Aggregate puts one entry, genkan, in place of all of a file's entries.
	Aggregate bool
	// Add are servers of genkan that the first file of each client that is no project's
	// gets an entry for, unless one of its entries has the server. All others stay as they
	// are, so it excludes Aggregate.
	Add []string
	// URL makes entries call the URL of a genkan that listens, with a token of the
	// client's own. Otherwise they start `genkan stdio`.
	URL bool
	// Project also changes files of the project, which others share.
	Project bool
	// Write changes the files. Without it, Connect reports what would change.
	Write bool
}

// ConnectResult is what Connect did, or would do.
type ConnectResult struct {
	Files []ConnectedFile
	// BaseURL is the URL of genkan; empty if no entry calls it.
	BaseURL string
	// Revoked are the clients whose token was revoked, because none of their
	// entries uses it any more.
	Revoked []string
}

// FileState is what became of a client's file.
type FileState string

// The states of a file.
const (
	// FileUnchanged: there is nothing to connect.
	FileUnchanged FileState = "unchanged"
	// FilePlanned: the file would be changed.
	FilePlanned FileState = "planned"
	// FileChanged: the file was changed, and its former contents are kept.
	FileChanged FileState = "changed"
	// FileCreated: there was no file before.
	FileCreated FileState = "created"
	// FileShared: the file belongs to a project, and nobody asked to change it.
	FileShared FileState = "shared"
	// FileFailed: the file was left alone because of an error.
	FileFailed FileState = "failed"
)

// ConnectedFile is a client's file.
type ConnectedFile struct {
	Client, Path string
	State        FileState
	// Entries say where entries lead, in the file's order.
	Entries []ConnectedEntry
	// Replaced are the entries that one entry for all replaces.
	Replaced []string
	// NotImported are entries that genkan has no server for. They stay as they are.
	NotImported []string
	// Diff are the lines of the file that change, with -, + or a space before them.
	// Secrets are masked.
	Diff []string
	Err  error

	file clients.File
	plan clients.Plan
	// tokens are those of the entries before the change.
	tokens []gateway.Secret
}

// ConnectedEntry is an entry of a client's file.
type ConnectedEntry struct {
	Name string
	// To is the command or URL that it leads to, and Server the server behind that; empty for
	// all of them.
	To, Server string
	// Was is the URL that it called before; empty if that stays or there was none.
	Was string
}

// connector works out what becomes of files.
type connector struct {
	*Setup
	req     ConnectRequest
	base    clients.Plan
	imports clients.Imports
	// config is genkan's configuration; nil if it cannot be read.
	config *config.Config
}

// Connect makes the entries of clients lead to genkan. All of it is worked out
// before anything is changed. If clients are named, one that cannot be connected is
// an error; otherwise its file is reported as failed and the others are connected.
func (s *Setup) Connect(ctx context.Context, req ConnectRequest) (ConnectResult, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	var out ConnectResult
	if req.Aggregate && len(req.Add) > 0 {
		return out, gateway.Errorf(gateway.CodeInvalid, "--aggregate puts one entry in place of all, and --add leaves all as they are; choose one of them")
	}
	env, err := s.environment(req.Folder)
	if err != nil {
		return out, err
	}
	files, err := filesToConnect(env, req)
	if err != nil {
		return out, err
	}
	c, err := s.newConnector(ctx, req)
	if err != nil {
		return out, err
	}
	if len(req.Add) > 0 {
		if err := c.checkServers(); err != nil {
			return out, err
		}
		if len(req.Clients) == 0 {
			if files = s.connected(files); len(files) == 0 {
				return out, gateway.Errorf(gateway.CodeNotFound, "no client is connected yet; name the one that gets the entry: `genkan connect CLIENT --add %s`", req.Add[0])
			}
		}
		files = firstFiles(files)
	}
	for _, f := range files {
		one, err := c.plan(ctx, f)
		if err != nil && (len(req.Clients) > 0 || ctx.Err() != nil) {
			return ConnectResult{}, err // nothing was changed
		}
		if err != nil {
			one = ConnectedFile{Client: f.Client, Path: f.Path, State: FileFailed, NotImported: one.NotImported, Err: err}
		}
		if one.State == FilePlanned && c.needsToken(f) {
			out.BaseURL = c.base.BaseURL
		}
		out.Files = append(out.Files, one)
	}
	if !req.Write {
		return out, nil
	}
	planned := false
	for i := range out.Files {
		if out.Files[i].State == FilePlanned {
			c.change(ctx, &out.Files[i])
			planned = true
		}
	}
	if planned {
		out.Revoked, err = c.revokeUnused(ctx, env, out.Files)
	}
	return out, err
}

// checkServers refuses to add servers that genkan does not have.
func (c *connector) checkServers() error {
	if c.config == nil {
		return gateway.Errorf(gateway.CodeInvalid, "the configuration cannot be read; `genkan doctor` says what is wrong with it")
	}
	for _, name := range c.req.Add {
		if !slices.Contains(serversOf(c.config), name) {
			return gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", gateway.Short(name))
		}
	}
	return nil
}

// connected returns the files of clients that have an entry that leads here.
func (s *Setup) connected(files []clients.File) []clients.File {
	ours := map[string]bool{}
	for _, f := range files {
		if imported, err := clients.Read(f); err == nil && slices.ContainsFunc(imported.Leads, s.isOurs) {
			ours[f.Client] = true
		}
	}
	return slices.DeleteFunc(files, func(f clients.File) bool { return !ours[f.Client] })
}

// firstFiles returns the first file of each client that is no project's.
func firstFiles(files []clients.File) (first []clients.File) {
	for _, f := range files {
		if f.Scope != clients.Project && !slices.ContainsFunc(first, func(other clients.File) bool { return other.Client == f.Client }) {
			first = append(first, f)
		}
	}
	return first
}

// filesToConnect returns the files of the requested clients that exist, each once.
// With Aggregate, it includes the first file of a named client that has none.
func filesToConnect(env clients.Environment, req ConnectRequest) ([]clients.File, error) {
	if len(req.Clients) == 0 {
		return clients.Find(env), nil
	}
	var all []clients.File
	seen := map[string]bool{} // some files are read by several clients
	for _, name := range req.Clients {
		known, err := lookup(name)
		if err != nil {
			return nil, err
		}
		files := known.Files(env)
		files = slices.DeleteFunc(files, func(f clients.File) bool { return !exists(f.Path) && !(req.Aggregate && f.Path == files[0].Path) })
		if len(files) == 0 {
			return nil, gateway.Errorf(gateway.CodeNotFound, "%s has no servers on this machine; `genkan connect %s --aggregate --write` makes an entry for genkan", known.Title, known.Name)
		}
		for _, f := range files {
			if !seen[f.Path] {
				seen[f.Path] = true
				all = append(all, f)
			}
		}
	}
	return all, nil
}

func (s *Setup) newConnector(ctx context.Context, req ConnectRequest) (*connector, error) {
	imports, err := s.imports()
	if err != nil {
		return nil, err
	}
	c := &connector{Setup: s, req: req, imports: imports}
	c.base = clients.Plan{Aggregate: req.Aggregate, Bridge: !req.URL, Command: s.opt.Command}
	from, err := s.opt.Sources(ctx)
	if err == nil {
		c.config, err = s.readConfig(from)
	}
	if req.URL {
		if c.base.BaseURL = s.opt.Listening(ctx); c.base.BaseURL == "" {
			if err != nil {
				return nil, err
			}
			c.base.BaseURL, err = s.configuredURL(c.config)
			return c, err
		}
	}
	return c, nil // entries can be connected without a valid configuration
}

// configuredURL returns the URL that the configuration has genkan listen on.
func (s *Setup) configuredURL(cfg *config.Config) (string, error) {
	if _, port, _ := net.SplitHostPort(cfg.Listen); port == "0" {
		return "", gateway.Errorf(gateway.CodeInvalid, "--url needs a fixed address, and listen in %s is %s, any that is free; give it a port, or start `genkan serve` first", s.opt.ConfigFile, cfg.Listen)
	}
	if cfg.TLS.CertFile != "" {
		return "https://" + reachable(cfg.Listen), nil
	}
	return "http://" + reachable(cfg.Listen), nil
}

// reachable returns an address that reaches a listener of this machine, also one
// that listens on every address.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// plan works out what becomes of a file.
func (c *connector) plan(ctx context.Context, f clients.File) (ConnectedFile, error) {
	out := ConnectedFile{Client: f.Client, Path: f.Path, State: FileUnchanged, file: f, plan: c.base}
	src, _, err := clients.Contents(f.Path)
	if err != nil {
		return out, err
	}
	imported, err := f.Parse(src)
	if err != nil {
		return out, err
	}
	switch {
	case len(c.req.Add) == 0:
		out.plan.Servers, out.NotImported = c.entriesOf(f, imported)
		if len(out.plan.Servers) == 0 && !c.req.Aggregate {
			return out, nil
		}
	default:
		if out.plan.Add = c.lacking(imported.Leads, c.req.Add); len(out.plan.Add) == 0 {
			return out, nil
		}
	}
	shared := f.Scope == clients.Project && !c.req.Project
	if !shared && c.needsToken(f) {
		if err := f.MayHoldToken(); err != nil {
			return out, err
		}
		if out.plan.Token, err = c.token(ctx, f.Client, false); err != nil {
			return out, err
		}
	}
	// Entries that lead here are rewritten if they would differ: their token was
	// revoked, or genkan has moved.
	changed, err := f.Connect(src, out.plan)
	if err != nil || bytes.Equal(changed, src) {
		return out, err
	}
	if shared {
		out.State = FileShared
		return out, nil
	}
	if err := f.MayChange(); err != nil {
		return out, err
	}
	if len(out.plan.Add) > 0 {
		out.Entries, err = out.added(changed)
	} else {
		out.Entries = out.entries(imported)
	}
	if err != nil {
		return out, err
	}
	out.State, out.Replaced = FilePlanned, out.replaced(imported)
	for _, l := range imported.Leads {
		if l.Token != "" {
			out.tokens = append(out.tokens, l.Token)
		}
	}
	out.Diff = out.masked(imported, diff(inLines(src, changed)))
	return out, nil
}

// masked returns lines of the file without the secrets of its servers, the tokens,
// and whatever else looks like one.
func (f *ConnectedFile) masked(imported clients.Imported, lines []string) []string {
	secrets := append(slices.Clone(f.tokens), f.plan.Token)
	for _, s := range imported.Servers {
		for _, l := range s.Secrets {
			secrets = append(secrets, l.Value)
		}
	}
	for i, line := range lines {
		for _, secret := range secrets {
			if secret != "" {
				quoted := strings.Trim(strconv.Quote(secret.Reveal()), `"`) // as a file may have it
				line = strings.NewReplacer(secret.Reveal(), "***", quoted, "***").Replace(line)
			}
		}
		if line != "…" {
			line = line[:1] + clients.Mask(line[1:])
		}
		lines[i] = line
	}
	return lines
}

// entriesOf returns the file's entries that genkan has a server for, with its
// name, and the names of the others. An entry without a server's name stands for
// all servers.
func (c *connector) entriesOf(f clients.File, imported clients.Imported) (ours map[clients.Place]string, others []string) {
	ours = map[clients.Place]string{}
	for _, s := range imported.Servers {
		place := clients.Place{Section: s.Section, Name: s.OriginalName}
		if name, ok := c.imports.Name(f, place); ok {
			ours[place] = name
		} else {
			others = append(others, s.OriginalName)
		}
	}
	for _, l := range imported.Leads {
		switch {
		case l.URL != "" && !c.isHere(l):
			// It calls a genkan on another machine, or with other servers.
		case len(l.Servers) == 1:
			ours[l.Place] = l.Servers[0]
		case l.URL != "":
			ours[l.Place] = ""
		}
	}
	return ours, others
}

// isHere reports whether an entry with a URL calls this genkan: an address of
// this machine, and a server that is configured here.
func (c *connector) isHere(l clients.Lead) bool {
	u, err := url.Parse(l.URL)
	if err != nil || c.config == nil {
		return false
	}
	configured, _, _ := net.SplitHostPort(reachable(c.config.Listen))
	ip := net.ParseIP(u.Hostname())
	if u.Hostname() != "localhost" && u.Hostname() != configured && (ip == nil || !ip.IsLoopback()) {
		return false
	}
	return !slices.ContainsFunc(l.Servers, func(name string) bool {
		return name != config.KnowledgeSource && !c.config.HasN8N(name) && !slices.ContainsFunc(c.config.Servers, func(s config.Server) bool { return s.Name == name })
	})
}

// needsToken reports whether the file's entries call a URL, for which the client
// needs a token.
func (c *connector) needsToken(f clients.File) bool { return !f.Bridged() && !c.base.Bridge }

// entries says where the planned entries will lead, in the file's order.
func (f *ConnectedFile) entries(imported clients.Imported) []ConnectedEntry {
	if f.plan.Aggregate {
		return []ConnectedEntry{{Name: clients.OwnClient, To: f.leadsTo("")}}
	}
	var all []ConnectedEntry
	add := func(place clients.Place, was string) {
		name, ok := f.plan.Servers[place]
		if !ok {
			return
		}
		one := ConnectedEntry{Name: place.Name, To: f.leadsTo(name), Server: name}
		if was != one.To {
			one.Was = was
		}
		all = append(all, one)
	}
	for _, s := range imported.Servers {
		add(clients.Place{Section: s.Section, Name: s.OriginalName}, "")
	}
	for _, l := range imported.Leads {
		add(l.Place, l.URL)
	}
	return all
}

// added returns the entries of the changed file that lead to the added servers.
func (f *ConnectedFile) added(changed []byte) (all []ConnectedEntry, err error) {
	imported, err := f.file.Parse(changed)
	for _, l := range imported.Leads {
		if len(l.Servers) == 1 && slices.Contains(f.plan.Add, l.Servers[0]) {
			all = append(all, ConnectedEntry{Name: l.Name, To: f.leadsTo(l.Servers[0]), Server: l.Servers[0]})
		}
	}
	return all, err
}

// replaced returns the names of the entries that one entry for all replaces, in
// the file's order. The entry genkan itself stays.
func (f *ConnectedFile) replaced(imported clients.Imported) []string {
	if !f.plan.Aggregate {
		return nil
	}
	var all []string
	add := func(place clients.Place) {
		if name, ok := f.plan.Servers[place]; ok && name != "" && !slices.Contains(all, place.Name) {
			all = append(all, place.Name)
		}
	}
	for _, s := range imported.Servers {
		add(clients.Place{Section: s.Section, Name: s.OriginalName})
	}
	for _, l := range imported.Leads {
		add(l.Place)
	}
	return all
}

// leadsTo returns the command or URL of an entry for a server, or for all.
func (f *ConnectedFile) leadsTo(server string) string {
	if f.file.Bridged() || f.plan.Bridge {
		if server == "" {
			return "genkan stdio --client " + f.Client
		}
		return "genkan stdio --client " + f.Client + " --only " + server
	}
	if server == "" {
		return f.plan.BaseURL + "/mcp"
	}
	return f.plan.BaseURL + "/mcp/s/" + server
}

// change changes a planned file. The client's token is made only now.
func (c *connector) change(ctx context.Context, f *ConnectedFile) {
	var err error
	if c.needsToken(f.file) {
		f.plan.Token, err = c.token(ctx, f.Client, true)
	}
	var change clients.Change
	var changed bool
	if err == nil {
		change, changed, err = c.Backups().Connect(f.file, f.plan)
	}
	switch {
	case err != nil:
		f.State, f.Err = FileFailed, err
	case !changed:
		f.State = FileUnchanged
	case change.Created:
		f.State = FileCreated
	default:
		f.State = FileChanged
	}
}
