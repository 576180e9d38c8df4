package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

func (c *command) workflowTemplates() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "templates", Short: c.say("List the templates of workflows"), Args: arguments(0, 0),
		Long: c.say("List the templates, which make workflows for common needs without JavaScript.\n`genkan workflows put FILE` uses one; docs/templates.md has examples."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				list, err := remote.Templates(cmd.Context())
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(list)
				}
				rows := [][]string{{c.say("TEMPLATE"), c.say("WHAT IT DOES"), c.say("PARAMETERS")}}
				for _, t := range list.Templates {
					var schema struct{ Properties map[string]json.RawMessage }
					_ = json.Unmarshal(t.Params, &schema)
					rows = append(rows, []string{t.ID, t.Title, orDash(strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", "))})
				}
				c.table(rows)
				return nil
			})
		},
	})
}

// useTemplate makes workflows of a template.
func (c *command) useTemplate(ctx context.Context, raw json.RawMessage) error {
	return c.withRemote(ctx, func(remote *client.Client) error {
		made, err := remote.UseTemplate(ctx, raw)
		if err != nil {
			return err
		}
		if c.asJSON {
			return c.json(made)
		}
		for _, w := range made.Workflows {
			fmt.Fprintln(c.std.Out, c.say("Workflow %s is stored as version %d, a draft.", gateway.Printable(w.ID), w.Newest))
			fmt.Fprintln(c.std.Err, c.say("`genkan workflows backtest %s` tries it on past calls, and `genkan workflows enable %s` makes it run.", w.ID, w.ID))
		}
		return nil
	})
}
