package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"genkan/internal/app"
)

func (c *command) backup() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "backup FILE", Short: c.say("Copy the database while genkan runs"), Args: arguments(1, 1),
		Long: c.say(`Copy the database of the data directory into FILE: the knowledge base, servers that
were added, what was said about tools, tokens (as hashes), and what was learned. It
has all that was written before it began, whether genkan runs or not, and is checked
before it gets its name.

Not in it are the secrets and sign-ins of the vault, the admin token and genkan.yaml.
To restore, stop genkan, move genkan.db and the files beside it that begin with
genkan.db out of the data directory, and copy the backup there as genkan.db.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			progress := newBar(c, c.say("copying (KiB)"), 0)
			defer progress.clear()
			size, err := app.Backup(cmd.Context(), c.dataDir, args[0], force, func(done, total int64) {
				progress.outOf(int(done>>10), int(total>>10))
			})
			if err != nil {
				return err
			}
			progress.clear()
			fmt.Fprintln(c.std.Out, c.say("Copied the database to %s (%d KiB), and checked the copy.", c.shortPath(args[0]), (size+1023)>>10))
			fmt.Fprintln(c.std.Err, c.say("Not in it: the secrets and sign-ins of the vault, the admin token, and genkan.yaml."))
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, c.say("replace FILE if it is there"))
	return cmd
}
