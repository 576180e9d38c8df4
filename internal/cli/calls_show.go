package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
	"genkan/internal/jsonrpc"
)

func (c *command) callsShow() *cobra.Command {
	var noPager bool
	cmd := c.jsonFlag(&cobra.Command{
		Use: "show ID", Short: c.say("Show a call with what was sent and received"), Args: arguments(1, 1),
		Long: c.say(`Show a call: who called what, how it went and where the time went, then what was
sent and received, without secrets. ID is that of ` + "`genkan calls`" + `, and request_id in
the log; "last" is the last call, and last~2 the one two before it.

On a terminal, $PAGER shows what is longer than the screen.`),
		RunE: func(cmd *cobra.Command, args []string) error {
			keeper, err := c.callKeeper(cmd.Context())
			if err != nil {
				return err
			}
			id, err := c.callID(cmd.Context(), keeper, args[0])
			if err != nil {
				return err
			}
			call, err := keeper.CallDetails(cmd.Context(), id)
			if err != nil {
				return err
			}
			if c.asJSON {
				return c.json(call)
			}
			write := func(out io.Writer) error { return c.showCall(out, &call, time.Now()) }
			if noPager {
				return write(c.std.Out)
			}
			return c.paged(cmd.Context(), write)
		},
	})
	cmd.Flags().BoolVar(&noPager, "no-pager", false, c.say("print everything at once"))
	return cmd
}

// callID returns the ID of a call that is named by its place from the end.
func (c *command) callID(ctx context.Context, keeper callKeeper, name string) (string, error) {
	rest, ok := strings.CutPrefix(name, "last")
	if !ok {
		return name, nil
	}
	back := 0
	if rest != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(rest, "~"))
		if err != nil || n < 0 || rest[0] != '~' {
			return "", wrongUsage("%q is no call; give an ID of `genkan calls`, or last, or last~2", name)
		}
		back = n
	}
	list, err := c.findCalls(ctx, keeper, client.CallFilter{Limit: back + 1})
	if err != nil {
		return "", err
	}
	c.noteHistory(list.History)
	if len(list.Calls) == 0 {
		return "", gateway.Errorf(gateway.CodeNotFound, "there are no calls yet; `genkan call TOOL` makes one")
	}
	if len(list.Calls) <= back {
		return "", gateway.Errorf(gateway.CodeNotFound, "the history has %d calls; `genkan calls` lists them", len(list.Calls))
	}
	return list.Calls[back].ID, nil
}

