package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// TestSubscriptions: a subscriber is notified once when its resource changes, and
// of no other resource.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	everyPairing(t, clientOptions{}, func(t *testing.T, c *client, server string) {
		unsubscribe := c.subscribe(server + "://text")
		c.mustSay(server+"__touch", fmt.Sprintf(`{"uri":"%s://blob"}`, server))
		c.mustSay(server+"__touch", fmt.Sprintf(`{"uri":"%s://text"}`, server))
		update := c.await("notifications/resources/updated")
		if !strings.Contains(update, fmt.Sprintf(`"uri":"%s://text"`, server)) {
			t.Errorf("told %s", update)
		}
		if tagged := strings.Contains(update, "subscriptionId"); tagged != (c.era == modernEra) {
			t.Errorf("told %s", update)
		}
		c.forget()
		unsubscribe()
		// Subscribed again at once, it holds: what ends the former must not end
		// this one.
		again := c.subscribe(server + "://text")
		c.mustSay(server+"__touch", fmt.Sprintf(`{"uri":"%s://text"}`, server))
		c.await("notifications/resources/updated")
		again()
	})
}

// TestUnsubscribing: a later update reaches no client, and the server is told.
func TestUnsubscribing(t *testing.T) {
	t.Parallel()
	for i, era := range []string{legacyEra, modernEra} {
		for j, wire := range []string{overHTTP, overStdio} {
			for k, upstream := range []string{legacyEra, modernEra} {
				if !testkit.OneIn(2, i, j, k) {
					continue
				}
				t.Run(era+" over "+wire+" of "+upstream, func(t *testing.T) {
					record := recordFile(t)
					h := openHouse(t, servers{"a": child(t, "-everything", "-era", upstream, "-record", record)})
					c := h.connect(t, clientOptions{era: era, wire: wire})
					unsubscribe := c.subscribe("fault://text")
					other := c.subscribe("fault://blob")
					unsubscribe()
					ended := "resources/unsubscribe"
					if upstream == modernEra {
						ended = "notifications/cancelled"
					}
					testkit.Eventually(t, func() bool { return countLines(t, record, ended) > 0 }, "the server is told")
					c.mustSay("a__touch", `{"uri":"fault://text"}`)
					c.mustSay("a__touch", `{"uri":"fault://blob"}`)
					if update := c.await("notifications/resources/updated"); !strings.Contains(update, "fault://blob") {
						t.Errorf("told %s", update)
					}
					other()
				})
			}
		}
	}
}

// TestOneSubscriptionForAll: a server gets one subscription for a resource, however
// many clients subscribe, and an unsubscribe after the last one.
func TestOneSubscriptionForAll(t *testing.T) {
	t.Parallel()
	for _, upstream := range []string{legacyEra, modernEra} {
		t.Run(upstream, func(t *testing.T) {
			record := recordFile(t)
			h := openHouse(t, servers{"a": child(t, "-everything", "-era", upstream, "-record", record)})
			subscribed, ended := `"method":"resources/subscribe"`, `"method":"resources/unsubscribe"`
			if upstream == modernEra {
				subscribed, ended = `"resourceSubscriptions"`, `"method":"notifications/cancelled"`
			}
			var clients []*client
			var stops []func()
			for _, kind := range kinds() {
				c := h.connect(t, kind)
				clients, stops = append(clients, c), append(stops, c.subscribe("fault://text"))
				c.subscribe("fault://text") // a second time is no matter
			}
			clients[0].mustSay("a__touch", `{"uri":"fault://text"}`)
			for _, c := range clients {
				c.await("notifications/resources/updated")
			}
			if got := countLines(t, record, subscribed); got != 1 {
				t.Errorf("the server was asked %d times", got)
			}
			// One leaves by a word, one by ending its session, one by hanging up.
			stops[0]()
			for _, c := range clients[1:3] {
				if err := c.conn.Close(); err != nil {
					t.Error(err)
				}
			}
			clients[3].forget()
			clients[3].mustSay("a__touch", `{"uri":"fault://text"}`)
			clients[3].await("notifications/resources/updated")
			if got := countLines(t, record, ended); got != 0 {
				t.Errorf("the server was told that nobody wants it, and somebody does")
			}
			if err := clients[3].conn.Close(); err != nil {
				t.Error(err)
			}
			testkit.Eventually(t, func() bool { return countLines(t, record, ended) == 1 }, "the server is told that nobody wants it")
		})
	}
}

