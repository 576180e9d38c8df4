package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	metaRelatedTask = "io.modelcontextprotocol/related-task"
	tasksExtension  = "io.modelcontextprotocol/tasks"
)

// taskTools are those of -tasks: work becomes a task of the server's, assign
// makes the client have one, and follow asks about any.
func taskTools() []tool {
	object := json.RawMessage(`{"type":"object"}`)
	return []tool{
		newTool(definition{
			Name: "work", Description: "Is done when the file gate exists.", InputSchema: object,
			Execution: &execution{"optional"},
		}, callWork),
		newTool(definition{
			Name: "assign", Description: "Asks the client in a way that it may make a task of, and follows that.", InputSchema: object,
		}, callAssign),
		newTool(definition{
			Name: "follow", Description: "Asks the client about a task.", InputSchema: object,
		}, callFollow),
		newTool(definition{
			Name: "learnt", Description: "Returns what assign has learnt after its call was over.", InputSchema: object, Annotations: readOnly(),
		}, callLearnt),
	}
}

// task is a call that is worked on beside its request. Each process counts its
// own, so that several children of one server have tasks of the same id.
type task struct {
	id   string
	conn *conn // nil for a modern client's
	done chan struct{}
	// What follows is guarded by the server's mu.
	status string
	text   string
}

// state is what is said of a task, in the words of its era.
func (s *server) state(t *task) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := map[string]any{
		"taskId": t.id, "status": t.status,
		"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
	}
	if t.conn != nil {
		state["ttl"] = 60000
		return state
	}
	state["ttlMs"] = 60000
	if t.status == "completed" {
		state["result"] = map[string]any{"resultType": "complete", "content": []textContent{{"text", t.text}}}
	}
	return state
}

func callWork(ctx context.Context, s *server, c *toolCall) []byte {
	var args struct {
		Gate string `json:"gate"`
		Text string `json:"text"`
		// Early says something about the task before the call is answered. Legacy
		// only.
		Early bool `json:"early"`
		// Ask asks for a name, for the task, before it is done. Legacy only.
		Ask bool `json:"ask"`
	}
	if err := c.decode(&args); err != nil {
		return c.complain("work: %v", err)
	}
	if c.modern && (c.capabilities == nil || c.capabilities.Extensions[tasksExtension] == nil) || !c.modern && c.task == nil {
		if !waitFor(ctx, args.Gate) {
			return nil
		}
		return c.say("%s", args.Text)
	}
	t := &task{done: make(chan struct{}), status: "working", text: args.Text}
	if !c.modern {
		t.conn = c.conn
	}
	s.mu.Lock()
	t.id = fmt.Sprintf("%s-task-%d", s.opts.scheme, len(s.tasks)+1)
	s.tasks = append(s.tasks, t)
	s.mu.Unlock()
	state := s.state(t)
	if args.Early {
		s.tellOfTask(t)
	}
	go func() {
		defer close(t.done)
		if !waitFor(s.lifetime, args.Gate) {
			return
		}
		if args.Ask {
			s.setTask(t, "input_required", args.Text+s.askForTask(t))
		}
		s.setTask(t, "completed", "")
	}()
	if c.modern {
		state["resultType"] = "task"
		return resultBody(encode(state))
	}
	return resultBody(encode(map[string]any{"task": state}))
}

// askForTask asks the client beside its calls, and says which task it is for.
func (s *server) askForTask(t *task) string {
	_, params := (&questionnaire{Message: "For " + t.id}).question(1)
	fields, _ := params.(map[string]any)
	fields["_meta"] = relatedTo(t.id)
	m, err := t.conn.askBeside(s.lifetime, "elicitation/create", fields)
	if err != nil {
		return err.Error()
	}
	return string(m.Result) + string(m.Error)
}

func relatedTo(id string) map[string]any {
	return map[string]any{metaRelatedTask: map[string]any{"taskId": id}}
}

// setTask moves a task on, unless it has come to its end.
func (s *server) setTask(t *task, status, text string) bool {
	s.mu.Lock()
	over := t.status == "completed" || t.status == "cancelled"
	if !over {
		t.status = status
		if text != "" {
			t.text = text
		}
	}
	s.mu.Unlock()
	if !over {
		s.tellOfTask(t)
	}
	return !over
}

// tellOfTask tells whoever the task is for how it is.
func (s *server) tellOfTask(t *task) {
	state := s.state(t)
	if t.conn != nil {
		t.conn.tell(notification("notifications/tasks/status", state))
		return
	}
	s.tellAll(func(l listener) {
		if u, ok := l.(*subscription); ok && slices.Contains(u.tasks, t.id) {
			tagged := map[string]any{"_meta": u.tag()}
			for key, value := range state {
				tagged[key] = value
			}
			u.tell("notifications/tasks", tagged)
		}
	})
}

