package cli

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"genkan/internal/app"
	"genkan/internal/doctor"
	"genkan/internal/gateway"
	"genkan/internal/web"
)

func (c *command) ui() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ui", Short: c.say("Open the web UI"), Args: arguments(0, 0),
		Long: c.say(`Open the web UI of the genkan that runs for the data directory, or of one that is
started in the background.

The address that is printed signs one browser in as administrator, once, within ten
minutes. A genkan in the background, which editors have started, opens a port on
127.0.0.1 for it, and closes the port a minute after the last page was closed.`),
		RunE: c.runUI,
	}
	cmd.Flags().BoolVar(&c.noOpen, "no-open", false, c.say("print the address, and do not open a browser"))
	return cmd
}

func (c *command) runUI(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	remote, started, err := c.runningOrStarted(ctx)
	if err != nil {
		return err
	}
	if started { // also where nobody watches: another genkan may run for another directory
		c.tellStarted()
	}
	link, err := remote.UILink(ctx)
	if err != nil && gateway.AsError(err).Code == gateway.CodeNotFound {
		return &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "the genkan that runs is of an older version, which has no web UI; stop it, and run `%s` again",
			Values:  []any{c.uiCommand()},
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(c.std.Out, link.URL)
	if c.noOpen || os.Getenv("CI") != "" || !hasBrowser() {
		return nil
	}
	if err := openBrowser(ctx, link.URL); err != nil {
		fmt.Fprintln(c.std.Err, c.say("No browser could be opened; open the address above in one."))
	}
	return nil
}

// uiCommand returns the command that opens the web UI of the genkan for this data
// directory. People who are not signed in are not told it: it may have a path.
func (c *command) uiCommand() string {
	if dir := c.ownDataDir(); dir != "" {
		return "genkan ui --data " + doctor.Quote(dir)
	}
	return "genkan ui"
}

// offerUI shows the person at the terminal where the web UI is, with a link that signs
// in, and opens it. A log that others may read gets no such link. Where a browser is
// signed in, the person has the page or its address, and nothing is opened.
func (c *command) offerUI(ctx context.Context, p *app.Process, l net.Listener) {
	if !web.Built || !isTerminal(c.std.Err) {
		return
	}
	if p.UISignedIn(ctx) {
		fmt.Fprintln(c.std.Err, c.say("Web UI: %s", p.UIAddress(l)))
		fmt.Fprintln(c.std.Err, c.say("A browser is signed in already; `%s` opens the page, and signs another one in.", c.uiCommand()))
		return
	}
	link, _ := p.UILink(l)
	fmt.Fprintln(c.std.Err, c.say("Web UI: %s", link))
	fmt.Fprintln(c.std.Err, c.say("The address signs one browser in, within ten minutes; `%s` makes another.", c.uiCommand()))
	if c.noOpen || os.Getenv("CI") != "" || !hasBrowser() {
		return
	}
	go func() { _ = openBrowser(ctx, link) }() // the address stands above
}
