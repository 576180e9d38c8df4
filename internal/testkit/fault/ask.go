package fault

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// moreTools are those of -everything: they ask, log, change what is offered,
// and wait until a test lets them go on.
func moreTools() []tool {
	object := json.RawMessage(`{"type":"object"}`)
	return []tool{
		newTool(definition{
			Name: "ask", Description: "Asks the client, and returns its answers.", InputSchema: object,
		}, callAsk),
		newTool(definition{
			Name: "hold", Description: "Answers when the file gate exists.", InputSchema: object, Annotations: readOnly(),
		}, callHold),
		newTool(definition{
			Name: "log", Description: "Logs a text at a level.", InputSchema: object, Annotations: readOnly(),
		}, callLog),
		newTool(definition{
			Name: "touch", Description: "Changes a resource, and says so.", InputSchema: object,
		}, callTouch),
		newTool(definition{
			Name: "add", Description: "Adds a prompt, a resource or a template, and says so.", InputSchema: object,
		}, callAdd),
		newTool(definition{
			Name: "remove", Description: "Removes a prompt, a resource or a template, and says so.", InputSchema: object,
		}, callRemove),
	}
}

// questionnaire is what to ask, and when.
type questionnaire struct {
	// What is form, url, sample or roots; form if empty.
	What    string `json:"what"`
	Message string `json:"message"`
	// Rounds is how often to ask, AtOnce how many questions each time.
	Rounds int `json:"rounds"`
	AtOnce int `json:"at_once"`
	// During asks by requests during the call, as tools do that know the legacy era
	// only: a modern call fails.
	During bool `json:"during"`
	// Standing asks on the stream that belongs to no request. Legacy only.
	Standing bool `json:"standing"`
	// Before and After are gates: files that are waited for before the first
	// question and after the last answer.
	Before string `json:"before"`
	After  string `json:"after"`
	// TakeBack is a gate behind which the question is taken back. Legacy only.
	TakeBack string `json:"take_back"`
	// Steps of progress are reported after the answers.
	Steps int `json:"steps"`
}

func callAsk(ctx context.Context, s *server, c *toolCall) []byte {
	var q questionnaire
	if err := c.decode(&q); err != nil {
		return c.complain("ask: %v", err)
	}
	if c.requestState == "" && !waitFor(ctx, q.Before) {
		return nil
	}
	answers, refusal := s.interrogate(ctx, c, &q)
	if refusal != nil {
		return refusal
	}
	for i := 1; i <= q.Steps; i++ {
		c.report(i, q.Steps)
	}
	if !waitFor(ctx, q.After) {
		return nil
	}
	return c.text(string(encode(answers)), false)
}

// question is the request that a kind of question is asked with.
func (q *questionnaire) question(number int) (method string, params any) {
	message := q.Message
	if message == "" {
		message = "What is your name?"
	}
	message = fmt.Sprintf("%s (%d)", message, number)
	switch q.What {
	case "url":
		return "elicitation/create", map[string]any{
			"mode": "url", "message": message, "url": "https://example.com/sign-in", "elicitationId": fmt.Sprint("e", number),
		}
	case "sample":
		return "sampling/createMessage", map[string]any{
			"maxTokens": 10,
			"messages":  []any{map[string]any{"role": "user", "content": textContent{"text", message}}},
		}
	case "roots":
		return "roots/list", struct{}{}
	default:
		return "elicitation/create", map[string]any{
			"message":         message,
			"requestedSchema": json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		}
	}
}

// mayAsk reports whether the client announced that it can be asked, and the
// name of what it lacks.
func (q *questionnaire) mayAsk(c *clientCapabilities) (ok bool, need string) {
	switch q.What {
	case "url":
		return c.elicitsByURL(), "elicitation"
	case "sample":
		return c != nil && c.Sampling != nil, "sampling"
	case "roots":
		return c != nil && c.Roots != nil, "roots"
	default:
		return c.elicitsForms(), "elicitation"
	}
}

