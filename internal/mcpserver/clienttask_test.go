package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// makesTasks are the capabilities of a client that makes tasks of questions.
const makesTasks = `{"sampling":{},"elicitation":{},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}`

// worker answers as a client that makes a task of every question that may become
// one. All workers use the same id, as nothing keeps clients from doing; the name
// tells them apart.
func worker(name string) func(question) string {
	const id = `"taskId":"mine","createdAt":"2026-01-01T00:00:00Z","ttl":60000`
	return func(q question) string {
		switch {
		case strings.Contains(q.params, `"task":{"ttl":60000}`):
			return `"result":{"task":{` + id + `,"status":"working"}}`
		case q.method == "tasks/get":
			return `"result":{` + id + `,"status":"completed","statusMessage":"` + name + `"}`
		case q.method == "tasks/cancel":
			return `"result":{` + id + `,"status":"cancelled","statusMessage":"` + name + `"}`
		case q.method == "tasks/result":
			return `"result":{"action":"accept","content":{"name":"` + name + `"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"mine"}}}`
		default:
			return `"result":{"action":"accept","content":{"name":"` + name + ` at once"}}`
		}
	}
}

// assigned is what a server learns of the task that it had its client make.
type assigned struct {
	Announced json.RawMessage `json:"announced"`
	Answer    struct {
		Task struct {
			TaskID string `json:"taskId"`
		} `json:"task"`
		Content struct {
			Name string `json:"name"`
		} `json:"content"`
	} `json:"answer"`
	Got, Result, Cancelled json.RawMessage
}

func assign(c *client, server, arguments string) (a assigned) {
	c.tb.Helper()
	said := c.mustSay(server+"__assign", arguments)
	if err := json.Unmarshal([]byte(said), &a); err != nil {
		c.tb.Fatalf("assign says %s", said)
	}
	return a
}

// learnt waits for what a server has learnt of a task after its call was over.
func learnt(c *client, server, id string) string {
	c.tb.Helper()
	said := ""
	testkit.Eventually(c.tb, func() bool {
		said = c.mustSay(server+"__learnt", fmt.Sprintf(`{"task":%q}`, id))
		return said != "nothing yet"
	}, "the server has followed %s", id)
	return said
}

// TestClientsMakeTasks: a legacy server's question becomes a task of its client,
// which the server follows by its id, in the call that asked and after it.
func TestClientsMakeTasks(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t, "-tasks"))
	for _, wire := range []string{overHTTP, overStdio} {
		for _, server := range []string{"lh", "ls"} {
			t.Run(fmt.Sprintf("over %s of %s", wire, server), func(t *testing.T) {
				c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: makesTasks, answer: worker("Hana")})
				for _, what := range []string{"form", "sample"} {
					a := assign(c, server, fmt.Sprintf(`{"what":%q}`, what))
					if a.Answer.Task.TaskID == "" || !strings.Contains(string(a.Got), `"statusMessage":"Hana"`) ||
						!strings.Contains(string(a.Result), `"name":"Hana"`) ||
						!strings.Contains(string(a.Result), `"taskId":"`+a.Answer.Task.TaskID+`"`) {
						t.Errorf("%s: the server learns %+v", what, a)
					}
					if strings.Contains(string(a.Announced), "list") || !strings.Contains(string(a.Announced), "createMessage") {
						t.Errorf("the server is told that its client has %s", a.Announced)
					}
				}
				if a := assign(c, server, `{"cancel":true}`); !strings.Contains(string(a.Cancelled), `"status":"cancelled"`) {
					t.Errorf("the server learns %+v", a)
				}
				later := newGate(t)
				a := assign(c, server, fmt.Sprintf(`{"later":%q}`, later))
				later.open(t)
				if got := learnt(c, server, a.Answer.Task.TaskID); !strings.Contains(got, `"name":"Hana"`) {
					t.Errorf("after its call: %s", got)
				}
				if got := c.mustSay(server+"__follow", `{"task":"no such"}`); !strings.Contains(got, `"code":-32602`) {
					t.Errorf("a task that nobody has: %s", got)
				}
			})
		}
	}
}

