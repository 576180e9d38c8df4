package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api"
	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/gateway"
	"genkan/internal/history"
	"genkan/internal/identity"
)

func (c *command) calls() *cobra.Command {
	var f callFlags
	cmd := c.jsonFlag(&cobra.Command{
		Use: "calls", Short: c.say("Show which tools were called, by whom and how it went"), Args: arguments(0, 0),
		Long: c.say(`List the calls of tools, the newest first, with who called, how it went, how long
it took in milliseconds, about how many tokens went in and out, and the beginning
of the arguments. Filters go together.

  genkan calls --errors --since 1h       what failed in the last hour
  genkan calls --slower 2s               what took two seconds or more
  genkan calls --text "release notes"    what was sent or answered with this text
  genkan calls show last                 the last call with its request and answer
  genkan calls stats                     sums for each tool
  genkan calls tail                      calls as they end
  genkan calls cancel ID                 ends a call that is running

Calls are kept for seven days unless the configuration says otherwise (record). What
was sent and received is kept for clients of this machine's user, encrypted, and
shown without secrets.`),
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter(time.Now())
			if err != nil {
				return err
			}
			keeper, err := c.callKeeper(cmd.Context())
			if err != nil {
				return err
			}
			list, err := c.findCalls(cmd.Context(), keeper, filter)
			if err != nil && len(list.Calls) == 0 {
				return err
			}
			if shown := c.showCalls(list, f.limits()); shown != nil {
				return shown
			}
			return err // a search that a signal ended
		},
	})
	c.callFlags(cmd, &f, "")
	cmd.Flags().StringVar(&f.Text, "text", "", c.say("only calls whose arguments, answer or error contain this `text`"))
	cmd.Flags().IntVar(&f.Limit, "limit", usualCalls, c.say("how many calls to show (`number`)"))
	restricting(cmd, "client", "server", "tool", "outcome", "since", "until", "text")
	cmd.AddCommand(c.callsShow(), c.callsStats(), c.callsTail(), c.callsCancel())
	return cmd
}

// usualCalls is the number of calls that are listed, mostOnACallPage the largest page
// of the API.
const usualCalls, mostOnACallPage = 50, history.MaxLimit

// callFlags are the flags that select calls.
type callFlags struct {
	client.CallFilter
	errors bool
	slower time.Duration
}

func (c *command) callFlags(cmd *cobra.Command, f *callFlags, since string) {
	flags := cmd.Flags()
	flags.StringVar(&f.Client, "client", "", c.say("only calls of this `client` or program"))
	flags.StringVar(&f.Server, "server", "", c.say("only calls of this `server`"))
	flags.StringVar(&f.Tool, "tool", "", c.say("only calls of this `tool`"))
	flags.StringVar(&f.Outcome, "outcome", "", c.say("only calls with this `outcome`: ok, error, tool_error, timeout or another"))
	flags.BoolVar(&f.errors, "errors", false, c.say("only calls that failed, as --outcome error"))
	flags.DurationVar(&f.slower, "slower", 0, c.say("only calls that took at least this `time`, such as 500ms"))
	flags.StringVar(&f.Since, "since", since, c.say("only calls since this `time`: 10m, 2h, 7d, 2026-11-15 or 2026-11-15T14:00:00Z"))
	flags.StringVar(&f.Until, "until", "", c.say("only calls until this `time`"))
}

// limits reports whether the flags leave out calls.
func (f *callFlags) limits() bool {
	all := client.CallFilter{Limit: f.Limit}
	return f.CallFilter != all || f.errors || f.slower > 0
}

// filter returns what the flags select.
func (f *callFlags) filter(now time.Time) (client.CallFilter, error) {
	out := f.CallFilter
	if f.errors && f.Outcome != "" {
		return out, wrongUsage("give either --outcome, or --errors, which is --outcome error")
	}
	if f.errors {
		out.Outcome = history.OutcomeError
	}
	if f.slower < 0 {
		return out, wrongUsage("--slower must be a time such as 500ms or 2s")
	}
	if f.slower > 0 {
		out.SlowerMillis = max(f.slower.Milliseconds(), 1)
	}
	for flag, text := range map[string]*string{"since": &out.Since, "until": &out.Until} {
		if *text == "" {
			continue
		}
		at, ok := history.ParseTime(*text, now)
		if day, err := time.ParseInLocation(time.DateOnly, *text, now.Location()); !ok && err == nil {
			if at, ok = day, true; flag == "until" {
				at = day.AddDate(0, 0, 1).Add(-time.Millisecond) // the whole day
			}
		}
		if !ok {
			return out, wrongUsage("--%s must be an age such as 10m, 2h or 7d, a day such as 2026-11-15, or a time such as 2026-11-15T14:00:00Z, not %q", flag, *text)
		}
		*text = at.UTC().Format(time.RFC3339Nano)
	}
	return out, nil
}

