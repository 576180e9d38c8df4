package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"genkan/internal/testkit"
)

// sseClient is a client of the old transport.
type sseClient struct {
	*stream
	h *house
	// endpoint is where it posts, as it was announced.
	endpoint, token string
}

// sse opens a stream and reads where to post. An empty token is the admin's.
func (h *house) sse(path, token string) *sseClient {
	h.tb.Helper()
	if token == "" {
		token = h.token
	}
	c := &sseClient{h: h, token: token}
	c.stream = h.open(request{method: http.MethodGet, path: path, header: headers("Authorization", "Bearer "+token)})
	if c.status != http.StatusOK || c.header.Get("Content-Type") != "text/event-stream" {
		h.tb.Fatalf("GET %s: %d %v", path, c.status, c.header)
	}
	if line, err := c.lines.ReadString('\n'); err != nil || line != "event: endpoint\n" {
		h.tb.Fatalf("the stream begins with %q, %v", line, err)
	}
	c.endpoint = c.next()
	return c
}

func (c *sseClient) post(message string) response {
	c.h.tb.Helper()
	return c.h.send(request{path: c.endpoint, body: message, header: headers("Authorization", "Bearer "+c.token)})
}

func (c *sseClient) send(message string) {
	c.h.tb.Helper()
	if got := c.post(message); got.status != http.StatusAccepted || len(got.body) != 0 {
		c.h.tb.Fatalf("%.200s\nwas answered with %d %s", message, got.status, got.body)
	}
}

// answer skips what comes before the answer to a request.
func (c *sseClient) answer(id string) string {
	c.h.tb.Helper()
	for {
		if message := c.next(); strings.HasPrefix(message, `{"jsonrpc":"2.0","id":`+id+`,"result"`) ||
			strings.HasPrefix(message, `{"jsonrpc":"2.0","id":`+id+`,"error"`) {
			return message
		}
	}
}

func TestSSE(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t), "other": child(t)})
	c := h.sse("/sse", "")
	if !strings.HasPrefix(c.endpoint, "/messages?sessionId=") || len(c.endpoint) < len("/messages?sessionId=")+26 {
		t.Errorf("the endpoint is %s", c.endpoint)
	}
	c.send(initializeLine)
	if got := c.next(); member(t, got, "result", "protocolVersion") != `"2025-06-18"` || member(t, got, "id") != `"init"` {
		t.Errorf("initialize: %s", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if got := c.next(); got != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("ping: %s", got)
	}
	c.send(legacyCall("", `"c"`, "fault__echo", `{"text":"hello"}`).body)
	if got := c.next(); text(got) != "hello" || member(t, got, "id") != `"c"` {
		t.Errorf("the call: %s", got)
	}
	c.send(legacy("", "3", "tools/call", `{"name":"fault__progress","arguments":{"n":2},"_meta":{"progressToken":"mine"}}`).body)
	for i := range 2 {
		if got := c.next(); member(t, got, "params", "progressToken") != `"mine"` || member(t, got, "params", "progress") != fmt.Sprint(i+1) {
			t.Errorf("progress: %s", got)
		}
	}
	if got := c.next(); text(got) != "2 steps" {
		t.Errorf("the answer: %s", got)
	}
	// The era of this transport has passed: who asks for the next one is told as
	// by any legacy server, and begins with initialize.
	for line, code := range map[string]int{
		modern("7", "server/discover", "", "").body:                 -32601,
		modernCall("7", "fault__echo", `{}`).body:                   -32600,
		legacyCall("", "7", "nobody__home", `{}`).body:              -32602,
		legacy("", "7", "server/discover", "").body:                 -32601,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":1}`: -32600,
	} {
		got := c.post(line)
		message := got.last()
		if got.status == http.StatusAccepted {
			message = c.answer("7")
		}
		if errorCode(message) != code {
			t.Errorf("%s\nwas answered with %d %s, want %d", line, got.status, message, code)
		}
	}

	t.Run("a view", func(t *testing.T) {
		view := h.sse("/sse/s/fault", "")
		view.send(initializeLine)
		view.next()
		view.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if got := view.next(); !strings.Contains(got, `"name":"echo"`) || strings.Contains(got, "other__") {
			t.Errorf("the list: %s", got)
		}
		view.send(legacyCall("", "2", "echo", `{"text":"bare"}`).body)
		if got := view.next(); text(got) != "bare" {
			t.Errorf("the call: %s", got)
		}
		if got := h.send(request{method: http.MethodGet, path: "/sse/s/nobody"}); got.status != http.StatusNotFound {
			t.Errorf("a view that is not there: %d", got.status)
		}
	})
	t.Run("sessions are counted while they are open", func(t *testing.T) {
		count := func() string { return h.metric("genkan_sessions") }
		was := count()
		one := h.sse("/sse", "")
		testkit.Eventually(t, func() bool { return count() != was }, "one more is counted")
		one.close()
		testkit.Eventually(t, func() bool { return count() == was }, "it is not any more")
		if got := one.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); got.status != http.StatusNotFound {
			t.Errorf("a message without a stream: %d %s", got.status, got.body)
		}
	})
	t.Run("changes", func(t *testing.T) {
		silent := h.sse("/sse", "")
		h.send(modernCall("1", "fault__add_tool", `{"name":"one"}`))
		if got := c.next(); got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
			t.Errorf("came %s", got)
		}
		silent.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
		if got := silent.next(); member(t, got, "id") != `"end"` {
			t.Errorf("a client that said no initialize heard %s", got)
		}
	})
}