// serveTask answers a request about tasks. It reports false for one that it does
// not know.
func (s *server) serveTask(ctx context.Context, req *request) bool {
	verb, ok := strings.CutPrefix(req.Method, "tasks/")
	if !ok || !slices.Contains([]string{"get", "result", "cancel", "list", "update"}, verb) ||
		req.modern && (verb == "result" || verb == "list") || !req.modern && verb == "update" {
		return false
	}
	var own []*task
	s.mu.Lock()
	for _, t := range s.tasks {
		if req.modern == (t.conn == nil) && (t.conn == nil || t.conn == req.conn) {
			own = append(own, t)
		}
	}
	s.mu.Unlock()
	if verb == "list" {
		states := []json.RawMessage{}
		for _, t := range own {
			states = append(states, encode(s.state(t)))
		}
		s.list(req, "tasks", states)
		return true
	}
	var params struct {
		TaskID string `json:"taskId"`
	}
	_ = json.Unmarshal(req.Params, &params)
	at := slices.IndexFunc(own, func(t *task) bool { return t.id == params.TaskID })
	if at < 0 {
		req.fail(invalidParams("Failed to retrieve task: Task not found"))
		return true
	}
	s.answerForTask(ctx, req, verb, own[at])
	return true
}

func (s *server) answerForTask(ctx context.Context, req *request, verb string, t *task) {
	switch verb {
	case "cancel":
		if !s.setTask(t, "cancelled", "") && !req.modern {
			req.fail(invalidParams("Cannot cancel task: already in terminal status"))
			return
		}
	case "result":
		select {
		case <-t.done:
		case <-ctx.Done():
			s.record.cancelled(req.ID)
			return
		}
		s.mu.Lock()
		text := t.text
		s.mu.Unlock()
		req.succeed(map[string]any{"content": []textContent{{"text", text}}, "_meta": relatedTo(t.id)})
		return
	}
	answer := s.state(t)
	if req.modern {
		answer["resultType"] = "complete"
	}
	req.answer(http.StatusOK, response(req.ID, resultBody(encode(answer))))
}

// assignment is what assign has asked for, and what it has learnt.
type assignment struct {
	// Announced is what the client said of its tasks.
	Announced json.RawMessage `json:"announced,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	Got       json.RawMessage `json:"got,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Cancelled json.RawMessage `json:"cancelled,omitempty"`
}

func callAssign(ctx context.Context, s *server, c *toolCall) []byte {
	var args struct {
		What string `json:"what"`
		// Later is a gate: the call is answered as soon as there is a task, which
		// is followed behind the gate.
		Later  string `json:"later"`
		Cancel bool   `json:"cancel"`
	}
	if err := c.decode(&args); err != nil || c.modern {
		return c.complain("assign is for legacy clients: %v", err)
	}
	method, params := (&questionnaire{What: args.What}).question(1)
	fields, _ := params.(map[string]any)
	fields["task"] = map[string]any{"ttl": 60000}
	var a assignment
	if c.capabilities != nil {
		a.Announced = c.capabilities.Tasks
	}
	m, err := c.conn.ask(ctx, c.out, method, fields)
	if err != nil {
		return c.complain("assign: %v", err)
	}
	a.Answer = outcome(m)
	var made struct {
		Task struct {
			TaskID string `json:"taskId"`
		} `json:"task"`
	}
	_ = json.Unmarshal(m.Result, &made)
	id := made.Task.TaskID
	switch {
	case id == "":
	case args.Later != "":
		go func() {
			if !waitFor(s.lifetime, args.Later) {
				return
			}
			a.follow(id, args.Cancel, func(method string, params any) (*message, error) {
				return c.conn.askBeside(s.lifetime, method, params)
			})
			s.mu.Lock()
			defer s.mu.Unlock()
			s.learnt[id] = a
		}()
	default:
		a.follow(id, args.Cancel, func(method string, params any) (*message, error) {
			return c.conn.ask(ctx, c.out, method, params)
		})
	}
	return c.text(string(encode(a)), false)
}

// follow asks about a task until nothing is left to learn.
func (a *assignment) follow(id string, cancel bool, ask func(method string, params any) (*message, error)) {
	about := func(method string) json.RawMessage {
		m, err := ask(method, map[string]any{"taskId": id})
		if err != nil {
			return encode(err.Error())
		}
		return outcome(m)
	}
	a.Got = about("tasks/get")
	if cancel {
		a.Cancelled = about("tasks/cancel")
		return
	}
	a.Result = about("tasks/result")
}

// outcome is what a request was answered with, result or error.
func outcome(m *message) json.RawMessage {
	if m.Error != nil {
		return m.Error
	}
	return m.Result
}

func callFollow(ctx context.Context, _ *server, c *toolCall) []byte {
	var args struct {
		Task string `json:"task"`
	}
	if err := c.decode(&args); err != nil || c.modern {
		return c.complain("follow is for legacy clients: %v", err)
	}
	m, err := c.conn.ask(ctx, c.out, "tasks/get", map[string]any{"taskId": args.Task})
	if err != nil {
		return c.complain("follow: %v", err)
	}
	return c.text(string(outcome(m)), false)
}

func callLearnt(_ context.Context, s *server, c *toolCall) []byte {
	var args struct {
		Task string `json:"task"`
	}
	if err := c.decode(&args); err != nil {
		return c.complain("learnt: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	learnt, ok := s.learnt[args.Task]
	if !ok {
		return c.say("nothing yet")
	}
	return c.text(string(encode(learnt)), false)
}