// callKeeper reads the call history: that of the running genkan, or the files if none
// runs.
type callKeeper interface {
	Calls(ctx context.Context, f client.CallFilter) (client.CallList, error)
	CallDetails(ctx context.Context, id string) (client.CallDetails, error)
	CallStats(ctx context.Context, f client.CallFilter) (client.CallStats, error)
}

func (c *command) callKeeper(ctx context.Context) (callKeeper, error) {
	remote, err := c.remoteOrNone(ctx)
	if err != nil || remote != nil {
		return remote, err
	}
	stored, err := app.CallHistory(app.Options{DataDir: c.dataDir, ConfigFile: c.configFile, Flags: c.flags})
	return storedCalls{stored}, err
}

// reader returns who reads the history here, as with a running genkan: the holder of
// the admin token.
func reader() gateway.Identity { return gateway.Identity{ClientID: identity.AdminClient, Admin: true} }

// storedCalls is the call history of a data directory without a running genkan.
type storedCalls struct{ *api.CallHistory }

func (s storedCalls) Calls(ctx context.Context, f client.CallFilter) (client.CallList, error) {
	return s.List(ctx, reader(), f.Values())
}

func (s storedCalls) CallDetails(ctx context.Context, id string) (client.CallDetails, error) {
	return s.Show(ctx, reader(), id)
}

func (s storedCalls) CallStats(ctx context.Context, f client.CallFilter) (client.CallStats, error) {
	return s.Stats(ctx, reader(), f.Values())
}

// findCalls lists calls until as many as wanted are found, or all. With an error it
// returns the calls that were found before.
func (c *command) findCalls(ctx context.Context, keeper callKeeper, f client.CallFilter) (client.CallList, error) {
	if f.Limit < 1 {
		return client.CallList{}, wrongUsage("--limit must be at least 1")
	}
	wanted, begun := f.Limit, time.Now()
	line := progressLine{c: c}
	defer line.clear()
	var all client.CallList
	for {
		f.Limit = min(wanted-len(all.Calls), mostOnACallPage)
		page, err := keeper.Calls(ctx, f)
		if err != nil {
			if all.SearchedUntil != nil {
				line.clear()
				fmt.Fprintln(c.std.Err, c.say("Calls that ended before %s were not searched.", shownTime(*all.SearchedUntil)))
			}
			return all, err
		}
		page.Calls = append(all.Calls, page.Calls...)
		if all.Running != nil {
			page.Running = all.Running // of the first page
		}
		all = page
		if all.Next == "" || len(all.Calls) >= wanted {
			return all, nil
		}
		f.After = all.Next
		if all.SearchedUntil != nil && time.Since(begun) >= time.Second {
			line.show(c.say("searching, back to %s: %d found; Ctrl-C ends it", shownTime(*all.SearchedUntil), len(all.Calls)))
		}
	}
}

