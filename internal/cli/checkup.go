package cli

import (
	"context"
	"errors"
	"fmt"
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
	"genkan/internal/app"
	"genkan/internal/bridge"
	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/upstream"
)

// checkup gathers the facts that the doctor looks at.
type checkup struct {
	*command
	only    []string
	noStart bool
	// full reads everything, rebuild mends it, too.
	full, rebuild bool

	facts doctor.Facts
	// config is nil when it cannot be used.
	config *config.Config
	remote *client.Client
	// shown are the servers as the API tells of them, without secrets.
	shown []client.Server
	// pings are the answers of servers that were asked for a sign of life.
	pings map[string]client.ServerPing
	// tools are the names of tools by server, as clients see them.
	tools map[string][]string
	// undescribed are those of them without a description, and replacing those
	// that stand in the place of others.
	undescribed map[string][]string
	replacing   map[string][]doctor.Replacing
	// tokens are nil when they could not be read, and so are locals, the clients
	// that start genkan.
	tokens     []identity.Token
	locals     []identity.LocalUse
	adminToken gateway.Secret
}

// gather asks everybody. An error is that it was interrupted; all else that
// goes wrong is a fact.
func (k *checkup) gather(ctx context.Context) error {
	k.facts.Program = doctor.Program{
		Version: k.version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
	}
	k.dataDirectory(ctx)
	k.configuration(ctx)
	if k.dataDir != defaultDataDir() {
		k.facts.Flags += " --data " + doctor.Quote(k.facts.Data.Dir.Path)
	}
	if k.configFile != "" {
		k.facts.Flags += " --config " + doctor.Quote(k.facts.Config.File.Path)
	}
	if k.facts.Data.Dir.Problem.Format == "" {
		k.findRunning(ctx)
		k.start(ctx)
		k.askServers(ctx)
		k.database(ctx)
	}
	k.port(ctx)
	k.servers(ctx)
	k.clients(ctx)
	if ctx.Err() != nil {
		return &gateway.Error{Code: gateway.CodeCanceled, Err: ctx.Err(), Message: "canceled"}
	}
	return nil
}

// aFile looks at a file without opening it.
func aFile(path string) doctor.File {
	f := doctor.File{Path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		f.Problem = gateway.Textf("%s", plainReason(err))
	default:
		f.Exists, f.Folder, f.Size = true, info.IsDir(), info.Size()
		if runtime.GOOS != "windows" { // which has no such bits
			f.Mode = info.Mode()
		}
	}
	return f
}

