package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/clients"
	"genkan/internal/gateway"
	"genkan/internal/identity"
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
			changes, err := c.changesOf(args)
			if err != nil {
				return err
			}
			if list {
				return c.showChanges(changes)
			}
			return c.runUndo(cmd.Context(), changes, force)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, c.say("show what can be taken back"))
	cmd.Flags().StringVar(&show, "show", "", c.say("print the file from before the change with this `id`"))
	cmd.Flags().BoolVar(&force, "force", false, c.say("also overwrite what others have changed since"))
	return cmd
}

// changesOf are the changes that are meant, the newest first.
func (c *command) changesOf(args []string) ([]clients.Change, error) {
	all, unreadable, err := c.backups().List()
	if err != nil {
		return nil, err
	}
	for _, path := range unreadable {
		fmt.Fprintf(c.std.Err, "genkan: %s\n", c.say("%s, the record of a change, cannot be read; the change cannot be taken back, and others are not affected", path))
	}
	if len(args) == 0 {
		return slices.DeleteFunc(all, func(ch clients.Change) bool { return ch.Client == clients.OwnClient }), nil
	}
	if _, ok := clients.Lookup(args[0]); !ok && args[0] != clients.OwnClient {
		return nil, unknownClient(args[0])
	}
	return slices.DeleteFunc(all, func(ch clients.Change) bool { return ch.Client != args[0] }), nil
}

func (c *command) showChanges(changes []clients.Change) error {
	if len(changes) == 0 {
		fmt.Fprintln(c.std.Out, c.say("There is nothing to take back."))
		return nil
	}
	rows := [][]string{{c.say("CLIENT"), c.say("FILE"), c.say("CHANGED"), c.say("ID")}}
	for _, ch := range changes {
		rows = append(rows, []string{ch.Client, c.homely(ch.Path), ch.Time.Local().Format(time.DateTime), ch.ID})
	}
	c.table(rows)
	return nil
}

// showBackup prints a file as it was, whoever has changed it since.
func (c *command) showBackup(id string) error {
	all, _, err := c.backups().List()
	if err != nil {
		return err
	}
	for _, ch := range all {
		if ch.ID == id {
			before, err := c.backups().Before(ch)
			if err == nil {
				_, err = c.exact().Write(before)
			}
			return err
		}
	}
	return gateway.Errorf(gateway.CodeNotFound, "there is no change %s; `genkan undo --list` shows them", id)
}

// runUndo goes on after a file that cannot be put back, and tells of the first.
// Where a backup is lost, those from before it are as good: they have what was
// there first.
func (c *command) runUndo(ctx context.Context, changes []clients.Change, force bool) error {
	if len(changes) == 0 {
		fmt.Fprintln(c.std.Out, c.say("There is nothing to take back."))
		return nil
	}
	var first error
	failed := func(err error) {
		if first == nil {
			first = err
		} else {
			fmt.Fprintf(c.std.Err, "genkan: %s\n", c.language.Error(gateway.AsError(err)))
		}
	}
	var stuck []string
	type loss struct {
		clients.Change
		err error
	}
	var lost []loss
	// outcomes has what became of each file, in the order of paths: a file may have
	// several changes, and its last line says it all.
	outcomes := map[string]string{}
	var paths []string
	told := func(path, text string) {
		if _, ok := outcomes[path]; !ok {
			paths = append(paths, path)
		}
		outcomes[path] = text
	}
	for _, ch := range changes {
		if slices.Contains(stuck, ch.Path) {
			continue // what was before can only be put back after this
		}
		exact, err := c.backups().Undo(ch, force)
		switch {
		case errors.Is(err, clients.ErrLost):
			lost = append(lost, loss{ch, err})
			continue
		case err != nil:
			stuck = append(stuck, ch.Path)
			failed(err)
			continue
		case ch.Created:
			told(ch.Path, c.say("%s was not there before and is gone.", c.homely(ch.Path)))
		case exact:
			told(ch.Path, c.say("%s is as it was.", c.homely(ch.Path)))
		default:
			told(ch.Path, c.say("%s has its entries back; what others have changed in it stays.", c.homely(ch.Path)))
		}
		lost = slices.DeleteFunc(lost, func(l loss) bool {
			if l.Path != ch.Path {
				return false
			}
			c.backups().Forget(l.Change)
			return true
		})
	}
	for _, path := range paths {
		fmt.Fprintln(c.std.Out, outcomes[path])
	}
	for _, l := range lost {
		failed(l.err)
	}
	if err := c.forgetTokens(ctx, changes); err != nil && first == nil {
		first = err
	}
	return first
}

// forgetTokens revokes the tokens of clients that are not connected any more.
func (c *command) forgetTokens(ctx context.Context, undone []clients.Change) error {
	left, _, err := c.backups().List()
	if err != nil {
		return err
	}
	for _, ch := range undone {
		if slices.ContainsFunc(left, func(other clients.Change) bool { return other.Client == ch.Client }) {
			continue
		}
		if err := c.dropToken(ctx, ch.Client); err != nil {
			return err
		}
	}
	return nil
}

// dropToken revokes and forgets the token that was made for a client, if there
// is one.
func (c *command) dropToken(ctx context.Context, client string) error {
	vault := app.OpenVault(c.dataDir)
	token, found, err := vault.Load(ctx, clientTokenPrefix+client)
	if err != nil || !found {
		return err
	}
	if err := c.keeper(ctx, func(k *identity.Keeper) error {
		id, err := k.Verify(ctx, token.Reveal())
		if err != nil {
			return nil // revoked by hand
		}
		return k.Revoke(ctx, id.ClientID)
	}); err != nil {
		return err
	}
	return vault.Delete(ctx, clientTokenPrefix+client)
}
