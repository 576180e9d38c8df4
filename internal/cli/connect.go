package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/setup"
)

// connecting are the flags of connect.
type connecting struct {
	write, aggregate, url, project bool
	add                            []string
}

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
SERVER__TOOL. "genkan undo" puts the files back as they were.`, setup.ClientNames()),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				list, err := c.setupAPI(cmd.Context()).Connections(cmd.Context(), workingDir())
				if err == nil {
					c.showConnections(list)
				}
				return err
			}
			if len(args) > 1 || args[0] != setup.AllClients {
				for _, arg := range args {
					if _, ok := clients.Lookup(arg); !ok {
						return setup.UnknownClient(arg)
					}
				}
			}
			return c.runConnect(cmd.Context(), args, how)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&how.write, "write", false, c.say("change the files"))
	f.BoolVar(&how.aggregate, "aggregate", false, c.say("one entry for all servers"))
	f.StringSliceVar(&how.add, "add", nil, c.say("only add entries for these `servers` of genkan, such as kb, the knowledge base"))
	f.BoolVar(&how.url, "url", false, c.say("call the URL of \"genkan serve\", which has to keep running"))
	f.BoolVar(&how.project, "project", false, c.say("also change files of the project, which others share"))
	return cmd
}

// showConnections lists the files that clients have here.
func (c *command) showConnections(list client.Connections) {
	rows := [][]string{{c.say("CLIENT"), c.say("FILE"), c.say("SERVERS"), c.say("THROUGH GENKAN")}}
	for _, known := range list.Clients {
		for _, f := range known.Files {
			switch {
			case !f.Exists:
			case f.Problem != "":
				rows = append(rows, []string{known.Name, c.shortPath(f.Path), c.say("cannot be read"), ""})
			default:
				rows = append(rows, []string{known.Name, c.shortPath(f.Path), strconv.Itoa(f.Servers), strconv.Itoa(f.Connected)})
			}
		}
	}
	if len(rows) == 1 {
		c.sayNoClients()
		return
	}
	c.table(rows)
	for _, known := range list.Clients {
		if len(known.Lacking) > 0 {
			fmt.Fprintln(c.std.Out, c.say("%s has no entry for %s; `genkan connect %s --add %s --write` adds what you name.",
				known.Title, gateway.Names(known.Lacking), known.Name, known.Lacking[0]))
		}
	}
}

func (c *command) sayNoClients() {
	fmt.Fprintln(c.std.Out, c.say("No client with MCP servers was found. `genkan connect CLIENT --aggregate --write` makes an entry for genkan in a client that has none yet."))
}

// runConnect connects clients, or shows what that would change.
func (c *command) runConnect(ctx context.Context, names []string, how connecting) error {
	done, err := c.setupAPI(ctx).Connect(ctx, names[0], client.ConnectRequest{
		Folder: workingDir(), Also: names[1:], Aggregate: how.aggregate, Add: how.add, URL: how.url, Project: how.project, DryRun: !how.write,
	})
	if err != nil && len(done.Files) == 0 {
		return err
	}
	if len(done.Files) == 0 {
		c.sayNoClients()
		return nil
	}
	for _, f := range done.Files {
		c.showConnectedFile(f)
	}
	if done.BaseURL != "" {
		fmt.Fprintln(c.std.Out, c.say("Entries with a URL work only while `genkan serve` runs at %s. Without --url, entries start genkan by themselves.", done.BaseURL))
	}
	planned := slices.ContainsFunc(done.Files, func(f client.ConnectedFile) bool { return len(f.Entries) > 0 })
	left := slices.ContainsFunc(done.Files, func(f client.ConnectedFile) bool { return f.Problem != nil })
	switch {
	case !planned && !left && len(how.add) > 0:
		fmt.Fprintln(c.std.Out, c.say("There is nothing to add: an entry leads to %s already.", gateway.Names(how.add)))
		return nil
	case !planned:
		return c.sayNothingToConnect(done.Files, names)
	case !how.write:
		fmt.Fprintln(c.std.Out, c.say("Nothing was changed yet; --write does it."))
		return nil
	}
	failed := c.showChanged(done)
	if failed != nil {
		return failed
	}
	return err
}

// showConnectedFile shows where the entries of a file lead, or why the file is not
// changed.
func (c *command) showConnectedFile(f client.ConnectedFile) {
	if len(f.NotImported) > 0 {
		fmt.Fprintln(c.std.Out, c.say("%s: not imported yet, and left as they are: %s. `genkan import %s` takes them over.", c.shortPath(f.Path), gateway.Printable(strings.Join(f.NotImported, ", ")), f.Client))
	}
	switch {
	case f.State == string(setup.FileShared):
		fmt.Fprintln(c.std.Out, c.say("%s was left out, because others who work on the project share it; --project connects it, too.", gateway.Printable(c.shortPath(f.Path))))
	case len(f.Entries) > 0:
		fmt.Fprintln(c.std.Out, c.say("%s, %s:", f.Title, c.shortPath(f.Path)))
		var rows [][]string
		for _, e := range f.Entries {
			row := []string{"  " + e.Name, "→ " + e.To}
			if e.Was != "" {
				row = append(row, c.say("(it called %s)", e.Was))
			}
			rows = append(rows, row)
		}
		c.table(rows)
		if len(f.Replaced) > 0 {
			fmt.Fprintln(c.std.Out, "  "+c.say("It replaces these entries: %s. Their tools get new names, SERVER__TOOL, so permission rules that name tools stop matching.", gateway.Printable(strings.Join(f.Replaced, ", "))))
		}
	case f.Problem != nil:
		fmt.Fprintln(c.std.Out, c.say("%s was left alone: %s", f.Title, f.Problem.Error))
	}
}

// sayNothingToConnect says why no file is changed. It returns an error for a file
// that must not hold a token. It returns one for an unreadable file only if there
// is nothing else to say.
func (c *command) sayNothingToConnect(files []client.ConnectedFile, names []string) error {
	var refused *client.FileProblem
	var shared, others bool
	for _, f := range files {
		shared = shared || f.State == string(setup.FileShared)
		others = others || len(f.NotImported) > 0
		if f.Problem != nil && (refused == nil || client.CodeOf(f.Problem.Code, 0) == gateway.CodeDenied) {
			refused = f.Problem
		}
	}
	one := len(names) == 1 && names[0] != setup.AllClients
	switch {
	case refused != nil && (client.CodeOf(refused.Code, 0) == gateway.CodeDenied || !shared && !others):
		return problemError(refused)
	case shared:
		fmt.Fprintln(c.std.Out, c.say("Nothing was changed."))
	case others && one:
		fmt.Fprintln(c.std.Out, c.say("There is nothing to connect. `genkan import %s` takes over servers that are not here yet; --aggregate makes one entry for all.", names[0]))
	case others:
		fmt.Fprintln(c.std.Out, c.say("There is nothing to connect. `genkan import` takes over servers that are not here yet; --aggregate makes one entry for all."))
	case one:
		fmt.Fprintln(c.std.Out, c.say("There is nothing to connect: %s has no servers that do not come through genkan.", clients.Title(names[0])))
	default:
		fmt.Fprintln(c.std.Out, c.say("There is nothing to connect: no client has servers that do not come through genkan."))
	}
	return nil
}

// showChanged lists the changed files and returns the first error.
func (c *command) showChanged(done client.ConnectResult) error {
	var first error
	var changed, titles []string
	for _, f := range done.Files {
		switch {
		case len(f.Entries) == 0:
			continue
		case f.Problem != nil && first == nil:
			first = problemError(f.Problem)
			continue
		case f.Problem != nil:
			fmt.Fprintf(c.std.Err, "genkan: %s\n", f.Problem.Error)
			continue
		case f.State == string(setup.FileChanged):
			fmt.Fprintln(c.std.Out, c.say("%s is changed; the file from before is kept.", c.shortPath(f.Path)))
		}
		if !slices.Contains(changed, f.Client) {
			changed, titles = append(changed, f.Client), append(titles, f.Title)
		}
	}
	switch len(changed) {
	case 0:
	case 1:
		fmt.Fprintln(c.std.Out, c.say("Restart %s. `genkan undo %s` puts its files back.", titles[0], changed[0]))
	default:
		fmt.Fprintln(c.std.Out, c.say("Restart %s. `genkan undo` puts their files back.", gateway.Names(titles)))
	}
	for _, name := range done.Revoked {
		fmt.Fprintln(c.std.Out, c.say("The token that %s had is revoked: no entry uses it any more.", clients.Title(name)))
	}
	return first
}
