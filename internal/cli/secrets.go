package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

func (c *command) secrets() *cobra.Command {
	cmd := &cobra.Command{
		Use: "secrets", Short: c.say("Keep the keys that servers need"),
		Long: c.say(`Keys and passwords need not stand in the configuration: keep them here, and
write ${secret:NAME} where one is needed. They are encrypted; the key is in this
machine's keyring, or in a file of the data directory where there is none.`),
	}
	cmd.AddCommand(c.secretsSet(), c.secretsList(), c.secretsRemove())
	return cmd
}

func (c *command) secretsSet() *cobra.Command {
	return &cobra.Command{
		Use: "set NAME", Short: c.say("Keep a secret, typed or from standard input"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSecretName(args[0]); err != nil {
				return err
			}
			value, err := c.readSecret(cmd.Context(), c.say("Value of %s (it is not shown): ", args[0]))
			if err != nil {
				return err
			}
			if err := app.OpenVault(c.dataDir).Save(cmd.Context(), app.SecretPrefix+args[0], value); err != nil {
				return err
			}
			app.NoteChange(c.dataDir, "secrets set", args[0])
			fmt.Fprintln(c.std.Err, c.say("Secret %s is kept. Refer to it with ${secret:%s}.", args[0], args[0]))
			return c.tellRunning(cmd.Context())
		},
	}
}

func checkSecretName(name string) error {
	if config.LegalSecret(name) {
		return nil
	}
	return gateway.Errorf(gateway.CodeInvalid, "the name of a secret has letters, digits, '.', '_' and '-' only")
}

func (c *command) secretsList() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "list", Short: c.say("List the names of the kept secrets"), Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			names, err := app.OpenVault(c.dataDir).Names(cmd.Context(), app.SecretPrefix)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(names)
			}
			if len(names) == 0 {
				fmt.Fprintln(c.std.Err, c.say("No secrets are kept. `genkan secrets set NAME` keeps one."))
			}
			for _, name := range names {
				fmt.Fprintln(c.std.Out, name)
			}
			return nil
		},
	})
}

func (c *command) secretsRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"delete"}, Short: c.say("Forget a secret"), Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			kept := app.OpenVault(c.dataDir)
			_, found, err := kept.Load(cmd.Context(), app.SecretPrefix+args[0])
			if err != nil {
				return err
			}
			if !found {
				return gateway.Errorf(gateway.CodeNotFound, "no secret %s is kept; `genkan secrets list` shows them", args[0])
			}
			if err := kept.Delete(cmd.Context(), app.SecretPrefix+args[0]); err != nil {
				return err
			}
			app.NoteChange(c.dataDir, "secrets remove", args[0])
			fmt.Fprintln(c.std.Err, c.say("Secret %s is forgotten.", args[0]))
			if users := c.usersOf(args[0]); len(users) > 0 {
				fmt.Fprintln(c.std.Err, c.say("Servers of the configuration refer to it and will not start without it: %s.", strings.Join(users, ", ")))
			}
			return c.tellRunning(cmd.Context())
		},
	}
}

// usersOf names the servers of the configuration that lack a secret.
func (c *command) usersOf(secret string) []string {
	cfg, err := c.readConfig()
	if err != nil {
		return nil // the secret is gone all the same
	}
	var users []string
	for _, s := range cfg.Servers {
		if slices.Contains(s.Missing, config.Missing{Name: secret, Secret: true}) {
			users = append(users, s.Name)
		}
	}
	return users
}

func (c *command) reload() *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: c.say("Have a running genkan read its configuration again"), Args: arguments(0, 0),
		Long: c.say(`Have a running genkan read its configuration again, with the secrets that it
refers to. It does so by itself when the file changes.`),
		RunE: func(cmd *cobra.Command, _ []string) error {
			remote, err := c.remote(cmd.Context())
			if err != nil {
				return err
			}
			if err := remote.Reload(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintln(c.std.Out, c.say("The configuration was read again. `genkan servers` shows how its servers are."))
			return nil
		},
	}
}

// tellRunning has a running genkan take notice of what changed. That none runs
// is fine.
func (c *command) tellRunning(ctx context.Context) error {
	remote, err := c.remote(ctx)
	if err == nil {
		err = remote.Reload(ctx)
	}
	var e *gateway.Error
	if errors.As(err, &e) && e.Code == gateway.CodeUnavailable {
		return nil
	}
	return err
}
