package checkup

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/sqlite"
)

// shortly bounds a request on this machine.
const shortly = 2 * time.Second

func (k *checkup) port(ctx context.Context) {
	if k.config == nil {
		return
	}
	p := &k.facts.Port
	*p = doctor.Port{
		Listen: k.config.Listen, Exposed: k.config.Exposed(),
		Covered: k.config.TLS.CertFile != "" || k.config.BehindProxy,
	}
	_, port, _ := net.SplitHostPort(p.Listen)
	switch {
	case k.facts.Running.Listen != "": // its command line may have overridden the configuration
		p.Listen, p.Holder = k.facts.Running.Listen, "ours"
	case port == "0" && !p.Exposed: // any free port
		p.Listen = ""
	case answers(ctx, "http://"+Callable(p.Listen)):
		p.Holder = "other"
		asked, cancel := context.WithTimeout(ctx, shortly)
		defer cancel()
		for _, useTLS := range []bool{false, true} {
			if health, err := client.Probe(asked, Callable(p.Listen), useTLS); err == nil && health.Message == client.HealthMessage {
				p.Holder = "genkan"
			}
		}
	}
	if k.config.TLS.CertFile == "" {
		return
	}
	p.TLS = true
	pair, err := tls.LoadX509KeyPair(k.config.TLS.CertFile, k.config.TLS.KeyFile)
	switch {
	case err != nil:
		p.TLSProblem = gateway.Textf("%s", err.Error())
	case pair.Leaf != nil:
		p.TLSDays = int(time.Until(pair.Leaf.NotAfter).Hours() / 24)
		if time.Now().After(pair.Leaf.NotAfter) {
			p.TLSDays = -1
		}
	}
}

// Callable returns an address that can be connected to. It replaces an unspecified
// host with the loopback.
func Callable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// answers reports whether a server listens at a URL.
func answers(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"https": "443"}[u.Scheme])
		if u.Scheme == "http" {
			host = net.JoinHostPort(u.Hostname(), "80")
		}
	}
	dialer := net.Dialer{Timeout: shortly}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// servers combines the state in the running genkan with the configuration.
func (k *checkup) servers(ctx context.Context) {
	for _, s := range k.shown {
		if s.Source == client.SourceBuiltIn {
			continue // the findings about the knowledge base and n8n say more
		}
		k.facts.Servers = append(k.facts.Servers, k.asked(s))
	}
	if k.config == nil {
		return
	}
	needs := map[string][]string{}
	for i := range k.config.Servers {
		set := &k.config.Servers[i]
		at := slices.IndexFunc(k.facts.Servers, func(s doctor.Server) bool { return s.Name == set.Name })
		if at < 0 {
			k.facts.Servers = append(k.facts.Servers, doctor.Server{Name: set.Name, Stored: set.Stored})
			at = len(k.facts.Servers) - 1
			if set.Disabled {
				k.facts.Servers[at].State = client.StateDisabled
			}
		}
		s := &k.facts.Servers[at]
		if set.Disabled {
			continue
		}
		s.Command, s.Found = set.Command, isThere(set)
		for _, m := range set.Missing {
			if one := (doctor.Missing{Name: m.Name, Secret: m.Secret}); !slices.Contains(s.Missing, one) {
				s.Missing = append(s.Missing, one)
			}
		}
		for _, name := range k.tools[set.Name] {
			switch {
			case set.Prefix == "" && len(name) > longestName:
				s.Long = append(s.Long, name)
			case set.Prefix == "" && strings.ContainsFunc(name, isOdd):
				s.Odd = append(s.Odd, name)
			case set.Prefix != "" && len(name) == longestName && wasCut(name):
				s.Shortened = append(s.Shortened, name)
			}
		}
		if runtime := runtimeOf(set.Command); runtime != "" && k.concerns(set.Name) {
			needs[runtime] = append(needs[runtime], set.Name)
		}
	}
	for _, name := range []string{"node", "uv", "docker"} {
		if len(needs[name]) > 0 {
			k.facts.Program.Runtimes = append(k.facts.Program.Runtimes, doctor.Runtime{Name: name, For: needs[name], Version: versionOf(ctx, name)})
		}
	}
}

