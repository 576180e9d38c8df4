package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

func (c *command) workflowTest() *cobra.Command {
	var version int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "test ID", Short: c.say("Run the tests of a workflow"), Args: arguments(1, 1),
		Long: c.say(`Run the tests that are kept with a workflow: calls, and what the workflow must make
of them. Nothing is sent. A workflow whose tests fail cannot be enabled without
--force. The exit status is 1 if a test fails.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				done, err := remote.RunWorkflowTests(cmd.Context(), args[0], version)
				if err != nil {
					return err
				}
				if c.asJSON {
					err = c.json(done)
				} else {
					c.showTests(args[0], done)
				}
				if err == nil && done.Failed > 0 {
					err = errUnwell
				}
				return err
			})
		},
	})
	c.versionFlag(cmd, &version)
	return cmd
}

// showTests prints the results of tests.
func (c *command) showTests(id string, done client.WorkflowTestResults) {
	id = gateway.Printable(id)
	if len(done.Tests) == 0 {
		fmt.Fprintln(c.std.Out, c.say("Workflow %s has no tests. `genkan workflows tests save %s NAME --call CALL` makes one of a past call.", id, id))
		return
	}
	fmt.Fprintln(c.std.Out, c.say("Tests of workflow %s: %d passed, %d failed.", id, done.Passed, done.Failed))
	rows := [][]string{{c.say("TEST"), c.say("RESULT"), c.say("OUTCOME"), c.say("NAME")}}
	var b strings.Builder
	for i := range done.Tests {
		t := &done.Tests[i]
		result := c.say("passed")
		if !t.Passed {
			result = c.say("failed")
		}
		rows = append(rows, []string{t.ID, result, t.Outcome, orDash(t.Name)})
		for _, m := range t.Mismatches {
			b.WriteString("\n" + gateway.Printable(t.ID) + ":\n" + indented(c.say("%s is %s, and should be %s", m.What, string(m.Got), string(m.Want))) + "\n")
		}
		if t.Trace != nil {
			c.stepDetails(&b, t.Trace.Steps)
		}
	}
	c.table(rows)
	fmt.Fprint(c.std.Out, b.String())
}
