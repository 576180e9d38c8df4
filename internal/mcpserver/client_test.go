package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// A client is written here once for both eras and both wires, so that a test
// says what must be true for everybody.

const (
	legacyEra = "legacy"
	modernEra = "modern"
	overHTTP  = "HTTP"
	overStdio = "stdio"
)

// canBeAsked are the capabilities of a client that can be asked everything.
const canBeAsked = `{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}`

// clientOptions say who a client is.
type clientOptions struct {
	era, wire string
	// view is the server that is looked at alone; HTTP only.
	view string
	// query is added to the URL; HTTP only.
	query string
	// token is the admin's if empty; HTTP only.
	token        string
	capabilities string
	// answer answers a question with a result or error member; nil leaves it
	// to the test.
	answer func(q question) string
}

// question is what a client was asked.
type question struct{ id, method, params string }

// client is a client of either era over either wire. A modern one comes back
// with what it is asked for by itself, unless answer is nil.
type client struct {
	clientOptions
	tb   testing.TB
	conn testkit.Conn

	mu      sync.Mutex
	lastID  int
	waiting map[string]chan string
	heard   []string
	asked   []question
	// all is every message, in the order in which they came.
	all []string
}

// kinds are the four kinds of clients.
func kinds() []clientOptions {
	return []clientOptions{
		{era: legacyEra, wire: overHTTP},
		{era: legacyEra, wire: overStdio},
		{era: modernEra, wire: overHTTP},
		{era: modernEra, wire: overStdio},
	}
}

func (o clientOptions) String() string { return o.era + " client over " + o.wire }

func (h *house) connect(tb testing.TB, o clientOptions) *client {
	tb.Helper()
	c := &client{clientOptions: o, tb: tb, waiting: map[string]chan string{}}
	if c.capabilities == "" {
		c.capabilities = "{}"
	}
	if o.wire == overStdio {
		c.conn = h.stdio()
	} else {
		path, token := "/mcp", h.token
		if o.view != "" {
			path = "/mcp/s/" + o.view
		}
		path += o.query
		if o.token != "" {
			token = o.token
		}
		c.conn = testkit.NewHTTPConn(h.base+path, token, nil)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			message, err := c.conn.Receive(context.Background())
			if err != nil {
				return
			}
			c.receive(string(message))
		}
	}()
	tb.Cleanup(func() {
		_ = c.conn.Close()
		<-done
	})
	if o.era == legacyEra {
		c.begin("initialize", `"protocolVersion":"2025-11-25","capabilities":`+c.capabilities+`,"clientInfo":{"name":"t","version":"1"}`, "").wait()
		c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return c
}

func (c *client) write(message string) {
	c.tb.Helper()
	if err := c.conn.Send([]byte(message)); err != nil {
		c.tb.Fatal(err)
	}
}

func (c *client) receive(message string) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	_ = json.Unmarshal([]byte(message), &m)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, message)
	switch {
	case m.Method != "" && m.ID != nil:
		q := question{string(m.ID), m.Method, string(m.Params)}
		c.asked = append(c.asked, q)
		if c.answer != nil {
			go c.reply(q.id, c.answer(q))
		}
	case m.ID != nil && c.waiting[string(m.ID)] != nil:
		c.waiting[string(m.ID)] <- message
		delete(c.waiting, string(m.ID))
	default:
		c.heard = append(c.heard, message)
	}
}

// reply answers a question with a result or error member.
func (c *client) reply(id, body string) {
	_ = c.conn.Send([]byte(`{"jsonrpc":"2.0","id":` + id + `,` + body + `}`))
}

// underWay is a request that was sent.
type underWay struct {
	c                        *client
	id, method, params, meta string
	answer                   chan string
}

// begin sends a request. params are the members before _meta, meta those
// before what the era wants.
func (c *client) begin(method, params, meta string) *underWay {
	c.tb.Helper()
	c.mu.Lock()
	c.lastID++
	u := &underWay{c: c, id: fmt.Sprint(c.lastID), method: method, params: params, meta: meta, answer: make(chan string, 1)}
	c.waiting[u.id] = u.answer
	c.mu.Unlock()
	if c.era == modernEra {
		own := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + c.capabilities
		meta = joined(meta, own)
	}
	if meta != "" {
		params = joined(params, `"_meta":{`+meta+`}`)
	}
	c.write(`{"jsonrpc":"2.0","id":` + u.id + `,"method":"` + method + `","params":{` + params + `}}`)
	return u
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// wait returns the answer.
func (u *underWay) wait() string {
	u.c.tb.Helper()
	select {
	case answer := <-u.answer:
		return answer
	case <-time.After(patience):
		u.c.tb.Fatalf("%s %s was not answered", u.method, u.params)
		return ""
	}
}

// cancel takes the request back, in the way of the client's era.
func (u *underWay) cancel() {
	u.c.tb.Helper()
	u.c.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + u.id + `}}`)
}