// plainReason leaves out the path, which is told beside it.
func plainReason(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

func (k *checkup) dataDirectory(ctx context.Context) {
	d := &k.facts.Data
	dir, err := filepath.Abs(k.dataDir)
	if err != nil {
		dir = k.dataDir
	}
	d.Dir, d.Free = aFile(dir), -1
	if !d.Dir.Exists || d.Dir.Problem.Format != "" {
		return
	}
	if problem := tryFolder(dir); isFull(problem) {
		d.Full = true
	} else if problem != nil { // also of what is no folder
		d.Dir.Problem = gateway.Textf("%s", plainReason(problem))
		return
	}
	d.Free = freeSpace(dir)
	d.AdminToken = aFile(app.AdminTokenFile(dir))
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
	vault := app.OpenVault(dir)
	names, err := vault.Names(ctx, "")
	names = slices.DeleteFunc(names, func(name string) bool { // which are ours, and nobody's concern
		return strings.HasPrefix(name, clients.BackupPrefix) || strings.HasPrefix(name, clientTokenPrefix)
	})
	d.Secrets, d.Key = len(names), vault.KeyPlace()
	if err != nil {
		d.VaultProblem = gateway.Textf("%s", gateway.AsError(err))
	}
}

// tryFolder reads and writes.
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

// isFull reports whether a write failed for want of space.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// longestSecret is how long a name may be that people are asked to type.
const longestSecret = 40

func (k *checkup) configuration(ctx context.Context) {
	path, mustExist := k.configFile, k.configFile != ""
	if !mustExist {
		path = app.DefaultConfigFile(k.facts.Data.Dir.Path)
	} else if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	c := &k.facts.Config
	c.File = aFile(path)
	if k.facts.Data.Dir.Problem.Format != "" && !mustExist {
		c.Unread = true
		return
	}
	loaded, err := config.Load(path, mustExist, k.sources(ctx), k.flags)
	if err != nil {
		e := gateway.AsError(err)
		c.Problem = gateway.Textf("%s", e)
		if e.Err != nil {
			c.Problem = gateway.Textf("%s: %s", e, e.Err.Error())
		}
		return
	}
	k.config, c.Servers = loaded, len(loaded.Servers)
	for _, s := range clients.PlainSecrets(path) {
		for _, l := range s.Secrets {
			where := l.Where
			if l.Key != "" {
				where += "." + l.Key
			}
			name := l.Variable
			if len(name) > longestSecret { // of a whole command, perhaps
				name = s.Name + ".key"
			}
			c.Plain = append(c.Plain, doctor.Plain{Server: s.Name, Where: where, Secret: name})
		}
	}
}

// findRunning finds the genkan that serves the data directory by its socket.
func (k *checkup) findRunning(ctx context.Context) {
	dir := k.facts.Data.Dir.Path
	raw, err := os.ReadFile(app.AdminTokenFile(dir))
	if err != nil {
		return // none has ever run
	}
	k.adminToken = gateway.Secret(strings.TrimSpace(string(raw)))
	welcome, err := k.findOwner(ctx)
	if err != nil {
		if !errors.Is(err, bridge.ErrNobody) && ctx.Err() == nil {
			k.facts.Data.Socket = gateway.Textf("%s", err.Error())
		}
		return
	}
	k.remote = client.NewOver(k.dialOwner, k.adminToken)
	version := welcome.Version
	if health, err := k.remote.Health(ctx); err == nil {
		version = health.Version
	}
	how := "background"
	if welcome.Listen != "" {
		how = "serve"
	}
	k.facts.Running = doctor.Running{How: how, Version: version, PID: welcome.PID, Listen: welcome.Listen}
}

// start starts a genkan in the background, as `genkan stdio` does, when there
// is something to start it for.
func (k *checkup) start(ctx context.Context) {
	if k.remote != nil || !k.hasEnabled() || ctx.Err() != nil {
		return
	}
	if k.noStart {
		k.facts.Running.Refrained = true
		return
	}
	k.progress(k.say("No genkan runs for %s: starting one in the background.", k.facts.Data.Dir.Path))
	err := k.startBackground(ctx)
	if err == nil {
		k.findRunning(ctx)
		k.facts.Running.Started = k.remote != nil
	}
	if err != nil && ctx.Err() == nil {
		k.facts.Running.Why = gateway.Textf("%s", clients.Mask(err.Error()))
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

// progress tells a person who waits; a program waits in silence.
func (k *checkup) progress(line string) {
	if !k.asJSON && isTerminal(k.std.Err) {
		fmt.Fprintln(k.std.Err, line)
	}
}

// betweenLooks is how often servers that are starting are asked about.
const betweenLooks = 100 * time.Millisecond

// askServers asks about all servers, and waits for those that are starting as
// long as they may take. Those that are ready are asked for a sign of life.
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
		// genkan connects to them anew.
		if !pause(ctx, betweenLooks) || !k.settle(ctx, began) {
			return
		}
		broken = k.ping(ctx, broken)
	}
	for i, s := range k.shown {
		if full, err := k.remote.Server(ctx, s.Name); err == nil {
			k.shown[i] = full
		}
		k.shown[i].Output = strings.Join(lastLines(k.shown[i].Output), "\n")
		k.shown[i].Problem = clients.Mask(k.shown[i].Problem)
	}
	k.tools, k.undescribed, k.replacing = map[string][]string{}, map[string][]string{}, map[string][]doctor.Replacing{}
	seen := true // what is disabled counts against no client's limit
	if tools, err := k.remote.Tools(ctx, client.ToolFilter{Enabled: &seen}); err == nil {
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

// settle waits until no server is starting any more. It reports false if nobody can
// be asked.
func (k *checkup) settle(ctx context.Context, began time.Time) bool {
	known := map[string]bool{}
	for _, s := range k.shown { // which were told before
		known[s.Name] = s.State != client.StateStarting
	}
	for {
		list, err := k.remote.Servers(ctx)
		if err != nil {
			k.remote, k.facts.Running = nil, doctor.Running{Why: gateway.Textf("%s", gateway.AsError(err))}
			return false
		}
		waiting := false
		for _, s := range list {
			switch {
			case !k.concerns(s.Name):
			case s.State == client.StateStarting && time.Since(began) < k.startupTimeout(s.Name):
				waiting = true
			case !known[s.Name]:
				known[s.Name] = true
				k.progress("  " + k.say("%s: %s", s.Name, s.State))
			}
		}
		k.shown = list
		if !waiting {
			return true
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

// pingPatience is how long a server may take to show a sign of life.
const pingPatience = 5 * time.Second

// ping asks servers that are ready for a sign of life, all at once; nil is all of
// them. It returns those whose connections broke.
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
	if line := (&progressLine{c: k.command}); len(asked) > 0 && !k.asJSON {
		line.show(k.say("asking for a sign of life: %s", strings.Join(asked, ", ")))
		defer line.clear()
	}
	group.Wait()
	return broken
}

// concerns reports whether a server was asked for.
func (k *checkup) concerns(name string) bool {
	for _, each := range k.only {
		if each == name {
			return true
		}
	}
	return len(k.only) == 0
}

func (k *checkup) startupTimeout(name string) time.Duration {
	if s := k.configured(name); s != nil {
		return s.StartupTimeout + time.Second // which genkan itself says first
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

// lastLines are the last words of a server that tell what is wrong, without
// secrets.
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
