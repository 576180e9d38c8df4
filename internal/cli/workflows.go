package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

func (c *command) workflows() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return c.withRemote(cmd.Context(), func(remote *client.Client) error {
			list, err := remote.Workflows(cmd.Context())
			if err != nil {
				return err
			}
			return c.listWorkflows(list)
		})
	}
	cmd := c.jsonFlag(&cobra.Command{
		Use: "workflows", Short: c.say("Decide what happens around calls: redact, block, rewrite, watch, ask first"), Args: arguments(0, 0),
		Long: c.say(`List the workflows. A workflow runs around the calls that it matches, and can change
them and their answers, refuse them, or ask a person first. A definition is stored as
a draft first, and every change is a version. Nothing runs until it is enabled.

  genkan workflows validate FILE             says what is wrong with a definition
  genkan workflows put FILE                  stores a definition as a draft
  genkan workflows replay ID --call last     what it makes of the last call
  genkan workflows backtest ID --last 1000   what it makes of the last 1000 calls
  genkan workflows enable ID                 makes the newest version run

Replay and backtest read the call history. They send nothing.`),
		RunE: list,
	})
	cmd.AddCommand(c.jsonFlag(&cobra.Command{Use: "list", Short: c.say("List the workflows"), Args: arguments(0, 0), RunE: list}),
		c.workflowShow(), c.workflowPut(), c.workflowTemplates(), c.workflowUpdate(), c.workflowValidate(), c.workflowEnable(), c.workflowDisable(), c.workflowDelete(),
		c.workflowVersions(), c.workflowRollback(), c.workflowExport(), c.workflowImport(), c.workflowStats(), c.workflowReplay(), c.workflowBacktest(), c.workflowTest(),
		c.workflowTests(), c.workflowModules(), c.workflowsOff(), c.workflowsOn())
	return cmd
}

// withRemote does something with the running genkan.
func (c *command) withRemote(ctx context.Context, do func(*client.Client) error) error {
	remote, err := c.remote(ctx)
	if err != nil {
		return err
	}
	return do(remote)
}

func (c *command) listWorkflows(list client.WorkflowList) error {
	if c.asJSON {
		return c.json(list)
	}
	// Those of the limits of tokens are changed with the tokens.
	list.Workflows = slices.DeleteFunc(slices.Clone(list.Workflows), func(w client.Workflow) bool { return w.LimitOf != "" })
	if len(list.Workflows) == 0 {
		fmt.Fprintln(c.std.Out, c.say("There are no workflows. `genkan workflows put FILE` stores one, and `genkan workflows --help` tells more."))
		return nil
	}
	running, broken := 0, 0
	rows := [][]string{{"ID", c.say("NAME"), c.say("TYPE"), c.say("STATE"), c.say("RUNS"), c.say("NEWEST"), c.say("ORDER"), c.say("MODE"), c.say("PROBLEMS"), c.say("KEPT IN")}}
	for _, w := range list.Workflows {
		runs := "-"
		if w.Enabled {
			running++
			runs = c.say("version %d", w.Running)
		}
		if w.Problems > 0 {
			broken++
		}
		rows = append(rows, []string{
			w.ID, w.Name, w.Type, w.State, runs, strconv.Itoa(w.Newest), strconv.Itoa(w.Order), w.Mode, strconv.Itoa(w.Problems), w.Source,
		})
	}
	if list.Off {
		fmt.Fprintln(c.std.Out, c.say("All workflows are off: calls pass as if there were none. `genkan workflows on` turns them on again."))
	} else {
		fmt.Fprintln(c.std.Out, c.say("%d of %d workflows run.", running, len(list.Workflows)))
	}
	c.table(rows)
	for _, w := range list.Workflows {
		c.sayOutdated(w)
	}
	if broken > 0 {
		fmt.Fprintln(c.std.Err, c.say("`genkan workflows show ID` tells the problems of one."))
	}
	return nil
}

func (c *command) workflowShow() *cobra.Command {
	var version int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "show ID", Short: c.say("Show a workflow with its definition"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				w, err := remote.Workflow(cmd.Context(), args[0], version)
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(w)
				}
				fmt.Fprintln(c.std.Out, c.workflowSentence(&w.Workflow))
				if w.Description != "" {
					fmt.Fprintln(c.std.Out, indented(gateway.Printable(w.Description)))
				}
				c.showProblems(w.Found)
				c.sayOutdated(w.Workflow)
				fmt.Fprintln(c.std.Out, c.say("Version %d:", w.Version))
				fmt.Fprintln(c.std.Out, indented(pretty(w.Definition)))
				return nil
			})
		},
	})
	c.versionFlag(cmd, &version)
	return cmd
}

