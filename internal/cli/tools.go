package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

func (c *command) tools() *cobra.Command {
	var filter toolFilter
	cmd := c.jsonFlag(&cobra.Command{
		Use: "tools [NAME]", Short: c.say("List the tools, or show one"), Args: arguments(0, 1),
		Long: c.say(`List the tools, or show one. What is said about a tool here (enable, disable,
tag, describe) is kept, holds for all clients at once, and stays when the configuration or
the server changes.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return c.printTool(cmd, args[0])
			}
			return c.printTools(cmd, filter)
		},
	})
	filter.flags(c, cmd)
	cmd.AddCommand(c.toolsList(), c.toolsShow(), c.toolsSwitch(true), c.toolsSwitch(false), c.toolsTag(), c.toolsDescribe(), c.learned())
	return cmd
}

// toolFilter selects the tools to list.
type toolFilter struct {
	client.ToolFilter
	disabled bool
}

func (f *toolFilter) flags(c *command, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Server, "server", "", c.say("only the tools of this `server`"))
	cmd.Flags().StringVar(&f.Tag, "tag", "", c.say("only the tools with this `tag`"))
	cmd.Flags().StringVar(&f.Category, "category", "", c.say("only the tools of this `category`"))
	cmd.Flags().BoolVar(&f.disabled, "disabled", false, c.say("only the tools that are disabled"))
	restricting(cmd, "server", "tag", "category")
}

func (c *command) toolsList() *cobra.Command {
	var filter toolFilter
	cmd := c.jsonFlag(&cobra.Command{
		Use: "list", Short: c.say("List the tools"), Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.printTools(cmd, filter) },
	})
	filter.flags(c, cmd)
	return cmd
}

func (c *command) toolsShow() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "show NAME", Short: c.say("Show a tool"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.printTool(cmd, args[0]) },
	})
}

func (c *command) toolsSwitch(enable bool) *cobra.Command {
	use, short := "disable NAME", c.say("Take a tool away from all clients")
	if enable {
		use, short = "enable NAME", c.say("Give a disabled tool back to all clients")
	}
	return c.jsonFlag(&cobra.Command{
		Use: use, Short: short, Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.toolKnown(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			done, err := remote.SwitchTool(cmd.Context(), args[0], enable)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(done)
			}
			if enable {
				fmt.Fprintln(c.std.Out, c.say("%s is enabled.", done.Tool.Name))
			} else {
				fmt.Fprintln(c.std.Out, c.say("%s is disabled.", done.Tool.Name))
			}
			if len(done.Dependants) > 0 {
				fmt.Fprintln(c.std.Err, c.say("These tools were said to be of no use without it: %s", gateway.Names(done.Dependants)))
			}
			return nil
		},
	})
}

func (c *command) toolsTag() *cobra.Command {
	var remove bool
	const most = 64 // more than a tool may have
	cmd := c.jsonFlag(&cobra.Command{
		Use: "tag NAME TAG...", Short: c.say("Give a tool tags, or take them away"), Args: arguments(2, 1+most),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.toolKnown(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			name, words := args[0], args[1:]
			change := client.ToolChange{AddTags: words}
			if remove {
				change = client.ToolChange{RemoveTags: words}
			}
			t, err := remote.ChangeTool(cmd.Context(), name, change)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(t)
			}
			if len(t.Tags) == 0 {
				_, err = fmt.Fprintln(c.std.Out, c.say("%s has no tags.", t.Name))
				return err
			}
			_, err = fmt.Fprintln(c.std.Out, c.say("%s has the tags %s.", t.Name, gateway.Names(t.Tags)))
			return err
		},
	})
	cmd.Flags().BoolVar(&remove, "remove", false, c.say("take the tags away"))
	return cmd
}

func (c *command) toolsDescribe() *cobra.Command {
	const most = 1000 // words without quotes around them
	return c.jsonFlag(&cobra.Command{
		Use: "describe NAME TEXT...", Short: c.say("Give a tool a better description"), Args: arguments(2, 1+most),
		Long: c.say(`Give a tool a better description, which all clients see and searches read. An
empty one ("") gives the word back to its server.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.toolKnown(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			text := strings.TrimSpace(strings.Join(args[1:], " "))
			t, err := remote.ChangeTool(cmd.Context(), args[0], client.ToolChange{Description: &text})
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(t)
			}
			if strings.TrimSpace(t.Description) == "" {
				_, err = fmt.Fprintln(c.std.Out, c.say("%s has no description.", t.Name))
				return err
			}
			_, err = fmt.Fprintln(c.std.Out, c.say("%s is described as: %s", t.Name, hanging(t.Description)))
			return err
		},
	})
}

// toolKnown returns a client of a genkan that knows a tool. It waits for starting
// servers.
func (c *command) toolKnown(ctx context.Context, name string) (*client.Client, error) {
	remote, _, err := c.withServers(ctx)
	if err == nil {
		_, err = c.awaitTool(ctx, remote, name, toolPatience)
	}
	return remote, err
}

func (c *command) printTools(cmd *cobra.Command, filter toolFilter) error {
	remote, _, err := c.withServers(cmd.Context())
	if err == nil {
		err = c.awaitLists(cmd.Context(), remote, listPatience)
	}
	if err != nil {
		return err
	}
	if filter.disabled {
		filter.Enabled = new(bool)
	}
	list, err := remote.Tools(cmd.Context(), filter.ToolFilter)
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.json(list)
	}
	rows := [][]string{{c.say("NAME"), c.say("SERVER"), c.say("DESCRIPTION")}}
	for _, t := range list {
		about := firstLine(t.Description)
		if !t.Enabled {
			about = c.say("(disabled) %s", about)
		}
		if len(t.Replaces) > 0 {
			about = c.say("(replaces that of %s) %s", gateway.Names(t.Replaces), about)
		}
		rows = append(rows, []string{t.Name, t.Server, about})
	}
	c.table(rows)
	return nil
}

func firstLine(text string) string {
	const most = 72
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return clipped(text, most)
}

// clipped shortens a text to at most the given length.
func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func (c *command) printTool(cmd *cobra.Command, name string) error {
	remote, _, err := c.withServers(cmd.Context())
	if err != nil {
		return err
	}
	t, err := c.awaitTool(cmd.Context(), remote, name, toolPatience)
	if err != nil {
		return err
	}
	if c.asJSON {
		return c.json(t)
	}
	fmt.Fprintf(c.std.Out, "%s\n\n%s\n", gateway.Printable(c.say("%s (server %s)", t.Name, t.Server)), indented(t.Description))
	rows := [][]string{{c.say("version"), t.Version}}
	if !t.Enabled {
		rows = append(rows, []string{c.say("state"), client.StateDisabled})
	}
	for _, one := range [][]string{
		{c.say("category"), t.Category},
		{c.say("tags"), strings.Join(t.Tags, ", ")},
		{c.say("author"), t.Author},
		{c.say("replaces"), strings.Join(t.Replaces, ", ")},
		{c.say("needs"), strings.Join(t.Dependencies, ", ")},
	} {
		if one[1] != "" {
			rows = append(rows, one)
		}
	}
	for _, example := range t.Examples {
		rows = append(rows, []string{c.say("example"), example.Description + ": " + string(example.Parameters)})
	}
	fmt.Fprintln(c.std.Out)
	c.table(rows)
	if t.InputSchema != nil {
		fmt.Fprintf(c.std.Out, "\n%s\n", c.say("input schema:"))
		return c.json(t.InputSchema)
	}
	return nil
}