// N8NPatience is how long an n8n instance may take to answer.
const N8NPatience = 10 * time.Second

// n8n asks the n8n instances how they are.
func (k *checkup) n8n(ctx context.Context) {
	if k.config == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, N8NPatience)
	defer cancel()
	k.facts.N8N = make([]doctor.N8N, len(k.config.N8N))
	var group sync.WaitGroup
	for i, set := range k.config.N8N {
		hiding := k.configured(set.Name)
		one := &k.facts.N8N[i]
		*one = doctor.N8N{Name: set.Name, URL: set.URL, Hidden: hiding != nil && !hiding.Disabled}
		if one.Hidden || !k.concerns(set.Name) {
			continue
		}
		one.Tools = len(k.tools[set.Name])
		group.Go(func() {
			var mcpServer string
			one.Problem, mcpServer = k.CheckN8N(ctx, set)
			if !slices.ContainsFunc(k.config.Servers, func(s config.Server) bool { return strings.TrimSuffix(s.URL, "/") == mcpServer }) {
				one.MCPServer = mcpServer
			}
		})
	}
	group.Wait()
}

// longestName is what remains of the 64 characters that clients allow, without
// their own prefix.
const longestName = 51

// isOdd reports whether some clients refuse a character in names.
func isOdd(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-')
}

// wasCut reports whether a name ends as shortened names do.
func wasCut(name string) bool {
	const tail = 9 // _ and eight digits
	end := name[len(name)-tail:]
	return end[0] == '_' && strings.Trim(end[1:], "0123456789abcdef") == ""
}

// asked returns the facts of a server that a running genkan reports.
func (k *checkup) asked(s client.Server) doctor.Server {
	out := doctor.Server{
		Name: s.Name, State: s.State, Known: true, Protocol: s.ProtocolVersion, Era: s.Era, Transport: s.Transport,
		Tools: s.Tools, StartTook: time.Duration(s.StartMillis) * time.Millisecond, FirstStart: s.FirstStart,
		Problem: s.Problem, Cause: s.Cause, SignIn: s.SignIn, Hidden: s.Hidden,
		Stored:     s.Source == client.SourceDatabase,
		Overwrites: s.Definition != nil && s.Definition.Overwrite,
		Replaces:   k.replacing[s.Name], Undescribed: k.undescribed[s.Name],
	}
	if s.OtherProtocolVersion != "" {
		out.Protocol += " + " + s.OtherProtocolVersion
	}
	if k.Wait {
		out.Waited = k.startupTimeout(s.Name)
	}
	if pinged, asked := k.pings[s.Name]; asked && !pinged.Responded {
		out.Silent, out.Busy = max(time.Duration(pinged.Millis)*time.Millisecond, time.Millisecond), pinged.Busy
	}
	if s.Output != "" {
		out.Output = strings.Split(s.Output, "\n")
	}
	for _, l := range s.ListProblems {
		out.Unlisted = append(out.Unlisted, doctor.Unlisted(l))
	}
	for _, f := range s.Findings {
		out.Changed = append(out.Changed, doctor.Changed{
			Name: f.Name, Address: strings.HasPrefix(f.Kind, "resource"), Prompt: f.Kind == "prompts",
			LeftOut: f.LeftOut, TakenBy: f.TakenBy, Replaced: f.Replaced, Suspect: f.Suspect, Why: strings.Join(f.Notes, "; "),
		})
	}
	for _, c := range s.Changes {
		one := doctor.Redefined{Tool: c.Tool, Parts: c.Parts, At: c.At, Times: c.Times}
		for _, d := range c.Diffs {
			if d.Part == "description" {
				one.Before, one.After = d.Before, d.After
			}
		}
		out.Redefined = append(out.Redefined, one)
	}
	return out
}

