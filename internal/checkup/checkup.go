// Package checkup gathers the facts that the doctor judges. It examines the data
// directory, reads the configuration and the files of clients, and queries the
// running genkan. The command line and GET /v1/doctor use it.
package checkup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/bridge"
	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/upstream"
	"genkan/internal/workflow"
)

// Options say what to examine, and how.
type Options struct {
	Version string
	// DataDir is the data directory to examine. UsualDataDir is the default one.
	DataDir, UsualDataDir string
	// ConfigFile is the path of the configuration. ConfigNamed is set if it was
	// named on the command line, so that it must exist.
	ConfigFile  string
	ConfigNamed bool
	// LoadConfig reads the configuration.
	LoadConfig func(ctx context.Context) (*config.Config, error)
	// CheckN8N returns what is wrong with an n8n instance, and the URL of its own MCP
	// server; empty for none.
	CheckN8N func(ctx context.Context, set config.N8N) (problem gateway.Text, mcpServer string)
	// These are parts of the data directory.
	AdminTokenFile, Database, IndexDir, ImportsFile string
	Backups                                         clients.Backups
	Vault                                           Vault
	// SecretPrefix and SignInPrefix begin the vault's names of what is counted. Genkan
	// keeps more there for itself.
	SecretPrefix, SignInPrefix string
	// Join finds the running genkan. If none runs and servers are enabled, it starts
	// one.
	Join func(ctx context.Context, enabled bool) Joined
	// Only are the servers to examine; empty means all.
	Only []string
	// Full reads everything. Rebuild also repairs it.
	Full, Rebuild bool
	// Wait waits for servers that are starting.
	Wait bool
	// Progress shows the progress; may be nil.
	Progress Progress
	// Tools returns the name, server, description and replaced servers of the enabled
	// tools of the running genkan; nil to ask it over REST, which takes a request for each
	// hundred and all of their schemas.
	Tools func() ([]client.Tool, error)
}

// Vault lists the stored secrets.
type Vault interface {
	Names(ctx context.Context, prefix string) ([]string, error)
	// KeyPlace returns where the key is: keyring, file, or empty if there are no
	// secrets.
	KeyPlace() string
}

// Joined is the running genkan, if there is one.
type Joined struct {
	// Remote is nil if no genkan runs.
	Remote  *client.Client
	Running doctor.Running
	// Socket is why the socket cannot be used.
	Socket gateway.Text
}

// Result holds the gathered facts.
type Result struct {
	Facts doctor.Facts
	// Servers are the servers of the running genkan, without secrets.
	Servers []client.Server
}

// checkup gathers facts.
type checkup struct {
	Options
	facts doctor.Facts
	// config is nil if the configuration cannot be used.
	config *config.Config
	remote *client.Client
	// shown are the servers as the API describes them, without secrets.
	shown []client.Server
	// pings are the answers of servers to pings.
	pings map[string]client.ServerPing
	// tools are the names of tools by server, as clients see them.
	tools map[string][]string
	// undescribed are the tools without a description. replacing are those that
	// replace other servers' tools.
	undescribed map[string][]string
	replacing   map[string][]doctor.Replacing
	// tokens and locals are nil if they could not be read. locals are the clients
	// that start genkan.
	tokens     []identity.Token
	locals     []identity.LocalUse
	adminToken gateway.Secret
}