// TestSSEDoor: who may open a stream, and who may post to it.
func TestSSEDoor(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-record", record)})
	other := h.newToken("other")
	mine := h.sse("/sse", "")
	call := legacyCall("", "1", "fault__count", "{}").body
	for name, test := range map[string]struct {
		r      request
		status int
	}{
		"no token for the stream":    {request{method: http.MethodGet, path: "/sse", header: http.Header{"Authorization": nil}}, http.StatusUnauthorized},
		"no token for a view":        {request{method: http.MethodGet, path: "/sse/s/fault", header: http.Header{"Authorization": nil}}, http.StatusUnauthorized},
		"no token for a message":     {request{path: mine.endpoint, body: call, header: http.Header{"Authorization": nil}}, http.StatusUnauthorized},
		"a foreign page":             {request{method: http.MethodGet, path: "/sse", header: headers("Origin", "https://evil.example")}, http.StatusForbidden},
		"a foreign page's message":   {request{path: mine.endpoint, body: call, header: headers("Origin", "https://evil.example")}, http.StatusForbidden},
		"a rebound name":             {request{method: http.MethodGet, path: "/sse", header: headers("Host", "evil.example")}, http.StatusForbidden},
		"another's session":          {request{path: mine.endpoint, body: call, header: headers("Authorization", "Bearer "+other)}, http.StatusNotFound},
		"a session that is not":      {request{path: "/messages?sessionId=AAAAAAAAAAAAAAAAAAAAAAAAAA", body: call}, http.StatusNotFound},
		"no session":                 {request{path: "/messages", body: call}, http.StatusNotFound},
		"streamable HTTP here":       {request{path: "/sse", body: call}, http.StatusMethodNotAllowed},
		"reading messages":           {request{method: http.MethodGet, path: mine.endpoint}, http.StatusMethodNotAllowed},
		"no stream wanted":           {request{method: http.MethodGet, path: "/sse", header: headers("Accept", "application/json")}, http.StatusNotAcceptable},
		"another content type":       {request{path: mine.endpoint, body: call, header: headers("Content-Type", "text/plain")}, http.StatusUnsupportedMediaType},
		"not a message":              {request{path: mine.endpoint, body: "nonsense"}, http.StatusBadRequest},
		"a batch":                    {request{path: mine.endpoint, body: "[" + call + "]"}, http.StatusBadRequest},
		"a key twice":                {request{path: mine.endpoint, body: strings.Replace(call, `"id"`, `"id":2,"id"`, 1)}, http.StatusBadRequest},
		"larger than what is let in": {request{path: mine.endpoint, stream: xs(33 << 20), length: 33 << 20}, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if got := h.send(test.r); got.status != test.status {
				t.Errorf("status %d, want %d: %s", got.status, test.status, got.body)
			}
		})
	}
	if n := len(calls(t, record)); n != 0 {
		t.Errorf("%d calls came through", n)
	}
	mine.send(call)
	if got := mine.next(); errorCode(got) != 0 {
		t.Errorf("my own call: %s", got)
	}
}

// TestSSEEnd: the stream is the session. When the client closes it, its calls
// are given up.
func TestSSEEnd(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-record", record)})
	c := h.sse("/sse", "")
	c.send(legacyCall("", "1", "fault__sleep", `{"ms":60000}`).body)
	c.send(legacyCall("", "2", "fault__sleep", `{"ms":60000}`).body)
	testkit.Eventually(t, func() bool { return len(calls(t, record)) == 2 }, "two calls are under way")
	c.send(legacyCall("", "1", "fault__echo", `{"text":"x"}`).body)
	if got := c.next(); errorCode(got) != -32602 {
		t.Errorf("an id in use: %s", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 1 }, "the client can cancel one")
	c.close()
	testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 2 }, "the other ends with the stream")
}