// showCall prints a call for people.
func (c *command) showCall(out io.Writer, call *client.CallDetails, now time.Time) error {
	var b strings.Builder
	b.WriteString(c.callSentence(call, now))
	b.WriteByte('\n')
	if call.Error != "" {
		b.WriteString(c.say("Error: %s", hanging(call.Error)) + "\n")
	}
	if call.TokensSaved < 0 {
		b.WriteString(c.say("It read about %s tokens of a stored answer.", thousands(int64(-call.TokensSaved))) + "\n")
	}
	if call.TokensSaved > 0 {
		b.WriteString(c.say("The answer was stored and its outline returned, which saved about %s tokens.", thousands(int64(call.TokensSaved))) + "\n")
	}
	b.WriteString(c.callOrigin(call) + "\n")
	if call.Note != "" {
		b.WriteString("\n" + hanging(call.Note) + "\n")
	}
	if call.Request != nil {
		c.showBody(&b, c.say("Sent"), call.Request, call.BytesIn, c.requestText(call))
	}
	if call.Response != nil {
		c.showBody(&b, c.say("Received"), call.Response, call.BytesOut, c.responseText(call.Response.JSON))
	}
	for i := range call.Workflows {
		t := &call.Workflows[i]
		outcome := t.Outcome
		if t.Mode == "shadow" { // the call went on
			outcome = cmp.Or(t.Effect, outcome)
		}
		b.WriteString("\n" + c.say("Workflow %s, version %d: %s in %s.", gateway.Printable(t.Workflow), t.Version, outcome, c.ms(t.TookMillis)) + "\n")
		b.WriteString(tableText(c.stepRows(t.Steps)))
		c.stepDetails(&b, t.Steps)
	}
	if len(call.Redacted) > 0 {
		b.WriteString("\n" + c.say("Secrets are masked where they are shown, by these rules: %s.", gateway.Names(call.Redacted)) + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (c *command) showBody(b *strings.Builder, title string, body *client.CallBody, bytes int, text string) {
	b.WriteString("\n" + c.say("%s:", title) + "\n")
	if body.JSON == nil {
		text = body.Text
	}
	b.WriteString(indented(text) + "\n")
	if body.Cut {
		b.WriteString(c.say("(cut here: the whole had %s bytes)", thousands(int64(bytes))) + "\n")
	}
}

// callSentence returns one sentence about a call: who called what, when, how it went,
// where the time went, and how many tokens it cost.
func (c *command) callSentence(call *client.CallDetails, now time.Time) string {
	tool := strings.TrimSpace(call.Server + " " + ownName(&call.CallEntry))
	who, what, at := gateway.Printable(call.Client), gateway.Printable(cmp.Or(tool, call.Method)), callTime(call.StartedAt, now)
	took, where := c.ms(call.TookMillis), c.whereTheTimeWent(call.Timing)
	in, out := thousands(int64(call.TokensIn)), thousands(int64(call.TokensOut))
	switch call.Outcome {
	case client.OutcomeRunning:
		return c.say("%s called %s at %s; the call has not ended yet, after %s.", who, what, at, took)
	case client.OutcomeOK:
		return c.say("%s called %s at %s and got an answer after %s: %s; about %s tokens in, %s out.", who, what, at, took, where, in, out)
	case "tool_error":
		return c.say("%s called %s at %s, and the tool reported an error after %s: %s; about %s tokens in, %s out.", who, what, at, took, where, in, out)
	case "server_error":
		return c.say("%s called %s at %s, and the server answered with an error after %s: %s; about %s tokens in, %s out.", who, what, at, took, where, in, out)
	case "invalid", "not_found", "denied", "conflict", "limited", "unauthenticated":
		return c.say("%s called %s at %s and was refused (%s) after %s: %s; about %s tokens in.", who, what, at, call.Outcome, took, where, in)
	default:
		return c.say("%s called %s at %s and got no answer (%s) after %s: %s; about %s tokens in.", who, what, at, call.Outcome, took, where, in)
	}
}

func (c *command) ms(ms float64) string { return c.say("%s ms", commas(shownMillis(ms))) }

// whereTheTimeWent lists the parts of a call's time, those without any left out.
func (c *command) whereTheTimeWent(t client.CallTiming) string {
	var parts []string
	add := func(ms float64, text string) {
		if shownMillis(ms) != "0.0" {
			parts = append(parts, text)
		}
	}
	add(t.ServerMillis, c.say("%s in the server", c.ms(t.ServerMillis)))
	add(t.QueueMillis, c.say("%s in the queue", c.ms(t.QueueMillis)))
	add(t.HooksMillis, c.say("%s in workflows", c.ms(t.HooksMillis)))
	add(t.AskedMillis, c.say("%s waiting for the answer to a question", c.ms(t.AskedMillis)))
	if genkan := c.say("%s in genkan", c.ms(t.GenkanMillis)); len(parts) == 0 {
		parts = append(parts, genkan)
	} else {
		add(t.GenkanMillis, genkan)
	}
	return c.language.Text(gateway.Textf("%s", gateway.Names(parts)))
}

// callOrigin returns the ID of a call and where it came from.
func (c *command) callOrigin(call *client.CallDetails) string {
	text := c.say("Call %s", call.ID)
	if call.Program != "" {
		text += c.say(", from %s", gateway.Printable(call.Program))
	}
	if call.Via != "" {
		text += c.say(", over %s", call.Via)
	}
	if call.Through != "" {
		text += c.say(", through %s", gateway.Printable(call.Through))
	}
	if call.Parent != "" {
		text += c.say(", a part of call %s", call.Parent)
	}
	if call.Attempts > 1 {
		text += c.say(", sent %d times", call.Attempts)
	}
	return text
}

// requestText returns the arguments of a call of a tool, and the params of another.
func (c *command) requestText(call *client.CallDetails) string {
	var params map[string]json.RawMessage
	if call.Method != "tools/call" || json.Unmarshal(call.Request.JSON, &params) != nil || params["arguments"] == nil {
		return pretty(call.Request.JSON)
	}
	text := pretty(params["arguments"])
	delete(params, "name")
	delete(params, "arguments")
	if len(params) > 0 {
		text += "\n" + c.say("(and more, which --json shows)")
	}
	return text
}

// responseText returns the texts of a result, a description of images and sounds, and
// everything else as JSON.
func (c *command) responseText(raw json.RawMessage) string {
	var result struct {
		Content           []json.RawMessage `json:"content"`
		StructuredContent json.RawMessage   `json:"structuredContent"`
	}
	if json.Unmarshal(raw, &result) != nil || len(result.Content) == 0 {
		return pretty(raw)
	}
	var parts []string
	for _, item := range result.Content {
		var part content
		known := json.Unmarshal(item, &part) == nil
		size, isBinary := part.binary()
		switch {
		case known && part.Type == "text" && part.Text != nil:
			parts = append(parts, prettyText(*part.Text))
		case known && isBinary:
			kind := cmp.Or(part.MimeType, part.Resource.MimeType, part.Type)
			parts = append(parts, c.say("(%s, %d bytes; --json shows them in base64)", gateway.Printable(kind), size))
		default:
			parts = append(parts, pretty(item))
		}
	}
	if s := result.StructuredContent; s != nil && !(len(parts) == 1 && sameJSON([]byte(parts[0]), s)) {
		parts = append(parts, c.say("Structured:")+"\n"+pretty(s))
	}
	return strings.Join(parts, "\n")
}

// prettyText indents a text that is a JSON object or array, as many tools answer.
func prettyText(text string) string {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		return pretty(json.RawMessage(text))
	}
	return text
}

// sameJSON reports whether two texts are the same JSON, apart from spaces.
func sameJSON(a, b []byte) bool {
	var one, other bytes.Buffer
	return json.Compact(&one, a) == nil && json.Compact(&other, b) == nil && bytes.Equal(one.Bytes(), other.Bytes())
}

// pretty indents JSON.
func pretty(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return string(jsonrpc.Readable(out.Bytes()))
}

// thousands formats a number with commas.
func thousands(n int64) string { return commas(strconv.FormatInt(n, 10)) }

// commas puts commas between the thousands of a number.
func commas(number string) string {
	whole, fraction, found := strings.Cut(number, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if found {
		return fmt.Sprintf("%s.%s", whole, fraction)
	}
	return whole
}
