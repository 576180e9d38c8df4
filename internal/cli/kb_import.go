package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/kb/exchange"
)

func (c *command) kbImport() *cobra.Command {
	var in itemImport
	cmd := c.jsonFlag(&cobra.Command{
		Use: "import PATH...", Short: c.say("Take items over from files"), Args: arguments(1, anyNumber),
		Long: c.say(`Take items over from files: Markdown files, folders of them, JSON Lines (.jsonl),
or - for JSON Lines on standard input.

It shows what it would do and asks. Importing again makes nothing twice: an item
that came from here, or that is there with the same type, title, description and
content, is taken for the same and only changed where the file says something else.
What a file does not say stays, and relations are added, never removed. What an item
cannot hold is told. Items that are made keep their times, and their ids where these
are higher than any before; the text about the current state is taken over if it is
newer than the one here.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.command = c
			return in.run(cmd.Context(), args)
		},
	})
	cmd.Flags().StringVar(&in.usualType, "type", "", c.say("`type` of items whose files say none (default: the name of their folder)"))
	cmd.Flags().BoolVarP(&in.yes, "yes", "y", false, c.say("do not ask"))
	cmd.Flags().BoolVar(&in.dryRun, "dry-run", false, c.say("only show what would be done"))
	return cmd
}

// itemImport is one run of the import.
type itemImport struct {
	*command

	usualType   string
	yes, dryRun bool

	incoming []*incomingItem
	state    *incomingState
	files    int
	report   importReport
	// dropped are the keys that items cannot hold, by name.
	dropped map[string][]place
}

// place is a position in the imported files.
type place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// importReport is the result of an import, or of a dry run.
type importReport struct {
	Created   int             `json:"created"`
	Updated   int             `json:"updated"`
	Unchanged int             `json:"unchanged"`
	Failed    []importFailure `json:"failed"`
	// Dropped lists the data that was not imported.
	Dropped []importDropped `json:"dropped"`
	// State is taken, unchanged or older if the files have a state.
	State  string `json:"state,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"`
}

type importFailure struct {
	place

	Error string `json:"error"`
}

type importDropped struct {
	Key   string  `json:"key"`
	Where []place `json:"where"`
}

// fail records that an item cannot be imported.
func (in *itemImport) fail(at place, text string) {
	in.report.Failed = append(in.report.Failed, importFailure{at, text})
}

// droppedRelation is the prefix of a dropped relation; the reference of the other
// item follows.
const droppedRelation = "related: "

func (in *itemImport) drop(key string, at place) {
	if in.dropped == nil {
		in.dropped = map[string][]place{}
	}
	in.dropped[key] = append(in.dropped[key], at)
}

func (in *itemImport) run(ctx context.Context, paths []string) error {
	in.report.Failed, in.report.Dropped = []importFailure{}, []importDropped{}
	for i, path := range paths {
		if err := in.readPath(i, path); err != nil {
			return err
		}
	}
	remote, err := in.running(ctx)
	if err != nil {
		return err
	}
	plan, err := in.plan(ctx, remote)
	if err != nil {
		return err
	}
	in.show(plan)
	if in.dryRun {
		in.report.Created, in.report.Updated, in.report.Unchanged = plan.create, plan.update, plan.same
		in.report.State, in.report.DryRun = plan.state, true
		return in.finish()
	}
	if (plan.create+plan.update > 0 || plan.state == stateTaken) && !in.yes {
		confirm := in.confirm
		if plan.update > 0 || plan.state == stateTaken {
			confirm = in.confirmLoss
		}
		agreed, err := confirm(ctx, in.say("Do that?"))
		if err != nil {
			return err
		}
		if !agreed {
			fmt.Fprintln(in.std.Err, in.say("Nothing was changed."))
			return nil
		}
	}
	if err := in.carryOut(ctx, remote, plan); err != nil {
		return err
	}
	in.awaitIndex(ctx, remote)
	return in.finish()
}

// awaitIndex shows how the search index catches up with the import, which genkan
// does by itself: searches are fast from then on.
func (in *itemImport) awaitIndex(ctx context.Context, remote *client.Client) {
	const pace = 300 * time.Millisecond
	progress := newBar(in.command, in.say("updating the search index"), 0)
	defer progress.clear()
	for {
		now, err := remote.Knowledge(ctx)
		if err != nil || now.Work == nil {
			return
		}
		progress.outOf(now.Work.Done, now.Work.Total)
		select {
		case <-time.After(pace):
		case <-ctx.Done():
			return
		}
	}
}

// show shows people what the import will do.
func (in *itemImport) show(p *importPlan) {
	fmt.Fprintln(in.std.Err, in.say("Items read: %d, from %d files. To be made: %d. To be changed: %d. There already: %d.",
		len(in.incoming), in.files, p.create, p.update, p.same))
	if p.dated > 0 {
		fmt.Fprintln(in.std.Err, in.say("Items that are made keep the created_at and updated_at of their files."))
	}
	if len(p.strange) > 0 {
		fmt.Fprintln(in.std.Err, in.say("Statuses that are not configured here: %s. Their items will be refused; name them in kb.statuses of the configuration first.",
			gateway.Printable(strings.Join(p.strange, ", "))))
	}
	if words := in.stateWords(p.state); words != "" {
		fmt.Fprintln(in.std.Err, words)
	}
}

// finish reports what was imported and what was not.
func (in *itemImport) finish() error {
	for _, key := range slices.Sorted(maps.Keys(in.dropped)) {
		in.report.Dropped = append(in.report.Dropped, importDropped{key, in.dropped[key]})
	}
	r := &in.report
	if in.asJSON {
		if err := in.json(r); err != nil {
			return err
		}
	} else {
		for _, d := range r.Dropped {
			where := []any{len(d.Where), gateway.Printable(d.Where[0].File), d.Where[0].Line}
			if ref, relation := strings.CutPrefix(d.Key, droppedRelation); relation {
				fmt.Fprintln(in.std.Err, in.say("Left out, for there is no such item: the relation to %s (%d times, first in %s, line %d).",
					append([]any{gateway.Printable(ref)}, where...)...))
				continue
			}
			fmt.Fprintln(in.std.Err, in.say("Left out, for items have no such thing: %s (%d times, first in %s, line %d).",
				append([]any{gateway.Printable(d.Key)}, where...)...))
		}
		for _, f := range r.Failed {
			fmt.Fprintln(in.std.Err, in.say("%s, line %d: %s", gateway.Printable(f.File), f.Line, f.Error))
		}
		if !r.DryRun {
			fmt.Fprintln(in.std.Out, in.say("Made: %d. Changed: %d. Unchanged: %d. Failed: %d.", r.Created, r.Updated, r.Unchanged, len(r.Failed)))
		}
	}
	if len(r.Failed) > 0 {
		return gateway.Errorf(gateway.CodeInvalid, "not everything could be taken over; mend the files and import them again, which makes nothing twice")
	}
	return nil
}

// readPath reads the file or folder at a path. source is the number of the
// argument, because references are valid within one argument.
func (in *itemImport) readPath(source int, path string) error {
	if path == "-" {
		return in.readLines(source, path, in.std.In)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return gateway.Errorf(gateway.CodeNotFound, "there is no file %s", path)
	}
	if err != nil {
		return unreadable(path, err)
	}
	switch {
	case info.Mode().IsRegular():
		return in.readFile(source, path)
	case !info.IsDir():
		return gateway.Errorf(gateway.CodeInvalid, "%s is no ordinary file; what another program writes is read as JSON Lines with -", path)
	}
	before := in.files
	root := path
	if !os.IsPathSeparator(root[len(root)-1]) {
		root += string(filepath.Separator) // a separator makes WalkDir follow a link to the folder
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		hidden := name != root && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return unreadable(name, err)
		case hidden && d.IsDir(): // .git, .obsidian, .trash
			return fs.SkipDir
		case d.IsDir() || hidden:
			return nil
		case d.Type()&fs.ModeSymlink != 0 && leadsToFolder(name):
		case !isMarkdown(name) && !isLines(name):
			return nil
		case d.Type().IsRegular():
			return in.readFile(source, name)
		}
		// A folder that came from others may have links to anywhere, and a pipe has
		// no end.
		in.files++
		in.fail(place{name, 1}, in.say("it is a link or no ordinary file, and was passed over; import what it leads to by its own name"))
		return nil
	})
	if err == nil && in.files == before {
		return gateway.Errorf(gateway.CodeNotFound, "there are no Markdown files in %s", path)
	}
	return err
}

func leadsToFolder(link string) bool {
	info, err := os.Stat(link)
	return err == nil && info.IsDir()
}

func isMarkdown(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

func isLines(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".jsonl" || ext == ".ndjson"
}

func unreadable(path string, err error) error {
	return &gateway.Error{Code: gateway.CodeInvalid, Err: err, Message: "%s cannot be read", Values: []any{path}}
}

// maxFile is more than the file of an item can have, in bytes.
const maxFile = 4 << 20

func (in *itemImport) readFile(source int, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	if isLines(path) {
		return in.readLines(source, path, f)
	}
	in.files++
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return unreadable(path, err)
	}
	if len(raw) > maxFile {
		in.fail(place{path, 1}, in.say("the file is larger than 4 MiB, which no item needs"))
		return nil
	}
	name := path
	if in.usualType != "" {
		name = filepath.Base(path) // the folder's name would be taken as the type
	}
	record, err := exchange.Decode(name, raw)
	return in.take(source, path, record, err)
}

func (in *itemImport) readLines(source int, name string, from *os.File) error {
	in.files++
	for record, err := range exchange.ReadLines(name, from) {
		if err := in.take(source, name, record, err); err != nil {
			return err
		}
	}
	return nil
}

// take records an item that was read, or why it could not be read.
func (in *itemImport) take(source int, path string, record exchange.Record, err error) error {
	at := place{path, record.Line}
	var problem *exchange.Problem
	switch {
	case errors.As(err, &problem):
		what := in.language.Text(problem.What)
		if problem.Field != "" {
			what = problem.Field + " " + what
		}
		in.fail(place{path, problem.Line}, what)
		return nil
	case err != nil:
		return unreadable(path, err)
	}
	for _, d := range record.Dropped {
		in.drop(d.Key, place{path, d.Line})
	}
	if record.State != nil {
		if in.state != nil {
			in.fail(at, in.say("the current state stands in %s, line %d, too; keep one of them", in.state.File, in.state.Line))
			return nil
		}
		in.state = &incomingState{place: at, state: *record.State, source: source}
		return nil
	}
	if record.Item.Type == "" {
		record.Item.Type = in.usualType
	}
	if record.Item.Type == "" {
		in.fail(at, in.say("it has no type; give it one in the front matter, or all such items with --type"))
		return nil
	}
	in.incoming = append(in.incoming, &incomingItem{place: at, item: record.Item, source: source})
	return nil
}
