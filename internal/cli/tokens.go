package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"genkan/internal/api"
	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/identity"
	"genkan/internal/logs"
)

func (c *command) tokens() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tokens", Short: c.say("Give clients tokens, and take them back"),
		Long: c.say(`Every client that calls the URL of genkan needs a token, on this machine too; those
that start "genkan stdio" need none. The admin token is in the file admin-token of
the data directory. A token's name is the client's name in the
log and the metrics. A running genkan knows of changes at once; when a token was
last seen is written down once a minute.`),
	}
	cmd.AddCommand(c.tokensAdd(), c.tokensList(), c.tokensRevoke())
	return cmd
}

// tokenKeeper makes, lists and revokes tokens: in the running genkan, or in the
// database if none runs.
type tokenKeeper interface {
	Tokens(ctx context.Context) ([]client.Token, error)
	AddToken(ctx context.Context, name string) (client.MadeToken, error)
	RevokeToken(ctx context.Context, name string) error
}

// withTokens calls use with the tokens of the data directory.
func (c *command) withTokens(ctx context.Context, use func(tokenKeeper) error) error {
	remote, err := c.remoteOrNone(ctx)
	if err != nil {
		return err
	}
	if remote != nil {
		return use(remote)
	}
	sink := c.logSink()
	defer sink.Close()
	opt := app.Options{DataDir: c.dataDir, Log: logs.New(sink, logs.Level("warn"), isTerminal(c.std.Err))}
	return opt.WithTokens(ctx, func(t *identity.Tokens) error { return use(storedTokens{t}) })
}

// storedTokens are the tokens of a data directory without a running genkan.
type storedTokens struct{ tokens *identity.Tokens }

func (s storedTokens) Tokens(ctx context.Context) ([]client.Token, error) {
	list, err := s.tokens.List(ctx)
	out := make([]client.Token, len(list))
	for i, t := range list {
		out[i] = api.TokenOf(t)
	}
	return out, err
}

func (s storedTokens) AddToken(ctx context.Context, name string) (client.MadeToken, error) {
	token, secret, err := s.tokens.Add(ctx, name, false)
	return client.MadeToken{Name: token.Name, Token: secret.Reveal()}, err
}

func (s storedTokens) RevokeToken(ctx context.Context, name string) error {
	return s.tokens.Revoke(ctx, name)
}

func (c *command) tokensAdd() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "add NAME", Short: c.say("Make a token and print it, once"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := identity.CheckTokenName(args[0]); err != nil {
				return err
			}
			return c.withTokens(cmd.Context(), func(k tokenKeeper) error {
				made, err := k.AddToken(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(made)
				}
				fmt.Fprintln(c.std.Err, c.say("This token is shown once. Clients send it as \"Authorization: Bearer TOKEN\"."))
				_, err = fmt.Fprintln(c.std.Out, made.Token)
				return err
			})
		},
	})
}

func (c *command) tokensList() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "list", Short: c.say("List the tokens' names"), Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withTokens(cmd.Context(), func(k tokenKeeper) error {
				list, err := k.Tokens(cmd.Context())
				if err != nil {
					return err
				}
				if c.asJSON {
					return c.json(list)
				}
				if len(list) == 0 {
					fmt.Fprintln(c.std.Err, c.say("There are no tokens besides the admin token. `genkan tokens add NAME` makes one."))
					return nil
				}
				rows := [][]string{{c.say("NAME"), c.say("CREATED"), c.say("LAST SEEN"), c.say("CLIENT")}}
				for _, t := range list {
					seen := c.say("never")
					if t.LastSeen != nil {
						seen = shownTime(*t.LastSeen)
					}
					rows = append(rows, []string{t.Name, shownTime(t.CreatedAt), seen, t.LastClient})
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
			if err := identity.CheckTokenName(args[0]); err != nil {
				return err
			}
			return c.withTokens(cmd.Context(), func(k tokenKeeper) error {
				if err := k.RevokeToken(cmd.Context(), args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintln(c.std.Err, c.say("Token %s is revoked.", args[0]))
				return err
			})
		},
	}
}