// TestClientsThatMakeNoTasks answer at once: nothing is said to them of tasks.
func TestClientsThatMakeNoTasks(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t, "-tasks"))
	for _, kind := range kinds() {
		for _, server := range []string{"lh", "ls"} {
			t.Run(kind.String()+" of "+server, func(t *testing.T) {
				kind.capabilities, kind.answer = canBeAsked, worker("Hana")
				c := h.connect(t, kind)
				if a := assign(c, server, `{}`); a.Answer.Content.Name != "Hana at once" {
					t.Errorf("the server learns %+v", a)
				}
				for _, asked := range c.questions() {
					if strings.Contains(asked.params, `"task"`) {
						t.Errorf("the client was asked %v", asked)
					}
				}
			})
		}
	}
}

// TestAClientThatCannotCancel is not asked to: the server is told so.
func TestAClientThatCannotCancel(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-tasks", "-era", "legacy")})
	c := h.connect(t, clientOptions{
		era: legacyEra, wire: overHTTP, answer: worker("Hana"),
		capabilities: `{"elicitation":{},"tasks":{"requests":{"elicitation":{"create":{}}}}}`,
	})
	if a := assign(c, "a", `{"cancel":true}`); !strings.Contains(string(a.Got), "Hana") || !strings.Contains(string(a.Cancelled), `"code":-32601`) {
		t.Errorf("the server learns %s and %s", a.Got, a.Cancelled)
	}
	// Nor does it make tasks of what it did not say.
	if a := assign(c, "a", `{"what":"sample"}`); a.Answer.Task.TaskID != "" {
		t.Errorf("the server learns %+v", a)
	}
}

// TestAClientsTasksAreItsOwn: of clients that share a connection and use the
// same ids each is asked for its own tasks, and none for another's.
func TestAClientsTasksAreItsOwn(t *testing.T) {
	t.Parallel()
	for _, over := range []string{overHTTP, overStdio} {
		t.Run("over "+over, func(t *testing.T) {
			record := recordFile(t)
			flags := []string{"-everything", "-tasks", "-era", "legacy", "-record", record}
			server := with(child(t, flags...), map[string]any{"isolation": "shared"})
			if over == overHTTP {
				server = sibling(t, flags...)
			}
			h := openHouse(t, servers{"a": server})
			names := []string{"Aoi", "Beniko"}
			clients, ids, gates := map[string]*client{}, map[string]string{}, map[string]gate{}
			for i, name := range names {
				wire := []string{overHTTP, overStdio}[i]
				c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: makesTasks, answer: worker(name)})
				clients[name], gates[name] = c, newGate(t)
				ids[name] = assign(c, "a", fmt.Sprintf(`{"later":%q}`, gates[name])).Answer.Task.TaskID
			}
			if ids["Aoi"] == ids["Beniko"] {
				t.Fatalf("both tasks are %s", ids["Aoi"])
			}
			if over == overHTTP { // where the stream says whose call it is
				if got := clients["Beniko"].mustSay("a__follow", fmt.Sprintf(`{"task":%q}`, ids["Aoi"])); !strings.Contains(got, `"code":-32602`) {
					t.Errorf("another's task: %s", got)
				}
			}
			// The status of a client's task reaches the server under the server's id
			// of the task.
			for _, name := range names {
				clients[name].write(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"mine","status":"working","statusMessage":"` + name + `"}}`)
				testkit.Eventually(t, func() bool {
					return countLines(t, record, fmt.Sprintf(`"notifications/tasks/status","params":{"taskId":%q,"status":"working","statusMessage":%q}`, ids[name], name)) == 1
				}, "the server hears of %s's task", name)
			}
			// The second client's session ends, so its task has no client any more.
			if err := clients["Beniko"].conn.Close(); err != nil {
				t.Error(err)
			}
			for _, name := range names {
				gates[name].open(t)
			}
			if got := learnt(clients["Aoi"], "a", ids["Aoi"]); !strings.Contains(got, `"name":"Aoi"`) {
				t.Errorf("of its own task: %s", got)
			}
			if got := learnt(clients["Aoi"], "a", ids["Beniko"]); !strings.Contains(got, "ended its session") {
				t.Errorf("of a task whose client is gone: %s", got)
			}
		})
	}
}

// TestTasksAreAnnouncedByThoseWhoMakeThem: a server that one session has to
// itself is told of tasks only if its client makes any.
func TestTasksAreAnnouncedByThoseWhoMakeThem(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": with(child(t, "-everything", "-tasks", "-era", "legacy"), map[string]any{"isolation": "session"})})
	for capabilities, want := range map[string]string{
		makesTasks: `{"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}`,
		canBeAsked: ``,
	} {
		c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, capabilities: capabilities, answer: worker("Hana")})
		if a := assign(c, "a", `{}`); string(a.Announced) != want {
			t.Errorf("with %s the server is told %s", capabilities, a.Announced)
		}
	}
}

