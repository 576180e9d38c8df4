package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"genkan/internal/testkit"
)

// TestClientsAreAsked: whatever a server asks reaches the client of the call,
// in the way of the client's era, and its answer reaches the server.
func TestClientsAreAsked(t *testing.T) {
	t.Parallel()
	everyPairing(t, clientOptions{capabilities: canBeAsked, answer: accept}, func(t *testing.T, c *client, server string) {
		for name, q := range map[string]struct {
			arguments, method string
			answers           int
			want              string
		}{
			"a form":          {`{"message":"Who"}`, "elicitation/create", 1, `"name":"Hana"`},
			"a URL":           {`{"what":"url"}`, "elicitation/create", 1, `"action":"accept"`},
			"a sample":        {`{"what":"sample"}`, "sampling/createMessage", 1, `"text":"sampled"`},
			"roots":           {`{"what":"roots"}`, "roots/list", 1, `"uri":"file:///work"`},
			"several rounds":  {`{"rounds":3}`, "elicitation/create", 3, `"name":"Hana"`},
			"several at once": {`{"at_once":3}`, "elicitation/create", 3, `"name":"Hana"`},
			"both":            {`{"rounds":2,"at_once":2,"what":"sample"}`, "sampling/createMessage", 4, `"text":"sampled"`},
		} {
			c.forget()
			said := c.mustSay(server+"__ask", q.arguments)
			var answers []json.RawMessage
			if err := json.Unmarshal([]byte(said), &answers); err != nil {
				t.Fatalf("%s: %s", name, said)
			}
			if name == "roots" && server == "ls" {
				// Many clients share a child: it is told of no place. Once it is
				// known to want one, a session that has a place gets its own.
				if said != `[{"roots":[]}]` && !(c.era == legacyEra && strings.Contains(said, q.want)) {
					t.Errorf("a shared child learns %s", said)
				}
				continue
			}
			if len(answers) != q.answers || strings.Count(said, q.want) != q.answers {
				t.Errorf("%s: the server learns %s", name, said)
			}
			questions := slices.DeleteFunc(c.questions(), func(asked question) bool {
				return server == "ls" && asked.method == "roots/list" // which child is its own
			})
			if len(questions) != q.answers {
				t.Errorf("%s: the client was asked %v", name, questions)
			}
			for _, asked := range questions {
				if asked.method != q.method || name == "a form" && !strings.Contains(asked.params, `"message":"[`+server+`] Who (1)"`) {
					t.Errorf("%s: the client was asked %v", name, asked)
				}
			}
		}
		// Prompts and resources may ask as well.
		if answer := c.do("prompts/get", fmt.Sprintf(`"name":"%s__interview"`, server)); !strings.Contains(answer, "Hana") {
			t.Errorf("interview is answered with %s", answer)
		}
		if answer := c.do("resources/read", fmt.Sprintf(`"uri":"%s://asked"`, server)); !strings.Contains(answer, "Hana") {
			t.Errorf("asked is answered with %s", answer)
		}
	})
}

// TestClientsThatCannotBeAsked: the caller is told which capability is missing, no
// question is sent, and nothing hangs.
func TestClientsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t))
	for _, c := range []struct{ capabilities, what, missing string }{
		{`{}`, "form", "elicitation"},
		{`{"sampling":{}}`, "form", "elicitation"},
		{`{"elicitation":{"url":{}}}`, "form", "elicitation"},
		{`{"elicitation":{}}`, "url", "elicitation"},
		{`{"elicitation":{}}`, "sample", "sampling"},
	} {
		t.Run(c.what+" of "+c.capabilities, func(t *testing.T) {
			h.everyPairing(t, clientOptions{capabilities: c.capabilities, answer: accept}, func(t *testing.T, client *client, server string) {
				answer := client.call(server+"__ask", fmt.Sprintf(`{"what":%q}`, c.what))
				failed := errorCode(answer) != 0 || strings.Contains(answer, `"isError":true`)
				if !failed || !strings.Contains(answer, c.missing) {
					t.Errorf("answered %s", answer)
				}
				if isModernServer(server) && client.era == modernEra && errorCode(answer) != -32021 {
					t.Errorf("a modern server's own error becomes %s", answer)
				}
				if len(client.questions()) != 0 {
					t.Errorf("asked %v", client.questions())
				}
			})
		})
	}
}

// TestAClientThatAnswersWithAnError: the server learns it, as it came.
func TestAClientThatAnswersWithAnError(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t))
	for _, wire := range []string{overHTTP, overStdio} {
		c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked, answer: func(question) string {
			return `"error":{"code":-32042,"message":"not today","data":{"k":1e2}}`
		}})
		for _, server := range []string{"lh", "ls"} {
			if answer := c.call(server+"__ask", `{}`); !strings.Contains(answer, `the client refused: {\"code\":-32042,\"message\":\"not today\",\"data\":{\"k\":1e2}}`) {
				t.Errorf("%s over %s: answered %s", server, wire, answer)
			}
		}
		// A modern server cannot be told, so the call ends with the error.
		for _, server := range []string{"mh", "ms"} {
			if answer := c.call(server+"__ask", `{"at_once":2}`); errorCode(answer) != -32042 {
				t.Errorf("%s over %s: answered %s", server, wire, answer)
			}
		}
	}
}

