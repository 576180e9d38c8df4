package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/gateway"
)

func (c *command) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: c.say("Start the gateway"), Args: arguments(0, 0),
		Long: c.say(`Start the gateway: the MCP endpoint /mcp and the REST API /v1 on 127.0.0.1:3000.

The servers behind it are listed in the configuration file, by default
genkan.yaml in the data directory, in the shape that MCP clients use:

  mcpServers:
    everything:
      command: npx
      args: ["-y", "@modelcontextprotocol/server-everything"]

The file is read again when it changes, and on SIGHUP.`),
		RunE: c.run,
	}
	c.servingFlags(cmd, "http")
	return cmd
}

func (c *command) stdio() *cobra.Command {
	cmd := &cobra.Command{
		Use: "stdio", Short: c.say("Serve the client that spawned this process"), Args: arguments(0, 0),
		Long: c.say(`Speak MCP over standard input and output, for clients that spawn their servers.
This process starts the configured servers for itself.`),
		RunE: c.run,
	}
	c.servingFlags(cmd, "stdio")
	cmd.Flags().Bool("standalone", true, c.say("start the servers in this process"))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if alone, err := cmd.Flags().GetBool("standalone"); err != nil || !alone {
			return gateway.Errorf(gateway.CodeInvalid, "--standalone=false is not available yet: this process starts the servers itself")
		}
		return nil
	}
	return cmd
}

func (c *command) servingFlags(cmd *cobra.Command, transport string) {
	f := cmd.Flags()
	f.String("transport", transport, c.say("`transport` to serve: stdio or http"))
	f.IntVar(&c.flags.Port, "port", 0, c.say("`port` to listen on (default 3000)"))
	f.StringVar(&c.flags.Host, "host", "", c.say("`host` to listen on (default 127.0.0.1)"))
	f.StringSliceVar(&c.flags.AllowedHosts, "allowed-host", nil, c.say("`name` beside localhost that requests may be for (repeatable)"))
	f.BoolVar(&c.flags.BehindProxy, "behind-proxy", false, c.say("listen beyond loopback without TLS, because a proxy before genkan has it"))
	f.StringVar(&c.flags.TLSCert, "tls-cert", "", c.say("certificate `file`"))
	f.StringVar(&c.flags.TLSKey, "tls-key", "", c.say("key `file`"))
}

// run serves until a signal or the client ends it.
func (c *command) run(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	transport, err := cmd.Flags().GetString("transport")
	if err != nil {
		return err
	}
	if transport != "stdio" && transport != "http" {
		return gateway.Errorf(gateway.CodeInvalid, "--transport must be stdio or http, not %q", transport)
	}
	opt, sink := c.options()
	defer sink.Close()
	p, err := app.Open(ctx, opt)
	if err != nil {
		return err
	}
	defer func() {
		if err := p.Close(); err != nil {
			opt.Log.Warn("not everything could be closed", "error", err)
		}
	}()
	reload(ctx, p, opt)
	if transport == "stdio" {
		out, ok := c.std.Out.(*os.File)
		if !ok {
			return gateway.Errorf(gateway.CodeInvalid, "standard output must be a file or a pipe")
		}
		return p.ServeStdio(ctx, c.std.In, out)
	}
	listener, err := p.Listen(ctx)
	if err != nil {
		return err
	}
	opt.Log.Info("genkan is serving", "mcp", fmt.Sprintf("http://%s/mcp", listener.Addr()),
		"admin_token_file", app.AdminTokenFile(c.dataDir), "version", c.version)
	if len(p.Config().Servers) == 0 {
		opt.Log.Warn("no servers are configured yet: add them to the configuration file, which is read again when it changes",
			"file", p.ConfigFile())
	}
	return p.Serve(ctx, listener)
}

// reload reads the configuration again at every SIGHUP.
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
