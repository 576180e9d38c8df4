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

	"genkan/internal/api"
	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/bridge"
	"genkan/internal/checkup"
	"genkan/internal/clients"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
)

// errUnwell ends a command that has reported a problem.
var errUnwell = errors.New("something is wrong")

func (c *command) doctor() *cobra.Command {
	var look examination
	cmd := c.jsonFlag(&cobra.Command{
		Use: "doctor [SERVER...]", Short: c.say("Find out what is wrong, and what mends it"), Args: arguments(0, anyNumber),
		Long: c.say("Look at everything that has to work: this program, the data directory, the\n" +
			"configuration, the port, each server (it is started if need be), and each\n" +
			"client's file. Whatever is wrong is said with the command or the edit that mends\n" +
			"it. Without --rebuild nothing is changed. Names of servers limit the look to those.\n\n" +
			"--full also reads the whole database, and compares the index and the graph of the\n" +
			"knowledge base with every item. --rebuild does that, too, and mends what can be:\n" +
			"indexes are made anew, and what leads to nothing is removed. Both take minutes for\n" +
			"a million items; genkan answers meanwhile.\n\n" +
			"The genkan that runs is asked; if none does, one is started in the background,\n" +
			"as `genkan stdio` does, unless --no-start is given.\n\n" +
			"The exit status is 0 when nothing is a problem, and 1 when something is. Notes\n" +
			"and warnings do not count. What looks like a key is not shown."),
		RunE: func(cmd *cobra.Command, args []string) error {
			look.command, look.only = c, args
			return look.run(cmd.Context())
		},
	})
	cmd.Flags().BoolVar(&look.full, "full", false, c.say("also read the whole database and compare the index with every item"))
	cmd.Flags().BoolVar(&look.rebuild, "rebuild", false, c.say("make the index of the knowledge base anew, and mend what can be"))
	cmd.Flags().BoolVar(&look.noStart, "no-start", false, c.say("do not start a genkan when none runs"))
	return cmd
}

// examination is one run of the doctor.
type examination struct {
	*command
	only                   []string
	noStart, full, rebuild bool
	status                 progressLine
}

func (k *examination) run(ctx context.Context) error {
	opt, sink := k.options()
	defer sink.Close()
	look := app.Checkup(opt)
	look.Only, look.Full, look.Rebuild, look.Wait = k.only, k.full, k.rebuild, true
	look.Join, look.Progress = k.join, k
	k.status.c = k.command
	gathered, err := checkup.Gather(ctx, look)
	if err != nil {
		return err
	}
	for _, name := range k.only {
		if !slices.ContainsFunc(gathered.Facts.Servers, func(s doctor.Server) bool { return s.Name == name }) &&
			!slices.ContainsFunc(gathered.Facts.N8N, func(i doctor.N8N) bool { return i.Name == name }) {
			return gateway.Errorf(gateway.CodeNotFound, "there is no server %q; `genkan servers` lists them", name)
		}
	}
	found := doctor.Examine(gathered.Facts)
	if len(k.only) > 0 {
		found = doctor.Only(found, k.only)
	}
	if k.asJSON {
		if err := k.json(k.report(gathered, found)); err != nil {
			return err
		}
	} else {
		k.showFindings(found)
	}
	if doctor.Worst(found) == doctor.Problem {
		return errUnwell
	}
	return nil
}

// join finds the running genkan by its socket, or starts one in the background, as
// `genkan stdio` does.
func (k *examination) join(ctx context.Context, enabled bool) checkup.Joined {
	found := k.find(ctx)
	if found.Remote != nil || !enabled || ctx.Err() != nil {
		return found
	}
	if k.noStart {
		found.Running.Refrained = true
		return found
	}
	if k.isWatched() {
		fmt.Fprintln(k.std.Err, k.say("No genkan runs for %s: starting one in the background.", k.dataDir))
	}
	err := k.startBackground(ctx)
	if err == nil {
		found = k.find(ctx)
		found.Running.Started = found.Remote != nil
	} else if ctx.Err() == nil {
		found.Running.Why = gateway.Textf("%s", clients.Mask(err.Error()))
	}
	return found
}

func (k *examination) find(ctx context.Context) (found checkup.Joined) {
	raw, err := os.ReadFile(app.AdminTokenFile(k.dataDir))
	if err != nil {
		return found // none has ever run
	}
	welcome, err := k.findOwner(ctx)
	if err != nil {
		if !errors.Is(err, bridge.ErrNobody) && ctx.Err() == nil {
			found.Socket = gateway.Textf("%s", err.Error())
		}
		return found
	}
	found.Remote = client.NewOver(k.dialOwner, gateway.Secret(strings.TrimSpace(string(raw))))
	version := welcome.Version
	if health, err := found.Remote.Health(ctx); err == nil {
		version = health.Version
	}
	how := "background"
	if welcome.Listen != "" {
		how = "serve"
	}
	found.Running = doctor.Running{How: how, Version: version, PID: welcome.PID, Listen: welcome.Listen}
	if !sameFile(k.ownConfig(), welcome.Config) {
		found.Running.Config = welcome.Config
	}
	return found
}

// isWatched reports whether a person watches the progress. Programs get none.
func (k *examination) isWatched() bool { return !k.asJSON && isTerminal(k.std.Err) }

// Line prints a line for a person.
func (k *examination) Line(text gateway.Text) {
	if k.isWatched() {
		k.status.clear()
		fmt.Fprintln(k.std.Err, "  "+gateway.Printable(k.language.Text(text)))
	}
}

