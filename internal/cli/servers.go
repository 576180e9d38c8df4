package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

func (c *command) servers() *cobra.Command {
	cmd := c.jsonFlag(&cobra.Command{
		Use: "servers [NAME]", Short: c.say("Show how the servers are"), Args: arguments(0, 1),
		Long: c.say(`Show how the servers are, or one of them with its last output. Servers can be added
to a running genkan, which keeps them in its database; those of the configuration
file are changed there.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.settledServers(cmd.Context(), args)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				s, err := remote.Server(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return c.showServer(s)
			}
			list, err := remote.Servers(cmd.Context())
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(list)
			}
			if !slices.ContainsFunc(list, func(s client.Server) bool { return isServer(s) || s.Name != config.KnowledgeSource }) {
				_, err := fmt.Fprintln(c.std.Out, c.say(
					"No servers are configured. `genkan import` takes over those of your editors; `genkan servers add` adds one. They can also be written into %s/genkan.yaml (`genkan serve --help` shows how).", c.dataDir))
				return err
			}
			rows := [][]string{{
				c.say("NAME"), c.say("STATE"), c.say("TOOLS"), c.say("PROTOCOL"),
				c.say("STARTS"), c.say("SINCE"), c.say("PROBLEM"),
			}}
			cut := false
			for _, s := range list {
				problem := clipped(s.Problem, mostOfProblem)
				cut = cut || problem != s.Problem
				starts := ""
				if isServer(s) {
					starts = strconv.Itoa(s.Starts)
				}
				rows = append(rows, []string{
					s.Name, c.stateOf(s), strconv.Itoa(s.Tools), s.ProtocolVersion, starts, shownTime(s.Since), problem,
				})
			}
			c.table(rows)
			if cut {
				fmt.Fprintf(c.std.Out, "\n%s\n", c.say("`genkan servers NAME` shows all about one; `genkan doctor` says what mends it."))
			}
			return nil
		},
	})
	cmd.AddCommand(c.serversAdd(), c.serversRemove(), c.serversRestart(), c.serversLog(), c.serversTest())
	return cmd
}

// settledServers returns a client for commands that show the state of servers. If a
// genkan had to be started, it waits for the servers, because "starting" says
// nothing about them.
func (c *command) settledServers(ctx context.Context, names []string) (*client.Client, error) {
	remote, started, err := c.withServers(ctx)
	if err != nil || !started {
		return remote, err
	}
	_, err = c.awaitServers(ctx, remote, listPatience, func(s client.Server) bool {
		return isStarting(s) && (len(names) == 0 || slices.Contains(names, s.Name))
	}, nil)
	return remote, err
}

// mostOfProblem is how much of a problem a table shows, in characters.
const mostOfProblem = 160

// protocolOf returns the protocol of a server. Before the server has answered, only
// its transport is known.
func protocolOf(s client.Server) string {
	if s.ProtocolVersion == "" {
		return s.Transport
	}
	protocol := s.ProtocolVersion + " (" + s.Era + ", " + s.Transport + ")"
	if s.OtherProtocolVersion != "" {
		other := gateway.EraModern
		if s.Era == other.String() {
			other = gateway.EraLegacy
		}
		protocol += " + " + s.OtherProtocolVersion + " (" + other.String() + ")"
	}
	return protocol
}

func (c *command) showServer(s client.Server) error {
	if c.asJSON {
		return c.json(s)
	}
	rows := [][]string{{c.say("name"), s.Name}, {c.say("state"), c.stateOf(s)}, {c.say("declared in"), c.sourceOf(s)}}
	if s.Note != "" {
		rows = append(rows, []string{c.say("note"), s.Note})
	}
	if s.State == client.StateDisabled {
		c.table(rows)
		return nil
	}
	rows = append(rows, []string{c.say("tools"), strconv.Itoa(s.Tools)})
	if isServer(s) {
		rows = append(rows, [][]string{
			{c.say("protocol"), protocolOf(s)},
			{c.say("starts"), strconv.Itoa(s.Starts)},
			{c.say("since"), shownTime(s.Since)},
		}...)
	}
	if s.StartMillis > 0 {
		rows = append(rows, []string{c.say("start took"), shownDuration(s.StartMillis)})
	}
	if len(s.Hidden) > 0 {
		rows = append(rows, []string{c.say("hidden"), strings.Join(s.Hidden, ", ")})
	}
	switch {
	case s.SignIn == upstream.SignedIn && s.SignInExpires != nil:
		rows = append(rows, []string{c.say("sign-in"), c.say("signed in; the token at hand ends %s", s.SignInExpires.Local().Format(time.DateTime))})
	case s.SignIn == upstream.SignedIn:
		rows = append(rows, []string{c.say("sign-in"), c.say("signed in")})
	}
	if s.ProcessID != 0 {
		rows = append(rows, []string{c.say("process"), strconv.Itoa(s.ProcessID)})
	}
	if s.Problem != "" {
		rows = append(rows, []string{c.say("problem"), s.Problem})
	}
	for _, l := range s.ListProblems {
		rows = append(rows, []string{c.say("problem"), c.say("its list of %s could not be read: %s", l.List, gateway.Printable(l.Problem))})
	}
	if s.NextTry != nil {
		rows = append(rows, []string{c.say("next try"), s.NextTry.Local().Format(time.DateTime)})
	}
	c.table(rows)
	for _, d := range s.Changes {
		fmt.Fprintf(c.std.Out, "\n%s\n", c.say("its tool %s was changed (%s), last on %s", gateway.Printable(d.Tool), gateway.Names(d.Parts), shownTime(d.At)))
	}
	for _, f := range s.Findings {
		fmt.Fprintf(c.std.Out, "\n%s\n", gateway.Printable(c.findingLine(f)))
	}
	if s.Output != "" {
		fmt.Fprintf(c.std.Out, "\n%s\n%s\n", c.say("last output:"), indented(s.Output))
	}
	return nil
}

// sourceOf describes where a server is declared.
func (c *command) sourceOf(s client.Server) string {
	switch s.Source {
	case client.SourceDatabase:
		return c.say("the database")
	case client.SourceBuiltIn:
		return c.say("nowhere: it is a part of genkan")
	default:
		return c.say("the configuration file")
	}
}

// isServer reports whether this is a server and not a built-in source.
func isServer(s client.Server) bool { return s.Source != client.SourceBuiltIn }
