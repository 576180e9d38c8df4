package mcpserver_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// If a legacy server asks a modern client, the client gets the answer that more
// input is required. The call waits for the retry that brings the input.

// parkedCall is a call that waits for its client.
type parkedCall struct {
	*underWay
	asking string
}

// park has a client's call parked.
func (c *client) park(tool, arguments string) parkedCall {
	c.tb.Helper()
	return c.beginCall(tool, arguments).parked()
}

func (u *underWay) parked() parkedCall {
	u.c.tb.Helper()
	asking := u.wait()
	if len(inputRequests(u.c.tb, asking)) == 0 {
		u.c.tb.Fatalf("the call was not parked: %s", asking)
	}
	return parkedCall{u, asking}
}

// accepted is an answer to everything that a parked call asks for.
func (p parkedCall) accepted() string {
	responses := ""
	for key := range inputRequests(p.c.tb, p.asking) {
		responses = joined(responses, fmt.Sprintf(`%q:{"action":"accept","content":{"name":"Hana"}}`, key))
	}
	return responses
}

// comeBack brings what was asked for.
func (p parkedCall) comeBack() *underWay {
	p.c.tb.Helper()
	return p.retry(p.asking, p.accepted())
}

func wantSaid(t *testing.T, answer string) {
	t.Helper()
	if !strings.Contains(text(answer), `"name":"Hana"`) {
		t.Errorf("answered %s", answer)
	}
}

// wantGone checks the answer to a state that opens nothing.
func wantGone(t *testing.T, name, answer string) {
	t.Helper()
	if errorCode(answer) != -32602 || !strings.Contains(answer, "Call again without it") {
		t.Errorf("%s: answered %s", name, answer)
	}
}

// settled checks that nothing of a parked call is left.
func (h *house) settled(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		return h.metric("genkan_parked_calls") == "0" && h.metric("genkan_bytes_in_flight") == "0"
	}, "no call is parked, no bytes are taken")
}

// parkHouse has a legacy server over HTTP, on which many calls can ask at once.
func parkHouse(t *testing.T) (h *house, record string) {
	t.Helper()
	record = recordFile(t)
	return openHouse(t, servers{"a": sibling(t, "-everything", "-era", "legacy", "-record", record)}), record
}

var modernClient = clientOptions{era: modernEra, wire: overHTTP, capabilities: canBeAsked}

// TestAStateIsGoodOnce, for the very call that it was made for, by the caller
// that it was given to.
func TestAStateIsGoodOnce(t *testing.T) {
	t.Parallel()
	h, _ := parkHouse(t)
	other := modernClient
	other.token = h.newToken("other")
	for _, wire := range []string{overHTTP, overStdio} {
		o := modernClient
		o.wire = wire
		c, stranger := h.connect(t, o), h.connect(t, other)
		p := c.park("a__ask", `{"rounds":2}`)
		good := state(t, p.asking)
		foreign := func(name string, who *client, method, params, state string) {
			t.Helper()
			u := &underWay{c: who, method: method, params: params}
			wantGone(t, name, u.retryWith(state, p.accepted(), "").wait())
		}
		foreign("another caller", stranger, "tools/call", p.params, good)
		foreign("other arguments", c, "tools/call", callParams("a__ask", `{"rounds":1}`), good)
		foreign("no arguments", c, "tools/call", `"name":"a__ask"`, good)
		foreign("another tool", c, "tools/call", callParams("a__echo", `{"rounds":2}`), good)
		foreign("another method", c, "prompts/get", callParams("a__interview", `{"rounds":"2"}`), good)
		for name, bad := range tampered(t, good) {
			foreign(name, c, "tools/call", p.params, bad)
		}
		// None of this has disturbed it. A retry may encode the arguments
		// differently.
		p.params = callParams("a__ask", "{ \"rounds\" : 2 }")
		second := p.comeBack().parked()
		foreign("the state of the first round", c, "tools/call", p.params, good)
		wantSaid(t, second.comeBack().wait())
		foreign("the state of a call that is done", c, "tools/call", p.params, state(t, second.asking))
	}
	h.settled(t)
}

// tampered are states that differ from a good one in a little.
func tampered(t *testing.T, good string) map[string]string {
	t.Helper()
	text := strings.Trim(good, `"`)
	sealed, ok := strings.CutPrefix(text, "genkan.")
	if !ok {
		t.Fatalf("the state is %s", good)
	}
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		"an empty state":      `""`,
		"only the prefix":     `"genkan."`,
		"no prefix":           `"` + sealed + `"`,
		"another encoding":    `"` + text + `="`,
		"a state cut short":   `"` + text[:len(text)-4] + `"`,
		"a state made longer": `"` + text + `AAAA"`,
	}
	for i := range raw {
		changed := append([]byte(nil), raw...)
		changed[i] ^= 1
		bad[fmt.Sprintf("another byte %d", i)] = `"genkan.` + base64.RawURLEncoding.EncodeToString(changed) + `"`
	}
	return bad
}

