package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/logs"
	"genkan/internal/sqlite"
)

func (c *command) tokens() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tokens", Short: c.say("Give clients tokens, and take them back"),
		Long: c.say(`Every client needs a token, on this machine too. The admin token is in the file
admin-token of the data directory. A token's name is the client's name in the
log and the metrics. A running genkan knows of changes at once; when a token was
last seen is written down once a minute.`),
	}
	cmd.AddCommand(c.tokensAdd(), c.tokensList(), c.tokensRevoke())
	return cmd
}

// keeper opens the tokens of the data directory, beside a running genkan.
func (c *command) keeper(ctx context.Context, use func(*identity.Keeper) error) error {
	if err := os.MkdirAll(c.dataDir, 0o700); err != nil {
		return &gateway.Error{
			Code: gateway.CodeInvalid, Err: err,
			Message: "the data directory %s cannot be made; choose another with --data",
			Values:  []any{c.dataDir},
		}
	}
	if err := app.CheckDataDir(c.dataDir); err != nil {
		return err
	}
	sink := c.logSink()
	defer sink.Close()
	store, err := sqlite.Open(ctx, filepath.Join(c.dataDir, "genkan.db"), logs.New(sink, logs.Level("warn"), isTerminal(c.std.Err)))
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	k := identity.NewKeeper(store, "", time.Now)
	k.Changed = func(operation, name string) { app.NoteChange(c.dataDir, operation, name) }
	return use(k)
}

func (c *command) tokensAdd() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "add NAME", Short: c.say("Make a token and print it, once"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.keeper(cmd.Context(), func(k *identity.Keeper) error {
				token, secret, err := k.Add(cmd.Context(), args[0], false)
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(map[string]string{"name": token.Name, "token": secret.Reveal()})
				}
				fmt.Fprintln(c.std.Err, c.say("This token is shown once. Clients send it as \"Authorization: Bearer TOKEN\"."))
				_, err = fmt.Fprintln(c.std.Out, secret.Reveal())
				return err
			})
		},
	})
}

func (c *command) tokensList() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "list", Short: c.say("List the tokens' names"), Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.keeper(cmd.Context(), func(k *identity.Keeper) error {
				list, err := k.List(cmd.Context())
				if err != nil {
					return err
				}
				type shown struct {
					Name       string    `json:"name"`
					CreatedAt  time.Time `json:"createdAt"`
					LastSeen   time.Time `json:"lastSeen,omitzero"`
					LastClient string    `json:"lastClient,omitempty"`
				}
				out := []shown{}
				rows := [][]string{{c.say("NAME"), c.say("CREATED"), c.say("LAST SEEN"), c.say("CLIENT")}}
				for _, t := range list {
					out = append(out, shown{t.Name, t.CreatedAt, t.LastUsed, t.LastClient})
					seen := shownTime(t.LastUsed)
					if seen == "" {
						seen = c.say("never")
					}
					rows = append(rows, []string{t.Name, shownTime(t.CreatedAt), seen, t.LastClient})
				}
				if c.asJSON {
					return c.json(out)
				}
				if len(list) == 0 {
					fmt.Fprintln(c.std.Err, c.say("There are no tokens besides the admin token. `genkan tokens add NAME` makes one."))
					return nil
				}
				c.table(rows)
				return nil
			})
		},
	})
}

func (c *command) tokensRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Aliases: []string{"remove", "delete"}, Short: c.say("Take a token back"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.keeper(cmd.Context(), func(k *identity.Keeper) error {
				if err := k.Revoke(cmd.Context(), args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintln(c.std.Err, c.say("Token %s is revoked.", args[0]))
				return err
			})
		},
	}
}