// TestSSEStop: when genkan stops, calls are answered first.
func TestSSEStop(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"fault": child(t, "-record", record)})
	idle, busy := h.sse("/sse", ""), h.sse("/sse", "")
	busy.send(legacyCall("", "1", "fault__sleep", `{"ms":300}`).body)
	testkit.Eventually(t, func() bool { return len(calls(t, record)) == 1 }, "a call is under way")
	h.stop()
	if message, err := idle.read(); err == nil {
		t.Errorf("the idle stream goes on with %s", message)
	}
	if got := busy.next(); text(got) != "slept 300 ms" {
		t.Errorf("came %s", got)
	}
	if message, err := busy.read(); err == nil {
		t.Errorf("the stream goes on with %s", message)
	}
}

// TestSSEBigAnswers: large answers come whole, and not at the cost of others.
func TestSSEBigAnswers(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t)}, map[string]any{"budget": "off"})
	c := h.sse("/sse", "")
	large := strings.Repeat("0123456789abcdef", 20<<10) // each larger than what may wait
	var posts sync.WaitGroup
	const many = 8
	for i := range many {
		posts.Go(func() { c.send(legacyCall("", fmt.Sprint(i), "fault__echo", `{"text":"`+large+`"}`).body) })
	}
	for range many {
		if got := c.next(); text(got) != large {
			t.Errorf("%d bytes came", len(got))
		}
	}
	posts.Wait()
}

// TestSSENothingCrosses: clients of the old transport share a child, use the
// same ids, and get their own answers.
func TestSSENothingCrosses(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"fault": child(t, "-era", "legacy")})
	var clients sync.WaitGroup
	for i := range testkit.Count(20, 50) {
		c := h.sse("/sse", "")
		clients.Go(func() {
			for round := range testkit.Count(2, 3) {
				steps, own := 1+(i+round)%7, fmt.Sprintf("client %d round %d", i, round)
				var messages []string
				for _, params := range []string{
					fmt.Sprintf(`{"name":"fault__progress","arguments":{"n":%d,"ms":1},"_meta":{"progressToken":"same"}}`, steps),
					fmt.Sprintf(`{"name":"fault__echo","arguments":{"text":%q},"_meta":{"progressToken":"same"}}`, own),
				} {
					if got := c.post(legacy("", "1", "tools/call", params).body); got.status != http.StatusAccepted {
						t.Errorf("status %d", got.status)
						return
					}
					for {
						message, err := c.read()
						if err != nil {
							t.Error(err)
							return
						}
						messages = append(messages, message)
						if strings.HasPrefix(message, `{"jsonrpc":"2.0","id":1,`) {
							break
						}
					}
				}
				if problem := checkOwn(messages, steps, own); problem != "" {
					t.Errorf("client %d, round %d: %s\n%s", i, round, problem, strings.Join(messages, "\n"))
				}
			}
		})
	}
	clients.Wait()
}

// TestSSEQuestions: what a server asks during a call comes on the stream, and
// is answered with a POST; with the official client.
func TestSSEQuestions(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"old": child(t, "-era", "legacy"), "new": child(t, "-era", "modern")})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var asked []string
	client := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Hanako"}}, nil
		},
	})
	session, err := client.Connect(ctx, h.sdkTransport("SSE"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	for _, server := range []string{"old", "new"} {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: server + "__elicit", Arguments: map[string]any{"message": "Who is " + server + "?"}})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(result.Content)
		if !strings.Contains(string(got), "Hanako") {
			t.Errorf("%s answered %s", server, got)
		}
	}
	if got := fmt.Sprint(asked); got != "[[old] Who is old? [new] Who is new?]" {
		t.Errorf("asked %s", got)
	}
}

// TestSSEBehindSSE: an old server behind genkan, and an old client before it.
func TestSSEBehindSSE(t *testing.T) {
	t.Parallel()
	behind := openHouse(t, servers{"fault": child(t)})
	u, err := url.Parse(behind.base)
	if err != nil {
		t.Fatal(err)
	}
	front := openHouse(t, servers{"house": {
		"url": u.JoinPath("sse").String(), "headers": map[string]string{"Authorization": "Bearer " + behind.token},
	}})
	c := front.sse("/sse/s/house", "")
	c.send(legacyCall("", "1", "fault__echo", `{"text":"through two doors"}`).body)
	if got := c.next(); text(got) != "through two doors" {
		t.Errorf("came %s", got)
	}
}
