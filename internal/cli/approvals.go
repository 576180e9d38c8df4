package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

func (c *command) approvals() *cobra.Command {
	cmd := c.jsonFlag(&cobra.Command{
		Use: "approvals", Short: c.say("Decide about calls that wait for a person"), Args: arguments(0, 0),
		Long: c.say(`List the calls that a workflow holds until a person decides, the oldest first, with
their arguments, without secrets. A call that nobody decides about in time is refused.

  genkan approvals show ID       shows all of its arguments
  genkan approvals approve ID    lets the call go on
  genkan approvals deny ID       refuses it, and tells the agent why with --reason`),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				list, err := remote.Approvals(cmd.Context())
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(list)
				}
				c.listApprovals(list, time.Now())
				return nil
			})
		},
	})
	cmd.AddCommand(
		c.showApproval(),
		c.decide("approve ID", c.say("Let a call go on that waits"), client.Approve, func(id string) string { return c.say("Call approved (%s).", id) }),
		c.decide("deny ID", c.say("Refuse a call that waits"), client.Deny, func(id string) string { return c.say("Call refused (%s).", id) }),
	)
	return cmd
}

func (c *command) listApprovals(list client.ApprovalList, now time.Time) {
	if len(list.Approvals) == 0 {
		fmt.Fprintln(c.std.Out, c.say("No call waits for a person."))
		return
	}
	fmt.Fprintln(c.std.Out, c.say("Calls that wait for a person: %d.", len(list.Approvals)))
	rows := [][]string{{"ID", c.say("CLIENT"), c.say("TOOL"), c.say("WORKFLOW"), c.say("LEFT"), c.say("QUESTION"), c.say("ARGUMENTS")}}
	for _, p := range list.Approvals {
		left := max(p.ExpiresAt.Sub(now).Round(time.Second), 0)
		rows = append(rows, []string{p.ID, p.Client, p.Tool, p.Workflow, left.String(), orDash(p.Message), p.Arguments})
	}
	c.table(rows)
	for _, p := range list.Approvals {
		if p.InClient {
			fmt.Fprintln(c.std.Err, c.say("Client %s asks its own person about %s, too; the first answer counts.", p.Client, p.ID))
		}
		if p.Left {
			fmt.Fprintln(c.std.Err, c.say("Client %s has disconnected; nobody reads the answer of %s.", p.Client, p.ID))
		}
		if p.NotShown > 0 {
			fmt.Fprintln(c.std.Err, c.say("%d bytes of the arguments of %s are not shown here. `genkan approvals show %s` shows all of them.", p.NotShown, p.ID, p.ID))
		}
		c.noteMasked(&p)
		if p.WebhookProblem != "" {
			fmt.Fprintln(c.std.Err, c.say("Nobody was told of %s: %s.", p.ID, gateway.Printable(p.WebhookProblem)))
		}
	}
	fmt.Fprintln(c.std.Err, c.say("`genkan approvals approve ID` lets one go on, and `genkan approvals deny ID` refuses it."))
}

// noteMasked says that secrets were taken out of the arguments of an approval.
func (c *command) noteMasked(p *client.Approval) {
	if p.Masked {
		fmt.Fprintln(c.std.Err, c.say("Parts of the arguments of %s are hidden, because Genkan keeps them secret.", p.ID))
	}
}

func (c *command) showApproval() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "show ID", Short: c.say("Show all arguments of a call that waits"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				one, err := remote.Approval(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(one)
				}
				fmt.Fprintln(c.std.Out, pretty(json.RawMessage(one.Arguments)))
				c.noteMasked(&one)
				return nil
			})
		},
	})
}

// pendingApprovals lists the calls that wait for a person.
type pendingApprovals interface {
	Approvals(ctx context.Context) (client.ApprovalList, error)
}

// lookForApprovals is how often a call that has no answer yet is looked for among those
// that wait for a person.
const lookForApprovals = time.Second

// tellWaiting says on standard error that a call of a tool waits for a person, and how to
// decide, until the function is called that it returns. The call's ID is not known before
// its answer, so it speaks of every approval of the tool that is asked for meanwhile.
func (c *command) tellWaiting(ctx context.Context, from pendingApprovals, tool string) (answered func()) {
	ctx, cancel := context.WithCancel(ctx)
	began, told := time.Now(), map[string]bool{}
	var beside sync.WaitGroup
	beside.Go(func() {
		ticker := time.NewTicker(lookForApprovals)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			list, err := from.Approvals(ctx)
			if err != nil {
				continue // the call itself tells what is wrong
			}
			for _, p := range list.Approvals {
				if p.Tool == tool && !p.AskedAt.Before(began) && !told[p.ID] {
					told[p.ID] = true
					fmt.Fprintln(c.std.Err, c.say("The workflow %q lets a person decide about this call until %s. `genkan approvals approve %s` lets it go on, and `genkan approvals deny %s` refuses it.",
						p.Workflow, p.ExpiresAt.Local().Format(time.TimeOnly), p.ID, p.ID))
				}
			}
		}
	})
	return func() { cancel(); beside.Wait() }
}

func (c *command) decide(use, short, decision string, done func(id string) string) *cobra.Command {
	reason := ""
	cmd := c.jsonFlag(&cobra.Command{
		Use: use, Short: short, Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				if err := remote.Decide(cmd.Context(), args[0], client.ApprovalDecision{Decision: decision, Reason: reason}); err != nil {
					return err
				}
				if c.asJSON {
					return c.json(client.Done{Success: true})
				}
				fmt.Fprintln(c.std.Err, done(gateway.Printable(args[0])))
				return nil
			})
		},
	})
	if decision == client.Deny {
		cmd.Flags().StringVar(&reason, "reason", "", c.say("the `reason`, for the agent that made the call"))
	}
	return cmd
}