// TestACallThatIsCanceledWhileItAsks: the question is taken back and the server
// is told; the next call goes its way.
func TestACallThatIsCanceledWhileItAsks(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{overHTTP, overStdio} {
		for _, over := range []string{overHTTP, overStdio} {
			t.Run(fmt.Sprintf("a client over %s of a server over %s", wire, over), func(t *testing.T) {
				record := recordFile(t)
				flags := []string{"-everything", "-era", "legacy", "-record", record}
				server := child(t, flags...)
				if over == overHTTP {
					server = sibling(t, flags...)
				}
				h := openHouse(t, servers{"a": server})
				c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked})
				call := c.beginCall("a__ask", `{}`)
				asked := c.nextQuestion()
				call.cancel()
				c.await(`"method":"notifications/cancelled","params":{"requestId":` + asked.id)
				testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 1 }, "the server notices")
				c.reply(asked.id, `"result":{"action":"accept","content":{"name":"late"}}`) // goes nowhere
				if got := c.mustSay("a__echo", `{"text":"x"}`); got != "x" {
					t.Errorf("echo says %s", got)
				}
				c.forget()
				call = c.beginCall("a__ask", `{}`)
				c.reply(c.nextQuestion().id, accept(question{method: "elicitation/create"}))
				if answer := call.wait(); !strings.Contains(answer, "Hana") {
					t.Errorf("the next question is answered with %s", answer)
				}
			})
		}
	}
}

// TestACallOfAModernServerThatIsCanceledWhileItAsks: the modern server does not
// wait, so only the client's question is withdrawn.
func TestACallOfAModernServerThatIsCanceledWhileItAsks(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t))
	for _, wire := range []string{overHTTP, overStdio} {
		for _, server := range []string{"mh", "ms"} {
			c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked})
			call := c.beginCall(server+"__ask", `{"at_once":2}`)
			testkit.Eventually(t, func() bool { return len(c.questions()) == 2 }, "both questions are asked")
			call.cancel()
			testkit.Eventually(t, func() bool { return len(c.notifications("notifications/cancelled")) == 2 }, "both questions are taken back")
		}
	}
}

// TestAServerThatTakesItsQuestionBack: the client is told, and does not hold up
// the call.
func TestAServerThatTakesItsQuestionBack(t *testing.T) {
	t.Parallel()
	for _, over := range []string{overHTTP, overStdio} {
		record := recordFile(t)
		flags := []string{"-everything", "-era", "legacy", "-record", record}
		server := child(t, flags...)
		if over == overHTTP {
			server = sibling(t, flags...)
		}
		h := openHouse(t, servers{"a": server})
		for _, wire := range []string{overHTTP, overStdio} {
			t.Run(fmt.Sprintf("a legacy client over %s of a server over %s", wire, over), func(t *testing.T) {
				c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked})
				gate := newGate(t)
				call := c.beginCall("a__ask", fmt.Sprintf(`{"take_back":%q}`, gate))
				asked := c.nextQuestion()
				gate.open(t)
				c.await(`"method":"notifications/cancelled","params":{"requestId":` + asked.id)
				if answer := call.wait(); !strings.Contains(answer, "the question was taken back") {
					t.Errorf("answered %s", answer)
				}
			})
			t.Run(fmt.Sprintf("a modern client over %s of a server over %s", wire, over), func(t *testing.T) {
				c := h.connect(t, clientOptions{era: modernEra, wire: wire, capabilities: canBeAsked})
				gate, ended := newGate(t), h.callsEnded()
				call := c.beginCall("a__ask", fmt.Sprintf(`{"take_back":%q}`, gate))
				asking := call.wait()
				gate.open(t)
				// Its answers are no longer wanted, and do no harm.
				responses := ""
				for key := range inputRequests(t, asking) {
					responses = joined(responses, fmt.Sprintf(`%q:{"action":"accept","content":{"name":"late"}}`, key))
				}
				testkit.Eventually(t, func() bool { return h.callsEnded() > ended }, "the call is over")
				if answer := call.retry(asking, responses).wait(); !strings.Contains(answer, "the question was taken back") {
					t.Errorf("answered %s", answer)
				}
			})
		}
		// A request that was taken back gets no answer.
		if got := countLines(t, record, `"id":"fault-`); got != 0 {
			t.Errorf("%d questions that were taken back were answered", got)
		}
	}
}

// callsEnded counts the calls that have ended, with any outcome.
func (h *house) callsEnded() (sum float64) {
	h.tb.Helper()
	for line := range strings.Lines(string(h.send(request{method: http.MethodGet, path: "/metrics"}).body)) {
		if rest, ok := strings.CutPrefix(line, "genkan_calls_total{"); ok {
			var value float64
			_, _ = fmt.Sscan(rest[strings.LastIndex(rest, " ")+1:], &value)
			sum += value
		}
	}
	return sum
}

