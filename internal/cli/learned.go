package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

func (c *command) learned() *cobra.Command {
	var name string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "learned", Short: c.say("Show what searches have taught"), Args: arguments(0, 0),
		Long: c.say(`Show what searches have taught. A search that was followed by a successful call
of one of its hits makes the next search like it find that tool sooner, for the
same client. Only the stems of the words are kept. Client * counts for everybody.
"learn: false" in the configuration switches it off.`),
		RunE: func(cmd *cobra.Command, _ []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			list, err := remote.Learned(cmd.Context(), lessonsOf(name))
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(list)
			}
			if !list.Enabled {
				fmt.Fprintln(c.std.Err, c.say("Searches do not learn: the configuration says \"learn: false\"."))
			}
			if len(list.Lessons) == 0 {
				fmt.Fprintln(c.std.Out, c.say("Nothing has been learned."))
				return nil
			}
			rows := [][]string{{c.say("CLIENT"), c.say("TOOL"), c.say("WORDS"), c.say("TIMES"), c.say("LAST")}}
			for _, l := range list.Lessons {
				rows = append(rows, []string{
					l.Client, lessonTool(l), strings.Join(l.Terms, " "), strconv.Itoa(l.Times), l.LastAt.Local().Format(time.DateTime),
				})
			}
			c.table(rows)
			return nil
		},
	})
	cmd.Flags().StringVar(&name, "client", "", c.say("only what this `client`'s searches have taught"))
	restricting(cmd, "client")
	cmd.AddCommand(c.learnedForget(), c.learnedShare())
	return cmd
}

// lessonsOf selects the lessons of one client, or of all.
func lessonsOf(name string) client.LearnedFilter {
	return client.LearnedFilter{Client: name, All: name == ""}
}

// lessonTool returns a tool's name as clients see it, or its server's name for it
// if the tool is gone.
func lessonTool(l client.Lesson) string {
	if l.Name != "" {
		return l.Name
	}
	return l.Server + "/" + l.Tool
}

func (c *command) learnedForget() *cobra.Command {
	var name string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "forget [TOOL]", Short: c.say("Forget what searches have taught, about all tools or one"), Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			which := lessonsOf(name)
			if len(args) == 1 {
				list, err := remote.Learned(cmd.Context(), which)
				if err != nil {
					return err
				}
				for _, l := range list.Lessons {
					if args[0] == lessonTool(l) || args[0] == l.Server+"/"+l.Tool {
						which.Server, which.Tool = l.Server, l.Tool
					}
				}
				if which.Tool == "" {
					return gateway.Errorf(gateway.CodeNotFound, "nothing was learned about %s; `genkan tools learned` shows about what something was", args[0])
				}
			}
			done, err := remote.Forget(cmd.Context(), which)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(done)
			}
			fmt.Fprintln(c.std.Out, c.say("Lessons forgotten: %d.", done.Forgotten))
			return nil
		},
	})
	cmd.Flags().StringVar(&name, "client", "", c.say("only what this `client`'s searches have taught"))
	restricting(cmd, "client")
	return cmd
}

func (c *command) learnedShare() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "share CLIENT", Short: c.say("Let everybody learn from a client's searches"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, err := c.running(cmd.Context())
			if err != nil {
				return err
			}
			done, err := remote.ShareLearned(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(done)
			}
			fmt.Fprintln(c.std.Out, c.say("Lessons shared: %d. `genkan tools learned forget --client '*'` takes them back.", done.Shared))
			return nil
		},
	})
}
