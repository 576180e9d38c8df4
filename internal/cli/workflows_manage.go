package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

func (c *command) workflowsOff() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "off", Short: c.say("Turn all workflows off at once"), Args: arguments(0, 0),
		Long: c.say(`Keep all workflows from running, until ` + "`genkan workflows on`" + `. Calls then pass as if
there were none, also those that a workflow would refuse, and tools that workflows
hide are there. Runs that have begun go on. It stays so across restarts, and the log
notes who did it.`),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.switchWorkflows(cmd.Context(), false) },
	})
}

func (c *command) workflowsOn() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "on", Short: c.say("Let the enabled workflows run again"), Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.switchWorkflows(cmd.Context(), true) },
	})
}

func (c *command) switchWorkflows(ctx context.Context, on bool) error {
	return c.withRemote(ctx, func(remote *client.Client) error {
		now, err := remote.SwitchWorkflows(ctx, on)
		switch {
		case err != nil:
			return err
		case c.asJSON:
			return c.json(now)
		case now.On:
			fmt.Fprintln(c.std.Err, c.say("The enabled workflows run."))
		default:
			fmt.Fprintln(c.std.Err, c.say("All workflows are off: calls pass as if there were none. `genkan workflows on` turns them on again."))
		}
		return nil
	})
}

func (c *command) workflowModules() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return c.withRemote(cmd.Context(), func(remote *client.Client) error {
			all, err := remote.HookModules(cmd.Context())
			if err != nil {
				return err
			}
			return c.listModules(all)
		})
	}
	cmd := c.jsonFlag(&cobra.Command{
		Use: "modules", Short: c.say("Manage scripts that hooks of several workflows use"), Args: arguments(0, 0), RunE: list,
	})
	cmd.AddCommand(
		c.jsonFlag(&cobra.Command{Use: "list", Short: c.say("List the hook modules"), Args: arguments(0, 0), RunE: list}),
		c.moduleShow(), c.modulePut(), c.moduleDelete())
	return cmd
}

func (c *command) listModules(all client.HookModuleList) error {
	if c.asJSON {
		return c.json(all)
	}
	if len(all.HookModules) == 0 {
		fmt.Fprintln(c.std.Out, c.say("There are no hook modules. `genkan workflows modules put ID FILE` stores one."))
		return nil
	}
	rows := [][]string{{"ID", c.say("VERSION"), c.say("USED BY"), c.say("DESCRIPTION")}}
	for _, m := range all.HookModules {
		rows = append(rows, []string{m.ID, strconv.Itoa(m.Version), strconv.Itoa(len(m.Workflows)), orDash(m.Description)})
	}
	c.table(rows)
	return nil
}

func (c *command) moduleShow() *cobra.Command {
	var version int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "show ID", Short: c.say("Print the script of a hook module"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				m, err := remote.HookModule(cmd.Context(), args[0], version)
				switch {
				case err != nil:
					return err
				case c.asJSON:
					return c.json(m)
				}
				// The script alone is on standard output, so that it can be edited and put back.
				fmt.Fprintln(c.std.Err, c.say("Version %d of hook module %s, used by %s.", m.Version, gateway.Printable(m.ID), usersOf(m)))
				fmt.Fprintln(c.std.Out, gateway.Escape(m.Script, true, gateway.AppendEscape))
				return nil
			})
		},
	})
	c.versionFlag(cmd, &version)
	return cmd
}

// usersOf lists the workflows that use a module.
func usersOf(m client.HookModule) string {
	if len(m.Workflows) == 0 {
		return "-"
	}
	return gateway.List(m.Workflows).String()
}

