package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

func (c *command) importServers() *cobra.Command {
	var how importing
	cmd := &cobra.Command{
		Use: "import [CLIENT|FILE]...", Short: c.say("Take over the servers of your editors"),
		Long: c.say(`Read the MCP servers that your clients have, and add them to genkan's
configuration. The clients' files are only read: "genkan connect" changes them.

Without an argument all clients that are installed here are looked for. CLIENT is
one of %s; FILE is any file with a list of servers.

It shows what it would do and asks. Keys that stand in the files are kept
encrypted ("genkan secrets"), and the configuration only refers to them. Then
every server is started once, so that its tools are known when a client asks.

Files of a project, as .mcp.json or .vscode/mcp.json in this folder, may have come
with a clone, and name commands that somebody else chose. Their servers are shown
apart, asked about apart, and left out by --yes unless --project is given, too.
Nothing in them changes your own servers: what they ask for and its defaults count
for their servers only.`, clientNames()),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runImport(cmd.Context(), args, how)
		},
	}
	cmd.Flags().BoolVarP(&how.yes, "yes", "y", false, c.say("do not ask"))
	cmd.Flags().BoolVar(&how.project, "project", false, c.say("with --yes, also add servers that came with a project"))
	cmd.Flags().BoolVar(&how.noStart, "no-start", false, c.say("do not start the servers"))
	return cmd
}

// importing is how servers are to be imported.
type importing struct{ yes, project, noStart bool }

func clientNames() string {
	var names []string
	for _, c := range clients.All() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// importsFile remembers what was imported from where.
func (c *command) importsFile() string { return filepath.Join(c.dataDir, "imports.json") }

func (c *command) backups() clients.Backups {
	return clients.Backups{Dir: filepath.Join(c.dataDir, "backups"), Vault: app.OpenVault(c.dataDir)}
}

// ownConfig is the path of genkan's configuration.
func (c *command) ownConfig() string {
	if c.configFile != "" {
		return c.configFile
	}
	return app.DefaultConfigFile(c.dataDir)
}

// sources are what the configuration's variables mean to this process, and the
// servers beside it.
func (c *command) sources(ctx context.Context) config.Sources {
	vault := app.OpenVault(c.dataDir)
	kept, err := app.KeptServers(ctx, c.dataDir)
	if err != nil {
		kept = nil // who needs the database says what is wrong with it
	}
	return config.Sources{Kept: kept, Env: os.LookupEnv, Secret: func(name string) (gateway.Secret, bool, error) {
		return vault.Load(ctx, app.SecretPrefix+name)
	}}
}

func (c *command) runImport(ctx context.Context, args []string, how importing) error {
	env, err := clients.Here()
	if err != nil {
		return err
	}
	files, err := c.filesOf(env, args)
	if err != nil {
		return err
	}
	cfg, err := c.readConfig()
	if err != nil {
		return err
	}
	imports, err := clients.LoadImports(c.importsFile())
	if err != nil {
		return err
	}
	gathered := clients.Gather(files, imports, func(name string) bool {
		return slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name })
	}, config.KnowledgeRoom)
	if slices.ContainsFunc(gathered.Found, func(f clients.Found) bool { return f.Project }) {
		inUse, err := c.secretInUse(ctx)
		if err != nil {
			return err
		}
		gathered.AvoidSecrets(inUse)
	}
	c.setAside(ctx, &gathered)
	fresh := refer(gathered)
	c.showPlan(gathered, fresh, files)
	if len(fresh) == 0 {
		// Entries of another client that are the same server are news, too.
		return c.remember(imports, gathered.Found)
	}
	added, err := c.chosen(ctx, args, fresh, how)
	if err != nil {
		return err
	}
	leftOut := func(f clients.Found) bool {
		return !f.Known && !slices.ContainsFunc(added, func(a clients.Found) bool { return a.Name == f.Name })
	}
	gathered.Found = slices.DeleteFunc(gathered.Found, leftOut)
	fresh = added
	if len(fresh) == 0 {
		fmt.Fprintln(c.std.Err, c.say("Nothing was changed."))
		return nil
	}
	if err := c.keepSecrets(ctx, fresh, how.yes); err != nil {
		return err
	}
	if err := c.addToOwn(ctx, fresh); err != nil {
		return err
	}
	if err := c.remember(imports, gathered.Found); err != nil {
		return err
	}
	fmt.Fprintln(c.std.Out, c.say("Added to %s: %d.", c.homely(c.ownConfig()), len(fresh)))
	if !how.noStart {
		if err := c.startImported(ctx, fresh); err != nil {
			return err
		}
	}
	c.suggestConnect(gathered.Found)
	return nil
}

