package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/mcpserver"
)

// running is a client for the genkan of the data directory. When none runs, one
// is started in the background, as `genkan stdio` does.
func (c *command) running(ctx context.Context) (*client.Client, error) {
	remote, err := c.remote(ctx)
	var e *gateway.Error
	if err == nil || !errors.As(err, &e) || e.Code != gateway.CodeUnavailable {
		return remote, err
	}
	if err := c.startBackground(ctx); err != nil {
		// What is wrong with the configuration is said here, and not in a log only.
		opt, sink := c.options()
		defer sink.Close()
		if _, wrong := app.ReadConfig(opt); wrong != nil {
			return nil, wrong
		}
		return nil, &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "genkan could not be started in the background; its log is genkan.log in %s", Values: []any{c.dataDir},
		}
	}
	return c.remote(ctx)
}

// startBackground starts a genkan in the background, or finds that one was
// started meanwhile.
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
		_ = conn.Close() // it was to see that somebody is there
	}
	return err
}

// settled is what a server came to.
type settled struct {
	client.Server
	took time.Duration
}

// await shows how servers start, a line for each as it becomes known, until all
// have or ctx ends.
func (c *command) await(ctx context.Context, remote *client.Client, names []string) error {
	const pace = 100 * time.Millisecond
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
		line.show(c.say("starting, since %s: %s", time.Since(begun).Round(time.Second), strings.Join(left, ", ")))
		select {
		case <-time.After(pace):
		case <-ctx.Done():
			return context.Cause(ctx)
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
		fmt.Fprintln(c.std.Out, "  "+c.say("%s does not work yet: %s", s.Name, s.Problem))
	}
}

// eraseLine goes back to the line's beginning and empties it.
const eraseLine = "\r\x1b[K"

// progressLine is a line that is written over, on terminals only.
type progressLine struct {
	c     *command
	shown bool
}

func (l *progressLine) show(text string) {
	if isTerminal(l.c.std.Err) {
		l.clear()
		fmt.Fprint(l.c.std.Err, "  "+printable(text))
		l.shown = true
	}
}

func (l *progressLine) clear() {
	if l.shown {
		_, _ = io.WriteString(behind(l.c.std.Err), eraseLine)
		l.shown = false
	}
}
