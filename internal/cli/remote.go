package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/app"
	"genkan/internal/bridge"
	"genkan/internal/gateway"
	"genkan/internal/upstream"
)

// remote returns a client of the data directory's genkan. It uses the directory's
// socket, because a port may belong to another user. An address given with --listen
// must prove that it knows the admin token.
func (c *command) remote(ctx context.Context) (*client.Client, error) {
	raw, err := os.ReadFile(app.AdminTokenFile(c.dataDir))
	if err != nil {
		return nil, &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "there is no admin token in %s; start genkan once with `genkan serve`, or name its data directory with --data",
			Values:  []any{c.dataDir},
		}
	}
	token := gateway.Secret(strings.TrimSpace(string(raw)))
	if c.flags.Listen != "" {
		return client.New(c.flags.Listen, token), nil
	}
	welcome, err := c.findOwner(ctx)
	if err != nil {
		return nil, &gateway.Error{
			Code: gateway.CodeUnavailable, Err: err,
			Message: "no genkan serves %s; start it with `genkan serve`, or name its data directory with --data",
			Values:  []any{c.dataDir},
		}
	}
	c.noteOtherConfig(welcome)
	return client.NewOver(c.dialOwner, token), nil
}

// noteOtherConfig says once that the running genkan has a different configuration
// than the one that was named.
func (c *command) noteOtherConfig(welcome bridge.Welcome) {
	if c.configFile == "" || c.otherConfigNoted || welcome.Config == "" || sameFile(c.configFile, welcome.Config) {
		return
	}
	c.otherConfigNoted = true
	fmt.Fprintln(c.std.Err, c.say("The genkan that runs uses the configuration %s; --config %s has no effect on it. Stop it first, or leave out --config.",
		c.shortPath(welcome.Config), c.shortPath(c.configFile)))
}

// sameFile reports whether two paths lead to the same file. The file need not
// exist.
func sameFile(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(one, other)
	}
	full, err := filepath.Abs(a)
	return err == nil && full == b
}

// remoteOrNone is remote, but returns nil if no genkan runs for the data directory.
func (c *command) remoteOrNone(ctx context.Context) (*client.Client, error) {
	remote, err := c.remote(ctx)
	if err == nil {
		return remote, nil
	}
	if gateway.AsError(err).Code == gateway.CodeUnavailable {
		return nil, nil //nolint:nilnil // none is an answer
	}
	return nil, err
}

// dialOwner connects to the REST API of the genkan that owns the data directory's
// socket. No other user can listen there.
func (c *command) dialOwner(ctx context.Context) (net.Conn, error) {
	conn, _, err := c.greetOwner(ctx)
	return conn, err
}

// findOwner asks the owner of the socket for its version and its address.
func (c *command) findOwner(ctx context.Context) (bridge.Welcome, error) {
	conn, welcome, err := c.greetOwner(ctx)
	if err == nil {
		_ = conn.Close()
	}
	return welcome, err
}

func (c *command) greetOwner(ctx context.Context) (net.Conn, bridge.Welcome, error) {
	return bridge.Dial(ctx, c.dataDir, bridge.Hello{Purpose: bridge.PurposeREST, Version: c.version})
}

// findingLine describes what happened to one definition of a server.
func (c *command) findingLine(f client.Finding) string {
	name, notes := gateway.Printable(gateway.Short(f.Name)), strings.Join(f.Notes, "; ")
	switch {
	case f.LeftOut:
		return c.say("%s is left out: %s", name, notes)
	case f.Suspect:
		return c.say("%s may mislead: %s", name, notes)
	default:
		return c.say("%s is shown to clients otherwise than its server sent it: %s", name, notes)
	}
}

// shownTime formats a time; empty for the zero time.
func shownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

func shownDuration(millis int64) string {
	return (time.Duration(millis) * time.Millisecond).Round(10 * time.Millisecond).String()
}

// stateOf describes a server's state, in one word if possible.
func (c *command) stateOf(s client.Server) string {
	if s.SignIn == upstream.SignInNeeded {
		return c.say("needs sign-in")
	}
	switch s.State {
	case client.StateReady:
		return c.say("ready")
	case client.StateStarting:
		return c.say("starting")
	case client.StateDown:
		return c.say("down")
	case client.StateNotResponding:
		return c.say("not responding")
	case client.StateDisabled:
		return c.say("disabled")
	}
	return s.State
}