func (c *command) versionFlag(cmd *cobra.Command, version *int) {
	cmd.Flags().IntVar(version, "version", 0, c.say("another `version` than the newest"))
}

// showDraft shows a version that was stored, unless that failed.
func (c *command) showDraft(w *client.WorkflowDetails, err error) error {
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return c.json(w)
	}
	fmt.Fprintln(c.std.Out, c.say("Workflow %s is stored as version %d, a draft.", gateway.Printable(w.ID), w.Version))
	c.showProblems(w.Found)
	if len(w.Found) == 0 {
		fmt.Fprintln(c.std.Err, c.say("`genkan workflows backtest %s` tries it on past calls, and `genkan workflows enable %s` makes it run.", w.ID, w.ID))
	}
	return nil
}

// workflowSentence says which version of a workflow runs.
func (c *command) workflowSentence(w *client.Workflow) string {
	id := gateway.Printable(w.ID)
	switch {
	case w.Stopped != 0:
		return c.say("Workflow %s is stopped; it ran its version %d last, and its newest is %d. `genkan workflows enable %s` makes that run.", id, w.Stopped, w.Newest, id)
	case !w.Enabled:
		return c.say("Workflow %s does not run; its newest version is %d.", id, w.Newest)
	case w.Mode == "shadow":
		return c.say("Workflow %s runs its version %d in shadow mode: it records what it would do and changes nothing, until `genkan workflows enable %s --mode enforce`.", id, w.Running, id)
	case w.Running == w.Newest:
		return c.say("Workflow %s runs its version %d, the newest.", id, w.Running)
	default:
		return c.say("Workflow %s runs its version %d; its newest is %d.", id, w.Running, w.Newest)
	}
}

// showProblems prints what keeps a definition from being enabled.
func (c *command) showProblems(problems []client.WorkflowProblem) {
	if len(problems) == 0 {
		return
	}
	fmt.Fprintln(c.std.Out, c.say("It cannot be enabled:"))
	rows := [][]string{{c.say("NODE"), c.say("LINE"), c.say("PROBLEM")}}
	for _, p := range problems {
		at := "-"
		if p.Line > 0 {
			at = fmt.Sprintf("%d:%d", p.Line, p.Column)
		}
		rows = append(rows, []string{orDash(cmp.Or(p.Label, p.Node)), at, p.Reason})
	}
	c.table(rows)
}

// definitionFile reads a JSON file, or standard input for "-".
func (c *command) definitionFile(name string) (json.RawMessage, error) {
	raw, err := c.wholeFile(name)
	if err != nil {
		return nil, err
	}
	if !json.Valid(raw) {
		return nil, gateway.Errorf(gateway.CodeInvalid, "%s is not valid JSON: %s", name, whereJSONBreaks(raw))
	}
	return raw, nil
}

// whereJSONBreaks says where a text stops being JSON.
func whereJSONBreaks(raw []byte) gateway.Text {
	var value any
	err := json.Unmarshal(raw, &value)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return gateway.Textf("it is empty")
	}
	before := raw[:min(int(syntax.Offset), len(raw))]
	line := 1 + strings.Count(string(before), "\n")
	return gateway.Textf("line %d: %s", line, syntax.Error())
}