// TestTwoRetriesAtOnce: exactly one goes on.
func TestTwoRetriesAtOnce(t *testing.T) {
	t.Parallel()
	h, _ := parkHouse(t)
	for range 10 {
		c := h.connect(t, modernClient)
		p := c.park("a__ask", `{}`)
		one, two := p.comeBack(), p.comeBack()
		answers := one.wait() + two.wait()
		if strings.Count(answers, "Hana") != 1 || strings.Count(answers, "Call again without it") != 1 {
			t.Errorf("answered %s", answers)
		}
	}
	h.settled(t)
}

// TestPartialAnswers: what is missing, or is no answer, is asked again, and
// only that.
func TestPartialAnswers(t *testing.T) {
	t.Parallel()
	h, _ := parkHouse(t)
	c := h.connect(t, modernClient)
	p := c.park("a__ask", `{"at_once":3}`)
	// The server's questions may come one after another.
	for len(inputRequests(t, p.asking)) < 3 {
		p = p.retry(p.asking, "").parked()
	}
	open := inputRequests(t, p.asking)
	for _, nothing := range []string{"", `"made-up":{"action":"accept"}`} {
		p = p.retry(p.asking, nothing).parked()
		if got := inputRequests(t, p.asking); fmt.Sprint(got) != fmt.Sprint(open) {
			t.Errorf("asked again for %v, want %v", got, open)
		}
	}
	for len(open) > 1 {
		for key := range open {
			p = p.retry(p.asking, fmt.Sprintf(`%q:{"action":"accept","content":{"name":"Hana"}}`, key)).parked()
			delete(open, key)
			break
		}
		if got := inputRequests(t, p.asking); fmt.Sprint(got) != fmt.Sprint(open) {
			t.Errorf("asked again for %v, want %v", got, open)
		}
	}
	for key := range open {
		p = p.retry(p.asking, fmt.Sprintf(`%q:7`, key)).parked()
	}
	wantSaid(t, p.comeBack().wait())
	h.settled(t)
}

// TestAParkIsOfTheHouse: the retry may come on another connection, over another
// wire if the caller is the same.
func TestAParkIsOfTheHouse(t *testing.T) {
	t.Parallel()
	h, _ := parkHouse(t)
	for _, wire := range []string{overHTTP, overStdio} {
		o := modernClient
		o.wire = wire
		p := h.connect(t, o).park("a__ask", `{}`)
		if err := p.c.conn.Close(); err != nil {
			t.Error(err)
		}
		again := *p.underWay
		again.c = h.connect(t, o)
		wantSaid(t, again.retry(p.asking, p.accepted()).wait())
	}
	h.settled(t)
}

// TestParksPerCaller: one caller cannot have any number of them; another is not
// held up by that.
func TestParksPerCaller(t *testing.T) {
	t.Parallel()
	h, _ := parkHouse(t)
	c := h.connect(t, modernClient)
	var parked []parkedCall
	for range 64 {
		parked = append(parked, c.park("a__ask", `{}`))
	}
	wantFailure(t, c.call("a__ask", `{}`), "limited", "64 calls of this client wait for more input")
	if got := c.mustSay("a__echo", `{"text":"x"}`); got != "x" {
		t.Errorf("echo says %s", got)
	}
	o := modernClient
	o.token = h.newToken("other")
	wantSaid(t, h.connect(t, o).park("a__ask", `{}`).comeBack().wait())
	// A call that continues frees its place; one that is asked again keeps it.
	wantSaid(t, parked[0].comeBack().wait())
	parked[0] = c.park("a__ask", `{}`)
	for i, p := range parked {
		if i < testkit.Count(8, len(parked)) {
			p = p.retry(p.asking, "").parked()
		}
		wantSaid(t, p.comeBack().wait())
	}
	h.settled(t)
}

// TestParksAndTheirServers: a park lives as long as the server that asked.
func TestParksAndTheirServers(t *testing.T) {
	t.Parallel()
	for _, over := range []string{overHTTP, overStdio} {
		t.Run("over "+over, func(t *testing.T) {
			flags := []string{"-everything", "-era", "legacy"}
			var server map[string]any
			kill := func(h *house) { h.connect(t, modernClient).call("a__crash", `{}`) }
			if over == overStdio {
				// Shared, so that it is the same one that asks and that crashes.
				server = with(child(t, flags...), map[string]any{"isolation": "shared"})
			} else {
				running := testkit.NewFaultHTTP(t, flags...)
				server, kill = map[string]any{"url": running.URL()}, func(*house) { running.Stop() }
			}
			other := child(t)
			h := openHouse(t, servers{"a": server, "b": other})
			c := h.connect(t, modernClient)
			p := c.park("a__ask", `{}`)
			h.reload(servers{"a": server})
			wantSaid(t, p.comeBack().wait())

			// The server is removed from the configuration, so it can no longer be
			// answered.
			p = c.park("a__ask", `{}`)
			h.reload(servers{"b": other})
			wantFailure(t, p.comeBack().wait(), "unavailable", "removed from the configuration")

			h.reload(servers{"a": server})
			h.waitForServer("a")
			p = c.park("a__ask", `{}`)
			ended := h.callsEnded()
			kill(h)
			testkit.Eventually(t, func() bool { return h.callsEnded() > ended }, "the call has ended")
			wantFailure(t, p.comeBack().wait(), "unavailable", "may or may not have been carried out")
			wantGone(t, "its state again", p.comeBack().wait())
			h.settled(t)
		})
	}
}

