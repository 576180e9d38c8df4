package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"genkan/internal/app"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/logs"
	"genkan/internal/signin"
	"genkan/internal/upstream"
)

func (c *command) login() *cobra.Command {
	var noBrowser, fresh bool
	cmd := c.jsonFlag(&cobra.Command{
		Use: "login [SERVER]", Short: c.say("Sign in to a server"), Args: arguments(0, 1),
		Long: c.say(`Sign in to a remote server in the browser, once for all clients. Genkan renews
the sign-in by itself and keeps it encrypted on this machine. Without SERVER the
servers are listed with their sign-ins.

Where there is no browser, open the address that is shown on another machine,
and paste the address that the browser ends at, although its page does not load.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.readConfig()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return c.listSignIns(cmd.Context(), cfg)
			}
			server, err := app.RemoteServer(cfg, args[0])
			if err != nil {
				return err
			}
			return c.signIn(cmd.Context(), cfg, server, signin.Login{Fresh: fresh}, noBrowser)
		},
	})
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, c.say("open no browser, and ask for the address that one ended at"))
	cmd.Flags().BoolVar(&fresh, "fresh", false, c.say("register genkan anew, where a sign-in service has forgotten it"))
	return cmd
}

func (c *command) logout() *cobra.Command {
	return &cobra.Command{
		Use: "logout SERVER", Short: c.say("Sign out of a server"), Args: arguments(1, 1),
		Long: c.say("Sign out of a server: the sign-in is revoked where that is possible, and forgotten here."),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.readConfig()
			if err != nil {
				return err
			}
			return c.signOut(cmd.Context(), cfg, args[0])
		},
	}
}

// readConfig reads the configuration as `genkan serve` does here.
func (c *command) readConfig() (*config.Config, error) {
	return app.ReadConfig(app.Options{DataDir: c.dataDir, ConfigFile: c.configFile, Flags: c.flags})
}

// signIns opens the sign-ins of the data directory. A genkan may be running.
func (c *command) signIns(cfg *config.Config, use func(*signin.SignIns) error) error {
	sink := c.logSink()
	defer sink.Close()
	level := "error" // the command itself reports what happens
	if c.debug {
		level = c.flags.LogLevel
	}
	k := signin.New(signin.Options{
		Vault: app.OpenVault(c.dataDir), ClientMetadataURL: cfg.ClientMetadataURL,
		Log: logs.New(sink, logs.Level(level), isTerminal(c.std.Err)),
	})
	defer k.Close()
	return use(k)
}

func (c *command) signIn(ctx context.Context, cfg *config.Config, s signin.Server, l signin.Login, noBrowser bool) error {
	return c.signIns(cfg, func(k *signin.SignIns) error {
		fmt.Fprintln(c.std.Err, c.say("Asking %s where to sign in …", s.Name))
		if err := k.SignIn(ctx, s, l, c.person(s, noBrowser || !hasBrowser())); err != nil {
			return err
		}
		status, err := k.Status(ctx, s)
		if err != nil {
			return err
		}
		switch {
		case status.Refreshable || status.Expires.IsZero():
			fmt.Fprintln(c.std.Err, c.say("Signed in to %s.", s.Name))
		default:
			fmt.Fprintln(c.std.Err, c.say("Signed in to %s until %s; it gave nothing to renew that with.", s.Name, status.Expires.Local().Format(time.DateTime)))
		}
		return c.tellOfSignIn(ctx, s.Name)
	})
}

// person returns the signin.Person at this terminal.
func (c *command) person(s signin.Server, noBrowser bool) signin.Person {
	opened := false
	return signin.Person{
		Translate: c.language.Translator(),
		Open: func(ctx context.Context, address string) error {
			fmt.Fprintln(c.std.Err, c.say("Sign in to %s at this address:", s.Name))
			fmt.Fprintf(c.std.Err, "\n  %s\n\n", address)
			if !noBrowser {
				if err := openBrowser(ctx, address); err == nil {
					opened = true
					fmt.Fprintln(c.std.Err, c.say("It is being opened in your browser; waiting for your answer there …"))
					return nil
				}
				fmt.Fprintln(c.std.Err, c.say("No browser could be opened; please open it by hand."))
			}
			return nil
		},
		Paste: func(ctx context.Context) (string, error) {
			switch {
			case opened && !term.IsTerminal(int(c.std.In.Fd())):
				<-ctx.Done()
				return "", context.Cause(ctx)
			case !opened:
				fmt.Fprintln(c.std.Err, c.say("In a browser on another machine the last page will not load. Paste its address here:"))
			}
			return c.readLine(ctx)
		},
	}
}

// readLine waits for a line from the person, or for ctx, because the browser may be
// quicker. If nothing can be typed here, only the browser can finish the sign-in.
func (c *command) readLine(ctx context.Context) (string, error) {
	lines := make(chan string, 1)
	go func() { // it may read on after the command is done; the process ends then
		for reader := bufio.NewReader(c.std.In); ; {
			line, err := reader.ReadString('\n')
			if len(line) > 1 {
				lines <- line
				return
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case line := <-lines:
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (c *command) signOut(ctx context.Context, cfg *config.Config, name string) error {
	kept, err := app.OpenVault(c.dataDir).Names(ctx, signin.VaultPrefix)
	if err != nil {
		return err
	}
	server, unfit := app.RemoteServer(cfg, name)
	if !slices.Contains(kept, name) {
		if unfit != nil {
			return unfit
		}
		fmt.Fprintln(c.std.Err, c.say("Nobody is signed in to %s.", name))
		return nil
	}
	if unfit != nil { // a sign-in can be forgotten even if its server is no longer configured
		server = signin.Server{Name: name}
	}
	return c.signIns(cfg, func(k *signin.SignIns) error {
		if err := k.SignOut(ctx, server); err != nil {
			return err
		}
		fmt.Fprintln(c.std.Err, c.say("Signed out of %s.", name))
		remote, err := c.remote(ctx)
		if err == nil {
			_, err = remote.Try(ctx, name)
		}
		if notServed(err) {
			return nil
		}
		return err
	})
}

// notServed reports whether an error means that no running genkan needs to be told.
func notServed(err error) bool {
	var e *gateway.Error
	return errors.As(err, &e) && (e.Code == gateway.CodeUnavailable || e.Code == gateway.CodeNotFound)
}

// tryPatience is how long a server may take to become ready after a sign-in, and
// tryPace is how often its state is read.
const (
	tryPatience = 20 * time.Second
	tryPace     = 50 * time.Millisecond
)

// tellOfSignIn makes a running genkan use the sign-in, and reports the result.
func (c *command) tellOfSignIn(ctx context.Context, name string) error {
	remote, err := c.remote(ctx)
	if err != nil {
		fmt.Fprintln(c.std.Err, c.say("No genkan runs here now; the next one will use it."))
		return nil
	}
	before, err := remote.Server(ctx, name)
	if err == nil {
		_, err = remote.Try(ctx, name)
	}
	switch {
	case notServed(err):
		fmt.Fprintln(c.std.Err, c.say("The genkan that runs here does not serve %s now.", name))
		return nil
	case err != nil:
		return err
	}
	for deadline := time.Now().Add(tryPatience); ; {
		s, err := remote.Server(ctx, name)
		if err != nil {
			return err
		}
		settled := s.Starts > before.Starts && !s.Since.Equal(before.Since) && s.State != string(upstream.StateStarting)
		switch {
		case settled && s.State == string(upstream.StateReady):
			fmt.Fprintln(c.std.Err, c.say("%s is ready, with %d tools.", name, s.Tools))
			return nil
		case settled:
			fmt.Fprintln(c.std.Err, c.say("%s is %s: %s", name, s.State, hanging(s.Problem)))
			return nil
		case time.Now().After(deadline):
			fmt.Fprintln(c.std.Err, c.say("%s is still starting; `genkan servers %s` shows how it is.", name, name))
			return nil
		}
		select {
		case <-time.After(tryPace):
		case <-ctx.Done():
			return nil
		}
	}
}
