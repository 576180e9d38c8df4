package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// mostWords is the largest number of words in a server's command line.
const mostWords = 1000

func (c *command) serversAdd() *cobra.Command {
	var in client.NewServer
	var headers, env []string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "add NAME", Short: c.say("Add a server to a running genkan, which keeps it"), Args: arguments(1, mostWords),
		Long: c.say(`Add a server: a command that genkan starts, behind --, or the address of one.

  genkan servers add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  genkan servers add linear --url https://mcp.linear.app/mcp
  genkan servers add search --env API_KEY='${secret:search.key}' -- uvx search-server

It is kept in the database of the data directory, and in use at once. What looks
like a key goes into the vault; others on this machine can see a command line, so
keep keys with "genkan secrets set" and write ${secret:NAME}.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			if len(args) > 1 {
				in.Command, in.Args = args[1], args[2:]
			}
			var err error
			if in.Headers, err = pairsOf("header", headers); err != nil {
				return err
			}
			if in.Env, err = pairsOf("env", env); err != nil {
				return err
			}
			return c.addServer(cmd.Context(), in)
		},
	})
	cmd.Flags().StringVar(&in.URL, "url", "", c.say("`address` of a remote server"))
	cmd.Flags().StringArrayVar(&headers, "header", nil, c.say("a header that it is sent, as `NAME=VALUE`; may be repeated"))
	cmd.Flags().StringArrayVar(&env, "env", nil, c.say("a variable of its environment, as `NAME=VALUE`; may be repeated"))
	cmd.Flags().StringVar(&in.Cwd, "cwd", "", c.say("`directory` that it is started in"))
	return cmd
}

// pairsOf parses NAME=VALUE. Its errors do not repeat the input, which may be part
// of a key.
func pairsOf(flag string, given []string) (map[string]string, error) {
	if len(given) == 0 {
		return nil, nil //nolint:nilnil // none were given
	}
	pairs := make(map[string]string, len(given))
	for _, one := range given {
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" {
			return nil, gateway.Errorf(gateway.CodeInvalid, "--%s must be NAME=VALUE", flag)
		}
		pairs[name] = value
	}
	return pairs, nil
}

func (c *command) addServer(ctx context.Context, in client.NewServer) error {
	remote, err := c.running(ctx)
	if err != nil {
		return err
	}
	s, err := remote.AddServer(ctx, in)
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.json(s)
	}
	fmt.Fprintln(c.std.Out, c.say("Added %s.", s.Name))
	err = c.await(ctx, remote, []string{s.Name})
	c.sayWhoLacks(ctx, s.Name)
	return err
}

// sayWhoLacks names the connected clients that have no entry for a server.
func (c *command) sayWhoLacks(ctx context.Context, server string) {
	list, err := c.setupAPI(ctx).Connections(ctx, "")
	if err != nil {
		return // it is only a hint
	}
	var names, titles []string
	for _, known := range list.Clients {
		if slices.Contains(known.Lacking, server) {
			names, titles = append(names, known.Name), append(titles, known.Title)
		}
	}
	if len(titles) > 0 {
		fmt.Fprintln(c.std.Out, c.say("%s has no entry for it yet; `genkan connect %s --add %s --write` adds one.", gateway.Names(titles), strings.Join(names, " "), server))
	}
}

func (c *command) serversRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"delete"}, Short: c.say("Remove a server that was added"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			if err := remote.RemoveServer(cmd.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintln(c.std.Out, c.say("Removed %s.", args[0]))
			return nil
		},
	}
}

func (c *command) serversRestart() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "restart NAME", Short: c.say("End a server and start it again"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, _, err := c.withServers(cmd.Context())
			if err != nil {
				return err
			}
			s, err := remote.RestartServer(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(s)
			}
			return c.await(cmd.Context(), remote, args)
		},
	})
}

func (c *command) serversLog() *cobra.Command {
	var lines int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "log NAME", Short: c.say("Show what a server wrote to its standard error"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.settledServers(cmd.Context(), args)
			if err != nil {
				return err
			}
			log, err := remote.ServerLog(cmd.Context(), args[0], lines)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(log)
			}
			for _, line := range log.Lines {
				fmt.Fprintln(c.std.Out, line)
			}
			return nil
		},
	})
	cmd.Flags().IntVar(&lines, "lines", 100, c.say("how many of the last lines (`number`)"))
	return cmd
}

func (c *command) serversTest() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "test NAME", Short: c.say("Start a server once, aside from the running one"), Args: arguments(1, 1),
		Long: c.say(`Start a server once, aside from the running one, and say what it is and has. The
exit status is 1 when it does not work.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			found, err := c.awaitTest(cmd.Context(), remote, args[0])
			if err != nil {
				return err
			}
			if c.asJSON {
				err = c.json(found)
			} else {
				c.showTest(found)
			}
			if err == nil && !found.Success {
				err = errUnwell
			}
			return err
		},
	})
}

// awaitTest tests a server, which can take minutes, and shows what it waits for.
func (c *command) awaitTest(ctx context.Context, remote *client.Client, name string) (client.ServerTest, error) {
	fmt.Fprintln(c.std.Err, c.say("Starting %s once, and waiting until it has listed what it has.", name))
	type result struct {
		client.ServerTest
		err error
	}
	done := make(chan result, 1)
	go func() {
		found, err := remote.TestServer(ctx, name)
		done <- result{found, err}
	}()
	begun, ticks := time.Now(), time.NewTicker(time.Second)
	defer ticks.Stop()
	line := progressLine{c: c}
	defer line.clear()
	for {
		select {
		case r := <-done:
			return r.ServerTest, r.err
		case <-ticks.C:
			line.show(c.say("starting, since %s: %s", time.Since(begun).Round(time.Second), name))
		}
	}
}

func (c *command) showTest(found client.ServerTest) {
	if !found.Success {
		fmt.Fprintln(c.std.Out, c.say("%s does not work: %s", found.Name, hanging(found.Error)))
		if len(found.Output) > 0 {
			fmt.Fprintf(c.std.Out, "\n%s\n%s\n", c.say("last output:"), indented(strings.Join(found.Output, "\n")))
		}
		return
	}
	fmt.Fprintln(c.std.Out, c.say("%s works: ready after %s", found.Name, shownDuration(found.TookMillis)))
	var info struct{ Name, Version string }
	_ = json.Unmarshal(found.ServerInfo, &info) // missing members are not shown
	c.table([][]string{
		{c.say("server"), strings.TrimSpace(info.Name + " " + info.Version)},
		{c.say("protocol"), found.ProtocolVersion + " (" + found.Era + ", " + found.Transport + ")"},
		{c.say("offers"), c.say("%d tools, %d prompts, %d resources, %d templates", found.Tools, found.Prompts, found.Resources, found.Templates)},
	})
	for _, f := range found.Findings {
		fmt.Fprintf(c.std.Out, "\n%s\n", gateway.Printable(c.findingLine(f)))
	}
}
