package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/gateway"
	"genkan/internal/mcpserver"
	"genkan/internal/web"
)

func (c *command) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: c.say("Start the gateway"), Args: arguments(0, 0),
		Long: c.say(`Start the gateway: the MCP endpoint /mcp, the REST API /v1 and the web UI /ui/ on
127.0.0.1:3000. At a terminal it prints the address of the web UI. Unless a browser
is signed in to it already, the address signs one in, and is opened.

The servers behind it are listed in the configuration file, by default
genkan.yaml in the data directory, in the shape that MCP clients use:

  mcpServers:
    everything:
      command: npx
      args: ["-y", "@modelcontextprotocol/server-everything"]

The file is read again when it changes, and on SIGHUP.`),
		RunE: c.runServe,
	}
	c.servingFlags(cmd, "http")
	cmd.Flags().BoolVar(&c.noOpen, "no-open", false, c.say("do not open the web UI in a browser"))
	return cmd
}

func (c *command) servingFlags(cmd *cobra.Command, transport string) {
	f := cmd.Flags()
	f.String("transport", transport, c.say("`transport` to serve: stdio or http"))
	f.IntVar(&c.flags.Port, "port", 0, c.say("`port` to listen on, 0 for one that is free (default 3000)"))
	f.StringVar(&c.flags.Host, "host", "", c.say("`host` to listen on (default 127.0.0.1)"))
	f.StringSliceVar(&c.flags.AllowedHosts, "allowed-host", nil, c.say("`name` beside localhost that requests may be for (repeatable)"))
	f.BoolVar(&c.flags.BehindProxy, "behind-proxy", false, c.say("listen beyond loopback without TLS, because a proxy before genkan has it"))
	f.StringVar(&c.flags.TLSCert, "tls-cert", "", c.say("certificate `file`"))
	f.StringVar(&c.flags.TLSKey, "tls-key", "", c.say("key `file`"))
	f.StringVar(&c.flags.N8NURL, "n8n-url", "", c.say("`URL` of an n8n instance (or N8N_URL)"))
	f.StringVar((*string)(&c.flags.N8NKey), "api-key", "", c.say("API `key` of the n8n instance; N8N_API_KEY keeps it out of process lists"))
}

// hideListener hides the flags of a listener from the help of a command that has
// one only with --transport http.
func hideListener(cmd *cobra.Command) {
	for _, name := range []string{"transport", "port", "host", "allowed-host", "behind-proxy", "tls-cert", "tls-key"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Root().PersistentFlags().Lookup("listen").Hidden = true
		cmd.Parent().HelpFunc()(cmd, args)
	})
}

// transport returns the transport to serve.
func transport(cmd *cobra.Command) (string, error) {
	transport, err := cmd.Flags().GetString("transport")
	if err == nil && transport != "stdio" && transport != "http" {
		err = gateway.Errorf(gateway.CodeInvalid, "--transport must be stdio or http, not %q", transport)
	}
	return transport, err
}

// runServe serves until a signal or the client ends it.
func (c *command) runServe(cmd *cobra.Command, _ []string) error {
	transport, err := transport(cmd)
	if err != nil {
		return err
	}
	opt, sink := c.options()
	defer sink.Close()
	if transport == "stdio" {
		return c.serveClient(cmd.Context(), opt, mcpserver.StdioOptions{Dir: workingDir()})
	}
	return c.serveHTTP(cmd.Context(), opt, c.offerUI)
}

// serveHTTP serves HTTP. It calls offerUI, which may be nil, when the port is open.
func (c *command) serveHTTP(ctx context.Context, opt app.Options, offerUI func(context.Context, *app.Process, net.Listener)) error {
	opt.Joinable = true
	p, closeProcess, err := open(ctx, opt)
	if err != nil {
		return err
	}
	defer closeProcess()
	listener, err := p.Listen(ctx)
	if err != nil {
		return err
	}
	addresses := []any{"mcp", fmt.Sprintf("http://%s/mcp", listener.Addr())}
	if web.Built {
		addresses = append(addresses, "ui", p.UIAddress(listener))
	}
	opt.Log.Info("genkan is serving", append(addresses, "admin_token_file", app.AdminTokenFile(c.dataDir), "sign_in_with", c.uiCommand(), "version", c.version)...)
	if len(p.Config().Servers) == 0 && len(p.Config().N8N) == 0 {
		opt.Log.Warn("no servers are configured yet: take over those of your editors with `genkan import`, or add some to the configuration file, which is read again when it changes",
			"file", p.ConfigFile())
	}
	if offerUI != nil {
		offerUI(ctx, p, listener)
	}
	return p.Serve(ctx, listener)
}

// open starts everything but the listeners.
func open(ctx context.Context, opt app.Options) (p *app.Process, closeProcess func(), err error) {
	if p, err = app.Open(ctx, opt); err != nil {
		return nil, nil, err
	}
	reload(ctx, p, opt)
	return p, func() {
		if err := p.Close(); err != nil {
			opt.Log.Warn("not everything could be closed", "error", err)
		}
	}, nil
}

// reload reloads the configuration at every SIGHUP.
func reload(ctx context.Context, p *app.Process, opt app.Options) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-hangups:
				if err := p.Reload(); err != nil {
					opt.Log.Error("the configuration is not used; the former one stays in force", "error", err)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
}