// retry comes back with responses, the members of inputResponses, to an answer
// that asked for more.
func (u *underWay) retry(asking, responses string) *underWay {
	u.c.tb.Helper()
	return u.retryWith(state(u.c.tb, asking), responses, u.meta)
}

func (u *underWay) retryWith(state, responses, meta string) *underWay {
	u.c.tb.Helper()
	again := u.c.begin(u.method, joined(u.params, `"inputResponses":{`+responses+`},"requestState":`+state), meta)
	again.params = u.params
	return again
}

// state is the requestState of an answer that asks for more, as JSON.
func state(tb testing.TB, asking string) string {
	tb.Helper()
	raw := member(tb, asking, "result", "requestState")
	if raw == "" {
		tb.Fatalf("no requestState is in %s", asking)
	}
	return raw
}

// inputRequests are what an answer asks for, by key.
func inputRequests(tb testing.TB, asking string) map[string]question {
	tb.Helper()
	var m struct {
		Result struct {
			ResultType    string
			InputRequests map[string]struct {
				Method string
				Params json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(asking), &m); err != nil {
		tb.Fatalf("%s: %v", asking, err)
	}
	questions := map[string]question{}
	for key, r := range m.Result.InputRequests {
		questions[key] = question{key, r.Method, string(r.Params)}
	}
	if (m.Result.ResultType == "input_required") != (len(questions) > 0) {
		tb.Errorf("%s asks for %d inputs", asking, len(questions))
	}
	return questions
}

// finish follows a request to its end, answering what a modern client is asked.
func (u *underWay) finish() string {
	u.c.tb.Helper()
	for {
		answer := u.wait()
		if u.c.era != modernEra || u.c.answer == nil || !strings.Contains(answer, `"resultType":"input_required"`) {
			return answer
		}
		responses := ""
		for key, q := range inputRequests(u.c.tb, answer) {
			u.c.mu.Lock()
			u.c.asked = append(u.c.asked, q)
			u.c.mu.Unlock()
			result, ok := strings.CutPrefix(u.c.answer(q), `"result":`)
			if !ok {
				u.c.tb.Fatalf("a modern client cannot answer %s with an error", key)
			}
			responses = joined(responses, fmt.Sprintf("%q:%s", key, result))
		}
		u = u.retry(answer, responses)
	}
}

// do sends a request and returns the answer that ends it.
func (c *client) do(method, params string) string {
	c.tb.Helper()
	return c.begin(method, params, "").finish()
}

// beginCall and call are for tools.
func (c *client) beginCall(tool, arguments string) *underWay {
	c.tb.Helper()
	return c.begin("tools/call", callParams(tool, arguments), "")
}

func (c *client) call(tool, arguments string) string {
	c.tb.Helper()
	return c.beginCall(tool, arguments).finish()
}

func callParams(tool, arguments string) string {
	return fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)
}

// mustSay calls a tool and returns the text of its result.
func (c *client) mustSay(tool, arguments string) string {
	c.tb.Helper()
	answer := c.call(tool, arguments)
	if text(answer) == "" || strings.Contains(answer, `"isError":true`) {
		c.tb.Fatalf("%s %s: %s", tool, arguments, answer)
	}
	return text(answer)
}

// notifications are those heard so far that contain a text.
func (c *client) notifications(containing string) (found []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, message := range c.heard {
		if strings.Contains(message, containing) {
			found = append(found, message)
		}
	}
	return found
}

// place is where among all messages the first stands that contains a text.
func (c *client) place(containing string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.IndexFunc(c.all, func(message string) bool { return strings.Contains(message, containing) })
}

// await waits until a notification was heard, and returns it.
func (c *client) await(containing string) string {
	c.tb.Helper()
	testkit.Eventually(c.tb, func() bool { return len(c.notifications(containing)) > 0 }, "the %s hears %s", c.clientOptions, containing)
	return c.notifications(containing)[0]
}

// forget drops what was heard and asked so far.
func (c *client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard, c.asked = nil, nil
}

func (c *client) questions() []question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]question(nil), c.asked...)
}