// Status shows what the command waits for.
func (k *examination) Status(text gateway.Text) {
	if text.Format == "" || k.asJSON {
		k.status.clear()
		return
	}
	k.status.show(k.language.Text(text))
}

// Step begins a step that takes long.
func (k *examination) Step(label gateway.Text) checkup.Step {
	text := k.language.Text(label)
	return &step{k: k, label: text, bar: newBar(k.command, text, 0)}
}

// step shows the progress of something that takes long: a bar on a terminal, and a
// line from time to time elsewhere. Programs get no output.
type step struct {
	k     *examination
	label string
	bar   *bar
	// said is how many tenths were reported.
	said int
}

// Tell prints a text for the person who waits.
func (s *step) Tell(text gateway.Text) {
	if !s.k.asJSON {
		s.bar.clear()
		fmt.Fprintln(s.k.std.Err, s.k.language.Text(text))
	}
}

// At shows how much is done.
func (s *step) At(done, total int) {
	const tenths = 10
	switch {
	case s.k.asJSON:
	case isTerminal(s.k.std.Err):
		s.bar.outOf(done, total)
	case total > 0 && done*tenths/total > s.said:
		s.said = done * tenths / total
		fmt.Fprintln(s.k.std.Err, s.k.say("%s: %d of %d", s.label, done, total))
	}
}

// End removes the bar.
func (s *step) End() { s.bar.clear() }

// These types are the output of --json, which docs/doctor.md describes.
type (
	doctorReport struct {
		client.DoctorReport
		Knowledge *doctorKnowledge `json:"knowledge,omitempty"`
		Servers   []client.Server  `json:"servers"`
		Clients   []doctorClient   `json:"clients"`
	}
	doctorKnowledge struct {
		Items    int                   `json:"items"`
		Sequence int64                 `json:"sequence"`
		Checked  string                `json:"checked,omitempty"`
		Index    client.KnowledgeIndex `json:"index"`
		// Relations is set if the index and the graph were compared with all rows.
		Relations *int `json:"relations,omitempty"`
	}
	doctorClient struct {
		Name  string `json:"name"`
		Title string `json:"title"`
		Tools int    `json:"tools"`
		Limit int    `json:"limit,omitempty"`
		// LastSeen is when the client last connected through any of its entries, and
		// LastClient is the name that the program gave itself.
		LastSeen   *time.Time   `json:"lastSeen,omitempty"`
		LastClient string       `json:"lastClient,omitempty"`
		Files      []doctorFile `json:"files"`
	}
	doctorFile struct {
		Path string `json:"path"`
		// Leads are the entries that lead to genkan, Others those that do not.
		Leads  []string `json:"leads"`
		Others []string `json:"others"`
	}
)

// report returns the findings for programs.
func (k *examination) report(gathered checkup.Result, found []doctor.Finding) doctorReport {
	out := doctorReport{DoctorReport: api.DoctorReportOf(found, k.language), Servers: []client.Server{}, Clients: []doctorClient{}}
	if f := gathered.Facts.Knowledge; f.Looked && !f.Off {
		out.Knowledge = &doctorKnowledge{Items: f.Items, Sequence: f.Sequence, Checked: f.Checked, Index: client.KnowledgeIndex{
			InMemory: f.Index.InMemory, File: f.Index.Path, Size: f.Index.Size, Covers: f.Index.Covers, Missing: f.Index.Missing, Damage: f.Index.Damage,
		}}
		if !f.Index.Built.IsZero() {
			built := f.Index.Built.UTC()
			out.Knowledge.Index.Built = &built
		}
		if f.Compared != nil && f.Compared.Problem.Format == "" {
			out.Knowledge.Relations = &f.Compared.Relations
		}
	}
	for _, s := range gathered.Servers {
		if len(k.only) == 0 || slices.Contains(k.only, s.Name) {
			out.Servers = append(out.Servers, s)
		}
	}
	if len(k.only) > 0 {
		return out
	}
	for _, each := range gathered.Facts.Clients {
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

// showFindings prints the findings for people.
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
		shown := api.DoctorFindingOf(f, c.language)
		title := shown.Title
		if f.Subject.Name != "" {
			title = f.Subject.Name + ": " + title
		}
		fmt.Fprintf(c.std.Out, "  %s %s\n", signs[f.Severity], gateway.Printable(title))
		indent := strings.Repeat(" ", 3+width(signs[f.Severity])+2)
		for line := range strings.SplitSeq(shown.Detail, "\n") {
			if line != "" {
				fmt.Fprintln(c.std.Out, indent+gateway.Printable(line))
			}
		}
		if shown.Fix != "" {
			fmt.Fprintln(c.std.Out, indent+gateway.Printable(shown.Fix))
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
	case doctor.OfKnowledge:
		return c.say("Knowledge base")
	case doctor.OfConfig:
		return c.say("Configuration")
	case doctor.OfPort:
		return c.say("Port")
	case doctor.OfModel:
		return c.say("Embeddings")
	case doctor.OfServer:
		return c.say("Servers")
	default:
		return c.say("Clients")
	}
}

// signs returns the sign of each severity: a symbol if the terminal can show it,
// and otherwise a word padded to one width.
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

// speaksUTF8 reports whether the locale's variables say that the terminal shows
// UTF-8.
func speaksUTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}