func (c *command) call() *cobra.Command {
	var timeout time.Duration
	var budget int
	cmd := c.jsonFlag(&cobra.Command{
		Use: "call TOOL [ARGUMENTS]", Short: c.say("Call a tool"), Args: arguments(1, 2),
		Long: c.say(`Call a tool. ARGUMENTS is a JSON object, or - to read one from standard input.

  genkan call everything__echo '{"message":"hello"}'

The texts of the answer are printed, and of images what they are; --json prints
the whole answer. The exit status is 1 when the tool reports an error.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments := json.RawMessage("{}")
			if len(args) == 2 {
				raw := []byte(args[1])
				if args[1] == "-" {
					var err error
					if raw, err = io.ReadAll(c.std.In); err != nil {
						return err
					}
				}
				if !json.Valid(raw) {
					return gateway.Errorf(gateway.CodeInvalid, "the arguments are not a JSON object; quote them, as in '{\"message\":\"hello\"}'")
				}
				arguments = raw
			}
			remote, _, err := c.withServers(cmd.Context())
			if err == nil {
				err = c.awaitReady(cmd.Context(), remote, args[0])
			}
			if err != nil {
				return err
			}
			folder, err := os.Getwd()
			if err != nil {
				folder = "" // the folder is gone; most servers do not need it
			}
			answered := c.tellWaiting(cmd.Context(), remote, args[0])
			result, err := remote.Call(cmd.Context(), args[0], arguments, client.CallOptions{Timeout: timeout.Milliseconds(), Cwd: folder, Budget: budget})
			answered()
			if err != nil {
				return err
			}
			if err := c.showResult(result); err != nil {
				return err
			}
			if !result.Success {
				return errToolFailed
			}
			return nil
		},
	})
	cmd.Flags().DurationVar(&timeout, "timeout", 0, c.say("end the call after this `time`, such as 2m (default: when it made no progress for as long as timeout of the tool says, or 30s)"))
	cmd.Flags().IntVar(&budget, "budget", 0, c.say("show the outline that an agent gets of an answer with more than so many `tokens`"))
	return cmd
}

// showResult prints texts unchanged, a description of images, sounds and files, and
// everything else as JSON.
func (c *command) showResult(result client.CallResult) error {
	if c.asJSON {
		return c.json(result)
	}
	if result.Notice != "" {
		fmt.Fprintln(c.std.Err, gateway.Printable(result.Notice))
	}
	var body struct {
		Content []json.RawMessage `json:"content"`
	}
	if !result.Success && len(result.Result) == 0 { // the server answered with an error
		_, err := fmt.Fprintf(c.std.Err, "genkan: %s\n", hanging(result.Error))
		return err
	}
	if err := json.Unmarshal(result.Result, &body); err != nil || len(body.Content) == 0 {
		return c.json(result.Result)
	}
	for _, item := range body.Content {
		var part content
		known := json.Unmarshal(item, &part) == nil
		bytes, isBinary := part.binary()
		switch {
		case known && part.Type == "text" && part.Text != nil:
			fmt.Fprintln(c.exact(), *part.Text)
		case known && isBinary:
			kind := cmp.Or(part.MimeType, part.Resource.MimeType, part.Type)
			fmt.Fprintln(c.std.Out, c.say("(%s, %d bytes; --json shows them in base64)", gateway.Printable(kind), bytes))
		default:
			if err := c.json(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// content is one part of a tool's answer.
type content struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Data     string  `json:"data"`
	MimeType string  `json:"mimeType"`
	Resource struct {
		Blob     string `json:"blob"`
		MimeType string `json:"mimeType"`
	} `json:"resource"`
}

// binary returns the number of bytes of a part that a terminal cannot show.
func (p *content) binary() (bytes int, ok bool) {
	encoded := p.Resource.Blob
	if p.Type == "image" || p.Type == "audio" {
		encoded = p.Data
	}
	encoded = strings.TrimRight(encoded, "=")
	return base64.RawStdEncoding.DecodedLen(len(encoded)), encoded != ""
}