// taskOf begins work that becomes a task, and returns its id.
func taskOf(c *client, server, arguments string) string {
	c.tb.Helper()
	answer := c.do("tools/call", callParams(server+"__work", arguments)+`,"task":{"ttl":60000}`)
	path := []string{"result", "task", "taskId"}
	if c.era == modernEra {
		path = []string{"result", "taskId"}
	}
	return strings.Trim(member(c.tb, answer, path...), `"`)
}

// TestTaskStatus: the status that a legacy server sends for a task reaches only the
// client whose call created the task, after the answer that named the task.
func TestTaskStatus(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t, "-tasks"))
	for _, wire := range []string{overHTTP, overStdio} {
		for _, server := range []string{"lh", "ls"} {
			t.Run(fmt.Sprintf("over %s of %s", wire, server), func(t *testing.T) {
				c := h.connect(t, clientOptions{era: legacyEra, wire: wire})
				var others []*client
				for _, kind := range kinds() {
					others = append(others, h.connect(t, kind))
				}
				gate := newGate(t)
				id := taskOf(c, server, fmt.Sprintf(`{"gate":%q,"text":"done","early":true}`, gate))
				status := func(status string) string {
					return fmt.Sprintf(`"status":%q,"taskId":%q`, status, id)
				}
				c.await(status("working"))
				gate.open(t)
				c.await(status("completed"))
				if got := c.do("tasks/result", fmt.Sprintf(`"taskId":%q`, id)); text(got) != "done" {
					t.Errorf("the result is %s", got)
				}
				c.do("ping", "")
				if got := c.notifications("notifications/tasks/status"); len(got) != 2 || wire == overStdio && c.place(got[0]) < c.place(`"task":{`) {
					t.Errorf("it hears %v", got)
				}
				for _, other := range others {
					if got := other.notifications("tasks"); len(got) != 0 {
						t.Errorf("a %s hears %v", other.clientOptions, got)
					}
				}
			})
		}
	}
}

// TestATaskAsksItsOwnClient: a question that names a task is put to the client
// whose call the task was made of, however many others use the server.
func TestATaskAsksItsOwnClient(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": with(child(t, "-everything", "-tasks", "-era", "legacy"), map[string]any{"isolation": "shared"})})
	for _, wire := range []string{overHTTP, overStdio} {
		c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked, answer: accept})
		other := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked, answer: accept})
		busy := newGate(t)
		holding := other.beginCall("a__hold", fmt.Sprintf(`{"gate":%q}`, busy))
		gate := newGate(t)
		id := taskOf(c, "a", fmt.Sprintf(`{"gate":%q,"ask":true}`, gate))
		gate.open(t)
		if got := c.do("tasks/result", fmt.Sprintf(`"taskId":%q`, id)); !strings.Contains(got, "Hana") {
			t.Errorf("over %s the task ends with %s", wire, got)
		}
		if asked := other.questions(); len(asked) != 0 {
			t.Errorf("another client was asked %v", asked)
		}
		busy.open(t)
		holding.wait()
	}
}

