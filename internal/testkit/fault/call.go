package fault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// callTool runs a tools/call: first what a mode wants to happen before, then
// the tool, then the answer in whatever shape a mode gives it.
func (s *server) callTool(ctx context.Context, req *request) {
	c := &toolCall{request: req}
	var params struct {
		Name           *string                    `json:"name"`
		Arguments      json.RawMessage            `json:"arguments"`
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
		RequestState   string                     `json:"requestState"`
		Task           json.RawMessage            `json:"task"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil || params.Name == nil {
		req.fail(invalidParams("tools/call needs a name"))
		return
	}
	c.name, c.arguments = *params.Name, params.Arguments
	c.inputResponses, c.requestState, c.task = params.InputResponses, params.RequestState, params.Task
	if len(c.arguments) > 0 && c.arguments[0] != '{' {
		req.fail(invalidParams("arguments must be an object"))
		return
	}
	t, ok := s.findTool(c.name)
	if !ok {
		req.fail(invalidParams("Unknown tool: %s", c.name))
		return
	}

	body := s.runTool(ctx, t, c)
	if s.gaveUp(ctx) {
		s.record.cancelled(req.ID)
		return
	}
	if body == nil {
		return // the server ended before the tool did
	}
	s.answerCall(ctx, c, body)
	if n := s.answered.Add(1); s.opts.crashAfter > 0 && n >= s.opts.crashAfter {
		s.crash()
	}
}

// gaveUp reports whether the client cancelled a request, which then gets no
// answer. The end of the server is no cancellation: what is done by then is
// still answered.
func (s *server) gaveUp(ctx context.Context) bool {
	return ctx.Err() != nil && s.lifetime.Err() == nil
}

// runTool returns when the tool is done, or nothing when it was interrupted.
func (s *server) runTool(ctx context.Context, t tool, c *toolCall) []byte {
	if s.opts.on(modeStderrFlood) {
		flood(s.stderr)
	}
	if s.opts.on(modeHang) {
		<-ctx.Done()
		return nil
	}
	if s.opts.on(modeSlow) && !pause(ctx, s.opts.delay) {
		return nil
	}
	if s.opts.on(modeChangeTools) {
		s.replaceChangedTool()
	}
	if s.opts.on(modeElicit) && t.name != "elicit" {
		if _, refusal := s.elicit(ctx, c, "May "+c.name+" go on?"); refusal != nil {
			return refusal
		}
	}
	return t.call(ctx, s, c)
}

// pause waits and reports whether it was not cancelled.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *toolCall) text(text string, isError bool) []byte {
	return resultBody(encode(struct {
		modernFields
		Content []textContent `json:"content"`
		IsError bool          `json:"isError,omitempty"`
	}{c.fields(), []textContent{{"text", text}}, isError}))
}

func (c *toolCall) say(format string, args ...any) []byte {
	return c.text(fmt.Sprintf(format, args...), false)
}

// complain is a tool's own failure: a result, not a protocol error.
func (c *toolCall) complain(format string, args ...any) []byte {
	return c.text(fmt.Sprintf(format, args...), true)
}

func (c *toolCall) decode(into any) error {
	if len(c.arguments) == 0 {
		return nil
	}
	return json.Unmarshal(c.arguments, into)
}

func callEcho(_ context.Context, _ *server, c *toolCall) []byte {
	var args struct {
		Text *string `json:"text"`
	}
	if err := c.decode(&args); err != nil || args.Text == nil {
		return c.complain("echo needs a text")
	}
	return c.text(*args.Text, false)
}

func callRaw(_ context.Context, _ *server, c *toolCall) []byte {
	var args struct {
		Result json.RawMessage `json:"result_json"`
		Error  json.RawMessage `json:"error_json"`
	}
	if err := c.decode(&args); err != nil {
		return c.complain("raw: %v", err)
	}
	switch {
	case args.Error != nil:
		return errorBody(unquote(args.Error))
	case args.Result != nil:
		return resultBody(unquote(args.Result))
	default:
		return c.complain("raw needs result_json or error_json")
	}
}

// unquote returns the text of a JSON string, and any other value as it is.
func unquote(value json.RawMessage) []byte {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return []byte(text)
	}
	return value
}

func callSleep(ctx context.Context, _ *server, c *toolCall) []byte {
	var args struct {
		Ms int64 `json:"ms"`
	}
	if err := c.decode(&args); err != nil {
		return c.complain("sleep: %v", err)
	}
	if !pause(ctx, time.Duration(args.Ms)*time.Millisecond) {
		return nil
	}
	return c.say("slept %d ms", args.Ms)
}

func callProgress(ctx context.Context, s *server, c *toolCall) []byte {
	var args struct {
		N  int   `json:"n"`
		Ms int64 `json:"ms"`
		// Gates are waited for before the steps, and one more before the answer.
		Gates []string `json:"gates"`
	}
	if err := c.decode(&args); err != nil {
		return c.complain("progress: %v", err)
	}
	wait := func(step int) bool { return step > len(args.Gates) || waitFor(ctx, args.Gates[step-1]) }
	for i := 1; i <= args.N; i++ {
		if !wait(i) || args.Ms > 0 && !pause(ctx, time.Duration(args.Ms)*time.Millisecond) || s.gaveUp(ctx) {
			return nil
		}
		c.report(i, args.N)
	}
	if !wait(args.N + 1) {
		return nil
	}
	return c.say("%d steps", args.N)
}

func callCount(_ context.Context, s *server, c *toolCall) []byte {
	n, err := s.counter.increment()
	if err != nil {
		return c.complain("count: %v", err)
	}
	return c.say("%d", n)
}

func callCrash(_ context.Context, s *server, _ *toolCall) []byte {
	s.crash()
	return nil
}

func callEnv(_ context.Context, _ *server, c *toolCall) []byte {
	env := os.Environ()
	slices.Sort(env)
	return c.text(strings.Join(env, "\n"), false)
}

func callPid(_ context.Context, _ *server, c *toolCall) []byte {
	return c.text(strconv.Itoa(os.Getpid()), false)
}

func callAddTool(_ context.Context, s *server, c *toolCall) []byte {
	args := struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}{Description: "A tool that was added while the server ran."}
	if err := c.decode(&args); err != nil || args.Name == "" {
		return c.complain("add_tool needs a name")
	}
	added := addedTool(args.Name, args.Description)
	s.changeTools(func(tools []tool) ([]tool, bool) {
		if i := indexOfTool(tools, args.Name); i >= 0 {
			added.call = tools[i].call
			tools[i] = added
			return tools, true
		}
		return append(tools, added), true
	})
	return c.say("added %s", args.Name)
}

func callRemoveTool(_ context.Context, s *server, c *toolCall) []byte {
	var args struct {
		Name string `json:"name"`
	}
	if err := c.decode(&args); err != nil || args.Name == "" {
		return c.complain("remove_tool needs a name")
	}
	removed := s.changeTools(func(tools []tool) ([]tool, bool) {
		i := indexOfTool(tools, args.Name)
		if i < 0 {
			return tools, false
		}
		return slices.Delete(tools, i, i+1), true
	})
	if !removed {
		return c.complain("there is no tool %s", args.Name)
	}
	return c.say("removed %s", args.Name)
}

func indexOfTool(tools []tool, name string) int {
	return slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
}

// replaceChangedTool puts a tool with a new name in the place of the last one.
func (s *server) replaceChangedTool() {
	s.changeTools(func(tools []tool) ([]tool, bool) {
		if i := indexOfTool(tools, changedName(s.changes)); i >= 0 {
			tools = slices.Delete(tools, i, i+1)
		}
		s.changes++ // under the server's lock
		return append(tools, addedTool(changedName(s.changes), "A tool that comes and goes.")), true
	})
}

func changedName(n int) string { return fmt.Sprintf("changed_%d", n) }

// callGenerated shows that a generated tool was reached, and with what.
func callGenerated(_ context.Context, _ *server, c *toolCall) []byte {
	return c.say("%s %s", c.name, c.arguments)
}

func callLookup(_ context.Context, _ *server, c *toolCall) []byte {
	var args struct {
		Region string `json:"region"`
	}
	if err := c.decode(&args); err != nil {
		return c.complain("lookup: %v", err)
	}
	if c.headerParams != nil {
		if header, err := decodeHeader(c.headerParams.Get("Mcp-Param-Region")); err != nil || header != args.Region {
			return errorBody(encode(badRequest(codeHeaderMismatch, "Mcp-Param-Region %q does not match the region %q", header, args.Region)))
		}
	}
	return c.say("%s", args.Region)
}

func callElicit(ctx context.Context, s *server, c *toolCall) []byte {
	args := struct {
		Message string `json:"message"`
	}{Message: "What is your name?"}
	if err := c.decode(&args); err != nil {
		return c.complain("elicit: %v", err)
	}
	answer, refusal := s.elicit(ctx, c, args.Message)
	if refusal != nil {
		return refusal
	}
	return c.text(string(answer), false)
}

// elicit asks the user through the client. The refusal is what the call is to
// be answered with when there is no answer (yet); for a modern client that is
// how the question travels.
func (s *server) elicit(ctx context.Context, c *toolCall, question string) (answer json.RawMessage, refusal []byte) {
	params := map[string]any{
		"message":         question,
		"requestedSchema": json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	}
	if !c.modern {
		return s.elicitLegacy(ctx, c, params)
	}
	if !c.capabilities.elicitsForms() {
		err := badRequest(codeMissingCapability, "the tool needs elicitation")
		err.Data = map[string]any{"requiredCapabilities": map[string]any{"elicitation": map[string]any{}}}
		return nil, errorBody(encode(err))
	}
	// The state binds the answer to this very request, as the specification
	// asks of servers that care.
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %s", c.name, c.arguments))
	state := "fault-" + hex.EncodeToString(digest[:8])
	if c.requestState != "" && c.requestState != state {
		return nil, errorBody(encode(invalidParams("requestState belongs to another request")))
	}
	if answer, ok := c.inputResponses["name"]; ok && c.requestState == state {
		return answer, nil
	}
	return nil, resultBody(encode(map[string]any{
		"resultType":    "input_required",
		"inputRequests": map[string]any{"name": map[string]any{"method": "elicitation/create", "params": params}},
		"requestState":  state,
	}))
}

func (s *server) elicitLegacy(ctx context.Context, c *toolCall, params any) (answer json.RawMessage, refusal []byte) {
	if !c.capabilities.elicitsForms() {
		return nil, c.complain("the client does not support elicitation")
	}
	m, err := c.conn.ask(ctx, c.out, "elicitation/create", params)
	switch {
	case err != nil:
		return nil, c.complain("elicit: %v", err)
	case m.Error != nil:
		return nil, c.complain("the client refused: %s", m.Error)
	default:
		return m.Result, nil
	}
}