// chosen asks which of the new servers are to be added. Those that came with a
// project need a yes of their own, because adding a server runs its command.
func (c *command) chosen(ctx context.Context, args []string, fresh []clients.Found, how importing) ([]clients.Found, error) {
	var own, foreign []clients.Found
	var names []string
	for _, f := range fresh {
		if f.Project {
			foreign, names = append(foreign, f), append(names, f.Name)
		} else {
			own = append(own, f)
		}
	}
	if len(own) > 0 && !how.yes {
		question := c.say("Add them?")
		if len(foreign) > 0 {
			question = c.say("Add the %d that are your own?", len(own))
		}
		if agreed, err := c.confirm(ctx, question); err != nil || !agreed {
			return nil, err
		}
	}
	if len(foreign) == 0 || how.yes && how.project {
		return append(own, foreign...), nil
	}
	if !how.yes && !c.interactive() {
		return nil, gateway.Errorf(gateway.CodeInvalid, "nothing was changed, for nobody can be asked here; run it with --yes --project to add servers that came with a project")
	}
	if !how.yes {
		fmt.Fprintln(c.std.Out, c.say("These came with the project. Adding them runs commands that its authors chose, as you:"))
		var all []shown
		for _, f := range foreign {
			all = append(all, shown{f.Name, c.whatRuns(f)})
		}
		c.list(all)
		agreed, err := c.confirmLoss(ctx, c.say("Add and start %s, too?", strings.Join(names, ", ")))
		if err != nil {
			return nil, err
		}
		if agreed {
			return append(own, foreign...), nil
		}
	}
	fmt.Fprintln(c.std.Out, c.say("Left out, because they came with the project: %s. `%s` adds them.",
		strings.Join(names, ", "), commandLine(slices.Concat([]string{"genkan", "import"}, args, []string{"--yes", "--project"}))))
	return own, nil
}

func (c *command) remember(imports clients.Imports, found []clients.Found) error {
	for _, f := range found {
		imports.Add(f)
	}
	if len(imports.Servers) == 0 {
		return nil
	}
	return imports.Save(c.importsFile())
}