// TestAStreamlessClientHearsOfItsTaskLater: what is said while a client has no
// stream open waits for the next one.
func TestAStreamlessClientHearsOfItsTaskLater(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-tasks", "-era", "legacy")})
	session := h.openSession("/mcp", h.token, "2025-11-25", "{}")
	gate := newGate(t)
	r := h.send(legacy(session, "1", "tools/call", fmt.Sprintf(`{"name":"a__work","arguments":{"gate":%q},"task":{}}`, gate)))
	id := member(t, r.last(), "result", "task", "taskId")
	gate.open(t)
	if r := h.send(legacy(session, "2", "tasks/result", `{"taskId":`+id+`}`)); member(t, r.last(), "result", "content") == "" {
		t.Fatalf("the result is %s", r.last())
	}
	get := legacy(session, "", "", "")
	get.method, get.body = http.MethodGet, ""
	stream := h.open(get)
	for {
		if said := stream.next(); strings.Contains(said, "notifications/tasks/status") {
			if !strings.Contains(said, `"status":"completed"`) {
				t.Errorf("it hears %s", said)
			}
			return
		}
	}
}

// TestAStreamlessClientIsAskedInItsCall: a client that has no stream of its
// session open is asked about its task on that of the call that made it.
func TestAStreamlessClientIsAskedInItsCall(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-tasks", "-era", "legacy")})
	session := h.openSession("/mcp", h.token, "2025-11-25", makesTasks)
	stream := h.open(legacyCall(session, "1", "a__assign", `{}`))
	for {
		said := stream.next()
		method := strings.Trim(member(t, said, "method"), `"`)
		if method == "" {
			if !strings.Contains(text(said), `"name":"Hana"`) {
				t.Errorf("the call is answered with %s", said)
			}
			return
		}
		answer := worker("Hana")(question{method: method, params: member(t, said, "params")})
		h.send(request{
			body:   `{"jsonrpc":"2.0","id":` + member(t, said, "id") + `,` + answer + `}`,
			header: http.Header{"Mcp-Session-Id": {session}},
		}).want(t, http.StatusAccepted, 0)
	}
}

const knowsTasks = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// TestTaskSubscriptions: a modern client hears of the tasks that it asks to hear
// of and that are its own, with the mark of its own subscription.
func TestTaskSubscriptions(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t, "-tasks"))
	const acknowledged = `notifications/subscriptions/acknowledged`
	for _, wire := range []string{overHTTP, overStdio} {
		for _, server := range []string{"mh", "ms"} {
			t.Run(fmt.Sprintf("over %s of %s", wire, server), func(t *testing.T) {
				c := h.connect(t, clientOptions{era: modernEra, wire: wire, capabilities: knowsTasks})
				gate := newGate(t)
				id := taskOf(c, server, fmt.Sprintf(`{"gate":%q,"text":"done"}`, gate))
				listening := c.begin("subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q,"no such"]}`, id), "")
				if got := c.await(acknowledged); !strings.Contains(got, fmt.Sprintf(`"notifications":{"taskIds":[%q]}`, id)) {
					t.Errorf("what is honoured is %s", got)
				}
				stranger := h.connect(t, clientOptions{era: modernEra, wire: overHTTP, capabilities: knowsTasks, token: h.newToken("stranger-" + strings.ToLower(wire) + server)})
				stranger.begin("subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q]}`, id), "")
				if got := stranger.await(acknowledged); !strings.Contains(got, `"notifications":{}`) {
					t.Errorf("for another client is honoured %s", got)
				}
				gate.open(t)
				got := c.await(`"method":"notifications/tasks"`)
				if !strings.Contains(got, `"_meta":{"io.modelcontextprotocol/subscriptionId":`+listening.id+`}`) ||
					!strings.Contains(got, `"status":"completed"`) || !strings.Contains(got, `"text":"done"`) {
					t.Errorf("it hears %s", got)
				}
				if n := len(c.notifications(`"method":"notifications/tasks"`)); n != 1 {
					t.Errorf("it hears that %d times", n)
				}
				if heard := stranger.notifications(`"method":"notifications/tasks"`); len(heard) != 0 {
					t.Errorf("another client hears %v", heard)
				}
				plain := h.connect(t, clientOptions{era: modernEra, wire: wire})
				if answer := plain.do("subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q]}`, id)); errorCode(answer) != -32021 {
					t.Errorf("a client that knows no tasks is answered with %s", answer)
				}
			})
		}
	}
}
