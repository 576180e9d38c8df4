package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usage prints how a command is used: the part of --help below its description. Cobra's own
// counts bytes where it aligns flags, and says defaults in English.
func (c *command) usage(cmd *cobra.Command) error {
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "\n%s\n%s", title, text) }

	b.WriteString(c.say("Usage:") + "\n")
	if cmd.Runnable() {
		line := cmd.UseLine()
		if rest, ok := strings.CutSuffix(line, "[flags]"); ok {
			line = rest + c.say("[flags]")
		}
		b.WriteString("  " + line + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("  " + cmd.CommandPath() + " " + c.say("[command]") + "\n")
	}
	if len(cmd.Aliases) > 0 {
		section(c.say("Aliases:"), "  "+cmd.NameAndAliases()+"\n")
	}
	if cmd.HasAvailableSubCommands() {
		var rows [][2]string
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				rows = append(rows, [2]string{fmt.Sprintf("  %-11s", sub.Name()), sub.Short})
			}
		}
		section(c.say("Available Commands:"), inColumns(rows, 1))
	}
	if cmd.HasAvailableLocalFlags() {
		section(c.say("Flags:"), c.flagUsages(cmd.LocalFlags()))
	}
	if cmd.HasAvailableInheritedFlags() {
		section(c.say("Global Flags:"), c.flagUsages(cmd.InheritedFlags()))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n" + c.say("Use \"%s [command] --help\" for more information about a command.", cmd.CommandPath()) + "\n")
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), b.String())
	return err
}

// flagUsages describes flags, one in a line.
func (c *command) flagUsages(flags *pflag.FlagSet) string {
	var rows [][2]string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		value, text := pflag.UnquoteUsage(f)
		if value != "" && f.Value.Type() != "bool" {
			name += " " + value
		}
		if unset := []string{"", "0", "0s", "false", "[]"}; !slices.Contains(unset, f.DefValue) {
			text += c.say(" (default %s)", f.DefValue)
		}
		rows = append(rows, [2]string{name, text})
	})
	return inColumns(rows, 3)
}

// inColumns aligns the second cells, with a gap behind the longest first.
func inColumns(rows [][2]string, gap int) string {
	widest := 0
	for _, row := range rows {
		widest = max(widest, width(row[0]))
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(row[0] + strings.Repeat(" ", widest-width(row[0])+gap) + row[1] + "\n")
	}
	return b.String()
}
