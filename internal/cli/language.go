package cli

import (
	"errors"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"genkan/internal/app"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/lang"
)

// chooseLanguage determines the language of this command line. It reads the
// arguments before cobra does, because help and errors about flags are translated
// too.
func chooseLanguage(args []string) lang.Language {
	file := early(args, "config")
	if file == "" {
		data := early(args, "data")
		if data == "" {
			data = app.DefaultDataDir()
		}
		file = app.DefaultConfigFile(data)
	}
	l, _ := lang.Parse(config.Lang(file, os.LookupEnv, config.Flags{Lang: early(args, "lang")}))
	return l
}

// early reads a flag without knowledge of the others: --name value or --name=value.
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

// checkLang refuses an unknown language, for commands that read no configuration.
func (c *command) checkLang() error {
	if _, ok := lang.Parse(strings.ToLower(c.flags.Lang)); !ok && c.flags.Lang != "" {
		return gateway.Errorf(gateway.CodeInvalid, "--lang must be one of %s", gateway.Names([]string{"en", "ja"}))
	}
	return nil
}

// say translates one of genkan's own texts. All output of commands and all help
// goes through it.
func (c *command) say(format string, values ...any) string {
	return c.language.Sprintf(format, values...)
}

// translateHelp translates the texts that cobra adds to commands, and makes
// commands refuse unknown subcommands.
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
		// Cobra shows the help of a command that cannot run, and ignores an unknown
		// subcommand. Its own "completion" is one of these.
		if cmd.HasParent() && cmd.HasSubCommands() && !cmd.Runnable() {
			cmd.Args = arguments(0, 0)
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		cmd.InitDefaultHelpFlag()
		cmd.Flags().Lookup("help").Usage = c.say("help for %s", cmd.Name())
	})
	root.SetUsageFunc(c.usage)
}

func eachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, visit)
	}
}

// names returns the names of commands.
func names(commands []*cobra.Command) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, cmd := range commands {
			if !yield(cmd.Name()) {
				return
			}
		}
	}
}

// anyNumber allows any number of arguments.
const anyNumber = math.MaxInt

// arguments checks the number of a command's arguments. The error names them as the
// usage line does.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < least:
			names := strings.Fields(strings.TrimPrefix(cmd.Use, cmd.Name()))
			return wrongUsage("`%s` needs %s; `%s --help` shows how", cmd.CommandPath(), strings.Join(names[n:least], " "), cmd.CommandPath())
		case n <= most:
			return nil
		case cmd.HasSubCommands():
			// This also applies if one argument is allowed, as in `genkan servers
			// NAME`: the first of two was meant to be a subcommand.
			if near := gateway.Nearest(args[0], names(cmd.Commands())); near != "" {
				return wrongUsage("`%s` has no command %q; did you mean `%s %s`?", cmd.CommandPath(), args[0], cmd.CommandPath(), near)
			}
			return wrongUsage("`%s` has no command %q; `%s --help` lists those there are", cmd.CommandPath(), args[0], cmd.CommandPath())
		case most == 0:
			return wrongUsage("`%s` takes no argument, and %q was given", cmd.CommandPath(), args[0])
		default:
			return wrongUsage("`%s` has no place for %q; `%s --help` shows what it takes. Quote what belongs together",
				cmd.CommandPath(), args[most], cmd.CommandPath())
		}
	}
}

// restricting makes an empty value of flags an error: with an unset variable as the
// value, a command would otherwise apply to everything.
func restricting(cmd *cobra.Command, flags ...string) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		for _, name := range flags {
			if f := cmd.Flags().Lookup(name); f.Changed && isEmpty(f.Value) {
				return wrongUsage("--%s is empty; give it a value, or leave it out to have no such limit", name)
			}
		}
		return nil
	}
}

func isEmpty(v pflag.Value) bool {
	if list, ok := v.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), "") == ""
	}
	return v.String() == ""
}

func wrongUsage(format string, values ...any) *gateway.Error {
	return gateway.Errorf(gateway.CodeInvalid, format, values...)
}

// usageError converts cobra's error about a command line into genkan's own message.
func usageError(err error) *gateway.Error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return wrongUsage("there is no flag %s here; --help shows those there are", dashed(unknown.GetSpecifiedName()))
	case errors.As(err, &missing):
		return wrongUsage("%s needs a value after it", dashed(missing.GetSpecifiedName()))
	case errors.As(err, &wrong):
		return wrongValue(wrong)
	}
	text := err.Error()
	rest, ok := strings.CutPrefix(text, "unknown command ")
	if !ok {
		return wrongUsage("%s", text)
	}
	rest, near, found := strings.Cut(rest, "\n\nDid you mean this?\n")
	word, _, _ := strings.Cut(rest, " for ")
	if plain, err := strconv.Unquote(word); err == nil {
		word = plain
	}
	if !found {
		return wrongUsage("there is no command %q; `genkan --help` lists them", word)
	}
	return wrongUsage("there is no command %q. Did you mean one of these?\n%s", word, strings.TrimRight(near, "\n"))
}

// wrongValue returns the error that says what a flag's value must be.
func wrongValue(e *pflag.InvalidValueError) *gateway.Error {
	name, value := "--"+e.GetFlag().Name, e.GetValue()
	switch e.GetFlag().Value.Type() {
	case "duration":
		return wrongUsage("%s must be a time such as 30s or 5m, not %q", name, value)
	case "int":
		return wrongUsage("%s must be a whole number, not %q", name, value)
	case "bool":
		return wrongUsage("%s is either there or not; leave out what follows it", name)
	default:
		return wrongUsage("%s cannot be %q", name, value)
	}
}

// dashed returns a flag with its dashes.
func dashed(name string) string {
	if utf8.RuneCountInString(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