// nextQuestion waits until a legacy client has been asked.
func (c *client) nextQuestion() question {
	c.tb.Helper()
	testkit.Eventually(c.tb, func() bool { return len(c.questions()) > 0 }, "the %s is asked", c.clientOptions)
	return c.questions()[0]
}

// subscribe asks to hear of a resource, in the way of the client's era, and
// returns what ends that.
func (c *client) subscribe(uri string) (unsubscribe func()) {
	c.tb.Helper()
	if c.era == modernEra {
		u := c.begin("subscriptions/listen", fmt.Sprintf(`"notifications":{"resourceSubscriptions":[%q]}`, uri), "")
		ack := c.await(`notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + u.id + `}`)
		if !strings.Contains(ack, fmt.Sprintf(`"resourceSubscriptions":[%q]`, uri)) {
			c.tb.Errorf("the subscription is not honoured: %s", ack)
		}
		return u.cancel
	}
	if answer := c.do("resources/subscribe", fmt.Sprintf(`"uri":%q`, uri)); !strings.Contains(answer, `"result":{}`) {
		c.tb.Errorf("resources/subscribe: %s", answer)
	}
	return func() {
		c.tb.Helper()
		if answer := c.do("resources/unsubscribe", fmt.Sprintf(`"uri":%q`, uri)); !strings.Contains(answer, `"result":{}`) {
			c.tb.Errorf("resources/unsubscribe: %s", answer)
		}
	}
}

// hearOfLists asks to hear of every list; a legacy client does anyway.
func (c *client) hearOfLists() {
	c.tb.Helper()
	if c.era == modernEra {
		c.begin("subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`, "")
		c.await("notifications/subscriptions/acknowledged")
	}
}

// accept is an answer to every kind of question. It repeats what was asked, so
// that a test sees whose answer it is.
func accept(q question) string {
	switch {
	case q.method == "roots/list":
		return `"result":{"roots":[{"uri":"file:///work"}]}`
	case q.method == "sampling/createMessage":
		return `"result":{"role":"assistant","model":"m","content":{"type":"text","text":"sampled"}}`
	case strings.Contains(q.params, `"mode":"url"`):
		return `"result":{"action":"accept"}`
	default:
		return `"result":{"action":"accept","content":{"name":"Hana"}}`
	}
}

// gate is a file that calls of the fault server wait for.
type gate string

func newGate(tb testing.TB) gate { return gate(filepath.Join(tb.TempDir(), "gate")) }

func (g gate) open(tb testing.TB) {
	tb.Helper()
	if err := os.WriteFile(string(g), nil, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// upstreams are the four kinds of servers, by name: their era and their wire.
// Each has resources of its own scheme.
func upstreams(tb testing.TB, args ...string) servers {
	tb.Helper()
	all := servers{}
	for _, name := range []string{"lh", "ls", "mh", "ms"} {
		all[name] = upstream(tb, name, args...)
	}
	return all
}

// upstream is one of upstreams.
func upstream(tb testing.TB, name string, args ...string) map[string]any {
	tb.Helper()
	era := legacyEra
	if isModernServer(name) {
		era = modernEra
	}
	flags := append([]string{"-everything", "-scheme", name, "-era", era}, args...)
	if name[1] == 'h' {
		return sibling(tb, flags...)
	}
	return child(tb, flags...)
}

func isModernServer(name string) bool { return name[0] == 'm' }

// everyPairing runs a test for each kind of client with each kind of server, in
// one house. Usually it runs half of the pairs, which have each client with servers
// of both eras and over both wires.
func everyPairing(t *testing.T, o clientOptions, test func(t *testing.T, c *client, server string)) {
	t.Helper()
	openHouse(t, upstreams(t)).everyPairing(t, o, test)
}

func (h *house) everyPairing(t *testing.T, o clientOptions, test func(t *testing.T, c *client, server string)) {
	t.Helper()
	for i, kind := range kinds() {
		o.era, o.wire = kind.era, kind.wire
		for j, server := range []string{"lh", "ls", "mh", "ms"} {
			if !testkit.OneIn(2, i/2, i%2, j/2, j%2) {
				continue
			}
			t.Run(kind.String()+" of "+server, func(t *testing.T) { test(t, h.connect(t, o), server) })
		}
	}
}