func (c *command) workflowPut() *cobra.Command {
	var base int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "put FILE", Short: c.say("Store a definition as a draft"), Args: arguments(1, 1),
		Long: c.say(`Store the definition in FILE ("-" for standard input) as the next version of its
workflow. What runs stays as it is until ` + "`genkan workflows enable`" + `.

A workflow that exists is changed only if the definition was made of its newest
version, so that nobody undoes the change of somebody else: the definition says so
with version, as ` + "`genkan workflows export`" + ` writes it, or --base does.

A FILE with a template, such as {"template": "redact", "params": {"kinds": ["keys"]}},
makes workflows of it; ` + "`genkan workflows templates`" + ` lists them. With --base, the
version of the first, it changes those that exist.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := c.definitionFile(args[0])
			if err != nil {
				return err
			}
			if jsonrpc.Lookup(raw, "template") != nil {
				return c.useTemplate(cmd.Context(), raw, base)
			}
			id := jsonrpc.LookupText(raw, "id")
			if id == "" {
				return gateway.Errorf(gateway.CodeInvalid, "the definition in %s has no id; give it one, such as \"redact-keys\"", args[0])
			}
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				w, err := remote.PutWorkflow(cmd.Context(), id, raw, base)
				return c.showDraft(&w, err)
			})
		},
	})
	cmd.Flags().IntVar(&base, "base", 0, c.say("the `version` that the definition was made of"))
	return cmd
}

func (c *command) workflowValidate() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "validate FILE", Short: c.say("Say what is wrong with a definition"), Args: arguments(1, 1),
		Long: c.say(`Check whether the definition in FILE ("-" for standard input) could be enabled, and
store nothing. For a FILE with a template, it is what the template makes. The exit
status is 1 if it could not.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := c.definitionFile(args[0])
			if err != nil {
				return err
			}
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				check, err := remote.CheckWorkflow(cmd.Context(), raw)
				switch {
				case err != nil:
					return err
				case c.asJSON:
					err = c.json(check)
				case check.Valid:
					fmt.Fprintln(c.std.Out, c.say("It can be enabled."))
				default:
					c.showProblems(check.Problems)
				}
				if err == nil && !check.Valid {
					err = errUnwell
				}
				return err
			})
		},
	})
}

func (c *command) workflowEnable() *cobra.Command {
	var in client.EnableRequest
	cmd := c.jsonFlag(&cobra.Command{
		Use: "enable ID...", Short: c.say("Make workflows run"), Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, id := range args {
				err := c.changeWorkflow(cmd.Context(), func(remote *client.Client) (client.Workflow, error) {
					return remote.EnableWorkflow(cmd.Context(), id, in)
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	})
	c.versionFlag(cmd, &in.Version)
	cmd.Flags().StringVar(&in.Mode, "mode", "", c.say("`mode`: shadow only records what it would do, enforce does it"))
	cmd.Flags().BoolVar(&in.Force, "force", false, c.say("enable it though its tests fail; the log notes it"))
	return cmd
}

// changeWorkflow changes a workflow and says which version runs.
func (c *command) changeWorkflow(ctx context.Context, change func(*client.Client) (client.Workflow, error)) error {
	return c.withRemote(ctx, func(remote *client.Client) error {
		w, err := change(remote)
		if err != nil {
			return err
		}
		if c.asJSON {
			return c.json(w)
		}
		fmt.Fprintln(c.std.Out, c.workflowSentence(&w))
		return nil
	})
}

func (c *command) workflowDisable() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "disable ID", Short: c.say("Stop a workflow"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.changeWorkflow(cmd.Context(), func(remote *client.Client) (client.Workflow, error) {
				return remote.DisableWorkflow(cmd.Context(), args[0])
			})
		},
	})
}

func (c *command) workflowDelete() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "delete ID", Aliases: []string{"remove"}, Short: c.say("Delete a workflow with all its versions"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				if err := remote.DeleteWorkflow(cmd.Context(), args[0]); err != nil {
					return err
				}
				if c.asJSON {
					return c.json(client.Done{Success: true})
				}
				fmt.Fprintln(c.std.Err, c.say("Workflow %s is deleted, with all its versions.", gateway.Printable(args[0])))
				return nil
			})
		},
	})
}

func (c *command) workflowVersions() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "versions ID", Short: c.say("List the versions of a workflow"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				list, err := remote.WorkflowVersions(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(list)
				}
				rows := [][]string{{c.say("VERSION"), c.say("STORED"), c.say("RUNS"), c.say("NAME")}}
				for _, v := range list.Versions {
					runs := c.say("no")
					if v.Running {
						runs = c.say("yes")
					}
					rows = append(rows, []string{strconv.Itoa(v.Version), shownTime(v.UpdatedAt), runs, v.Name})
				}
				fmt.Fprintln(c.std.Out, c.say("Versions of workflow %s: %d.", gateway.Printable(args[0]), len(list.Versions)))
				c.table(rows)
				return nil
			})
		},
	})
}

