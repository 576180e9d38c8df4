package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/bridge"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/identity"
	"genkan/internal/jsonrpc"
	"genkan/internal/launch"
	"genkan/internal/mcpserver"
)

func (c *command) stdio() *cobra.Command {
	var standalone, bySearch bool
	var only []string
	var name string
	cmd := &cobra.Command{
		Use: "stdio", Short: c.say("Serve the client that spawned this process"), Args: arguments(0, 0),
		Long: c.say("Speak MCP over standard input and output, for clients that spawn their servers.\n\n" +
			"All such processes of a data directory share one set of servers: this one joins\n" +
			"the genkan that runs for it (`genkan serve`, or one in the background), or\n" +
			"starts one in the background, which ends ten minutes after its last client\n" +
			"(GENKAN_BACKGROUND_IDLE sets another time, such as 1h). Its log is genkan.log in\n" +
			"the data directory.\n\n" +
			"What the running one cannot do as asked (it is of another version, has another\n" +
			"configuration file or language, or the configuration uses environment variables\n" +
			"that have other values here), this process does by itself, and says so in its\n" +
			"log; with --standalone it always does.\n\n" +
			"--only shows a part of the house: one server alone, under its own tool names, or\n" +
			"several with their prefixes.\n\n" +
			"--client says who the client is: `genkan doctor` then knows when it was last\n" +
			"seen, `clients` in the configuration means it, and the log names it\n" +
			"(local:NAME)."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			transport, err := transport(cmd)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("client") {
				if err := identity.CheckLocalName(name); err != nil {
					return err
				}
			}
			if launch.IsInside(os.Getenv(launch.InsideVariable), app.HomeOf(c.dataDir)) {
				return gateway.Errorf(gateway.CodeInvalid, "genkan stands among its own servers: this one was started by the genkan that it would join; take it out of mcpServers in %s", c.dataDir)
			}
			opt, sink := c.options()
			defer sink.Close()
			if slices.ContainsFunc(only, func(name string) bool { return !gateway.IsServerName(name) }) {
				return mcpserver.UnknownServers(only)
			}
			client := mcpserver.StdioOptions{
				Client: name, Dir: workingDir(), View: gateway.View{Servers: gateway.NewServerSet(only...)},
			}
			if bySearch {
				client.View.Mode = gateway.ModeSearch
			}
			switch {
			case transport == "http":
				return c.serveHTTP(cmd.Context(), opt, nil)
			case standalone || c.ownN8N(only):
				return c.serveClient(cmd.Context(), opt, client)
			default:
				return c.join(cmd.Context(), opt, client)
			}
		},
	}
	c.servingFlags(cmd, "stdio")
	hideListener(cmd)
	cmd.Flags().BoolVar(&standalone, "standalone", false, c.say("start the servers in this process, for this client alone"))
	cmd.Flags().BoolVar(&bySearch, "search", false, c.say("show four tools that find, describe and call the others, instead of all"))
	cmd.Flags().StringVar(&name, "client", "", c.say("`name` of the client"))
	cmd.Flags().StringSliceVar(&only, "only", nil, c.say("`server` to show to this client (repeatable, or with commas)"))
	restricting(cmd, "only")
	return cmd
}

// ownN8N reports whether the client gives this process an n8n instance of its own, which
// a running genkan does not know.
func (c *command) ownN8N(only []string) bool {
	return c.flags.N8NURL != "" ||
		slices.Contains(only, config.N8NSource) && os.Getenv("N8N_URL") != "" && os.Getenv("N8N_API_KEY") != ""
}

// workingDir returns the directory in which the client started this process; empty
// if unknown.
func workingDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// serveClient serves the client that spawned this process, with servers of its own.
func (c *command) serveClient(ctx context.Context, opt app.Options, client mcpserver.StdioOptions) error {
	out, err := c.stdout()
	if err != nil {
		return err
	}
	opt.Only = client.View.Servers.Names()
	p, closeProcess, err := open(ctx, opt)
	if err != nil {
		return err
	}
	defer closeProcess()
	return p.ServeStdio(ctx, c.std.In, out, client)
}

