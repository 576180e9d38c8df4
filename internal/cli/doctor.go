package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
)

// errUnwell ends a command that has shown that something is wrong.
var errUnwell = errors.New("something is wrong")

func (c *command) doctor() *cobra.Command {
	var noStart bool
	cmd := c.jsonFlag(&cobra.Command{
		Use: "doctor [SERVER...]", Short: c.say("Find out what is wrong, and what mends it"), Args: arguments(0, anyNumber),
		Long: c.say("Look at everything that has to work: this program, the data directory, the\n" +
			"configuration, the port, each server (it is started if need be), and each\n" +
			"client's file. Whatever is wrong is said with the command or the edit that mends\n" +
			"it. Nothing is changed. Names of servers limit the look to those.\n\n" +
			"The genkan that runs is asked; if none does, one is started in the background,\n" +
			"as `genkan stdio` does, unless --no-start is given.\n\n" +
			"The exit status is 0 when nothing is a problem, and 1 when something is. Notes\n" +
			"and warnings do not count. What looks like a key is not shown."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runDoctor(cmd.Context(), args, noStart)
		},
	})
	cmd.Flags().BoolVar(&noStart, "no-start", false, c.say("do not start a genkan when none runs"))
	return cmd
}

func (c *command) runDoctor(ctx context.Context, names []string, noStart bool) error {
	k := &checkup{command: c, only: names, noStart: noStart}
	if err := k.gather(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(k.facts.Servers, func(s doctor.Server) bool { return s.Name == name }) {
			return gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", name)
		}
	}
	found := doctor.Examine(k.facts)
	if len(names) > 0 {
		found = doctor.Only(found, names)
	}
	if c.asJSON {
		if err := c.json(k.report(found)); err != nil {
			return err
		}
	} else {
		c.showFindings(found)
	}
	if doctor.Worst(found) == doctor.Problem {
		return errUnwell
	}
	return nil
}

// The shape of --json, which is described in docs/doctor.md.
type (
	doctorReport struct {
		OK       bool            `json:"ok"`
		Findings []doctorFinding `json:"findings"`
		Servers  []client.Server `json:"servers"`
		Clients  []doctorClient  `json:"clients"`
	}
	doctorFinding struct {
		Subject  string `json:"subject"`
		Severity string `json:"severity"`
		Title    string `json:"title"`
		Detail   string `json:"detail,omitempty"`
		Fix      string `json:"fix,omitempty"`
	}
	doctorClient struct {
		Name  string `json:"name"`
		Title string `json:"title"`
		Tools int    `json:"tools"`
		Limit int    `json:"limit,omitempty"`
		// LastSeen is when it last came, by any of its entries, and LastClient
		// what the program called itself.
		LastSeen   *time.Time   `json:"lastSeen,omitempty"`
		LastClient string       `json:"lastClient,omitempty"`
		Files      []doctorFile `json:"files"`
	}
	doctorFile struct {
		Path string `json:"path"`
		// Leads lead to genkan, Others do not.
		Leads  []string `json:"leads"`
		Others []string `json:"others"`
	}
)

// report is what was found, for programs.
func (k *checkup) report(found []doctor.Finding) doctorReport {
	out := doctorReport{
		OK: doctor.Worst(found) < doctor.Problem, Findings: []doctorFinding{}, Servers: []client.Server{}, Clients: []doctorClient{},
	}
	for _, f := range found {
		out.Findings = append(out.Findings, doctorFinding{
			Subject: f.Subject.String(), Severity: f.Severity.String(), Title: k.language.Text(f.Title),
			Detail: k.detail(f), Fix: k.fix(f.Fix),
		})
	}
	for _, s := range k.shown {
		if len(k.only) == 0 || slices.Contains(k.only, s.Name) {
			out.Servers = append(out.Servers, s)
		}
	}
	if len(k.only) > 0 {
		return out
	}
	for _, each := range k.facts.Clients {
		one := doctorClient{Name: each.Name, Title: each.Title, Tools: each.Tools, Limit: doctor.Limit(each.Name), Files: []doctorFile{}}
		if at, by := each.LastSeen(); !at.IsZero() {
			at = at.UTC()
			one.LastSeen, one.LastClient = &at, by
		}
		for _, f := range each.Files {
			file := doctorFile{Path: f.Path, Leads: []string{}, Others: append([]string{}, f.Others...)}
			for _, l := range f.Leads {
				file.Leads = append(file.Leads, l.Name)
			}
			one.Files = append(one.Files, file)
		}
		out.Clients = append(out.Clients, one)
	}
	return out
}

