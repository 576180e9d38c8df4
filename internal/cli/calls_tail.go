package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/history"
)

func (c *command) callsTail() *cobra.Command {
	var f callFlags
	var started bool
	cmd := c.jsonFlag(&cobra.Command{
		Use: "tail", Short: c.say("Show calls as they end"), Args: arguments(0, 0),
		Long: c.say(`Show each call of the running genkan when it ends, until Ctrl-C: when it began, who
called what, how it went, how long it took, and its ID for ` + "`genkan calls show`" + `. On a
terminal the last line shows the calls that are running. --json prints one object a
line.`),
		RunE: func(cmd *cobra.Command, _ []string) error {
			remote, err := c.remote(cmd.Context())
			if err != nil {
				return err
			}
			if isTerminal(c.std.Err) && !c.asJSON {
				fmt.Fprintln(c.std.Err, c.say("Waiting for calls; Ctrl-C ends it."))
			}
			return c.followCalls(cmd.Context(), remote, &f, started)
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.Client, "client", "", c.say("only calls of this `client` or program"))
	flags.StringVar(&f.Server, "server", "", c.say("only calls of this `server`"))
	flags.StringVar(&f.Tool, "tool", "", c.say("only calls of this `tool`"))
	flags.BoolVar(&f.errors, "errors", false, c.say("only calls that failed, as --outcome error"))
	flags.DurationVar(&f.slower, "slower", 0, c.say("only calls that took at least this `time`, such as 500ms"))
	flags.BoolVar(&started, "started", false, c.say("also show when calls begin"))
	restricting(cmd, "client", "server", "tool")
	return cmd
}

// tail shows calls as they begin and end.
type tail struct {
	c       *command
	flags   *callFlags
	started bool

	mu   sync.Mutex
	line progressLine
	// running are the calls that have begun and not ended, the oldest first.
	running []client.CallEnded
}

// followCalls shows calls until ctx ends.
func (c *command) followCalls(ctx context.Context, from *client.Client, f *callFlags, started bool) error {
	t := &tail{c: c, flags: f, started: started, line: progressLine{c: c}}
	ticks, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { t.tick(ticks) })
	from.Connection = t.connection
	err := from.Events(ctx, []string{"calls"}, "", t.receive)
	stop()
	beside.Wait()
	t.line.clear()
	if ctx.Err() != nil {
		return nil // Ctrl-C is how it ends
	}
	return err
}

// tick keeps the last line up to date.
func (t *tail) tick(ctx context.Context) {
	if t.c.asJSON || !isTerminal(t.c.std.Err) {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.mu.Lock()
			t.showRunning(time.Now())
			t.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// connection says that the connection broke, and when it is back.
func (t *tail) connection(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line.clear()
	if err == nil {
		fmt.Fprintln(t.c.std.Err, t.c.say("Connected again."))
		return
	}
	t.running = nil // they may have ended with genkan
	fmt.Fprintln(t.c.std.Err, t.c.say("The connection to genkan broke; trying again until Ctrl-C."))
}

func (t *tail) receive(e client.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Name == client.EventDropped {
		t.running = nil // their ends may be among the events that were missed
		t.line.clear()
		fmt.Fprintln(t.c.std.Err, t.c.say("Some calls were missed here; `genkan calls` lists them."))
		return nil
	}
	var call client.CallEnded
	if json.Unmarshal(e.Data, &call) != nil {
		return nil // of a later version
	}
	switch e.Name {
	case client.EventCallStarted:
		if !t.wants(&call, false) {
			return nil
		}
		t.running = append(t.running, call)
		if !t.started {
			return nil
		}
	case client.EventCallEnded:
		t.running = slices.DeleteFunc(t.running, func(r client.CallEnded) bool { return r.ID == call.ID })
		if !t.wants(&call, true) {
			return nil
		}
	default:
		return nil
	}
	return t.print(&call, e)
}

// wants reports whether the flags select a call.
func (t *tail) wants(call *client.CallEnded, ended bool) bool {
	f := t.flags
	return (f.Client == "" || history.MatchesClient(call.Client, f.Client) || history.MatchesClient(call.Program, f.Client)) &&
		(f.Server == "" || call.Server == f.Server) && (f.Tool == "" || history.MatchesTool(call.Server, call.Tool, f.Tool)) &&
		(!ended || (!f.errors || call.Outcome != client.OutcomeOK) && call.TookMillis >= float64(f.slower.Milliseconds()))
}

// print prints a call that has ended, or begun.
func (t *tail) print(call *client.CallEnded, e client.Event) error {
	c := t.c
	if c.asJSON {
		return json.NewEncoder(c.jsonOut()).Encode(struct {
			Event string          `json:"event"`
			Call  json.RawMessage `json:"call"`
		}{e.Name, e.Data})
	}
	const who, what, how = 12, 32, 12
	line := padded(call.StartedAt.Local().Format(time.TimeOnly), 0) + padded(call.Client, who) + padded(t.tool(call), what)
	if e.Name == client.EventCallStarted {
		line += padded(c.say("begins"), how)
	} else {
		line += padded(call.Outcome, how) + padded(c.ms(call.TookMillis), len("12,345 ms"))
	}
	line += call.ID
	if call.Error != "" {
		line += "  " + gateway.Printable(call.Error)
		if columns := c.columns(); columns > 0 {
			line = cutTo(line, columns)
		}
	}
	t.line.clear()
	_, err := fmt.Fprintln(c.std.Out, line)
	t.showRunning(time.Now())
	return err
}

// tool returns the server and the tool of a call.
func (t *tail) tool(call *client.CallEnded) string {
	tool := ownName(&client.CallEntry{Server: call.Server, Tool: call.Tool})
	return strings.TrimSpace(call.Server + " " + cmp.Or(tool, call.Method))
}

// padded returns a text that is at least so many columns wide, and a gap.
func padded(text string, columns int) string {
	text = gateway.Printable(text)
	return text + strings.Repeat(" ", max(columns-width(text), 0)+2) //nolint:mnd // the gap
}

// showRunning shows the calls that are running on the last line. Called with mu held.
func (t *tail) showRunning(now time.Time) {
	columns := t.c.columns()
	if t.c.asJSON || columns == 0 {
		return
	}
	if len(t.running) == 0 {
		t.line.clear()
		return
	}
	var texts []string
	for i := range t.running {
		r := &t.running[i]
		texts = append(texts, r.Client+" "+t.tool(r)+" "+max(now.Sub(r.StartedAt), 0).Truncate(time.Second).String())
	}
	t.line.show(cutTo(t.c.say("%d running: %s", len(texts), gateway.Names(texts)), columns-3)) //nolint:mnd // its indent, and the cursor
}