// interrogate asks in the way of the client's era. The refusal is what the
// request is to be answered with when there are no answers (yet).
func (s *server) interrogate(ctx context.Context, c *toolCall, q *questionnaire) (answers []json.RawMessage, refusal []byte) {
	q.Rounds, q.AtOnce = max(q.Rounds, 1), max(q.AtOnce, 1)
	ok, need := q.mayAsk(c.capabilities)
	switch {
	case !ok && c.modern:
		err := badRequest(codeMissingCapability, "%s needs %s", c.name, need)
		err.Data = map[string]any{"requiredCapabilities": map[string]any{need: struct{}{}}}
		return nil, errorBody(encode(err))
	case !ok:
		return nil, c.refuse("the client does not support %s", need)
	case c.modern && q.During:
		return nil, c.refuse("a modern client cannot be sent a request")
	case c.modern:
		return s.interrogateModern(c, q)
	}
	for round := range q.Rounds {
		got := make([]json.RawMessage, q.AtOnce)
		var mu sync.Mutex
		var asking sync.WaitGroup
		for i := range q.AtOnce {
			asking.Go(func() {
				answer, problem := s.askLegacy(ctx, c, q, round*q.AtOnce+i+1)
				mu.Lock()
				defer mu.Unlock()
				if problem != nil {
					refusal = problem
				}
				got[i] = answer
			})
		}
		asking.Wait()
		if refusal != nil {
			return nil, refusal
		}
		answers = append(answers, got...)
	}
	return answers, nil
}

// refuse says that there is no answer: as the tool's own failure, or as an
// error where there is no such thing.
func (c *toolCall) refuse(format string, args ...any) []byte {
	if c.Method == "tools/call" {
		return c.complain(format, args...)
	}
	return errorBody(encode(&rpcError{Code: codeInternal, Message: fmt.Sprintf(format, args...)}))
}

func (s *server) askLegacy(ctx context.Context, c *toolCall, q *questionnaire, number int) (answer json.RawMessage, refusal []byte) {
	out := c.out
	if q.Standing {
		c.conn.mu.Lock()
		out = c.conn.standing
		c.conn.mu.Unlock()
		if out == nil {
			return nil, c.refuse("there is no standing stream")
		}
	}
	if q.TakeBack != "" {
		var takeBack context.CancelCauseFunc
		ctx, takeBack = context.WithCancelCause(ctx)
		defer takeBack(nil)
		go func() {
			if waitFor(ctx, q.TakeBack) {
				takeBack(errTakenBack)
			}
		}()
	}
	method, params := q.question(number)
	m, err := c.conn.ask(ctx, out, method, params)
	switch {
	case errors.Is(err, errTakenBack):
		return nil, c.refuse("the question was taken back")
	case err != nil:
		return nil, c.refuse("ask: %v", err)
	case m.Error != nil:
		return nil, c.refuse("the client refused: %s", m.Error)
	default:
		return m.Result, nil
	}
}

// progressState is what a modern client keeps for the server between rounds.
type progressState struct {
	// Request is a digest of what was asked for: a state is good for that only.
	Request string            `json:"request"`
	Answers []json.RawMessage `json:"answers"`
}

// interrogateModern needs no memory: what was answered so far is in the state.
func (s *server) interrogateModern(c *toolCall, q *questionnaire) (answers []json.RawMessage, refusal []byte) {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %s", c.name, c.arguments))
	state := progressState{Request: hex.EncodeToString(digest[:8])}
	if c.requestState != "" {
		var came progressState
		raw, err := base64.RawURLEncoding.DecodeString(c.requestState)
		if err != nil || json.Unmarshal(raw, &came) != nil || came.Request != state.Request {
			return nil, errorBody(encode(invalidParams("requestState belongs to another request")))
		}
		state = came
		// What is incomplete is asked again.
		complete := true
		var got []json.RawMessage
		for i := range q.AtOnce {
			answer, ok := c.inputResponses[key(len(state.Answers)+i+1)]
			complete = complete && ok
			got = append(got, answer)
		}
		if complete {
			state.Answers = append(state.Answers, got...)
		}
	}
	if len(state.Answers) >= q.Rounds*q.AtOnce {
		return state.Answers, nil
	}
	requests := map[string]any{}
	for i := range q.AtOnce {
		number := len(state.Answers) + i + 1
		method, params := q.question(number)
		requests[key(number)] = map[string]any{"method": method, "params": params}
	}
	return nil, resultBody(encode(map[string]any{
		"resultType": "input_required", "inputRequests": requests,
		"requestState": base64.RawURLEncoding.EncodeToString(encode(state)),
	}))
}