// Gather gathers the facts. It fails only if ctx ends; every other error is a fact.
func Gather(ctx context.Context, opt Options) (Result, error) {
	k := &checkup{Options: opt}
	if k.Progress == nil {
		k.Progress = silence{}
	}
	if full, err := filepath.Abs(k.DataDir); err == nil {
		k.DataDir = full
	}
	k.Full = k.Full || k.Rebuild
	k.facts.Program = doctor.Program{
		Version: k.Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
	}
	k.dataDirectory(ctx)
	k.configuration(ctx)
	if !sameFolder(k.DataDir, k.UsualDataDir) {
		k.facts.Flags += " --data " + doctor.Quote(k.DataDir)
	}
	if k.ConfigNamed {
		k.facts.Flags += " --config " + doctor.Quote(k.facts.Config.File.Path)
	}
	if k.facts.Data.Dir.Problem.Format == "" {
		k.join(ctx)
		k.askServers(ctx)
		k.workflows(ctx)
		k.bypassed(ctx)
		k.calls(ctx)
		k.embeddings(ctx)
		k.database(ctx)
	}
	k.port(ctx)
	k.servers(ctx)
	k.n8n(ctx)
	k.clients(ctx)
	if ctx.Err() != nil {
		return Result{}, &gateway.Error{Code: gateway.CodeCanceled, Err: ctx.Err(), Message: "canceled"}
	}
	return Result{Facts: k.facts, Servers: k.shown}, nil
}

// workflows asks the running genkan whether workflows run at all.
func (k *checkup) workflows(ctx context.Context) {
	if k.remote == nil {
		return
	}
	state, err := k.remote.WorkflowSwitch(ctx)
	if err != nil || state.On {
		return // a genkan of an earlier version has no switch
	}
	r := &k.facts.Running
	r.WorkflowsOff, r.WorkflowsOffBy, r.WorkflowsOffAt = true, state.ChangedBy, state.ChangedAt
}

// bypassed finds the running workflows that name a tool which the tool of another server
// has replaced, and not the other tool.
func (k *checkup) bypassed(ctx context.Context) {
	// Servers report replaced tools by their own names. Built-in sources report none; the
	// names of their tools are those that clients use.
	var replaced []doctor.Bypassed
	for i := range k.shown {
		for _, f := range k.shown[i].Findings {
			if f.Replaced {
				replaced = append(replaced, doctor.Bypassed{Tool: k.shown[i].Name + "__" + f.Name, By: f.TakenBy})
			}
		}
	}
	for by, tools := range k.replacing {
		for _, t := range tools {
			for _, of := range t.Of {
				replaced = append(replaced, doctor.Bypassed{Tool: of + "__" + t.Name, By: by})
			}
		}
	}
	if len(replaced) == 0 || k.facts.Running.WorkflowsOff {
		return
	}
	list, err := k.remote.Workflows(ctx)
	if err != nil {
		return // a rate limit, or a genkan of an earlier version
	}
	for i := range list.Workflows {
		w := &list.Workflows[i]
		for _, tool := range w.Match.Tools {
			at := slices.IndexFunc(replaced, func(b doctor.Bypassed) bool { return b.Tool == tool })
			if at < 0 || !w.Enabled || w.Mode != "enforce" || k.names(w.Match.Tools, replaced[at]) {
				continue
			}
			k.facts.Running.Bypassed = append(k.facts.Running.Bypassed, doctor.Bypassed{Workflow: w.ID, Tool: tool, By: replaced[at].By})
		}
	}
}

// names reports whether one of the patterns is for the tool that has replaced another.
// Its own name is the name that clients use, or the end of that.
func (k *checkup) names(patterns []string, b doctor.Bypassed) bool {
	_, own, _ := strings.Cut(b.Tool, "__")
	names := []string{b.By + "__" + own}
	for _, t := range k.replacing[b.By] {
		if strings.HasSuffix(t.Name, own) {
			names = append(names, b.By+"__"+t.Name)
		}
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		m := workflow.Match{Tools: []string{pattern}}
		return !strings.HasPrefix(pattern, "!") && len(m.UnmatchedTools(names)) == 0
	})
}

