package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/setup"
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
for their servers only.`, setup.ClientNames()),
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

// importing are the flags of import.
type importing struct{ yes, project, noStart bool }

func (c *command) runImport(ctx context.Context, args []string, how importing) error {
	which := client.ImportSelection{Folder: workingDir()}
	for _, arg := range args {
		one, err := clientOrFile(arg)
		if err != nil {
			return err
		}
		which.From = append(which.From, one)
	}
	api := c.setupAPI(ctx)
	plan, err := api.PlanImport(ctx, which)
	if err != nil {
		return err
	}
	if len(plan.Files) == 0 {
		return gateway.Errorf(gateway.CodeNotFound,
			"no client with MCP servers was found on this machine; name a file with a list of servers, or one of %s", setup.ClientNames())
	}
	fresh := slices.DeleteFunc(slices.Clone(plan.Servers), func(s client.ImportServer) bool { return s.Known })
	c.showPlan(plan, fresh)
	in := client.ImportRequest{ImportSelection: which, Revision: plan.Revision}
	if len(fresh) == 0 {
		// This also records entries of other clients that are the same server.
		_, err := api.Import(ctx, in)
		return err
	}
	added, err := c.chosen(ctx, args, fresh, how)
	if err != nil {
		return err
	}
	if len(added) == 0 {
		fmt.Fprintln(c.std.Err, c.say("Nothing was changed."))
		return nil
	}
	if in.Values, err = c.askForValues(ctx, added, how.yes); err != nil {
		return err
	}
	for _, s := range added {
		if s.Project {
			in.ProjectServers = append(in.ProjectServers, s.Name)
		} else {
			in.Servers = append(in.Servers, s.Name)
		}
	}
	done, err := api.Import(ctx, in)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.std.Out, c.say("Added to %s: %d.", c.shortPath(c.ownConfig()), len(done.Added)))
	if !how.noStart {
		if err := c.startImported(ctx, added); err != nil {
			return err
		}
	}
	known := slices.DeleteFunc(slices.Clone(plan.Servers), func(s client.ImportServer) bool { return !s.Known })
	c.suggestConnect(append(known, added...))
	return nil
}

// clientOrFile returns the name of a client unchanged, and the path of a file as an
// absolute path.
func clientOrFile(arg string) (string, error) {
	if _, ok := clients.Lookup(arg); ok {
		return arg, nil
	}
	if !strings.ContainsAny(arg, `/\.`) {
		if _, err := os.Stat(arg); err != nil {
			return "", setup.UnknownClientOrFile(arg)
		}
	}
	return filepath.Abs(arg)
}

// chosen asks which of the new servers to add. Servers of a project need a separate
// yes, because adding a server runs its command.
func (c *command) chosen(ctx context.Context, args []string, fresh []client.ImportServer, how importing) ([]client.ImportServer, error) {
	var own, foreign []client.ImportServer
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
		agreed, err := c.confirmLoss(ctx, c.say("Add and start %s, too?", gateway.Names(names)))
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

// askForValues asks for the values that the servers need, by the name of their
// secret. An empty answer means the default, and so does --yes; the plan and the
// question have shown it. It asks everything before anything is changed, so that
// Ctrl-C leaves nothing behind.
func (c *command) askForValues(ctx context.Context, servers []client.ImportServer, yes bool) (map[string]string, error) {
	if yes || !c.interactive() {
		return nil, nil
	}
	values := map[string]string{}
	asked := map[string]string{} // by question, because servers of a file share inputs
	for _, s := range servers {
		for _, in := range s.Inputs {
			if _, known := values[in.Secret]; known || !in.Needed {
				continue
			}
			question := c.questionFor(s, in)
			value, known := asked[question]
			if !known {
				typed, err := c.readSecret(ctx, question)
				if ctx.Err() != nil {
					return nil, err
				}
				if err == nil { // otherwise nothing was typed
					value = typed.Reveal()
				}
				asked[question] = value
			}
			if value != "" {
				values[in.Secret] = value
			}
		}
	}
	return values, nil
}

func (c *command) questionFor(s client.ImportServer, in client.ImportInput) string {
	about := in.ID
	if in.Description != "" {
		about += " (" + in.Description + ")"
	}
	about = gateway.Printable(about)
	if s.Project {
		about = c.say("%s for %s, which came with the project", about, gateway.Printable(c.shortPath(s.Origins[0].Path)))
	}
	if in.Default != "" {
		return c.say("Value of %s (it is not shown; empty for %s): ", about, gateway.Printable(in.Default))
	}
	return c.say("Value of %s (it is not shown; empty to give it later): ", about)
}

func (c *command) startImported(ctx context.Context, added []client.ImportServer) error {
	fmt.Fprintln(c.std.Out, c.say("Starting them once:"))
	remote, err := c.running(ctx)
	if err != nil {
		return err
	}
	if err := remote.Reload(ctx); err != nil {
		return err
	}
	var names []string
	for _, f := range added {
		if !f.Disabled {
			names = append(names, f.Name)
		}
	}
	return c.await(ctx, remote, names)
}