func (c *command) workflowRollback() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "rollback ID VERSION", Short: c.say("Make an old version the newest again"), Args: arguments(2, 2),
		Long: c.say(`Store an old version as the newest again. It runs at once if the workflow is
enabled.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			version, err := strconv.Atoi(args[1])
			if err != nil {
				return wrongUsage("%q is no version; `genkan workflows versions %s` lists them", args[1], args[0])
			}
			return c.changeWorkflow(cmd.Context(), func(remote *client.Client) (client.Workflow, error) {
				return remote.RollbackWorkflow(cmd.Context(), args[0], version)
			})
		},
	})
}

func (c *command) workflowExport() *cobra.Command {
	var version int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "export [ID]", Short: c.say("Print the definition of a workflow, or all workflows and hook modules"), Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				if len(args) == 0 {
					if version != 0 {
						return wrongUsage("--version needs the ID of a workflow")
					}
					all, err := remote.ExportWorkflows(cmd.Context())
					if err != nil {
						return err
					}
					return c.json(all)
				}
				one, err := remote.ExportWorkflow(cmd.Context(), args[0], version)
				if err != nil {
					return err
				}
				return c.json(one)
			})
		},
	})
	c.versionFlag(cmd, &version)
	return cmd
}

func (c *command) workflowImport() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "import FILE", Short: c.say("Store the workflows of an export"), Args: arguments(1, 1),
		Long: c.say(`Store what ` + "`genkan workflows export`" + ` printed to FILE ("-" for standard input): one
definition, or all workflows with their hook modules. Workflows that exist get a new
version. All are drafts, also those that were enabled where they come from.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := c.definitionFile(args[0])
			if err != nil {
				return err
			}
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				done, err := remote.ImportWorkflows(cmd.Context(), raw)
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(done)
				}
				fmt.Fprintln(c.std.Out, c.say("Workflows: %d, hook modules: %d. They are drafts; `genkan workflows enable ID` makes one run.", len(done.Workflows), len(done.HookModules)))
				rows := [][]string{{"ID", c.say("VERSION"), c.say("STATUS"), c.say("PROBLEMS")}}
				for _, one := range append(done.HookModules, done.Workflows...) {
					rows = append(rows, []string{one.ID, strconv.Itoa(one.Version), one.Status, strconv.Itoa(one.Problems)})
				}
				c.table(rows)
				return nil
			})
		},
	})
}

// runSentence says what became of the runs of a workflow.
func (c *command) runSentence(s *client.RunStats, shadow bool) string {
	p50, p95 := shownMillis(s.P50Millis), shownMillis(s.P95Millis)
	if shadow {
		return c.say("%d runs in shadow mode: %d would be denied, %d changed, %d failed; p50 %s ms, p95 %s ms.", s.Runs, s.Denied, s.Changed, s.Failed, p50, p95)
	}
	return c.say("%d runs: %d denied, %d changed, %d failed; p50 %s ms, p95 %s ms.", s.Runs, s.Denied, s.Changed, s.Failed+s.Passed, p50, p95)
}

func (c *command) workflowStats() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "stats ID", Short: c.say("Show how often the nodes of a workflow ran, and how long they took"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				stats, err := remote.WorkflowStats(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(stats)
				}
				if len(stats.Nodes) == 0 {
					fmt.Fprintln(c.std.Out, c.say("Workflow %s has not run since genkan started.", gateway.Printable(args[0])))
					return nil
				}
				for _, runs := range []*client.RunStats{stats.Enforce, stats.Shadow} {
					if runs != nil {
						fmt.Fprintln(c.std.Out, c.runSentence(runs, runs == stats.Shadow))
					}
				}
				fmt.Fprintln(c.std.Out, c.say("The nodes of workflow %s since genkan started:", gateway.Printable(args[0])))
				rows := [][]string{{c.say("NODE"), c.say("RUNS"), c.say("ERRORS"), c.say("KILLED"), c.say("P50 MS"), c.say("P95 MS")}}
				for _, n := range stats.Nodes {
					rows = append(rows, []string{n.Node, strconv.FormatInt(n.Runs, 10), strconv.FormatInt(n.Errors, 10), strconv.FormatInt(n.Killed, 10), shownMillis(n.P50Millis), shownMillis(n.P95Millis)})
				}
				c.table(rows)
				return nil
			})
		},
	})
}
