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
		Use: "templates [ID]", Short: c.say("List the templates of workflows, or show one"), Args: arguments(0, 1),
		Long: c.say("List the templates, which make workflows for common needs without JavaScript.\n`genkan workflows put FILE` uses one; docs/templates.md has examples."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				list, err := remote.Templates(cmd.Context())
				if err != nil {
					return err
				}
				if len(args) == 1 {
					return c.showTemplate(list, args[0])
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

// showTemplate prints a template with its parameters.
func (c *command) showTemplate(list client.TemplateList, id string) error {
	i := slices.IndexFunc(list.Templates, func(t client.Template) bool { return t.ID == id })
	if i < 0 {
		return gateway.Errorf(gateway.CodeNotFound, "there is no template %q; `genkan workflows templates` lists them", id)
	}
	t := list.Templates[i]
	if c.asJSON {
		return c.json(t)
	}
	fmt.Fprintf(c.std.Out, "%s\n%s\n", t.Title, t.Description)
	var schema struct {
		Properties map[string]struct {
			Description string
			Enum        []string
			Items       struct{ Enum []string }
		}
		Required []string
	}
	if err := json.Unmarshal(t.Params, &schema); err != nil {
		return err
	}
	rows := [][]string{{c.say("PARAMETER"), c.say("NEEDED"), c.say("WHAT IT IS")}}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		needed := ""
		if slices.Contains(schema.Required, name) {
			needed = c.say("yes")
		}
		property := schema.Properties[name]
		if words := slices.Concat(property.Enum, property.Items.Enum); len(words) > 0 {
			property.Description += " (" + strings.Join(words, ", ") + ")"
		}
		rows = append(rows, []string{name, needed, property.Description})
	}
	fmt.Fprintln(c.std.Out)
	c.table(rows)
	return nil
}

// useTemplate makes workflows of a template.
func (c *command) useTemplate(ctx context.Context, raw json.RawMessage, base int) error {
	return c.withRemote(ctx, func(remote *client.Client) error {
		made, err := remote.UseTemplate(ctx, raw, base)
		if err != nil {
			return err
		}
		if c.asJSON {
			return c.json(made)
		}
		for _, warning := range made.Warnings {
			fmt.Fprintln(c.std.Err, gateway.Printable(warning))
		}
		var ids []string
		for _, w := range made.Workflows {
			fmt.Fprintln(c.std.Out, c.say("Workflow %s is stored as version %d, a draft.", gateway.Printable(w.ID), w.Newest))
			ids = append(ids, w.ID)
		}
		if len(ids) == 1 {
			fmt.Fprintln(c.std.Err, c.say("`genkan workflows backtest %s` tries it on past calls, and `genkan workflows enable %s` makes it run.", ids[0], ids[0]))
		} else if len(ids) > 1 {
			fmt.Fprintln(c.std.Err, c.say("They belong together: `genkan workflows enable %s` makes them run.", strings.Join(ids, " ")))
		}
		return nil
	})
}

// sayOutdated says that the template of a workflow has other scripts now.
func (c *command) sayOutdated(w client.Workflow) {
	if w.Outdated {
		fmt.Fprintln(c.std.Err, c.say("Workflow %s has older scripts than its template %s. `genkan workflows update %s` stores a draft with the new ones.", w.ID, w.Template, w.ID))
	}
}

func (c *command) workflowUpdate() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "update ID", Short: c.say("Take over the scripts that the template of a workflow has now"), Args: arguments(1, 1),
		Long: c.say(`Store a draft of a workflow with the scripts that its template has now, in place of
those that it had when the workflow was made. All else stays: parameters, match, order.
What runs stays as it is until ` + "`genkan workflows enable`" + `.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				w, err := remote.UpdateWorkflow(cmd.Context(), args[0])
				return c.showDraft(&w, err)
			})
		},
	})
}