// TestAParkEndsWithTheProcess: its state is refused in a way that says what to
// do.
func TestAParkEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	for _, upstream := range []string{legacyEra, modernEra} {
		server := sibling(t, "-everything", "-era", upstream)
		h := openHouse(t, servers{"a": server})
		p := h.connect(t, modernClient).park("a__ask", `{}`)
		h = h.again()
		again := *p.underWay
		again.c = h.connect(t, modernClient)
		answer := again.retry(p.asking, p.accepted()).wait()
		if upstream == modernEra {
			wantSaid(t, answer) // the state is the server's, and it lives
		} else {
			wantGone(t, "after a restart", answer)
		}
	}
}

// TestHangingUp cancels a call, while its client waits for the question as
// while it waits for the answer.
func TestHangingUp(t *testing.T) {
	t.Parallel()
	for _, over := range []string{overHTTP, overStdio} {
		for _, wire := range []string{overHTTP, overStdio} {
			t.Run(fmt.Sprintf("a client over %s of a server over %s", wire, over), func(t *testing.T) {
				record := recordFile(t)
				flags := []string{"-everything", "-era", "legacy", "-record", record}
				server := child(t, flags...)
				if over == overHTTP {
					server = sibling(t, flags...)
				}
				h := openHouse(t, servers{"a": server})
				o := modernClient
				o.wire = wire
				c := h.connect(t, o)
				first := c.beginCall("a__ask", fmt.Sprintf(`{"before":%q}`, newGate(t)))
				testkit.Eventually(t, func() bool { return len(calls(t, record)) == 1 }, "the call is under way")
				first.cancel()
				testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 1 }, "the server is told of the first")
				second := c.park("a__ask", fmt.Sprintf(`{"after":%q}`, newGate(t))).comeBack()
				testkit.Eventually(t, func() bool { return countLines(t, record, "Hana") == 1 }, "the answer has reached the server")
				second.cancel()
				testkit.Eventually(t, func() bool { return countLines(t, record, "cancelled ") == 2 }, "the server is told of the second")
				h.settled(t)
			})
		}
	}
}

// TestProgressAfterAQuestion: progress goes to the request that waits now, under
// the token of the retry.
func TestProgressAfterAQuestion(t *testing.T) {
	t.Parallel()
	h, _ := parkHouse(t)
	for _, wire := range []string{overHTTP, overStdio} {
		for _, tokens := range [][2]string{{"first", "second"}, {"", "second"}, {"first", ""}} {
			o := modernClient
			o.wire = wire
			c := h.connect(t, o)
			meta := func(token string) string {
				if token == "" {
					return ""
				}
				return `"progressToken":"` + token + `"`
			}
			p := c.begin("tools/call", callParams("a__ask", `{"steps":3}`), meta(tokens[0])).parked()
			wantSaid(t, p.retryWith(state(t, p.asking), p.accepted(), meta(tokens[1])).wait())
			want := 0
			if tokens[1] != "" {
				want = 3
			}
			if got := c.notifications(`"progressToken":"second"`); len(got) != want || len(c.notifications("progress")) != want {
				t.Errorf("tokens %q over %s: heard %v", tokens, wire, c.notifications(""))
			}
		}
	}
}

// TestALargeParkTakesRoom: what waits in memory counts as in flight.
func TestALargeParkTakesRoom(t *testing.T) {
	t.Parallel()
	h, _ := parkHouse(t)
	for _, wire := range []string{overHTTP, overStdio} {
		o := modernClient
		o.wire = wire
		c := h.connect(t, o)
		const size = 512 << 10
		p := c.park("a__ask", fmt.Sprintf(`{"message":%q}`, strings.Repeat("x", size)))
		var taken float64
		testkit.Eventually(t, func() bool {
			_, _ = fmt.Sscan(h.metric("genkan_bytes_in_flight"), &taken)
			return taken >= size && taken < 2*size+1<<20
		}, "what is parked over %s is counted", wire)
		p.comeBack().wait()
		h.settled(t)
	}
}