// TestAServerThatDiesWhileItAsks: the question is taken back; what may be sent
// again is, and asks again.
func TestAServerThatDiesWhileItAsks(t *testing.T) {
	t.Parallel()
	for _, wire := range []string{overHTTP, overStdio} {
		// Shared, so that it is the same one that asks and that crashes.
		h := openHouse(t, servers{"a": with(child(t, "-everything", "-era", "legacy"), map[string]any{"isolation": "shared"})})
		c := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked})
		read := c.begin("resources/read", `"uri":"fault://asked"`, "")
		first := c.nextQuestion()
		h.connect(t, modernClient).call("a__crash", `{}`)
		c.await(`"method":"notifications/cancelled","params":{"requestId":` + first.id)
		testkit.Eventually(t, func() bool { return len(c.questions()) == 2 }, "it is asked again")
		c.reply(c.questions()[1].id, accept(question{method: "elicitation/create"}))
		if answer := read.wait(); !strings.Contains(answer, "Hana") {
			t.Errorf("answered %s", answer)
		}

		c.forget()
		call := c.beginCall("a__ask", `{}`) // which may not be sent again
		first = c.nextQuestion()
		h.connect(t, modernClient).call("a__crash", `{}`)
		c.await(`"method":"notifications/cancelled","params":{"requestId":` + first.id)
		wantFailure(t, call.wait(), "unavailable", "may or may not have been carried out")
	}
}

// TestALegacyClientWhoseStreamBroke and who was told of no way to resume it is
// asked on its session's own stream, and told nothing that it could not answer
// when it has none.
func TestALegacyClientWhoseStreamBroke(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy", "-record", record)})
	for _, listens := range []bool{true, false} {
		session := h.openSession("/mcp", h.token, "2025-06-18", canBeAsked)
		gate := newGate(t)
		var stream *stream
		if listens {
			get := legacy(session, "", "", "")
			get.method, get.body = http.MethodGet, ""
			stream = h.open(get)
		}
		ended := h.callsEnded()
		before := len(calls(t, record))
		<-h.hangUp(legacyCall(session, "7", "a__ask", fmt.Sprintf(`{"before":%q}`, gate)), func() {
			testkit.Eventually(t, func() bool { return len(calls(t, record)) > before }, "the call is under way")
		})
		gate.open(t)
		if listens {
			asked := stream.next()
			if !strings.Contains(asked, `"method":"elicitation/create"`) {
				t.Errorf("asked %s", asked)
			}
			h.send(request{
				body:   `{"jsonrpc":"2.0","id":` + member(t, asked, "id") + `,"result":{"action":"decline"}}`,
				header: http.Header{"Mcp-Session-Id": {session}},
			}).want(t, http.StatusAccepted, 0)
		}
		testkit.Eventually(t, func() bool { return h.callsEnded() > ended }, "the call ends")
	}
}

// TestAStdioClientThatLeavesWhileItIsAsked: its input has ended, so there will be
// no answer, and the call does not wait for one.
func TestAStdioClientThatLeavesWhileItIsAsked(t *testing.T) {
	t.Parallel()
	h := openHouse(t, upstreams(t))
	for _, server := range []string{"lh", "ls", "mh", "ms"} {
		c := h.connect(t, clientOptions{era: legacyEra, wire: overStdio, capabilities: canBeAsked})
		c.beginCall(server+"__ask", `{"rounds":2}`)
		c.nextQuestion()
		if err := c.conn.Close(); err != nil {
			t.Error(err)
		}
		select {
		case <-c.conn.(*pipe).done:
		case <-time.After(patience):
			t.Fatalf("%s: it is still served", server)
		}
	}
}

// TestNobodyAnswersForAnother: an answer counts in the session that was asked.
func TestNobodyAnswersForAnother(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy")})
	c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, capabilities: canBeAsked})
	call := c.beginCall("a__ask", `{}`)
	asked := c.nextQuestion()
	const forged = `"result":{"action":"accept","content":{"name":"Mallory"}}`
	for _, wire := range []string{overHTTP, overStdio} {
		other := h.connect(t, clientOptions{era: legacyEra, wire: wire, capabilities: canBeAsked})
		other.reply(asked.id, forged)
		other.do("ping", "") // what was sent before it has been read
	}
	// Nor does an answer to something else.
	c.reply(`"genkan-0"`, forged)
	c.reply("1", forged)
	c.reply(asked.id, accept(asked))
	c.reply(asked.id, forged) // a second one is late
	if answer := call.wait(); !strings.Contains(answer, "Hana") {
		t.Errorf("answered %s", answer)
	}
}

// TestASessionThatEndsWhileItIsAsked takes its calls with it.
func TestASessionThatEndsWhileItIsAsked(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy", "-record", record)})
	c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, capabilities: canBeAsked})
	c.beginCall("a__ask", `{}`)
	c.nextQuestion()
	if err := c.conn.Close(); err != nil { // which deletes the session
		t.Error(err)
	}
	testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 1 }, "the server is told")
}