// TestSubscriptionsAreRenewed: a server that died, or was replaced by a reload,
// is asked again without a word of the client's. What may have changed
// meanwhile is told.
func TestSubscriptionsAreRenewed(t *testing.T) {
	t.Parallel()
	for i, upstream := range []string{legacyEra, modernEra} {
		for j, over := range []string{overHTTP, overStdio} {
			for k, how := range []string{"died", "was replaced", "left and came back"} {
				if !testkit.OneIn(2, i, j, k) {
					continue
				}
				t.Run(fmt.Sprintf("a %s server over %s that %s", upstream, over, how), func(t *testing.T) {
					t.Parallel()
					flags := []string{"-everything", "-era", upstream}
					var server map[string]any
					var running *testkit.FaultHTTP
					if over == overStdio {
						server = child(t, flags...)
					} else {
						running = testkit.NewFaultHTTP(t, flags...)
						server = map[string]any{"url": running.URL()}
					}
					h := openHouse(t, servers{"a": server})
					var clients []*client
					for _, kind := range kinds() {
						c := h.connect(t, kind)
						c.subscribe("fault://text")
						clients = append(clients, c)
					}
					switch {
					case how == "left and came back":
						h.reload(servers{})
						h.reload(servers{"a": server})
					case how == "was replaced" && over == overStdio:
						h.reload(servers{"a": child(t, append(flags, "-ttl", "7")...)})
					case how == "was replaced":
						h.reload(servers{"a": sibling(t, flags...)})
					case over == overStdio:
						clients[0].call("a__crash", `{}`)
					default:
						running.Restart()
						// No client is notified until a call is made.
						testkit.Eventually(t, func() bool { return errorCode(clients[0].call("a__echo", `{"text":"x"}`)) == 0 }, "the server answers again")
					}
					h.waitForServer("a")
					// A subscription that is being renewed is not in force yet, so
					// the resource is touched until it is.
					for _, c := range clients {
						c.forget()
						testkit.Eventually(t, func() bool {
							c.call("a__touch", `{"uri":"fault://text"}`)
							return len(c.notifications("notifications/resources/updated")) > 0
						}, "the %s hears of the resource again", c.clientOptions)
					}
				})
			}
		}
	}
}

// TestUpdatesWaitForAStream: a legacy client over HTTP whose stream broke hears
// on the next one what it missed.
func TestUpdatesWaitForAStream(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything")})
	session := h.initialize(h.token)
	h.send(legacy(session, "1", "resources/subscribe", `{"uri":"fault://text"}`)).want(t, 200, 0)
	h.send(legacyCall(session, "2", "a__touch", `{"uri":"fault://text"}`)).want(t, 200, 0)
	h.send(legacyCall(session, "3", "a__touch", `{"uri":"fault://blob"}`)).want(t, 200, 0)
	r := legacy(session, "", "", "")
	r.method, r.body = "GET", ""
	stream := h.open(r)
	if got := stream.next(); !strings.Contains(got, `"notifications/resources/updated","params":{"uri":"fault://text"}`) {
		t.Errorf("the stream begins with %s", got)
	}
}

// TestWhatCannotBeSubscribedTo says so, in the way of each era.
func TestWhatCannotBeSubscribedTo(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-scheme", "a"), "b": child(t)})
	c := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP, view: "b"})
	if answer := c.do("resources/subscribe", `"uri":"a://text"`); errorCode(answer) != -32602 || !strings.Contains(answer, "Resource not found") {
		t.Errorf("a legacy client is told %s", answer)
	}
	if answer := c.do("resources/subscribe", `"uri":7`); errorCode(answer) != -32602 {
		t.Errorf("a legacy client is told %s", answer)
	}
	if answer := c.do("resources/unsubscribe", `"uri":"a://text"`); !strings.Contains(answer, `"result":{}`) {
		t.Errorf("what was never subscribed to cannot be unsubscribed from: %s", answer)
	}
	m := h.connect(t, clientOptions{era: modernEra, wire: overHTTP, view: "b"})
	m.begin("subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a://text"]}`, "")
	if ack := m.await("acknowledged"); !strings.Contains(ack, `"notifications":{"toolsListChanged":true}`) {
		t.Errorf("a modern client is told %s", ack)
	}
	if answer := m.begin("subscriptions/listen", `"notifications":{"resourceSubscriptions":7}`, "").wait(); errorCode(answer) != -32602 {
		t.Errorf("a modern client is told %s", answer)
	}
}