// filesOf finds the files that are meant.
func (c *command) filesOf(env clients.Environment, args []string) ([]clients.File, error) {
	if len(args) == 0 {
		files := clients.Find(env)
		if len(files) == 0 {
			return nil, gateway.Errorf(gateway.CodeNotFound,
				"no client with MCP servers was found on this machine; name a file with a list of servers, or one of %s", clientNames())
		}
		return files, nil
	}
	var all []clients.File
	for _, arg := range args {
		files, err := filesNamed(env, arg)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

func filesNamed(env clients.Environment, arg string) ([]clients.File, error) {
	known, ok := clients.Lookup(arg)
	if !ok {
		if !strings.ContainsAny(arg, `/\.`) {
			if _, err := os.Stat(arg); err != nil {
				return nil, unknownClient(arg)
			}
		}
		f, err := clients.FileAt(env, arg)
		return []clients.File{f}, err
	}
	var files []clients.File
	var places []string
	for _, f := range known.Files(env) {
		if _, err := os.Stat(f.Path); err == nil {
			files = append(files, f)
		}
		places = append(places, f.Path)
	}
	if len(files) == 0 {
		return nil, gateway.Errorf(gateway.CodeNotFound, "%s has no servers on this machine; looked for %s", known.Title, strings.Join(places, ", "))
	}
	return files, nil
}

func unknownClient(name string) error {
	if near := gateway.Nearest(name, strings.SplitSeq(clientNames(), ", ")); near != "" {
		return gateway.Errorf(gateway.CodeInvalid, "%q is neither a client that genkan knows nor a file; did you mean %s?", name, near)
	}
	return gateway.Errorf(gateway.CodeInvalid, "%q is neither a client that genkan knows nor a file; the clients are %s", name, clientNames())
}

// refer returns the servers that are new, with references in place of secrets.
func refer(g clients.Gathered) []clients.Found {
	var fresh []clients.Found
	for _, f := range g.Found {
		if f.Known {
			continue
		}
		f.Env, f.Headers, f.Args = maps.Clone(f.Env), maps.Clone(f.Headers), slices.Clone(f.Args)
		for _, l := range f.Secrets {
			f.Refer(l, "${secret:"+l.Variable+"}")
		}
		for _, in := range f.Inputs {
			if !in.Environment {
				f.ReferInput(in)
			}
		}
		fresh = append(fresh, f)
	}
	return fresh
}

// setAside takes out what genkan's configuration would refuse, and says why:
// one odd entry must not keep the others from being taken over.
func (c *command) setAside(ctx context.Context, g *clients.Gathered) {
	kept := c.sources(ctx)
	g.Found = slices.DeleteFunc(g.Found, func(f clients.Found) bool {
		if f.Known {
			return false
		}
		from := config.Sources{Env: kept.Env, Secret: func(name string) (gateway.Secret, bool, error) {
			if i := slices.IndexFunc(f.Secrets, func(l clients.Literal) bool { return l.Variable == name }); i >= 0 {
				return f.Secrets[i].Value, true, nil
			}
			return kept.Secret(name)
		}}
		server := refer(clients.Gathered{Found: []clients.Found{f}})[0].Server
		_, err := config.Parse([]byte(clients.Snippet([]clients.Server{server})), "", from, config.Flags{})
		if err == nil {
			return false
		}
		for _, o := range f.Origins {
			g.Notes = append(g.Notes, clients.FileNote{
				File: clients.File{Client: o.Client, Path: o.Path},
				Note: clients.Note{Server: o.Name, Section: o.Section, Text: gateway.Textf("it was left out: %s", gateway.AsError(err))},
			})
		}
		return true
	})
}

// keepSecrets keeps what stood in the files, and what the clients would have
// asked for or had in their environment. All is asked for before anything is
// kept, so that Ctrl-C leaves nothing behind.
func (c *command) keepSecrets(ctx context.Context, fresh []clients.Found, yes bool) error {
	vault := app.OpenVault(c.dataDir)
	given := map[string]gateway.Secret{}
	asked := map[string]gateway.Secret{} // by question: servers of a file share inputs
	for i := range fresh {
		f := &fresh[i]
		for _, in := range f.Inputs {
			name := in.Secret
			if in.Environment {
				if _, set := os.LookupEnv(in.Variable); set {
					continue
				}
				name = in.Variable // the configuration finds the secret of this name, too
			}
			if _, found, err := vault.Load(ctx, app.SecretPrefix+name); err != nil || found {
				continue
			}
			if _, known := given[in.Secret]; known {
				f.ReferInput(in)
				continue
			}
			question := c.questionFor(*f, in)
			value, known := asked[question]
			if !known {
				var err error
				if value, err = c.valueOf(ctx, question, in, yes); err != nil {
					return err
				}
				asked[question] = value
			}
			if value == "" {
				continue // the server will say what it lacks
			}
			given[in.Secret] = value
			f.ReferInput(in)
		}
	}
	for _, f := range fresh {
		for _, l := range f.Secrets {
			given[l.Variable] = l.Value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := vault.Save(ctx, app.SecretPrefix+name, given[name]); err != nil {
			return err
		}
		app.NoteChange(c.dataDir, "secrets set", name)
	}
	return nil
}

// valueOf asks for a value. An empty answer stands for the default, as does --yes;
// the plan and the question have shown it.
func (c *command) valueOf(ctx context.Context, question string, in clients.Input, yes bool) (gateway.Secret, error) {
	if yes || !c.interactive() {
		return gateway.Secret(defaultOf(in)), nil
	}
	typed, err := c.readSecret(ctx, question)
	if ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return gateway.Secret(defaultOf(in)), nil
	}
	return typed, nil
}

// defaultOf returns the default of an input. One that is typed like a password has
// none: the file would hold a key in plain text.
func defaultOf(in clients.Input) string {
	if in.Hidden {
		return ""
	}
	return in.Default
}

func (c *command) questionFor(f clients.Found, in clients.Input) string {
	about := in.ID
	if in.Description != "" {
		about += " (" + in.Description + ")"
	}
	about = gateway.Printable(about)
	if f.Project {
		about = c.say("%s for %s, which came with the project", about, gateway.Printable(c.homely(f.Origins[0].Path)))
	}
	if value := defaultOf(in); value != "" {
		return c.say("Value of %s (it is not shown; empty for %s): ", about, gateway.Printable(value))
	}
	return c.say("Value of %s (it is not shown; empty to give it later): ", about)
}

// used reports whether a server has the variable.
func used(fresh []clients.Found, variable string) bool {
	return slices.ContainsFunc(fresh, func(f clients.Found) bool { return f.Uses(variable) })
}

// secretInUse returns a function that reports whether a secret of a name is kept,
// or genkan's configuration refers to one.
func (c *command) secretInUse(ctx context.Context) (func(name string) bool, error) {
	own, _, err := clients.Contents(c.ownConfig())
	if err != nil {
		return nil, err
	}
	kept, err := app.KeptServers(ctx, c.dataDir)
	if err != nil {
		return nil, err
	}
	texts := []string{string(own)}
	for _, k := range kept {
		texts = append(texts, string(k.Definition))
	}
	vault := app.OpenVault(c.dataDir)
	return func(name string) bool {
		for _, text := range texts {
			if strings.Contains(text, ":"+name+"}") { // ${secret:NAME} or ${input:NAME}
				return true
			}
		}
		_, found, err := vault.Load(ctx, app.SecretPrefix+name)
		return found || err != nil
	}, nil
}

// addToOwn writes the servers into genkan's configuration, if what comes out is
// one.
func (c *command) addToOwn(ctx context.Context, fresh []clients.Found) error {
	var servers []clients.Server
	for _, f := range fresh {
		servers = append(servers, f.Server)
	}
	if err := os.MkdirAll(c.dataDir, 0o700); err != nil {
		return &gateway.Error{
			Code: gateway.CodeInvalid, Err: err,
			Message: "the data directory %s cannot be made; choose another with --data",
			Values:  []any{c.dataDir},
		}
	}
	if c.configFile == "" {
		app.OfferExample(c.ownConfig())
	}
	_, err := c.backups().AddOwn(c.ownConfig(), servers, func(out []byte) error {
		_, err := config.Parse(out, c.ownConfig(), c.sources(ctx), c.flags)
		return err
	})
	if err != nil {
		fmt.Fprintf(c.std.Err, "%s\n\n%s\n", c.say("The configuration was not changed. These are the servers, to be added by hand:"), clients.Snippet(servers))
	}
	return err
}

func (c *command) startImported(ctx context.Context, fresh []clients.Found) error {
	fmt.Fprintln(c.std.Out, c.say("Starting them once:"))
	remote, err := c.running(ctx)
	if err != nil {
		return err
	}
	if err := remote.Reload(ctx); err != nil {
		return err
	}
	var names []string
	for _, f := range fresh {
		if !f.Disabled {
			names = append(names, f.Name)
		}
	}
	return c.await(ctx, remote, names)
}
