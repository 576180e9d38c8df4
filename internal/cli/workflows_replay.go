package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

func (c *command) workflowReplay() *cobra.Command {
	var in client.ReplayRequest
	var draft string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "replay ID", Short: c.say("Try a workflow on a past call"), Args: arguments(1, 1),
		Long: c.say(`Run a workflow on a call of the history, with the answer that its server gave then,
and show what each node did. Nothing is sent. --call takes an ID of ` + "`genkan calls`" + `, or
last, or last~2. --draft tries the definition in a file in place of the stored one.`),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.Call == "" {
				return wrongUsage("--call is missing: give an ID of `genkan calls`, or last")
			}
			if draft != "" {
				if in.Definition, err = c.definitionFile(draft); err != nil {
					return err
				}
			}
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				if in.Call, err = c.callID(cmd.Context(), remote, in.Call); err != nil {
					return err
				}
				done, err := remote.ReplayWorkflow(cmd.Context(), args[0], in)
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(done)
				}
				c.showReplay(args[0], done)
				return nil
			})
		},
	})
	cmd.Flags().StringVar(&in.Call, "call", "", c.say("the `call` to replay"))
	c.draftFlags(cmd, &draft, &in.Version)
	return cmd
}

func (c *command) draftFlags(cmd *cobra.Command, draft *string, version *int) {
	cmd.Flags().StringVar(draft, "draft", "", c.say("try the definition in this `file`, and store nothing"))
	c.versionFlag(cmd, version)
}

// showReplay prints what a workflow makes of a call.
func (c *command) showReplay(id string, done client.ReplayResult) {
	id = gateway.Printable(id)
	if !done.Matched {
		fmt.Fprintln(c.std.Out, c.say("Workflow %s is not for call %s: its match does not fit.", id, done.Call))
		return
	}
	t := done.Trace
	switch {
	case t.Outcome == "denied":
		fmt.Fprintln(c.std.Out, c.say("Workflow %s refuses call %s.", id, done.Call))
	case t.Outcome == "failed":
		fmt.Fprintln(c.std.Out, c.say("Workflow %s fails on call %s, so the call is refused.", id, done.Call))
	case t.Outcome == "passed":
		fmt.Fprintln(c.std.Out, c.say("Workflow %s fails on call %s, and lets it pass unchanged.", id, done.Call))
	case !t.Sent:
		fmt.Fprintln(c.std.Out, c.say("Workflow %s answers call %s itself.", id, done.Call))
	case t.Changed:
		fmt.Fprintln(c.std.Out, c.say("Workflow %s changes call %s.", id, done.Call))
	default:
		fmt.Fprintln(c.std.Out, c.say("Workflow %s leaves call %s as it is.", id, done.Call))
	}
	c.table(c.stepRows(t.Steps))
	var b strings.Builder
	c.stepDetails(&b, t.Steps)
	if done.Error != "" {
		b.WriteString("\n" + c.say("The caller would get this error:") + "\n" + indented(done.Error) + "\n")
	} else if t.Changed && len(done.Result) > 0 {
		b.WriteString("\n" + c.say("The caller would get:") + "\n" + indented(c.responseText(done.Result)) + "\n")
	}
	_, _ = io.WriteString(c.std.Out, b.String())
}

// stepRows returns a table of what nodes did.
func (c *command) stepRows(steps []client.WorkflowStep) [][]string {
	rows := [][]string{{c.say("NODE"), c.say("TYPE"), c.say("STATUS"), c.say("WAY OUT"), c.say("MS")}}
	for _, s := range steps {
		rows = append(rows, []string{s.Node, orDash(s.Type), s.Status, orDash(s.Handle), shownMillis(s.QueueMillis + s.RunMillis)})
	}
	return rows
}

// stepDetails writes what nodes changed and printed, and their errors.
func (c *command) stepDetails(b *strings.Builder, steps []client.WorkflowStep) {
	for _, s := range steps {
		title := "\n" + gateway.Printable(s.Node) + ":\n"
		line := func(text string) {
			b.WriteString(title + indented(text) + "\n")
			title = ""
		}
		var patch []struct {
			Op, Path string
			Value    json.RawMessage
		}
		_ = json.Unmarshal(s.Patch, &patch)
		for _, op := range patch {
			line(strings.TrimSpace(op.Op + " " + op.Path + " " + cutTo(string(op.Value), longestValue)))
		}
		for _, said := range s.Console {
			line(cmp.Or(said.Level, "log") + ": " + said.Text)
		}
		if s.Error != "" {
			line(s.Error) // of a script with its line and column
		}
	}
}

