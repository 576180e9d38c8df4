package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/gateway"
	"genkan/internal/registry"
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
			if err := registry.CheckSecretName(args[0]); err != nil {
				return err
			}
			value, err := c.readSecret(cmd.Context(), c.say("Value of %s (it is not shown): ", args[0]))
			if err != nil {
				return err
			}
			keeper, err := c.secretKeeper(cmd.Context())
			if err != nil {
				return err
			}
			changed, err := keeper.SetSecret(cmd.Context(), args[0], value.Reveal())
			if err != nil {
				return err
			}
			fmt.Fprintln(c.std.Err, c.say("Secret %s is kept. Refer to it with ${secret:%s}.", args[0], args[0]))
			return unread(changed)
		},
	}
}

// secretKeeper keeps secrets: the running genkan, or the vault if none runs.
type secretKeeper interface {
	Secrets(ctx context.Context) ([]client.Secret, error)
	SetSecret(ctx context.Context, name, value string) (client.SecretChanged, error)
	RemoveSecret(ctx context.Context, name string) (client.SecretChanged, error)
}

func (c *command) secretKeeper(ctx context.Context) (secretKeeper, error) {
	remote, err := c.remoteOrNone(ctx)
	if err != nil || remote != nil {
		return remote, err
	}
	return storedSecrets{c, app.Secrets(app.Options{DataDir: c.dataDir, ConfigFile: c.configFile, Flags: c.flags})}, nil
}

// storedSecrets are the secrets of a data directory without a running genkan.
type storedSecrets struct {
	c    *command
	kept *registry.Secrets
}

func (s storedSecrets) Secrets(ctx context.Context) ([]client.Secret, error) {
	names, err := s.kept.Names(ctx)
	out := []client.Secret{}
	for _, one := range names {
		out = append(out, client.Secret{Name: one.Name, Servers: append([]string{}, one.Servers...)})
	}
	return out, err
}

func (s storedSecrets) SetSecret(ctx context.Context, name, value string) (client.SecretChanged, error) {
	return s.changed(name, "secrets set", s.kept.Set(ctx, name, gateway.Secret(value)))
}

func (s storedSecrets) RemoveSecret(ctx context.Context, name string) (client.SecretChanged, error) {
	return s.changed(name, "secrets remove", s.kept.Remove(ctx, name))
}

func (s storedSecrets) changed(name, operation string, err error) (client.SecretChanged, error) {
	if err != nil {
		return client.SecretChanged{}, err
	}
	app.NoteChange(s.c.dataDir, operation, name)
	return client.SecretChanged{Secret: client.Secret{Name: name, Servers: s.kept.UsersOf(name)}}, nil
}

// unread returns why the running genkan could not reload its configuration.
func unread(changed client.SecretChanged) error {
	if changed.Problem == "" {
		return nil
	}
	return gateway.Errorf(gateway.CodeInvalid, "%s", changed.Problem)
}

func (c *command) secretsList() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "list", Short: c.say("List the names of the kept secrets"), Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			keeper, err := c.secretKeeper(cmd.Context())
			if err != nil {
				return err
			}
			list, err := keeper.Secrets(cmd.Context())
			if err != nil {
				return err
			}
			names := []string{}
			for _, one := range list {
				names = append(names, one.Name)
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
			if err := registry.CheckSecretName(args[0]); err != nil {
				return err
			}
			keeper, err := c.secretKeeper(cmd.Context())
			if err != nil {
				return err
			}
			changed, err := keeper.RemoveSecret(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(c.std.Err, c.say("Secret %s is forgotten.", args[0]))
			if len(changed.Servers) > 0 {
				fmt.Fprintln(c.std.Err, c.say("Servers of the configuration refer to it and will not start without it: %s.", gateway.Names(changed.Servers)))
			}
			return unread(changed)
		},
	}
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
