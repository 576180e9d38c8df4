package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/clients"
	"genkan/internal/setup"
)

func (c *command) undo() *cobra.Command {
	var list, force bool
	var show string
	cmd := &cobra.Command{
		Use: "undo [CLIENT]", Short: c.say("Put the files of clients back as they were"), Args: arguments(0, 1),
		Long: c.say(`Take back what "genkan connect" changed, in all clients or in one. A file that
nobody has changed since gets its very bytes back. In one that others have
changed, the entries that lead to genkan become what they were, and the rest
stays; where that is not possible the file is left alone, unless --force says
otherwise.

"genkan undo genkan" takes back what "genkan import" added to genkan's own
configuration.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if show != "" {
				return c.showBackup(show)
			}
			name := setup.AllClients
			if len(args) > 0 {
				name = args[0]
				if _, ok := clients.Lookup(name); !ok && name != clients.OwnClient {
					return setup.UnknownClient(name)
				}
			}
			api := c.setupAPI(cmd.Context())
			if list {
				return c.showChanges(cmd.Context(), api, name)
			}
			done, err := api.Undo(cmd.Context(), name, force)
			if err != nil && len(done.Files) == 0 {
				return err
			}
			if failed := c.showUndone(done); failed != nil {
				return failed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, c.say("show what can be taken back"))
	cmd.Flags().StringVar(&show, "show", "", c.say("print the file from before the change with this `id`"))
	cmd.Flags().BoolVar(&force, "force", false, c.say("also overwrite what others have changed since"))
	return cmd
}

// showChanges lists the changes that can be undone.
func (c *command) showChanges(ctx context.Context, api setupAPI, name string) error {
	found, err := api.Connections(ctx, "")
	if err != nil {
		return err
	}
	c.warnUnreadable(found.Unreadable)
	rows := [][]string{{c.say("CLIENT"), c.say("FILE"), c.say("CHANGED AT"), "ID"}}
	for _, ch := range found.Changes {
		if ch.Client == name || name == setup.AllClients && ch.Client != clients.OwnClient {
			rows = append(rows, []string{ch.Client, c.shortPath(ch.Path), ch.Time.Local().Format(time.DateTime), ch.ID})
		}
	}
	if len(rows) == 1 {
		fmt.Fprintln(c.std.Out, c.say("There is nothing to take back."))
		return nil
	}
	c.table(rows)
	return nil
}

func (c *command) warnUnreadable(paths []string) {
	for _, path := range paths {
		fmt.Fprintf(c.std.Err, "genkan: %s\n", c.say("%s, the record of a change, cannot be read; the change cannot be taken back, and others are not affected", path))
	}
}

// showBackup prints the former contents of a file. They may hold secrets, so the
// REST API does not show them.
func (c *command) showBackup(id string) error {
	before, err := c.localSetup().Before(id)
	if err == nil {
		_, err = c.exact().Write(before)
	}
	return err
}

// showUndone reports what happened to the files, and returns the first error.
func (c *command) showUndone(done client.UndoResult) error {
	c.warnUnreadable(done.Unreadable)
	if len(done.Files) == 0 {
		fmt.Fprintln(c.std.Out, c.say("There is nothing to take back."))
		return nil
	}
	var first error
	for _, f := range done.Files {
		switch setup.UndoState(f.State) {
		case setup.UndoRemoved:
			fmt.Fprintln(c.std.Out, c.say("%s was not there before and is gone.", c.shortPath(f.Path)))
		case setup.UndoRestored:
			fmt.Fprintln(c.std.Out, c.say("%s is as it was.", c.shortPath(f.Path)))
		case setup.UndoEntries:
			fmt.Fprintln(c.std.Out, c.say("%s has its entries back; what others have changed in it stays.", c.shortPath(f.Path)))
		case setup.UndoFailed:
			if first == nil {
				first = problemError(f.Problem)
			} else {
				fmt.Fprintf(c.std.Err, "genkan: %s\n", f.Problem.Error)
			}
		}
	}
	return first
}