// longestValue is how much of a changed value is shown, in columns.
const longestValue = 200

func (c *command) workflowBacktest() *cobra.Command {
	var in client.BacktestRequest
	var draft string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "backtest ID", Short: c.say("Try a workflow on past calls"), Args: arguments(1, 1),
		Long: c.say(`Run a workflow on the last calls of the history, with the answers that their servers
gave then, and count what becomes of them. Nothing is sent. --draft tries the
definition in a file in place of the stored one. It takes a minute at most.`),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if draft != "" {
				if in.Definition, err = c.definitionFile(draft); err != nil {
					return err
				}
			}
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				done, err := remote.BacktestWorkflow(cmd.Context(), args[0], in)
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(done)
				}
				again := args[0]
				if draft != "" {
					again += " --draft " + commandLine([]string{draft})
				}
				c.showBacktest(args[0], again, done)
				return nil
			})
		},
	})
	const usual = 1000
	cmd.Flags().IntVar(&in.Last, "last", usual, c.say("how many calls to try it on (`number`)"))
	cmd.Flags().StringVar(&in.Since, "since", "", c.say("only calls since this `time`: 10m, 2h, 7d or 2026-11-15T14:00:00Z"))
	c.draftFlags(cmd, &draft, &in.Version)
	restricting(cmd, "since")
	return cmd
}

// showBacktest prints what a workflow makes of past calls. again are the arguments with
// which one of them is replayed.
func (c *command) showBacktest(id, again string, done client.BacktestResult) {
	id = gateway.Printable(id)
	if done.Calls == 0 {
		fmt.Fprintln(c.std.Out, c.say("Workflow %s is for none of the calls that could be tried.", id))
	} else {
		fmt.Fprintln(c.std.Out, c.say("Workflow %s on %d past calls: %d denied, %d changed, %d failed, %d unchanged.", id, done.Calls, done.Denied, done.Changed, done.Failed, done.Unchanged))
		c.table([][]string{
			{c.say("CALLS"), c.say("DENIED"), c.say("CHANGED"), c.say("FAILED"), c.say("UNCHANGED"), c.say("ASKED"), c.say("P50 MS"), c.say("P95 MS"), c.say("ANSWERS")},
			{
				strconv.Itoa(done.Calls), strconv.Itoa(done.Denied), strconv.Itoa(done.Changed), strconv.Itoa(done.Failed), strconv.Itoa(done.Unchanged), strconv.Itoa(done.Asked),
				shownMillis(done.P50Millis), shownMillis(done.P95Millis), c.say("%s → %s tokens", thousands(done.TokensBefore), thousands(done.TokensAfter)),
			},
		})
	}
	if len(done.Examples) > 0 {
		rows := [][]string{{c.say("CALL"), c.say("OUTCOME")}}
		for _, one := range done.Examples {
			rows = append(rows, []string{one.Call, one.Outcome})
		}
		fmt.Fprintln(c.std.Out)
		c.table(rows)
		fmt.Fprintln(c.std.Err, c.say("`genkan workflows replay %s --call %s` shows what happens to one.", again, done.Examples[0].Call))
	}
	if done.Incomplete > 0 {
		fmt.Fprintln(c.std.Err, c.say("Calls for which a script needs another call or a request: %d. What becomes of them is not known, because nothing is sent.", done.Incomplete))
	}
	if done.Unmatched > 0 {
		fmt.Fprintln(c.std.Err, c.say("Calls that the workflow is not for: %d.", done.Unmatched))
	}
	if others := done.Skipped - done.Cut; others > 0 {
		fmt.Fprintln(c.std.Err, c.say("Calls that could not be tried, because they did not reach a server or are not kept (record in the configuration): %d.", others))
	}
	if done.Cut > 0 {
		fmt.Fprintln(c.std.Err, c.say("Calls that could not be tried, because they were too long to be kept whole: %d.", done.Cut))
	}
	if done.Partial {
		fmt.Fprintln(c.std.Err, c.say("It ran out of time, and older calls were not tried. --last or --since limits them."))
	}
}