// isThere reports whether a server's command can be started, as far as this
// process can tell.
func isThere(s *config.Server) bool {
	if _, own := s.Env["PATH"]; own || s.Command == "" || strings.Contains(s.Command+s.Cwd, config.WorkspaceFolder) {
		return true
	}
	command := s.Command
	if s.Cwd != "" && strings.ContainsAny(command, `/\`) && !filepath.IsAbs(command) {
		command = filepath.Join(s.Cwd, command)
	}
	_, err := exec.LookPath(command)
	return err == nil
}

// runtimeOf returns the program that a command needs.
func runtimeOf(command string) string {
	switch strings.TrimSuffix(filepath.Base(command), ".exe") {
	case "npx", "node", "npm":
		return "node"
	case "uvx", "uv":
		return "uv"
	case "docker":
		return "docker"
	default:
		return ""
	}
}

// versionOf returns the version that a program prints; empty if it fails.
func versionOf(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, shortly)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return ""
	}
	words := strings.Fields(string(out))
	for _, word := range words {
		if strings.ContainsAny(word, "0123456789") {
			return strings.Trim(word, ",v")
		}
	}
	return ""
}

// clients reads the files of the clients.
func (k *checkup) clients(ctx context.Context) {
	env, err := clients.Here()
	if err != nil || len(k.Only) > 0 {
		return
	}
	imports, err := clients.LoadImports(k.ImportsFile)
	if err != nil {
		k.facts.Data.ImportsProblem = gateway.Textf("%s", gateway.AsError(err))
	}
	changes, _, _ := k.Backups.List() // without it nothing can be undone
	reached := map[string]bool{}
	for _, f := range clients.Find(env) {
		known, _ := clients.Lookup(f.Client)
		at := slices.IndexFunc(k.facts.Clients, func(c doctor.Client) bool { return c.Name == f.Client })
		if at < 0 {
			at = len(k.facts.Clients)
			k.facts.Clients = append(k.facts.Clients, doctor.Client{
				Name: f.Client, Title: known.Title,
				Undoable: slices.ContainsFunc(changes, func(ch clients.Change) bool { return ch.Client == f.Client }),
			})
		}
		c := &k.facts.Clients[at]
		file := doctor.ClientFile{Path: f.Path, Project: f.Scope == clients.Project}
		imported, err := clients.Read(f)
		if err != nil {
			file.Problem = gateway.Textf("%s", gateway.AsError(err))
		}
		file.Imported = true
		for _, s := range imported.Servers {
			file.Others = append(file.Others, s.OriginalName)
			_, known := imports.Name(f, clients.Place{Section: s.Section, Name: s.OriginalName})
			file.Imported = file.Imported && known
		}
		for _, l := range imported.Leads {
			if _, tried := reached[l.URL]; l.URL != "" && !tried {
				reached[l.URL] = answers(ctx, l.URL)
			}
			file.Leads = append(file.Leads, k.lead(l, reached[l.URL]))
			if !l.Disabled {
				c.Tools += k.toolsBehind(l)
			}
		}
		file.NoWayBack = k.noWayBack(f, imported, imports)
		c.Files = append(c.Files, file)
	}
}

// noWayBack reports whether genkan has connected a file and cannot restore it.
// Without a record of the change, the entries show that it was made: an imported
// entry now leads to genkan, or one entry for all has replaced the imported ones.
func (k *checkup) noWayBack(f clients.File, imported clients.Imported, imports clients.Imports) bool {
	if len(imported.Leads) == 0 {
		return false
	}
	if known, restorable := k.Backups.Restorable(f.Path); known {
		return !restorable
	}
	wasImported := func(place clients.Place) bool {
		_, ok := imports.Name(f, place)
		return ok
	}
	if slices.ContainsFunc(imported.Leads, func(l clients.Lead) bool { return wasImported(l.Place) }) {
		return true
	}
	return len(imported.Servers) == 0 && len(imported.Leads) == 1 && len(imported.Leads[0].Servers) == 0 &&
		slices.ContainsFunc(imports.Servers, func(i clients.Import) bool { return i.Path == f.Path })
}

// toolsBehind returns the number of tools that an entry shows.
func (k *checkup) toolsBehind(l clients.Lead) int {
	n := 0
	for server, tools := range k.tools {
		if len(l.Servers) == 0 || slices.Contains(l.Servers, server) {
			n += len(tools)
		}
	}
	if k.tools != nil && k.config != nil && k.config.HasBudget() {
		n++ // read_result, which every entry shows, and no list of servers has
	}
	return n
}

func (k *checkup) lead(l clients.Lead, reached bool) doctor.Lead {
	out := doctor.Lead{Name: l.Name, All: len(l.Servers) == 0, URL: l.URL, Answers: reached, Command: l.Command}
	if l.Command != "" {
		_, err := exec.LookPath(l.Command)
		out.Found = err == nil
	}
	if k.config != nil && (l.DataDir == "" || k.leadsHere(l)) {
		for _, name := range l.Servers {
			// It is not a mistake if both sides have switched it off.
			if name == config.KnowledgeSource && !k.config.Knowledge.Off {
				continue
			}
			if k.config.HasN8N(name) {
				continue
			}
			if s := k.configured(name); s == nil || s.Disabled && !l.Disabled {
				out.Strangers = append(out.Strangers, name)
			}
		}
	}
	if l.Command != "" && !l.Disabled && k.locals != nil && k.leadsHere(l) {
		out.Client, out.Followed = l.Client, true
		for _, use := range k.locals {
			if use.Name == l.Client {
				out.LastSeen, out.LastBy = use.At, use.Client
			}
		}
	}
	switch {
	case l.Token == "":
	case k.adminToken != "" && l.Token == k.adminToken:
		out.Token = doctor.TokenAdmin
	case k.tokens == nil:
		out.Token = doctor.TokenUnknown
	default:
		out.Token = doctor.TokenRevoked
		hash := sha256.Sum256([]byte(l.Token.Reveal()))
		for _, t := range k.tokens {
			if t.Hash == hash {
				out.Token, out.TokenName, out.LastSeen, out.LastBy = doctor.TokenKnown, t.Name, t.LastUsed, t.LastClient
			}
		}
	}
	return out
}

// leadsHere reports whether an entry starts genkan for the examined data directory.
func (k *checkup) leadsHere(l clients.Lead) bool {
	dir := l.DataDir
	if dir == "" {
		dir = k.UsualDataDir
	}
	full, err := filepath.Abs(dir)
	return err == nil && full == k.facts.Data.Dir.Path
}

// database opens the database, unless a genkan of another version uses it. Opening
// it would migrate it while that genkan runs.
func (k *checkup) database(ctx context.Context) {
	db := &k.facts.Data.Database
	*db = aFile(k.Database)
	if err := sqlite.CheckNotLost(db.Path); err != nil {
		db.Problem = gateway.Textf("%s", gateway.AsError(err))
		return
	}
	r := k.facts.Running
	if !db.Exists || r.How != "" && r.Version != k.Version {
		return
	}
	store, err := sqlite.Open(ctx, db.Path, slog.New(slog.DiscardHandler))
	if err == nil {
		k.tokens, err = store.Tokens(ctx)
		if k.tokens == nil {
			k.tokens = []identity.Token{}
		}
		if err == nil {
			k.locals, err = store.LocalUses(ctx)
		}
		if k.locals == nil {
			k.locals = []identity.LocalUse{}
		}
		if err == nil {
			err = k.knowledge(ctx, store)
		}
		err = errors.Join(err, store.Close())
	}
	if err != nil {
		k.tokens, k.locals = nil, nil
		db.Problem = gateway.Textf("%s", gateway.AsError(err))
	}
}
