// Package cli is the command line. Commands that ask a running genkan use its
// REST API; the others open its data directory.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/lang"
	"genkan/internal/launch"
	"genkan/internal/logs"
)

// Streams are the standard streams of the command line.
type Streams struct {
	In  *os.File
	Out io.Writer
	Err io.Writer
}

// GuardCommand is the hidden command of the guard process.
const GuardCommand = "guard-process"

// Main runs the command line and returns the exit status.
func Main(args []string, version string, std Streams) int {
	if len(args) == 1 && args[0] == GuardCommand {
		launch.RunGuard(std.In)
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks to finish; a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	std.Out, std.Err = &screen{out: std.Out, form: gateway.AppendEscape}, &screen{out: std.Err, form: gateway.AppendEscape}
	c := &command{std: std, version: version, language: chooseLanguage(args)}
	root := c.root()
	c.translateHelp(root)
	root.SetArgs(args)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	if err := root.ExecuteContext(ctx); err != nil {
		return c.report(err)
	}
	return 0
}

// exitStatus is this edge's table. 1 is left for what a tool or the doctor
// reports.
//
//exhaustive:enforce
var exitStatus = map[gateway.Code]int{
	gateway.CodeInternal:        70,
	gateway.CodeInvalid:         2,
	gateway.CodeUnauthenticated: 4,
	gateway.CodeDenied:          4,
	gateway.CodeNotFound:        3,
	gateway.CodeConflict:        5,
	gateway.CodeLimited:         6,
	gateway.CodeUnavailable:     7,
	gateway.CodeTimeout:         8,
	gateway.CodeCanceled:        130,
}

// errToolFailed ends a command whose tool reported an error. The error itself has
// been printed.
var errToolFailed = errors.New("the tool reported an error")

// report prints an error and returns its exit status.
func (c *command) report(err error) int {
	if errors.Is(err, errToolFailed) || errors.Is(err, errUnwell) {
		return 1
	}
	var e *gateway.Error
	if !errors.As(err, &e) {
		e = usageError(err)
	}
	fmt.Fprintf(c.std.Err, "genkan: %s\n", hanging(c.language.Error(e)))
	if e.Err != nil && (c.debug || e.Code == gateway.CodeInternal) {
		fmt.Fprintln(c.std.Err, c.say("  cause: %s", hanging(e.Err.Error())))
	}
	return exitStatus[e.Code]
}

// command holds the state that all commands share.
type command struct {
	std      Streams
	version  string
	language lang.Language

	dataDir    string
	configFile string
	flags      config.Flags
	asJSON     bool
	debug      bool
	// noOpen keeps the web UI from being opened in a browser.
	noOpen bool
	// otherConfigNoted is set after the person was told that the running genkan has
	// another configuration.
	otherConfigNoted bool
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "genkan",
		Short: c.say("The front door to your agent's tools"),
		Long: c.say(`Genkan unites the MCP servers you use behind one endpoint.

  genkan import        takes over the servers of your editors
  genkan connect       lets an editor's servers come through genkan
  genkan serve         starts the gateway on 127.0.0.1:3000
  genkan ui            opens the web UI
  genkan stdio         is for clients that spawn their servers
  genkan servers       shows how your servers are
  genkan login SERVER  signs in to a remote server
  genkan calls         shows which tools were called, and how it went
  genkan doctor        says what is wrong, and what mends it

Exit status: 0 fine, 1 the tool reported an error or the doctor a problem, 2 wrong
input, 3 not found, 4 not allowed, 5 conflict, 6 too much, 7 unavailable, 8 too
slow, 70 a fault of genkan's own, 130 canceled.`),
		Version:       c.version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			c.flags.AnyPort = c.flags.Port == 0 && cmd.Flags().Changed("port")
			c.debug = c.flags.LogLevel == "debug" || c.flags.LogLevel == "trace"
			return c.checkLang()
		},
	}
	f := root.PersistentFlags()
	f.StringVar(&c.dataDir, "data", app.DefaultDataDir(), c.say("`directory` of the database, the admin token and the configuration"))
	f.StringVar(&c.configFile, "config", "", c.say("configuration `file` (default DATA/genkan.yaml)"))
	f.StringVar(&c.flags.Listen, "listen", "", c.say("`host:port` to listen on, or that genkan listens on (default 127.0.0.1:3000)"))
	f.StringVar(&c.flags.LogLevel, "log-level", "", c.say("`level` of the log: fatal, error, warn, info, debug, trace (default info)"))
	f.StringVar(&c.flags.Lang, "lang", "", c.say("`language` of messages: en or ja (default: that of the locale, or en)"))
	root.AddCommand(c.serve(), c.ui(), c.stdio(), c.background(), c.servers(), c.tools(), c.search(), c.call(), c.doctor(), c.tokens(), c.importServers(), c.connect(), c.undo(), c.secrets(), c.login(), c.logout(), c.calls(), c.workflows(), c.approvals(), c.reload(), c.kb(), c.backup(), c.versionCommand())
	return root
}

// logSink returns a sink that writes the log to standard error. Log lines escape
// control characters themselves.
func (c *command) logSink() *logs.Sink { return logs.NewSink(behind(c.std.Err)) }

// options returns the options of a process of this command line.
func (c *command) options() (app.Options, *logs.Sink) {
	sink := c.logSink()
	level := new(slog.LevelVar)
	// The rest of the configuration applies when a process is opened.
	level.Set(logs.Level(c.flags.LogLevel))
	opt := app.Options{
		DataDir: c.dataDir, ConfigFile: c.configFile, Flags: c.flags, Version: c.version, Command: c.entryCommand(),
		Level: level, Sink: sink, Log: logs.New(sink, level, isTerminal(c.std.Err)),
	}
	if self, err := os.Executable(); err == nil {
		opt.Guard = []string{self, GuardCommand}
	}
	return opt, sink
}

// jsonOut returns standard output for JSON.
func (c *command) jsonOut() io.Writer { return &screen{out: behind(c.std.Out), form: forPrograms} }

// json prints a value as JSON.
func (c *command) json(v any) error {
	e := json.NewEncoder(c.jsonOut())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (c *command) jsonFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&c.asJSON, "json", false, c.say("print JSON"))
	return cmd
}

func (c *command) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: c.say("Print the version"), Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.std.Out, "genkan %s (%s, %s/%s)\n", c.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