func (c *command) modulePut() *cobra.Command {
	var in client.NewHookModule
	var base int
	var params string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "put ID FILE", Short: c.say("Store the next version of a hook module"), Args: arguments(2, 2),
		Long: c.say(`Store the script in FILE ("-" for standard input) as the next version of a hook
module. Workflows that use its newest version run it at once; it is refused if one of
them could not. --base says which version was changed, so that nobody undoes the
change of somebody else; without it the newest was. --params has a JSON Schema of the
params that hooks give the module, which the editor makes a form of.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, err := c.wholeFile(args[1])
			if err != nil {
				return err
			}
			in.Script = string(raw)
			if params != "" {
				if in.Params, err = c.definitionFile(params); err != nil {
					return err
				}
			}
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				if base == 0 {
					if was, err := remote.HookModule(cmd.Context(), args[0], 0); err == nil {
						base = was.Version
						if !cmd.Flags().Changed("description") {
							in.Description = was.Description
						}
						if params == "" {
							in.Params = was.Params
						}
					}
				}
				m, err := remote.PutHookModule(cmd.Context(), args[0], in, base)
				switch {
				case err != nil:
					return err
				case c.asJSON:
					return c.json(m)
				}
				fmt.Fprintln(c.std.Err, c.say("Hook module %s is stored as version %d.", gateway.Printable(m.ID), m.Version))
				return nil
			})
		},
	})
	cmd.Flags().IntVar(&base, "base", 0, c.say("the `version` that the script was made of"))
	cmd.Flags().StringVar(&params, "params", "", c.say("a `file` with a JSON Schema of its params"))
	cmd.Flags().StringVar(&in.Description, "description", "", c.say("what it does, in a few `words`"))
	return cmd
}

// wholeFile reads a file, or standard input for "-".
func (c *command) wholeFile(name string) ([]byte, error) {
	var raw []byte
	var err error
	if name == "-" {
		raw, err = io.ReadAll(c.std.In)
	} else {
		raw, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, &gateway.Error{Code: gateway.CodeInvalid, Err: err, Message: "%s cannot be read: %s", Values: []any{name, err.Error()}}
	}
	return raw, nil
}

func (c *command) moduleDelete() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "delete ID", Aliases: []string{"remove"}, Short: c.say("Delete a hook module that no workflow uses"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				if err := remote.DeleteHookModule(cmd.Context(), args[0]); err != nil {
					return err
				}
				if c.asJSON {
					return c.json(client.Done{Success: true})
				}
				fmt.Fprintln(c.std.Err, c.say("Hook module %s is deleted, with all its versions.", gateway.Printable(args[0])))
				return nil
			})
		},
	})
}

func (c *command) workflowTests() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tests", Short: c.say("Manage the tests that are kept with a workflow"), Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.testList(), c.testSave(), c.testDelete())
	return cmd
}

func (c *command) testList() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "list ID", Short: c.say("List the tests of a workflow"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				all, err := remote.WorkflowTests(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case c.asJSON:
					return c.json(all)
				case len(all.Tests) == 0:
					c.showTests(args[0], client.WorkflowTestResults{})
					return nil
				}
				rows := [][]string{{c.say("TEST"), c.say("TOOL"), c.say("CLIENT"), c.say("EXPECTED"), c.say("NAME")}}
				for i := range all.Tests {
					t := &all.Tests[i]
					rows = append(rows, []string{t.ID, jsonrpc.LookupText(t.Call.Params, "name"), orDash(t.Call.Client), c.expectation(&t.Expect), orDash(t.Name)})
				}
				c.table(rows)
				return nil
			})
		},
	})
}

// expectation says in a word what a test expects.
func (c *command) expectation(e *client.ExpectedOutcome) string {
	switch {
	case e.Changed != nil && *e.Changed && (e.Outcome == "" || e.Outcome == "ok"):
		return c.say("changed")
	case e.Changed != nil && !*e.Changed && e.Outcome == "ok":
		return c.say("unchanged")
	default:
		return orDash(e.Outcome)
	}
}

// The words of --expect.
const expectChanged, expectUnchanged = "changed", "unchanged"

func (c *command) testSave() *cobra.Command {
	var call, expect, file string
	in := client.NewWorkflowTest{}
	words := []string{"ok", "denied", "failed", "passed", "unmatched", expectChanged, expectUnchanged}
	cmd := c.jsonFlag(&cobra.Command{
		Use: "save ID NAME", Short: c.say("Keep a call with a workflow, and what must come of it"), Args: arguments(2, 2),
		Long: c.say(`Keep a call of the history as a test of a workflow, with the answer that its server
gave and without secrets. --expect says what must come of it: denied, changed,
unchanged, ok, failed, passed or unmatched; without it, the newest version must go on
to do what it does now. --file keeps a test that is written as JSON:
{"call": {"params": {"name": …, "arguments": …}}, "answer": …, "expect": …}.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (call == "") == (file == ""):
				return wrongUsage("give either --call or --file")
			case expect != "" && !slices.Contains(words, expect):
				return wrongUsage("--expect is %q and must be one of %v", expect, words)
			case file != "":
				raw, err := c.definitionFile(file)
				if err != nil {
					return err
				}
				if err := json.Unmarshal(raw, &in); err != nil {
					return gateway.Errorf(gateway.CodeInvalid, "%s is no test: %s", file, err.Error())
				}
			}
			if expect != "" {
				in.Expect.Outcome = expect
				if changed := expect == expectChanged; changed || expect == expectUnchanged {
					in.Expect.Outcome, in.Expect.Changed = "ok", &changed
				}
			}
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				var err error
				if in.From = call; call != "" {
					if in.From, err = c.callID(cmd.Context(), remote, call); err != nil {
						return err
					}
				}
				all, err := remote.PutWorkflowTest(cmd.Context(), args[0], args[1], in)
				switch {
				case err != nil:
					return err
				case c.asJSON:
					return c.json(all)
				}
				fmt.Fprintln(c.std.Err, c.say("Test %s is kept with workflow %s; `genkan workflows test %s` runs it.", gateway.Printable(args[1]), gateway.Printable(args[0]), gateway.Printable(args[0])))
				return nil
			})
		},
	})
	cmd.Flags().StringVar(&call, "call", "", c.say("the `call`: an ID of `genkan calls`, last, or last~N"))
	cmd.Flags().StringVar(&file, "file", "", c.say("a `file` with the test, \"-\" for standard input"))
	cmd.Flags().StringVar(&expect, "expect", "", c.say("the `outcome` that must come of it, such as denied"))
	cmd.Flags().StringVar(&in.Name, "title", "", c.say("what the test is about, in a few `words`"))
	return cmd
}

func (c *command) testDelete() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "delete ID NAME", Aliases: []string{"remove"}, Short: c.say("Delete a test of a workflow"), Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				if err := remote.DeleteWorkflowTest(cmd.Context(), args[0], args[1]); err != nil {
					return err
				}
				if c.asJSON {
					return c.json(client.Done{Success: true})
				}
				fmt.Fprintln(c.std.Err, c.say("Test %s of workflow %s is deleted.", gateway.Printable(args[1]), gateway.Printable(args[0])))
				return nil
			})
		},
	})
}