// showCalls prints a list of calls.
func (c *command) showCalls(list client.CallList, filtered bool) error {
	if c.asJSON {
		if list.Calls == nil {
			list.Calls = []client.ListedCall{}
		}
		return c.json(list)
	}
	c.noteHistory(list.History)
	if filtered {
		list.Running = nil // they have no outcome that could fit
	}
	if len(list.Calls)+len(list.Running) == 0 {
		switch {
		case !list.History.On:
		case filtered:
			fmt.Fprintln(c.std.Out, c.say("No call fits. `genkan calls` without filters lists all, and `genkan calls --help` explains the filters."))
		default:
			fmt.Fprintln(c.std.Out, c.say("No call has been made yet. `genkan connect` lets an editor call through genkan, and `genkan call TOOL` calls a tool from here."))
		}
		return nil
	}
	now := time.Now()
	// A list of failures says why.
	failures := len(list.Running) == 0 && !slices.ContainsFunc(list.Calls, func(one client.ListedCall) bool { return one.Outcome == client.OutcomeOK })
	last := c.say("ARGUMENTS")
	if failures {
		last = c.say("ERROR")
	}
	rows := [][]string{{c.say("TIME"), c.say("CLIENT"), c.say("SERVER"), c.say("TOOL"), c.say("OUTCOME"), c.say("MS"), c.say("TOKENS"), last, "ID"}}
	for _, one := range list.Running {
		rows = append(rows, []string{
			callTime(one.StartedAt, now), one.Client, orDash(one.Server), cmp.Or(ownName(&client.CallEntry{Server: one.Server, Tool: one.Tool}), one.Method),
			client.OutcomeRunning, shownMillis(float64(now.Sub(one.StartedAt).Milliseconds())), "-", "", one.ID,
		})
	}
	for i := range list.Calls {
		one := &list.Calls[i]
		if failures {
			one.Arguments = one.Error
		}
		rows = append(rows, []string{
			callTime(one.StartedAt, now), one.Client, orDash(one.Server), cmp.Or(ownName(&one.CallEntry), one.Method), one.Outcome,
			shownMillis(one.TookMillis), shownTokens(&one.CallEntry), one.Arguments, one.ID,
		})
	}
	const arguments, narrowest = 7, 9
	c.shorten(rows, arguments, narrowest)
	c.table(rows)
	if list.Next != "" {
		fmt.Fprintln(c.std.Err, c.say("There are older ones: --limit %d shows more.", 2*len(list.Calls)))
	}
	return nil
}

// noteHistory says what the history lacks.
func (c *command) noteHistory(h client.HistoryState) {
	if !h.On {
		fmt.Fprintln(c.std.Err, c.say("Calls are not kept: the configuration says \"record: off\"."))
		return
	}
	if h.Problem != "" {
		since := ""
		if h.ProblemSince != nil {
			since = shownTime(*h.ProblemSince)
		}
		fmt.Fprintln(c.std.Err, c.say("Since %s: %s. `genkan doctor` says what mends it.", since, hanging(h.Problem)))
	}
	if h.Dropped > 0 {
		fmt.Fprintln(c.std.Err, c.say("Calls that are missing since genkan started: %d.", h.Dropped))
	}
}

// shorten cuts a column so that the rows fit on the terminal. Elsewhere nothing is
// cut.
func (c *command) shorten(rows [][]string, column, narrowest int) {
	const gap = 2
	room := c.columns()
	if room == 0 {
		return
	}
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, width(gateway.Printable(row[i])))
		}
		if i != column {
			room -= widest + gap
		}
	}
	for _, row := range rows[1:] {
		row[column] = cutTo(gateway.Printable(row[column]), max(room, narrowest))
	}
}

