package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/identity"
)

// connecting is how clients are to be connected.
type connecting struct{ write, aggregate, bridge, http bool }

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

Where a genkan listens ("genkan serve"), entries call it by URL, with a token of
the client's own. Otherwise, in clients that only start processes, and in files
that may be committed, entries start "genkan stdio", which needs no token and
starts genkan when it does not run.

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
	f.BoolVar(&how.bridge, "stdio", false, c.say("start \"genkan stdio\" also where a URL would do"))
	f.BoolVar(&how.http, "url", false, c.say("call a URL also when no genkan listens now"))
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

// basePlan is where entries lead: to the genkan that listens, or to a process.
func (c *command) basePlan(how connecting) (clients.Plan, error) {
	plan := clients.Plan{Aggregate: how.aggregate, Bridge: how.bridge}
	self, err := program()
	if err != nil {
		return plan, err
	}
	plan.Command = []string{self}
	if c.dataDir != defaultDataDir() {
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
	address, err := app.ReadAddress(c.dataDir)
	switch {
	case err == nil && address.Answers():
		plan.BaseURL = "http://" + address.Listen
		if address.TLS {
			plan.BaseURL = "https://" + address.Listen
		}
	case how.http:
		cfg, err := c.readConfig()
		if err != nil {
			return plan, err
		}
		if _, port, _ := net.SplitHostPort(cfg.Listen); port == "0" {
			return plan, gateway.Errorf(gateway.CodeInvalid, "--url needs a fixed address, and listen in %s is %s, any that is free; give it a port, or start `genkan serve` first", c.ownConfig(), cfg.Listen)
		}
		plan.BaseURL = "http://" + callable(cfg.Listen)
		if cfg.TLS.CertFile != "" {
			plan.BaseURL = "https://" + callable(cfg.Listen)
		}
	default:
		plan.Bridge = true
	}
	return plan, nil
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
// and those that it has none for.
func entriesOf(f clients.File, imported clients.Imported, imports clients.Imports) (ours map[clients.Place]string, strange []string) {
	ours = map[clients.Place]string{}
	for _, s := range imported.Servers {
		place := clients.Place{Section: s.Section, Name: s.OriginalName}
		if name, ok := imports.Name(f, place); ok {
			ours[place] = name
		} else {
			strange = append(strange, s.OriginalName)
		}
	}
	for _, l := range imported.Leads {
		if len(l.Servers) == 1 {
			ours[l.Place] = l.Servers[0]
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
	add := func(place clients.Place) {
		if name, ok := plan.Servers[place]; ok {
			rows = append(rows, []string{"  " + place.Name, "→ " + c.leadsTo(f, plan, name)})
		}
	}
	for _, s := range imported.Servers {
		add(clients.Place{Section: s.Section, Name: s.OriginalName})
	}
	for _, l := range imported.Leads {
		add(l.Place)
	}
	return rows
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
const clientTokenPrefix = "token/"

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