// detail is what a finding means, and the words of others that belong to it.
func (c *command) detail(f doctor.Finding) string {
	lines := f.Lines
	if f.Detail.Format != "" {
		lines = append([]string{c.language.Text(f.Detail)}, lines...)
	}
	return strings.Join(lines, "\n")
}

// fix begins with the command.
func (c *command) fix(f doctor.Fix) string {
	text := ""
	if f.Text.Format != "" {
		text = c.language.Text(f.Text)
	}
	if f.Command == "" || text == "" {
		return f.Command + text
	}
	return f.Command + "  (" + text + ")"
}

// showFindings prints what was found, for people.
func (c *command) showFindings(found []doctor.Finding) {
	signs := c.signs()
	heading := ""
	counts := map[doctor.Severity]int{}
	for _, f := range found {
		counts[f.Severity]++
		if f.Subject.Kind != heading {
			if heading != "" {
				fmt.Fprintln(c.std.Out)
			}
			heading = f.Subject.Kind
			fmt.Fprintln(c.std.Out, c.heading(heading))
		}
		title := c.language.Text(f.Title)
		if f.Subject.Name != "" {
			title = f.Subject.Name + ": " + title
		}
		fmt.Fprintf(c.std.Out, "  %s %s\n", signs[f.Severity], printable(title))
		indent := strings.Repeat(" ", 3+width(signs[f.Severity])+2)
		for line := range strings.SplitSeq(c.detail(f), "\n") {
			if line != "" {
				fmt.Fprintln(c.std.Out, indent+printable(line))
			}
		}
		if fix := c.fix(f.Fix); fix != "" {
			fmt.Fprintln(c.std.Out, indent+fix)
		}
	}
	fmt.Fprintln(c.std.Out)
	switch problems, warnings := counts[doctor.Problem], counts[doctor.Warning]; {
	case problems > 0:
		fmt.Fprintln(c.std.Out, c.say("Problems: %d. Warnings: %d.", problems, warnings))
	case warnings > 0:
		fmt.Fprintln(c.std.Out, c.say("Nothing is a problem. Warnings: %d.", warnings))
	default:
		fmt.Fprintln(c.std.Out, c.say("All is well."))
	}
}

func (c *command) heading(kind string) string {
	switch kind {
	case doctor.OfProgram:
		return c.say("Program")
	case doctor.OfData:
		return c.say("Data")
	case doctor.OfConfig:
		return c.say("Configuration")
	case doctor.OfPort:
		return c.say("Port")
	case doctor.OfServer:
		return c.say("Servers")
	default:
		return c.say("Clients")
	}
}

// signs are short where a terminal can show them, and words of one width
// elsewhere.
func (c *command) signs() map[doctor.Severity]string {
	if isTerminal(c.std.Out) && speaksUTF8() {
		return map[doctor.Severity]string{doctor.OK: "✓", doctor.Note: "·", doctor.Warning: "!", doctor.Problem: "✗"}
	}
	words := map[doctor.Severity]string{
		doctor.OK: c.say("ok"), doctor.Note: c.say("note"), doctor.Warning: c.say("warning"), doctor.Problem: c.say("problem"),
	}
	widest := 0
	for _, word := range words {
		widest = max(widest, width(word))
	}
	for severity, word := range words {
		words[severity] = word + strings.Repeat(" ", widest-width(word))
	}
	return words
}

// speaksUTF8 reports whether a terminal shows more than ASCII, by the variable
// that decides.
func speaksUTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}
