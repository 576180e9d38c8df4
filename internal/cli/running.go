package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/mcpserver"
)

// running returns a client of the data directory's genkan. If none runs, it starts
// one in the background, as `genkan stdio` does.
func (c *command) running(ctx context.Context) (*client.Client, error) {
	remote, _, err := c.runningOrStarted(ctx)
	return remote, err
}

// runningOrStarted is running, and reports whether a genkan had to be started.
func (c *command) runningOrStarted(ctx context.Context) (remote *client.Client, started bool, err error) {
	remote, err = c.remote(ctx)
	var e *gateway.Error
	if err == nil || !errors.As(err, &e) || e.Code != gateway.CodeUnavailable || c.flags.Listen != "" {
		return remote, false, err // a genkan named with --listen is not replaced
	}
	if err := c.startBackground(ctx); err != nil {
		// Report mistakes in the configuration here, not only in a log.
		opt, sink := c.options()
		defer sink.Close()
		if _, wrong := app.ReadConfig(opt); wrong != nil {
			return nil, false, wrong
		}
		return nil, false, &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "genkan could not be started in the background; its log is genkan.log in %s", Values: []any{c.dataDir},
		}
	}
	remote, err = c.remote(ctx)
	return remote, true, err
}

// withServers is running for commands about servers and their tools. It tells a
// person when servers have to be started first, which can take a while.
func (c *command) withServers(ctx context.Context) (remote *client.Client, started bool, err error) {
	remote, started, err = c.runningOrStarted(ctx)
	if started && err == nil && !c.asJSON && isTerminal(c.std.Err) {
		c.tellStarted()
	}
	return remote, started, err
}

func (c *command) tellStarted() {
	fmt.Fprintln(c.std.Err, c.say("No genkan ran for %s; one was started in the background.", c.shortPath(c.dataDir)))
}

const (
	// startPace is how often the state of starting servers is read.
	startPace = 100 * time.Millisecond
	// listPatience is how long a list waits for servers that are starting. The
	// first start of one may download it, which takes minutes.
	listPatience = 30 * time.Second
	// toolPatience is how long a command about one tool waits for servers that are
	// starting and may have it.
	toolPatience = 10 * time.Second
	// justReady is how long the tools of a server may take from its connection to
	// the list of all tools.
	justReady = time.Second
)

// isStarting selects the servers that are starting.
func isStarting(s client.Server) bool { return s.State == client.StateStarting }

// isUnlisted selects the servers whose tools are not known yet: they are starting,
// and no list of an earlier start exists.
func isUnlisted(s client.Server) bool {
	return s.Tools == 0 && (isStarting(s) || s.State == client.StateReady && time.Since(s.Since) < justReady)
}

// awaitServers waits until no server is selected, or until done (which may be nil)
// reports true. It returns the names of the servers that are still selected. A
// patience of 0 means no limit: a starting server becomes ready or down after its
// startupTimeout.
func (c *command) awaitServers(
	ctx context.Context, remote *client.Client, patience time.Duration, selects func(client.Server) bool, done func() (bool, error),
) ([]string, error) {
	begun := time.Now()
	line := progressLine{c: c}
	defer line.clear()
	for {
		list, err := remote.Servers(ctx)
		if err != nil {
			return nil, err
		}
		var left []string
		for _, s := range list {
			if selects(s) {
				left = append(left, s.Name)
			}
		}
		// Call done after the servers were read, so that it sees what a server listed
		// before it was no longer selected.
		if done != nil {
			if enough, err := done(); enough || err != nil {
				return left, err
			}
		}
		if len(left) == 0 || patience > 0 && time.Since(begun) >= patience {
			return left, nil
		}
		if waited := time.Since(begun); waited >= time.Second {
			line.show(c.say("starting, since %s: %s", waited.Round(time.Second), gateway.Names(left)))
		}
		select {
		case <-time.After(startPace):
		case <-ctx.Done():
			return nil, canceled(ctx)
		}
	}
}

// canceled returns the error of a command that a signal ended.
func canceled(ctx context.Context) error {
	return &gateway.Error{Code: gateway.CodeCanceled, Err: context.Cause(ctx), Message: "canceled"}
}

// awaitLists waits for servers whose tools are not known yet, and names those that
// a list lacks.
func (c *command) awaitLists(ctx context.Context, remote *client.Client, patience time.Duration) error {
	left, err := c.awaitServers(ctx, remote, patience, isUnlisted, nil)
	if err == nil && len(left) > 0 {
		fmt.Fprintln(c.std.Err, c.say("Still starting, so that their tools are missing here: %s. `genkan servers` shows how they are.", gateway.Names(left)))
	}
	return err
}