func (c *command) stdout() (*os.File, error) {
	out, ok := behind(c.std.Out).(*os.File)
	if !ok {
		return nil, gateway.Errorf(gateway.CodeInvalid, "standard output must be a file or a pipe")
	}
	return out, nil
}

// join carries the client's messages to the data directory's running genkan, or to
// one that it starts. If neither works, this process serves by itself.
func (c *command) join(ctx context.Context, opt app.Options, client mcpserver.StdioOptions) error {
	joiner, err := c.joiner(opt, client)
	if err != nil {
		return err
	}
	first, err := joiner.Join(ctx)
	if ctx.Err() != nil {
		return nil
	}
	var refused *bridge.RefusedError
	if errors.As(err, &refused) && refused.Refusal == bridge.RefusedOnly && !c.configures(client.View.Servers.Names()) {
		return mcpserver.UnknownServers(client.View.Servers.Names()) // this process would not have them either
	}
	if err != nil {
		opt.Log.Warn("no genkan could be joined; this process serves by itself", "reason", err)
		return c.serveClient(ctx, opt, client)
	}
	out, err := c.stdout()
	if err != nil {
		return err
	}
	return bridge.Run(ctx, first, bridge.Options{
		In: c.std.In, Out: out, Log: opt.Log, Answer: func(request *jsonrpc.Message, err error) []byte {
			return mcpserver.ErrorMessage(request, err, c.language)
		},
		Connect: func(ctx context.Context) (io.ReadWriteCloser, error) {
			conn, err := joiner.Join(ctx)
			if err == nil {
				opt.Log.Info("another genkan was joined")
				return conn, nil
			}
			if ctx.Err() != nil {
				return nil, err
			}
			opt.Log.Warn("no genkan could be joined; this process serves by itself", "reason", err)
			return serveInside(ctx, opt, client)
		},
	})
}

// configures reports whether the present configuration has the named servers. The
// running genkan may not have read it yet.
func (c *command) configures(names []string) bool {
	cfg, err := c.readConfig()
	if err != nil {
		return true // this process then reports the error itself
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		if name == config.KnowledgeSource && !cfg.Knowledge.Off {
			return false
		}
		if cfg.HasN8N(name) {
			return false
		}
		return !slices.ContainsFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name && !s.Disabled })
	})
}

// joiner returns the Joiner of this process. Its paths are absolute, because the
// other process has a different working directory.
func (c *command) joiner(opt app.Options, client mcpserver.StdioOptions) (*bridge.Joiner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dataDir, err := filepath.Abs(c.dataDir)
	if err != nil {
		return nil, err
	}
	command := []string{self, backgroundCommand, "--data", dataDir}
	dir := dataDir
	if c.configFile != "" {
		file, err := filepath.Abs(c.configFile)
		if err != nil {
			return nil, err
		}
		command = append(command, "--config", file)
		dir = filepath.Dir(file)
	}
	if c.flags.LogLevel != "" {
		command = append(command, "--log-level", c.flags.LogLevel)
	}
	if c.flags.Lang != "" {
		command = append(command, "--lang", c.flags.Lang)
	}
	launch := bridge.Launch{
		Command: command, DataDir: dataDir,
		// The client's directory is not used, because the next client works
		// elsewhere. Relative paths in a configuration are relative to its file.
		Dir: dir,
	}
	return &bridge.Joiner{DataDir: dataDir, Hello: app.Hello(opt, client), Start: launch.Start}, nil
}

// serveInside opens a genkan in this process for the client of a bridge.
func serveInside(ctx context.Context, opt app.Options, client mcpserver.StdioOptions) (io.ReadWriteCloser, error) {
	opt.Only = client.View.Servers.Names()
	p, closeProcess, err := open(ctx, opt)
	if err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	s := &inside{Conn: ours, end: closeProcess}
	s.serving.Go(func() {
		if err := p.ServeJoined(ctx, theirs, client); err != nil {
			opt.Log.Warn("serving ended", "error", err)
		}
	})
	return s, nil
}

// inside is a connection to a genkan in this process. Closing it closes that
// genkan.
type inside struct {
	net.Conn
	serving sync.WaitGroup
	end     func()
	once    sync.Once
}

func (s *inside) Close() error {
	err := s.Conn.Close()
	s.once.Do(func() {
		s.serving.Wait()
		s.end()
	})
	return err
}