// calls asks the running genkan how its call history is.
func (k *checkup) calls(ctx context.Context) {
	if k.remote == nil || len(k.Only) > 0 {
		return
	}
	list, err := k.remote.Calls(ctx, client.CallFilter{Limit: 1})
	switch {
	case err != nil && gateway.AsError(err).Code != gateway.CodeInternal:
		return // a rate limit, or a genkan of an earlier version
	case err != nil:
		k.facts.Data.Calls = doctor.Calls{Problem: gateway.Textf("%s", gateway.AsError(err)), Since: time.Now(), Stopped: true}
		return
	}
	h := list.History
	c := doctor.Calls{Stopped: h.Stopped, Dropped: h.Dropped, LostBodies: h.LostBodies}
	if h.Problem != "" {
		c.Problem = gateway.Textf("%s", h.Problem)
	}
	if h.ProblemSince != nil {
		c.Since = *h.ProblemSince
	}
	k.facts.Data.Calls = c
}

// embeddings asks the running genkan whether its model gives vectors.
func (k *checkup) embeddings(ctx context.Context) {
	if k.remote == nil || k.config == nil || k.config.Embeddings.Definition == "" || len(k.Only) > 0 {
		return
	}
	settings, err := k.remote.Settings(ctx)
	if err != nil || settings.Embeddings == nil {
		return
	}
	k.facts.Embeddings = gateway.Textf("%s", settings.Embeddings.Problem)
	if at := settings.Embeddings.At; at != nil {
		k.facts.EmbeddingsAt = *at
	}
}

func sameFolder(a, b string) bool {
	full, err := filepath.Abs(b)
	return err == nil && a == full
}

// aFile examines a file without opening it.
func aFile(path string) doctor.File {
	f := doctor.File{Path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.Problem = gateway.Textf("%s", plainReason(err))
	default:
		f.Exists, f.Folder, f.Size = true, info.IsDir(), info.Size()
		if runtime.GOOS != "windows" { // Windows has no such bits
			f.Mode = info.Mode()
		}
	}
	return f
}

// plainReason returns the error without the path, which is shown beside it.
func plainReason(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

func (k *checkup) dataDirectory(ctx context.Context) {
	d := &k.facts.Data
	dir := k.DataDir
	d.Dir, d.Free = aFile(dir), -1
	if !d.Dir.Exists || d.Dir.Problem.Format != "" {
		return
	}
	if problem := tryFolder(dir); isFull(problem) {
		d.Full = true
	} else if problem != nil { // also if it is not a folder
		d.Dir.Problem = gateway.Textf("%s", plainReason(problem))
		return
	}
	d.Free = freeSpace(dir)
	d.AdminToken = aFile(k.AdminTokenFile)
	if err := identity.CheckAdminToken(d.AdminToken.Path); err != nil {
		d.AdminToken.Problem = gateway.Textf("%s", gateway.AsError(err))
	}
	d.Log = doctor.File{Path: bridge.LogFile(dir)}
	if info, err := os.Lstat(d.Log.Path); err == nil && !info.Mode().IsRegular() {
		d.Log.Problem = gateway.Textf("%s is a link or no ordinary file; genkan follows no link, which could lead to a file that is not its own", d.Log.Path)
	}
	if err := bridge.CheckRunDir(dir); err != nil {
		d.Place = gateway.Textf("%s", err.Error())
	}
	names, err := k.Vault.Names(ctx, "")
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, k.SecretPrefix):
			d.Secrets++
		case strings.HasPrefix(name, k.SignInPrefix):
			d.SignIns++
		}
	}
	d.Key = k.Vault.KeyPlace()
	if err != nil {
		d.VaultProblem = gateway.Textf("%s", gateway.AsError(err))
	}
}

