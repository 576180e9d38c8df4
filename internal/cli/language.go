package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/lang"
)

// chooseLanguage finds the language of this command line. It looks at the
// arguments before cobra does, because help and wrong flags are told in it too.
func chooseLanguage(args []string) lang.Language {
	file := early(args, "config")
	if file == "" {
		data := early(args, "data")
		if data == "" {
			data = defaultDataDir()
		}
		file = app.DefaultConfigFile(data)
	}
	l, _ := lang.Parse(config.Lang(file, os.LookupEnv, config.Flags{Lang: early(args, "lang")}))
	return l
}

// early reads a flag without knowing the others: --name value or --name=value.
func early(args []string, name string) string {
	value := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if said, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			value = said
		} else if arg == "--"+name && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
}

// checkLang refuses a language that there is none of, for the commands that
// read no configuration.
func (c *command) checkLang() error {
	if _, ok := lang.Parse(strings.ToLower(c.flags.Lang)); !ok && c.flags.Lang != "" {
		return gateway.Errorf(gateway.CodeInvalid, "--lang must be one of %s", "en, ja")
	}
	return nil
}

// say puts a text of our own into the language. Whatever a command prints or
// says about itself goes through it.
func (c *command) say(format string, values ...any) string {
	return c.language.Sprintf(format, values...)
}

// translateHelp puts into the language what cobra adds to our commands.
func (c *command) translateHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = c.say("version for %s", root.Name())
	eachCommand(root, func(cmd *cobra.Command) {
		switch cmd.CommandPath() {
		case "genkan help":
			cmd.Short = c.say("Help about any command")
		case "genkan completion":
			cmd.Short = c.say("Generate the autocompletion script for the specified shell")
		}
		cmd.InitDefaultHelpFlag()
		cmd.Flags().Lookup("help").Usage = c.say("help for %s", cmd.Name())
	})
	root.SetUsageTemplate(strings.NewReplacer(
		"Usage:", c.say("Usage:"),
		"Available Commands:", c.say("Available Commands:"),
		"Global Flags:", c.say("Global Flags:"),
		"Flags:", c.say("Flags:"),
		`Use "{{.CommandPath}} [command] --help" for more information about a command.`,
		c.say("Use \"%s [command] --help\" for more information about a command.", "{{.CommandPath}}"),
	).Replace(root.UsageTemplate()))
}

func eachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, visit)
	}
}

// arguments says how many a command takes.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		n := len(args)
		switch {
		case n >= least && n <= most:
			return nil
		case most == 0:
			return wrongUsage("unknown command %q for %q", args[0], cmd.CommandPath())
		case least == most:
			return wrongUsage("accepts %d arg(s), received %d", most, n)
		case least == 0:
			return wrongUsage("accepts at most %d arg(s), received %d", most, n)
		default:
			return wrongUsage("accepts between %d and %d arg(s), received %d", least, most, n)
		}
	}
}

func wrongUsage(format string, values ...any) *gateway.Error {
	return gateway.Errorf(gateway.CodeInvalid, format, values...)
}

// usageError is what cobra says about a command line, as an error that can be
// translated.
func usageError(err error) *gateway.Error {
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, "unknown command "); ok {
		if rest, near, found := strings.Cut(rest, "\n\nDid you mean this?\n"); found {
			return wrongUsage("unknown command %s\n\nDid you mean this?\n%s", rest, near)
		}
		return wrongUsage("unknown command %s", rest)
	}
	if rest, ok := strings.CutPrefix(text, "unknown flag: "); ok {
		return wrongUsage("unknown flag: %s", rest)
	}
	if rest, ok := strings.CutPrefix(text, "unknown shorthand flag: "); ok {
		return wrongUsage("unknown shorthand flag: %s", rest)
	}
	if rest, ok := strings.CutPrefix(text, "flag needs an argument: "); ok {
		return wrongUsage("flag needs an argument: %s", rest)
	}
	if rest, ok := strings.CutPrefix(text, "invalid argument "); ok {
		return wrongUsage("invalid argument %s", rest)
	}
	return wrongUsage("%s", text)
}