// awaitTool waits until a tool is known, while servers that may have it are
// starting, and no longer than patience (0 means no limit). If the tool is still
// unknown, it says so and names the servers that may still provide it.
func (c *command) awaitTool(ctx context.Context, remote *client.Client, name string, patience time.Duration) (client.Tool, error) {
	var tool client.Tool
	var missing error
	left, err := c.awaitServers(ctx, remote, patience, isUnlisted, func() (bool, error) {
		var e *gateway.Error
		tool, missing = remote.Tool(ctx, name)
		if missing == nil || !errors.As(missing, &e) || e.Code != gateway.CodeNotFound {
			return true, missing
		}
		return false, nil
	})
	if err == nil && missing != nil && len(left) > 0 {
		fmt.Fprintln(c.std.Err, c.say("Still starting, so that their tools are missing here: %s. `genkan servers` shows how they are.", gateway.Names(left)))
	}
	if err == nil {
		err = missing
	}
	return tool, err
}

// awaitReady waits until a tool's server has started, because the time limit of a
// call may be shorter than the start.
func (c *command) awaitReady(ctx context.Context, remote *client.Client, name string) error {
	list, err := remote.Servers(ctx)
	if err != nil || !slices.ContainsFunc(list, func(s client.Server) bool { return isStarting(s) || isUnlisted(s) }) {
		return err
	}
	tool, err := c.awaitTool(ctx, remote, name, 0)
	var e *gateway.Error
	if errors.As(err, &e) && e.Code == gateway.CodeNotFound {
		return nil // the call reports why
	}
	if err != nil {
		return err
	}
	_, err = c.awaitServers(ctx, remote, 0,
		func(s client.Server) bool { return isStarting(s) && s.Name == tool.Server }, nil)
	return err
}

// startBackground starts a genkan in the background, or finds one that was started
// meanwhile.
func (c *command) startBackground(ctx context.Context) error {
	opt, sink := c.options()
	defer sink.Close()
	joiner, err := c.joiner(opt, mcpserver.StdioOptions{})
	if err != nil {
		return err
	}
	joiner.Hello.Purpose = bridge.PurposeREST
	conn, err := joiner.Join(ctx)
	if err == nil {
		_ = conn.Close() // the connection only proves that a genkan runs
	}
	return err
}

// settled is the outcome of a server's start.
type settled struct {
	client.Server
	took time.Duration
}

// await shows how servers start, with a line for each outcome, until all have
// started or failed or ctx ends.
func (c *command) await(ctx context.Context, remote *client.Client, names []string) error {
	begun := time.Now()
	waiting := map[string]bool{}
	for _, name := range names {
		waiting[name] = true
	}
	line := progressLine{c: c}
	defer line.clear()
	for {
		list, err := remote.Servers(ctx)
		if err != nil {
			return err
		}
		var left []string
		for _, s := range list {
			switch {
			case !waiting[s.Name]:
			case s.State == "starting":
				left = append(left, s.Name)
			default:
				delete(waiting, s.Name)
				done := settled{s, time.Since(begun)}
				line.clear()
				c.showStart(done)
			}
		}
		if len(left) == 0 {
			return nil
		}
		line.show(c.say("starting, since %s: %s", time.Since(begun).Round(time.Second), gateway.Names(left)))
		select {
		case <-time.After(startPace):
		case <-ctx.Done():
			return canceled(ctx)
		}
	}
}

func (c *command) showStart(s settled) {
	took := s.took.Round(100 * time.Millisecond)
	switch s.State {
	case "ready":
		fmt.Fprintln(c.std.Out, "  "+c.say("%s is ready after %s: %d tools", s.Name, took, s.Tools))
	case "disabled":
		fmt.Fprintln(c.std.Out, "  "+c.say("%s is disabled", s.Name))
	default:
		fmt.Fprintln(c.std.Out, "  "+c.say("%s does not work yet: %s", s.Name, hanging(s.Problem)))
	}
}

// eraseLine returns to the beginning of the line and clears it.
const eraseLine = "\r\x1b[K"

// progressLine is a line that is overwritten, on terminals only.
type progressLine struct {
	c     *command
	shown bool
}

func (l *progressLine) show(text string) {
	if isTerminal(l.c.std.Err) {
		l.clear()
		fmt.Fprint(l.c.std.Err, "  "+gateway.Printable(text))
		l.shown = true
	}
}

func (l *progressLine) clear() {
	if l.shown {
		_, _ = io.WriteString(behind(l.c.std.Err), eraseLine)
		l.shown = false
	}
}
