package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// logs has a tool log at a level and returns what its client heard of it, which
// stands before the answer.
func (c *client) logs(server, level, meta string) []string {
	c.tb.Helper()
	c.forget()
	answer := c.begin("tools/call", callParams(server+"__log", fmt.Sprintf(`{"level":%q,"text":"it is so"}`, level)), meta).finish()
	if text(answer) == "" {
		c.tb.Fatalf("log is answered with %s", answer)
	}
	return c.notifications("notifications/message")
}

// TestLogging: a client hears what it asked for, and not more.
func TestLogging(t *testing.T) {
	t.Parallel()
	everyPairing(t, clientOptions{}, func(t *testing.T, c *client, server string) {
		meta := ""
		if c.era == modernEra {
			if got := c.logs(server, "emergency", ""); len(got) > 0 {
				t.Errorf("a modern client that did not ask hears %v", got)
			}
			meta = `"io.modelcontextprotocol/logLevel":"warning"`
		} else if answer := c.do("logging/setLevel", `"level":"warning"`); !strings.Contains(answer, `"result":{}`) {
			t.Errorf("setLevel is answered with %s", answer)
		}
		for level, want := range map[string]int{"debug": 0, "notice": 0, "warning": 1, "emergency": 1} {
			// A server is told the level of a legacy client beside its calls.
			testkit.Eventually(t, func() bool { return len(c.logs(server, level, meta)) == want }, "of %s %d are heard", level, want)
		}
		if got := c.logs(server, "error", meta); len(got) != 1 || !strings.Contains(got[0], `"data":"it is so"`) || !strings.Contains(got[0], `"level":"error"`) {
			t.Errorf("heard %v", got)
		}
		// Louder than the server's own choice.
		if c.era == modernEra {
			meta = `"io.modelcontextprotocol/logLevel":"debug"`
		} else {
			c.do("logging/setLevel", `"level":"debug"`)
		}
		testkit.Eventually(t, func() bool { return len(c.logs(server, "debug", meta)) == 1 }, "a client that wants it hears debug")
	})
}

// TestBadLogLevels: genkan itself refuses an invalid log level.
func TestBadLogLevels(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything")})
	for _, kind := range kinds() {
		c := h.connect(t, kind)
		for _, level := range []string{`"loud"`, `7`, `""`, `null`, `"DEBUG"`} {
			answer := ""
			if kind.era == legacyEra {
				answer = c.do("logging/setLevel", `"level":`+level)
			} else {
				answer = c.begin("tools/call", callParams("a__echo", `{"text":"x"}`), `"io.modelcontextprotocol/logLevel":`+level).wait()
			}
			if errorCode(answer) != -32602 || !strings.Contains(answer, "the log level must be") {
				t.Errorf("%s: level %s is answered with %s", kind, level, answer)
			}
		}
	}
}

// TestTheLoudestLevelGoesUpstream: a server that many share is as loud as the
// loudest wants, and everybody hears what they want.
func TestTheLoudestLevelGoesUpstream(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	flags := []string{"-everything", "-era", "legacy", "-record", record}
	h := openHouse(t, servers{"a": child(t, flags...)})
	loud := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP})
	quiet := h.connect(t, clientOptions{era: legacyEra, wire: overStdio})
	// Wishes that follow each other closely must not overtake each other.
	for _, level := range []string{"error", "info", "alert", "warning", "error", "notice", "emergency"} {
		quiet.do("logging/setLevel", `"level":"`+level+`"`)
	}
	loud.do("logging/setLevel", `"level":"debug"`)
	quiet.do("logging/setLevel", `"level":"critical"`)
	told := func() string {
		last := ""
		for _, line := range testkit.Lines(t, record) {
			if strings.Contains(line, "logging/setLevel") {
				last = line
			}
		}
		return last
	}
	checks := func(when string) {
		t.Helper()
		testkit.Eventually(t, func() bool { return len(loud.logs("a", "debug", "")) == 1 }, "%s, who wants it hears debug", when)
		if got := quiet.logs("a", "error", ""); len(got) != 0 {
			t.Errorf("%s, who wants critical hears %v", when, got)
		}
		if got := quiet.logs("a", "alert", ""); len(got) != 1 {
			t.Errorf("%s, who wants critical hears %v of alert", when, got)
		}
		if !strings.Contains(told(), `"debug"`) {
			t.Errorf("%s, the server was told last: %s", when, told())
		}
	}
	checks("at first")
	quiet.call("a__crash", `{}`)
	h.waitForServer("a")
	checks("after a restart of the server")
	h.reload(servers{"a": child(t, append(flags, "-ttl", "7")...)})
	h.waitForServer("a")
	checks("after the server was replaced")
}

// TestLogsOfOthers: logs of a shared child are sent to no client while calls of
// several clients are in flight.
func TestLogsOfOthers(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy", "-record", record)})
	one := h.connect(t, clientOptions{era: legacyEra, wire: overHTTP})
	two := h.connect(t, clientOptions{era: legacyEra, wire: overStdio})
	gate := newGate(t)
	held := two.beginCall("a__hold", fmt.Sprintf(`{"gate":%q}`, gate))
	testkit.Eventually(t, func() bool { return len(calls(t, record)) == 1 }, "a call is held")
	one.mustSay("a__log", `{"level":"error","text":"secret"}`)
	gate.open(t)
	held.wait()
	for _, c := range []*client{one, two} {
		if got := c.notifications("secret"); len(got) != 0 {
			t.Errorf("the %s hears %v", c.clientOptions, got)
		}
	}
	// Alone, it is one's own.
	if got := one.logs("a", "error", ""); len(got) != 1 {
		t.Errorf("heard %v", got)
	}
}

// TestAModernClientIsHeardByALegacyServer: its wish stands in each call, and a
// legacy server knows only the wishes of its connection.
func TestAModernClientIsHeardByALegacyServer(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]map[string]any{
		overStdio: child(t, "-everything", "-era", "legacy"), overHTTP: sibling(t, "-everything", "-era", "legacy"),
	} {
		t.Run(name, func(t *testing.T) {
			h := openHouse(t, servers{"a": server})
			c := h.connect(t, clientOptions{era: modernEra, wire: overHTTP})
			for _, level := range []string{"error", "debug", "alert"} {
				if got := c.logs("a", level, `"io.modelcontextprotocol/logLevel":"`+level+`"`); len(got) != 1 {
					t.Errorf("of %s it hears %v", level, got)
				}
			}
			if got := c.logs("a", "info", `"io.modelcontextprotocol/logLevel":"alert"`); len(got) != 0 {
				t.Errorf("a client that wants alerts hears %v", got)
			}
		})
	}
}
