package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/checkup"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/identity"
)

// connecting is how clients are to be connected.
type connecting struct{ write, aggregate, url, project bool }

// allClients is the word for every client that has a file here.
const allClients = "all"

func (c *command) connect() *cobra.Command {
	var how connecting
	cmd := &cobra.Command{
		Use: "connect [CLIENT...|all]", Short: c.say("Let a client's servers come through genkan"), Args: arguments(0, anyNumber),
		Long: c.say(`Change the entries of clients that were imported so that they lead to genkan.
They keep their names, so permissions and prompts that name tools stay right, and
nothing else of the files changes. Without --write it only says what it would do.

CLIENT is one of %s; all is every one
that has servers here. Without any, the clients are shown.

Entries start "genkan stdio", which needs no token and starts genkan when it does
not run. With --url they call a genkan that listens, with a token of the client's
own: they work only while "genkan serve" runs, and a file that others can read
gets no token. Entries that called a URL are moved by connecting again without it.

Files of a project, as .mcp.json in this folder, are shared with others who work
on it. They are left as they are unless --project is given.

--aggregate puts one entry, genkan, in place of all of them; its tools are called
SERVER__TOOL. "genkan undo" puts the files back as they were.`, clientNames()),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, err := clients.Here()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return c.showClients(env)
			}
			if len(args) == 1 && args[0] == allClients {
				return c.connectAll(cmd.Context(), env, how)
			}
			var named []clients.Client
			for _, arg := range args {
				known, ok := clients.Lookup(arg)
				if !ok {
					return unknownClient(arg)
				}
				named = append(named, known)
			}
			return c.connectNamed(cmd.Context(), env, named, how)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&how.write, "write", false, c.say("change the files"))
	f.BoolVar(&how.aggregate, "aggregate", false, c.say("one entry for all servers"))
	f.BoolVar(&how.url, "url", false, c.say("call the URL of \"genkan serve\", which has to keep running"))
	f.BoolVar(&how.project, "project", false, c.say("also change files of the project, which others share"))
	return cmd
}

// showClients lists the files that clients have here.
func (c *command) showClients(env clients.Environment) error {
	rows := [][]string{{c.say("CLIENT"), c.say("FILE"), c.say("SERVERS"), c.say("THROUGH GENKAN")}}
	for _, f := range clients.Find(env) {
		imported, err := clients.Read(f)
		if err != nil {
			rows = append(rows, []string{f.Client, c.homely(f.Path), c.say("cannot be read"), ""})
			continue
		}
		rows = append(rows, []string{
			f.Client, c.homely(f.Path), strconv.Itoa(len(imported.Servers) + len(imported.Own)), strconv.Itoa(len(imported.Own)),
		})
	}
	if len(rows) == 1 {
		fmt.Fprintln(c.std.Out, c.say("No client with MCP servers was found. `genkan connect CLIENT --aggregate --write` makes an entry for genkan in a client that has none yet."))
		return nil
	}
	c.table(rows)
	return nil
}

// basePlan is where entries lead: to a process, or with --url to the genkan that
// listens.
func (c *command) basePlan(ctx context.Context, how connecting) (clients.Plan, error) {
	plan := clients.Plan{Aggregate: how.aggregate, Bridge: !how.url}
	self, err := program()
	if err != nil {
		return plan, err
	}
	plan.Command = []string{self}
	if c.dataDir != app.DefaultDataDir() {
		dir, err := filepath.Abs(c.dataDir)
		if err != nil {
			return plan, err
		}
		plan.Command = append(plan.Command, "--data", dir)
	}
	if c.configFile != "" {
		file, err := filepath.Abs(c.configFile)
		if err != nil {
			return plan, err
		}
		plan.Command = append(plan.Command, "--config", file)
	}
	if how.url {
		plan.BaseURL, err = c.baseURL(ctx)
	}
	return plan, err
}

// baseURL is the address of the genkan that listens, or else the one that the
// configuration gives it.
func (c *command) baseURL(ctx context.Context) (string, error) {
	if running, err := c.findOwner(ctx); err == nil && running.Listen != "" {
		if running.TLS {
			return "https://" + running.Listen, nil
		}
		return "http://" + running.Listen, nil
	}
	cfg, err := c.readConfig()
	if err != nil {
		return "", err
	}
	if _, port, _ := net.SplitHostPort(cfg.Listen); port == "0" {
		return "", gateway.Errorf(gateway.CodeInvalid, "--url needs a fixed address, and listen in %s is %s, any that is free; give it a port, or start `genkan serve` first", c.ownConfig(), cfg.Listen)
	}
	if cfg.TLS.CertFile != "" {
		return "https://" + checkup.Callable(cfg.Listen), nil
	}
	return "http://" + checkup.Callable(cfg.Listen), nil
}