// tryFolder tries to read and write a folder.
func tryFolder(dir string) error {
	if _, err := os.ReadDir(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// isFull reports whether a write failed because the disk is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// longestSecret is the longest name that people are asked to type.
const longestSecret = 40

func (k *checkup) configuration(ctx context.Context) {
	path := k.ConfigFile
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	c := &k.facts.Config
	c.File, c.Named = aFile(path), k.ConfigNamed
	if k.facts.Data.Dir.Problem.Format != "" && !k.ConfigNamed {
		c.Unread = true
		return
	}
	loaded, err := k.LoadConfig(ctx)
	if err != nil {
		e := gateway.AsError(err)
		c.Problem = gateway.Textf("%s", e)
		if e.Err != nil {
			c.Problem = gateway.Textf("%s: %s", e, e.Err.Error())
		}
		return
	}
	k.config, c.Servers = loaded, len(loaded.Servers)
	for _, s := range loaded.Servers {
		if s.Stored {
			c.Stored++
		}
	}
	for _, s := range clients.PlainSecrets(path) {
		for _, l := range s.Secrets {
			where := l.Where
			if l.Key != "" {
				where += "." + l.Key
			}
			name := l.Variable
			if len(name) > longestSecret { // perhaps made of a whole command
				name = s.Name + ".key"
			}
			c.Plain = append(c.Plain, doctor.Plain{Server: s.Name, Where: where, Secret: name})
		}
	}
}

// join finds the genkan that serves the data directory, or has one started if there
// are servers to start.
func (k *checkup) join(ctx context.Context) {
	if raw, err := os.ReadFile(k.AdminTokenFile); err == nil {
		k.adminToken = gateway.Secret(strings.TrimSpace(string(raw)))
	}
	found := k.Join(ctx, k.hasEnabled())
	k.remote, k.facts.Running, k.facts.Data.Socket = found.Remote, found.Running, found.Socket
	if raw, err := os.ReadFile(k.AdminTokenFile); err == nil && k.adminToken == "" { // a genkan that was just started has written it
		k.adminToken = gateway.Secret(strings.TrimSpace(string(raw)))
	}
}

func (k *checkup) hasEnabled() bool {
	if k.config != nil {
		for _, s := range k.config.Servers {
			if !s.Disabled {
				return true
			}
		}
	}
	return false
}

// betweenLooks is how often the state of starting servers is read.
const betweenLooks = 100 * time.Millisecond

// askServers reads the state of all servers, and waits for starting servers as long
// as they may take. It pings those that are ready.
func (k *checkup) askServers(ctx context.Context) {
	if k.remote == nil {
		return
	}
	began := time.Now()
	if !k.settle(ctx, began) {
		return
	}
	broken := k.ping(ctx, nil)
	for until := time.Now().Add(pingPatience); len(broken) > 0 && ctx.Err() == nil && time.Now().Before(until); {
		// genkan reconnects to them.
		if !pause(ctx, betweenLooks) || !k.settle(ctx, began) {
			return
		}
		broken = k.ping(ctx, broken)
	}
	if full, err := k.remote.ServersInDetail(ctx); err == nil {
		k.shown = full
	}
	for i := range k.shown {
		k.shown[i].Output = strings.Join(lastLines(k.shown[i].Output), "\n")
		k.shown[i].Problem = clients.Mask(k.shown[i].Problem)
	}
	k.tools, k.undescribed, k.replacing = map[string][]string{}, map[string][]string{}, map[string][]doctor.Replacing{}
	seen := true // disabled tools do not count against a client's limit
	list := k.Tools
	if list == nil {
		list = func() ([]client.Tool, error) { return k.remote.Tools(ctx, client.ToolFilter{Enabled: &seen}) }
	}
	if tools, err := list(); err == nil {
		for _, t := range tools {
			k.tools[t.Server] = append(k.tools[t.Server], t.Name)
			if strings.TrimSpace(t.Description) == "" {
				k.undescribed[t.Server] = append(k.undescribed[t.Server], t.Name)
			}
			if len(t.Replaces) > 0 {
				k.replacing[t.Server] = append(k.replacing[t.Server], doctor.Replacing{Name: t.Name, Of: t.Replaces})
			}
		}
	}
}

// settle waits until no server is starting. It reports false if genkan cannot be
// asked.
func (k *checkup) settle(ctx context.Context, began time.Time) bool {
	defer k.Progress.Status(gateway.Text{})
	known := map[string]bool{}
	for _, s := range k.shown { // reported before
		known[s.Name] = s.State != client.StateStarting
	}
	for {
		list, err := k.remote.Servers(ctx)
		if err != nil {
			k.remote, k.facts.Running = nil, doctor.Running{Why: gateway.Textf("%s", gateway.AsError(err))}
			return false
		}
		var waiting []string
		for _, s := range list {
			switch {
			case !k.concerns(s.Name):
			case s.State == client.StateStarting && time.Since(began) < k.startupTimeout(s.Name):
				waiting = append(waiting, s.Name)
			case !known[s.Name]:
				known[s.Name] = true
				k.Progress.Line(gateway.Textf("%s: %s", s.Name, s.State))
			}
		}
		k.shown = list
		if len(waiting) == 0 || !k.Wait {
			return true
		}
		if waited := time.Since(began); waited >= time.Second {
			k.Progress.Status(gateway.Textf("starting, since %s: %s", waited.Round(time.Second), gateway.Names(waiting)))
		}
		if !pause(ctx, betweenLooks) {
			return false
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// pingPatience is how long a server may take to answer a ping.
const pingPatience = 5 * time.Second

// ping pings the ready servers concurrently; nil means all. It returns those whose
// connections broke.
func (k *checkup) ping(ctx context.Context, names []string) (broken []string) {
	var mu sync.Mutex
	var group sync.WaitGroup
	var asked []string
	if k.pings == nil {
		k.pings = map[string]client.ServerPing{}
	}
	for _, s := range k.shown {
		if !k.concerns(s.Name) || names != nil && !slices.Contains(names, s.Name) {
			continue
		}
		mu.Lock()
		delete(k.pings, s.Name)
		mu.Unlock()
		if s.State != client.StateReady {
			continue
		}
		asked = append(asked, s.Name)
		group.Go(func() {
			pinged, err := k.remote.PingServer(ctx, s.Name, pingPatience)
			if err != nil {
				return // an older genkan has no such route
			}
			mu.Lock()
			defer mu.Unlock()
			k.pings[s.Name] = pinged
			if !pinged.Responded && pinged.Millis < pingPatience.Milliseconds() {
				broken = append(broken, s.Name)
			}
		})
	}
	if len(asked) > 0 {
		k.Progress.Status(gateway.Textf("asking for a sign of life: %s", gateway.Names(asked)))
		defer k.Progress.Status(gateway.Text{})
	}
	group.Wait()
	return broken
}

// concerns reports whether a server is to be examined.
func (k *checkup) concerns(name string) bool {
	for _, each := range k.Only {
		if each == name {
			return true
		}
	}
	return len(k.Only) == 0
}

func (k *checkup) startupTimeout(name string) time.Duration {
	if s := k.configured(name); s != nil {
		return s.StartupTimeout + time.Second // genkan reports its own timeout first
	}
	return config.DefaultStartupTimeout
}

func (k *checkup) configured(name string) *config.Server {
	if k.config == nil {
		return nil
	}
	for i := range k.config.Servers {
		if k.config.Servers[i].Name == name {
			return &k.config.Servers[i]
		}
	}
	return nil
}

// lastLines returns the last lines of a server's output that show what is wrong,
// without secrets.
func lastLines(output string) []string {
	const most, longest = 5, 300
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimRight(line, "\r\n\t "); line != "" {
			lines = append(lines, line)
		}
	}
	first := max(min(len(lines)-most, upstream.SummaryLine(lines)), 0)
	lines = lines[first:min(first+most, len(lines))]
	for i, line := range lines {
		line = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, clients.Mask(line))
		if runes := []rune(line); len(runes) > longest {
			line = string(runes[:longest]) + "…"
		}
		lines[i] = line
	}
	return lines
}
