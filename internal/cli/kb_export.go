package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/kb/exchange"
)

func (c *command) kbExport() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "export FOLDER|FILE.jsonl|-", Short: c.say("Write all items to files"), Args: arguments(1, 1),
		Long: c.say(`Write all items to files: into FOLDER as Markdown with front matter, a file for
each, or as JSON Lines into FILE.jsonl or, with -, to standard output.
"genkan kb import" reads both. The text about the current state is in the file
current-state.md, or in the last line.`),
		RunE: func(cmd *cobra.Command, args []string) error { return c.runExport(cmd.Context(), args[0], force) },
	}
	cmd.Flags().BoolVar(&force, "force", false, c.say("also where there is something already; files of the same names are replaced"))
	return cmd
}

// itemSink receives the items of an export.
type itemSink interface {
	put(item exchange.Item) error
	putState(state exchange.State) error
	// finish makes the items durable. An export without it is incomplete.
	finish() error
	// abandon ends an export that failed.
	abandon()
}

func (c *command) runExport(ctx context.Context, into string, force bool) error {
	remote, err := c.running(ctx)
	if err != nil {
		return err
	}
	lines, total, err := remote.ExportItems(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = lines.Close() }()
	sink, err := c.sinkFor(into, force)
	if err != nil {
		return err
	}
	bar := newBar(c, c.say("exporting"), total)
	defer bar.clear()
	n := 0
	for record, err := range exchange.ReadLines("genkan", lines) {
		if err == nil {
			err = sink.put(record.Item)
		}
		if err != nil {
			sink.abandon()
			return exportError(ctx, err, n)
		}
		n++
		if into != "-" || !isTerminal(c.std.Out) { // items and the bar would share lines
			bar.at(n)
		}
	}
	state, err := remote.State(ctx)
	if out := exportedState(state); err == nil && out != nil {
		err = sink.putState(*out)
	}
	if err != nil {
		sink.abandon()
		return exportError(ctx, err, n)
	}
	if err := sink.finish(); err != nil {
		return exportError(ctx, err, n)
	}
	bar.clear()
	switch {
	case into == "-":
		fmt.Fprintln(c.std.Err, c.say("Items exported: %d.", n))
	case isLines(into):
		fmt.Fprintln(c.std.Err, c.say("Items exported: %d, as JSON Lines into %s.", n, c.shortPath(into)))
	default:
		fmt.Fprintln(c.std.Err, c.say("Items exported: %d, as Markdown files into the folder %s.", n, c.shortPath(into)))
	}
	return nil
}

func exportError(ctx context.Context, err error, n int) error {
	var e *gateway.Error
	if errors.As(err, &e) {
		return err
	}
	if ctx.Err() != nil {
		return &gateway.Error{Code: gateway.CodeCanceled, Err: err, Message: "canceled"}
	}
	return &gateway.Error{
		Code: gateway.CodeUnavailable, Err: err,
		Message: "the export broke off after %d items, and is not complete: %s", Values: []any{n, err.Error()},
	}
}

func (c *command) sinkFor(into string, force bool) (itemSink, error) {
	switch {
	case into == "-":
		return &lineSink{Writer: exchange.NewWriter(c.jsonOut())}, nil
	case isLines(into):
		if _, err := os.Lstat(into); err == nil && !force {
			return nil, gateway.Errorf(gateway.CodeConflict, "%s is there already; choose another name, or replace it with --force", into)
		}
		temp, err := os.CreateTemp(filepath.Dir(into), ".genkan-*") // 0600
		if err != nil {
			return nil, unwritable(into, err)
		}
		return &lineSink{Writer: exchange.NewWriter(temp), temp: temp, path: into}, nil
	default:
		if there, err := os.ReadDir(into); err == nil && len(there) > 0 && !force {
			return nil, gateway.Errorf(gateway.CodeConflict, "%s is not empty; choose another folder, or write into it with --force", into)
		}
		if err := os.MkdirAll(into, 0o700); err != nil {
			return nil, unwritable(into, err)
		}
		root, err := os.OpenRoot(into)
		if err != nil {
			return nil, unwritable(into, err)
		}
		return &folderSink{root}, nil
	}
}

func unwritable(path string, err error) error {
	return &gateway.Error{Code: gateway.CodeInvalid, Err: err, Message: "%s cannot be written: %s", Values: []any{path, err.Error()}}
}

// lineSink is a file of JSON Lines, or a stream. A file gets its name when it is
// complete.
type lineSink struct {
	*exchange.Writer

	temp *os.File
	path string
}

func (s *lineSink) put(item exchange.Item) error { return s.Write(item) }

func (s *lineSink) putState(state exchange.State) error { return s.WriteState(state) }

func (s *lineSink) finish() error {
	err := s.Flush()
	if s.temp == nil {
		return err
	}
	if err == nil {
		err = s.temp.Sync()
	}
	if err = errors.Join(err, s.temp.Close()); err == nil {
		err = os.Rename(s.temp.Name(), s.path)
	}
	if err != nil {
		s.abandon()
		return unwritable(s.path, err)
	}
	return nil
}

func (s *lineSink) abandon() {
	if s.temp != nil {
		_ = s.temp.Close()
		_ = os.Remove(s.temp.Name())
	}
}

// folderSink is a folder with a file for each item. Files appear only when they are
// complete. Links that lead out of the folder are not followed.
type folderSink struct{ *os.Root }

func (s *folderSink) put(item exchange.Item) error {
	return s.write(exchange.FileName(item), exchange.Encode(item))
}

func (s *folderSink) putState(state exchange.State) error {
	return s.write(exchange.StateFile, exchange.EncodeState(state))
}

func (s *folderSink) write(name string, content []byte) error {
	name = filepath.FromSlash(name)
	temp := filepath.Join(filepath.Dir(name), ".genkan-"+rand.Text())
	err := s.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = s.create(temp, content)
	}
	if err == nil {
		if err = s.Rename(temp, name); err != nil {
			_ = s.Remove(temp)
		}
	}
	if err != nil {
		return unwritable(filepath.Join(s.Name(), name), err)
	}
	return nil
}

// create writes a file that does not exist yet. It leaves no incomplete file.
func (s *folderSink) create(name string, data []byte) error {
	f, err := s.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = s.Remove(name)
	}
	return err
}

func (s *folderSink) finish() error { return s.Close() }
func (s *folderSink) abandon()      { _ = s.Close() }

// readAll passes all items to give.
func readAll(ctx context.Context, remote *client.Client, give func(exchange.Item)) error {
	lines, _, err := remote.ExportItems(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = lines.Close() }()
	for record, err := range exchange.ReadLines("genkan", lines) {
		if err != nil {
			return &gateway.Error{Code: gateway.CodeUnavailable, Err: err, Message: "genkan's answer could not be read"}
		}
		give(record.Item)
	}
	_, _ = io.Copy(io.Discard, lines)
	return nil
}