// cutTo returns as much of a text as fits into the given number of columns.
func cutTo(text string, columns int) string {
	if width(text) <= columns {
		return text
	}
	first := wrapped(strings.ReplaceAll(text, " ", "\u00a0"), columns-1)[0] // not at spaces
	return strings.ReplaceAll(first, "\u00a0", " ") + "…"
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// ownName returns a tool's name without the prefix, which says the server again.
func ownName(e *client.CallEntry) string { return strings.TrimPrefix(e.Tool, e.Server+"__") }

// callTime formats when a call was made: the time for today's calls, and the day
// before it for others.
func callTime(at, now time.Time) string {
	at = at.Local()
	if at.Format(time.DateOnly) == now.Local().Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// shownMillis formats milliseconds: short times with a digit behind the point.
func shownMillis(ms float64) string {
	if ms < 10 { //nolint:mnd // two digits are enough
		return strconv.FormatFloat(ms, 'f', 1, 64)
	}
	return strconv.FormatFloat(ms, 'f', 0, 64)
}

func shownTokens(e *client.CallEntry) string {
	return strconv.Itoa(e.TokensIn) + "/" + strconv.Itoa(e.TokensOut)
}

// statFigures are what sums can be sorted by.
var statFigures = map[string]func(client.CallSum) float64{
	"calls":  func(s client.CallSum) float64 { return float64(s.Calls) },
	"errors": func(s client.CallSum) float64 { return float64(s.Errors) },
	"p50":    func(s client.CallSum) float64 { return s.P50Millis },
	"p95":    func(s client.CallSum) float64 { return s.P95Millis },
	"tokens": func(s client.CallSum) float64 { return float64(s.TokensIn + s.TokensOut) },
}

func (c *command) callsStats() *cobra.Command {
	var f callFlags
	var order string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "stats", Short: c.say("Sum up calls for each tool"), Args: arguments(0, 0),
		Long: c.say(`Sum up the calls of the last 24 hours, or since another --since, for each tool:
how many, how many failed, how long half of them (P50) and 95 of 100 (P95) took at
most in milliseconds, about how many tokens went in and out, and how many were saved
by outlines of large answers. What read_result read of stored answers is subtracted.
The tool with the most calls comes first, or the slowest with --sort p95.`),
		RunE: func(cmd *cobra.Command, _ []string) error {
			figure, ok := statFigures[order]
			if !ok {
				return wrongUsage("--sort must be calls, errors, p50, p95 or tokens, not %q", order)
			}
			filter, err := f.filter(time.Now())
			if err != nil {
				return err
			}
			keeper, err := c.callKeeper(cmd.Context())
			if err != nil {
				return err
			}
			stats, err := keeper.CallStats(cmd.Context(), filter)
			if err != nil {
				return err
			}
			slices.SortStableFunc(stats.Tools, func(a, b client.CallSum) int { return cmp.Compare(figure(b), figure(a)) })
			if c.asJSON {
				return c.json(stats)
			}
			c.noteHistory(stats.History)
			if stats.History.On && stats.Total.Calls == 0 {
				fmt.Fprintln(c.std.Out, c.say("There are no such calls since %s. --since 7d goes further back.", shownSince(filter.Since)))
				return nil
			}
			if stats.History.On {
				c.table(c.statRows(stats))
			}
			return nil
		},
	})
	c.callFlags(cmd, &f, "24h")
	cmd.Flags().StringVar(&order, "sort", "calls", c.say("which tools come first, by the highest `figure`: calls, errors, p50, p95 or tokens"))
	restricting(cmd, "client", "server", "tool", "outcome", "since", "until")
	return cmd
}

func shownSince(text string) string {
	at, _ := time.Parse(time.RFC3339Nano, text)
	return shownTime(at)
}

// statRows returns the rows of a table with the sums of tools and of all.
func (c *command) statRows(stats client.CallStats) [][]string {
	rows := [][]string{{
		c.say("SERVER"), c.say("TOOL"), c.say("CALLS"), c.say("ERRORS"), c.say("P50 MS"), c.say("P95 MS"), c.say("TOKENS IN"), c.say("TOKENS OUT"),
	}}
	saved := slices.ContainsFunc(stats.Tools, func(s client.CallSum) bool { return s.TokensSaved != 0 })
	if saved {
		rows[0] = append(rows[0], c.say("SAVED"))
	}
	row := func(server, tool string, s client.CallSum) {
		cells := []string{
			server, tool, strconv.Itoa(s.Calls), strconv.Itoa(s.Errors), shownMillis(s.P50Millis), shownMillis(s.P95Millis),
			strconv.FormatInt(s.TokensIn, 10), strconv.FormatInt(s.TokensOut, 10),
		}
		if saved {
			cells = append(cells, strconv.FormatInt(s.TokensSaved, 10))
		}
		rows = append(rows, cells)
	}
	for _, s := range stats.Tools {
		if s.Tool == "" {
			s.Tool = c.say("(unknown)")
		}
		row(orDash(s.Server), orDash(ownName(&client.CallEntry{Server: s.Server, Tool: s.Tool})), s)
	}
	row(c.say("total"), "", stats.Total)
	return rows
}

func (c *command) callsCancel() *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "cancel ID", Short: c.say("Cancel a call that is running"), Args: arguments(1, 1),
		Long: c.say(`Cancel a call that is running, as ` + "`genkan calls`" + ` lists it. The server is told to
stop, and the client gets an error that says that a person canceled the call. Calls
that the call has made end with it. The server may have carried the call out already.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withRemote(cmd.Context(), func(remote *client.Client) error {
				if err := remote.CancelCall(cmd.Context(), args[0]); err != nil {
					return err
				}
				if c.asJSON {
					return c.json(client.Done{Success: true})
				}
				fmt.Fprintln(c.std.Err, c.say("Call %s is canceled. The server was told to stop; it may have carried the call out already.", gateway.Printable(args[0])))
				return nil
			})
		},
	})
}