func key(number int) string { return fmt.Sprint("q", number) }

// report sends one step of progress, if the client wants it.
func (c *toolCall) report(step, total int) {
	if c.token == nil {
		return
	}
	_ = send(c.out, aside, notification("notifications/progress", struct {
		ProgressToken json.RawMessage `json:"progressToken"`
		Progress      int             `json:"progress"`
		Total         int             `json:"total"`
		Message       string          `json:"message"`
	}{c.token, step, total, fmt.Sprintf("step %d of %d", step, total)}))
}

// waitFor waits until a file exists, and reports whether the request still
// wants to go on. Files let one test open the gate of any process.
func waitFor(ctx context.Context, gate string) bool {
	if gate == "" {
		return true
	}
	// Many calls may wait at once, so the longer they wait the less often they look.
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 32*time.Millisecond) {
		if _, err := os.Stat(gate); err == nil {
			return true
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
}

func callHold(ctx context.Context, _ *server, c *toolCall) []byte {
	var args struct {
		Gate string `json:"gate"`
		Text string `json:"text"`
	}
	if err := c.decode(&args); err != nil || args.Gate == "" {
		return c.complain("hold needs a gate")
	}
	if !waitFor(ctx, args.Gate) {
		return nil
	}
	return c.say("held %s", args.Text)
}

func callLog(_ context.Context, _ *server, c *toolCall) []byte {
	var args struct {
		Level    string `json:"level"`
		Text     string `json:"text"`
		Standing bool   `json:"standing"`
	}
	if err := c.decode(&args); err != nil || loudness(args.Level) < 0 {
		return c.complain("log needs a level")
	}
	if !c.wantsLog(args.Level) {
		return c.say("not logged")
	}
	msg := notification("notifications/message", map[string]any{"level": args.Level, "logger": "fault", "data": args.Text})
	if args.Standing && !c.modern {
		c.conn.tell(msg)
	} else {
		_ = send(c.out, aside, msg)
	}
	return c.say("logged")
}

func callTouch(_ context.Context, s *server, c *toolCall) []byte {
	var args struct {
		URI string `json:"uri"`
	}
	if err := c.decode(&args); err != nil || args.URI == "" {
		return c.complain("touch needs a uri")
	}
	s.mu.Lock()
	s.offers.versions[args.URI]++
	s.mu.Unlock()
	s.tellAll(func(l listener) { l.updated(args.URI) })
	return c.say("touched %s", args.URI)
}

// edit changes one of the lists and says so.
func (s *server) edit(kind string, change func([]offer) []offer) bool {
	announced := "resources"
	s.mu.Lock()
	switch kind {
	case "prompt":
		announced = "prompts"
		s.offers.prompts = change(s.offers.prompts)
	case "resource":
		s.offers.resources = change(s.offers.resources)
	case "template":
		s.offers.templates = change(s.offers.templates)
	default:
		s.mu.Unlock()
		return false
	}
	s.mu.Unlock()
	s.tellAll(func(l listener) { l.changed(announced) })
	return true
}

func callAdd(_ context.Context, s *server, c *toolCall) []byte { return editOffers(s, c, true) }

func callRemove(_ context.Context, s *server, c *toolCall) []byte { return editOffers(s, c, false) }

func editOffers(s *server, c *toolCall, add bool) []byte {
	var args struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	}
	if err := c.decode(&args); err != nil || args.Name == "" {
		return c.complain("%s needs a kind and a name", c.name)
	}
	made := map[string]offer{
		"prompt": newPrompt(args.Name, `[]`), "resource": newResource(args.Name, "text/plain"), "template": newTemplate(args.Name),
	}
	done := s.edit(args.Kind, func(list []offer) []offer {
		list = slices.DeleteFunc(slices.Clone(list), func(o offer) bool { return o.name == args.Name })
		if add {
			list = append(list, made[args.Kind])
		}
		return list
	})
	if !done {
		return c.complain("%q is not prompt, resource or template", args.Kind)
	}
	return c.say("%s %s %s", c.name, args.Kind, args.Name)
}