// program is the path that entries start genkan by. A link in the PATH stays
// when an update puts another file behind it, so it is better than that file.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	linked, err := exec.LookPath("genkan")
	if err != nil || !filepath.IsAbs(linked) {
		return self, nil
	}
	ours, err := os.Stat(self)
	if err != nil {
		return self, nil
	}
	if theirs, err := os.Stat(linked); err == nil && os.SameFile(ours, theirs) {
		return linked, nil
	}
	return self, nil
}

// entriesOf are a file's entries that genkan has a server for, with its name,
// and those that it has none for. An entry without a name stands for all servers.
func (p *connections) entriesOf(f clients.File, imported clients.Imported) (ours map[clients.Place]string, strange []string) {
	ours = map[clients.Place]string{}
	for _, s := range imported.Servers {
		place := clients.Place{Section: s.Section, Name: s.OriginalName}
		if name, ok := p.imports.Name(f, place); ok {
			ours[place] = name
		} else {
			strange = append(strange, s.OriginalName)
		}
	}
	for _, l := range imported.Leads {
		switch {
		case l.URL != "" && !p.isHere(l):
			// It calls a genkan on another machine, or with other servers.
		case len(l.Servers) == 1:
			ours[l.Place] = l.Servers[0]
		case l.URL != "":
			ours[l.Place] = ""
		}
	}
	return ours, strange
}

// leadRows say where entries will lead, in the file's order.
func (c *command) leadRows(f clients.File, plan clients.Plan, imported clients.Imported) [][]string {
	if plan.Aggregate {
		return [][]string{{"  genkan", "→ " + c.leadsTo(f, plan, "")}}
	}
	var rows [][]string
	add := func(place clients.Place, was string) {
		name, ok := plan.Servers[place]
		if !ok {
			return
		}
		to := c.leadsTo(f, plan, name)
		if was != "" && was != to {
			was = c.say("(it called %s)", was)
		} else {
			was = ""
		}
		rows = append(rows, []string{"  " + place.Name, "→ " + to, was})
	}
	for _, s := range imported.Servers {
		add(clients.Place{Section: s.Section, Name: s.OriginalName}, "")
	}
	for _, l := range imported.Leads {
		add(l.Place, l.URL)
	}
	return rows
}

// removedNames returns the names of the entries that --aggregate replaces, in the
// file's order. The entry genkan itself stays.
func removedNames(plan clients.Plan, imported clients.Imported) []string {
	var removed []string
	add := func(place clients.Place) {
		if name, ok := plan.Servers[place]; ok && name != "" && !slices.Contains(removed, place.Name) {
			removed = append(removed, place.Name)
		}
	}
	for _, s := range imported.Servers {
		add(clients.Place{Section: s.Section, Name: s.OriginalName})
	}
	for _, l := range imported.Leads {
		add(l.Place)
	}
	return removed
}

// leadsTo shows where an entry will lead.
func (c *command) leadsTo(f clients.File, plan clients.Plan, name string) string {
	if f.Bridged() || plan.Bridge {
		if name == "" {
			return "genkan stdio --client " + f.Client
		}
		return "genkan stdio --client " + f.Client + " --only " + name
	}
	if name == "" {
		return plan.BaseURL + "/mcp"
	}
	return plan.BaseURL + "/mcp/s/" + name
}

// clientTokenPrefix begins what a client's token is called in the vault: it is
// needed again when another of its files is connected.
const clientTokenPrefix = app.ClientTokenPrefix

// tokenFor is the client's own token. When it has none, one is made, or stands
// in for it where nothing is to be changed yet.
func (c *command) tokenFor(ctx context.Context, client string, mayMake bool) (token gateway.Secret, err error) {
	vault := app.OpenVault(c.dataDir)
	err = c.keeper(ctx, func(k *identity.Keeper) error {
		kept, found, err := vault.Load(ctx, clientTokenPrefix+client)
		if err != nil {
			return err
		}
		if found {
			if _, err := k.Verify(ctx, kept.Reveal()); err == nil {
				token = kept
				return nil
			}
		}
		if !mayMake {
			token = "gk_…"
			return nil
		}
		// One that was made by hand stays as it is; this is another client's.
		name := client
		for n := 2; ; n++ {
			_, token, err = k.Add(ctx, name, false)
			var e *gateway.Error
			if !errors.As(err, &e) || e.Code != gateway.CodeConflict {
				break
			}
			name = client + "-" + strconv.Itoa(n)
		}
		if err != nil {
			return err
		}
		return vault.Save(ctx, clientTokenPrefix+client, token)
	})
	return token, err
}

// homely writes ~ for the home directory.
func (c *command) homely(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}
