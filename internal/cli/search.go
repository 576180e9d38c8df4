package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
)

func (c *command) search() *cobra.Command {
	in := client.SearchRequest{}
	cmd := c.jsonFlag(&cobra.Command{
		Use: "search QUERY...", Short: c.say("Find tools by what they do"), Args: arguments(1, 1<<10),
		Long: c.say(`Find tools by what they do, in English or Japanese, as agents do in search mode.

  genkan search read a text file`),
		RunE: func(cmd *cobra.Command, args []string) error {
			remote, _, err := c.withServers(cmd.Context())
			if err == nil {
				err = c.awaitLists(cmd.Context(), remote, listPatience)
			}
			if err != nil {
				return err
			}
			in.Query = strings.Join(args, " ")
			found, err := remote.Search(cmd.Context(), in)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(found)
			}
			if len(found.Results) == 0 {
				fmt.Fprintln(c.std.Out, c.say("No tool fits. Say it in other words."))
				return nil
			}
			rows := [][]string{{c.say("NAME"), c.say("SERVER"), c.say("SCORE"), c.say("DESCRIPTION")}}
			for _, t := range found.Results {
				about := firstLine(t.Description)
				if t.Deprecated {
					about = c.say("[deprecated]") + " " + about
				}
				rows = append(rows, []string{t.Name, t.Server, fmt.Sprintf("%.1f", t.Score), about})
			}
			c.table(rows)
			return nil
		},
	})
	cmd.Flags().IntVar(&in.Limit, "limit", 5, c.say("how many tools to show (`number`)"))
	cmd.Flags().StringVar(&in.Filters.Server, "server", "", c.say("only the tools of this `server`"))
	cmd.Flags().StringVar(&in.Filters.Category, "category", "", c.say("only the tools of this `category`"))
	cmd.Flags().StringSliceVar(&in.Filters.Tags, "tag", nil, c.say("only the tools with this `tag`"))
	restricting(cmd, "server", "category", "tag")
	return cmd
}
