package mcpserver_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"genkan/internal/testkit"
)

// foundTools reads the answer of search_tools.
func foundTools(t *testing.T, answer string) (ids []string, noMatch bool) {
	t.Helper()
	var m struct {
		Result struct {
			StructuredContent struct {
				Results []struct{ ID, CallWith string }
				NoMatch bool `json:"no_match"`
			}
		}
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	for _, r := range m.Result.StructuredContent.Results {
		ids = append(ids, r.ID)
	}
	return ids, m.Result.StructuredContent.NoMatch
}

// TestSearchMode: a client that wants a guide sees four tools, finds the others
// with them, and calls them as if they were its own.
func TestSearchMode(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy"), "b": sibling(t, "-everything", "-era", "modern")})
	h.waitForServer("a")
	h.waitForServer("b")
	for _, o := range []clientOptions{
		{era: legacyEra, wire: overHTTP, query: "?mode=search", capabilities: canBeAsked, answer: accept},
		{era: modernEra, wire: overHTTP, query: "?mode=search", capabilities: canBeAsked, answer: accept},
	} {
		t.Run(o.era, func(t *testing.T) {
			c := h.connect(t, o)
			want := []string{"search_tools", "describe_tool", "call_read_tool", "call_tool", "read_result"}
			if got := names(t, c.do("tools/list", ""), "tools", "name"); !slices.Equal(got, want) {
				t.Fatalf("the client sees %v", got)
			}
			if list := c.do("tools/list", ""); !strings.Contains(list, "(a, b)") || !strings.Contains(list, `"anthropic/alwaysLoad":true`) {
				t.Errorf("the list is %s", list)
			}
			// A modern client requires the type of a result, also of built-in tools.
			if answer := c.call("search_tools", `{"query":"echo"}`); strings.Contains(answer, `"resultType":"complete"`) != (o.era == modernEra) {
				t.Errorf("the type of the result: %s", answer)
			}
			// Prompts and resources stay.
			if got := names(t, c.do("prompts/list", ""), "prompts", "name"); !slices.Contains(got, "a__greet") {
				t.Errorf("prompts: %v", got)
			}
			ids, noMatch := foundTools(t, c.call("search_tools", `{"query":"return the given text unchanged"}`))
			if noMatch || len(ids) == 0 || !strings.HasSuffix(ids[0], "__echo") {
				t.Errorf("found %v", ids)
			}
			if answer := c.call("search_tools", `{"query":"Returning the texts unchanged"}`); !strings.Contains(answer, `"matched":["returning","texts"`) {
				t.Errorf("it does not say what matched: %s", answer)
			}
			if ids, noMatch := foundTools(t, c.call("search_tools", `{"query":"zzqx vlurb"}`)); !noMatch || len(ids) != 0 {
				t.Errorf("nonsense finds %v", ids)
			}
			if ids, _ := foundTools(t, c.call("search_tools", `{"query":"echo","server":"b","limit":20}`)); len(ids) == 0 || strings.Contains(strings.Join(ids, " "), "a__") {
				t.Errorf("of one server: %v", ids)
			}
			if got := c.mustSay("call_read_tool", `{"name":"a__echo","arguments":{"text":"x"}}`); got != "x" {
				t.Errorf("echo says %s", got)
			}
			// Some agents write JSON into a text.
			if got := c.mustSay("call_tool", `{"name":"b__echo","arguments":"{\"text\":\"y\"}"}`); got != "y" {
				t.Errorf("echo says %s", got)
			}
			// A question of the server's reaches the client that called.
			if got := c.mustSay("call_tool", `{"name":"a__ask","arguments":{}}`); !strings.Contains(got, "Hana") {
				t.Errorf("ask says %s", got)
			}
			for arguments, words := range map[string]string{
				`{"name":"a__ask","arguments":{}}`: "call_tool",
				`{"name":"nosuch"}`:                "Unknown tool: nosuch",
				`{"name":"b__ehco"}`:               "Did you mean b__echo? search_tools finds ids",
				`{"name":"greet_ask"}`:             "Find its id with search_tools",
				`{"name":"ask"}`:                   "Did you mean a__ask?",
				`{"name":"search_tools"}`:          "Unknown tool",
			} {
				if answer := c.call("call_read_tool", arguments); !strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, words) {
					t.Errorf("%s is answered with %s", arguments, answer)
				}
			}
			if answer := c.call("call_tool", `{"arguments":{}}`); !strings.Contains(answer, "name is missing") {
				t.Errorf("without a name: %s", answer)
			}
			// Long input of a client is not repeated to it.
			long := strings.Repeat("x", 100_000)
			for arguments, words := range map[string]string{
				`{"query":"` + long + `"}`:                 "query and about must not be longer than 8192 bytes",
				`{"query":"echo","about":"` + long + `"}`:  "query and about must not be longer than 8192 bytes",
				`{"query":"echo","server":"` + long + `"}`: "there is no server",
			} {
				if answer := c.call("search_tools", arguments); len(answer) > 2000 || !strings.Contains(answer, words) {
					t.Errorf("%.40s is answered with %d bytes: %.300s", arguments, len(answer), answer)
				}
			}
			for _, tool := range []string{"describe_tool", "call_tool", "call_read_tool"} {
				if answer := c.call(tool, `{"name":"`+long+`"}`); len(answer) > 2000 || !strings.Contains(answer, "Unknown tool: xxx") {
					t.Errorf("%s with a long name is answered with %d bytes: %.300s", tool, len(answer), answer)
				}
			}
			if answer := c.do("tools/"+long[:4000], ""); len(answer) > 2000 {
				t.Errorf("a long method is answered with %d bytes: %.300s", len(answer), answer)
			}
			if answer := c.call("describe_tool", `{"name":"a__echo"}`); !strings.Contains(answer, "inputSchema") || !strings.Contains(answer, "call_read_tool") {
				t.Errorf("described as %s", answer)
			}
			// A tool that the client cannot see cannot be called directly.
			if answer := c.call("a__echo", `{"text":"x"}`); errorCode(answer) != -32602 {
				t.Errorf("a hidden tool is answered with %s", answer)
			}
		})
	}
	// The memory that a call of call_tool has reserved is released with its answer.
	testkit.Eventually(t, func() bool { return h.gauge("genkan_bytes_in_flight") == 0 }, "the memory of the calls is given back")
	t.Run("a server that is not there", func(t *testing.T) {
		h.reload(servers{"a": child(t, "-everything", "-era", "legacy"), "b": sibling(t, "-everything", "-era", "modern"), "gone": {"command": "no-such-command-anywhere"}})
		defer h.reload(servers{"a": child(t, "-everything", "-era", "legacy"), "b": sibling(t, "-everything", "-era", "modern")})
		c := h.connect(t, clientOptions{era: modernEra, wire: overHTTP, query: "?mode=search"})
		for _, ask := range [][2]string{
			{"search_tools", `{"query":"echo","server":"gone"}`},
			{"describe_tool", `{"name":"gone__echo"}`},
			{"call_tool", `{"name":"gone__echo"}`},
		} {
			testkit.Eventually(t, func() bool {
				return strings.Contains(c.call(ask[0], ask[1]), "Server gone is down and has not listed any tools yet: its command")
			}, "%s says that the server is down", ask[0])
		}
		if answer := c.call("search_tools", `{"query":"echo","server":"c"}`); !strings.Contains(answer, `there is no server \"c\" here; the connected servers are a, b, gone`) {
			t.Errorf("a server that is none: %s", answer)
		}
	})
	t.Run("one server", func(t *testing.T) {
		c := h.connect(t, clientOptions{era: modernEra, wire: overHTTP, view: "a", query: "?mode=search"})
		if got := c.mustSay("call_read_tool", `{"name":"echo","arguments":{"text":"x"}}`); got != "x" {
			t.Errorf("echo says %s", got)
		}
	})
	t.Run("the index follows", func(t *testing.T) {
		c := h.connect(t, clientOptions{era: modernEra, wire: overHTTP, query: "?mode=search"})
		h.reload(servers{"b": sibling(t, "-everything", "-era", "modern")})
		if ids, _ := foundTools(t, c.call("search_tools", `{"query":"echo","limit":20}`)); strings.Contains(strings.Join(ids, " "), "a__") {
			t.Errorf("a server that is gone is found: %v", ids)
		}
	})
}

// TestSearchModeLearns: what a client calls after a search is what it finds first
// with the same words the next time, whatever era it speaks.
func TestSearchModeLearns(t *testing.T) {
	t.Parallel()
	h := openHouse(t, servers{"a": child(t, "-everything", "-era", "legacy")})
	h.waitForServer("a")
	for _, o := range []clientOptions{
		{era: legacyEra, wire: overHTTP, query: "?mode=search"},
		{era: modernEra, wire: overHTTP, query: "?mode=search"},
	} {
		t.Run(o.era, func(t *testing.T) {
			c := h.connect(t, o)
			words := map[string]string{legacyEra: "parrot", modernEra: "macaw"}[o.era]
			if ids, _ := foundTools(t, c.call("search_tools", `{"query":"`+words+`"}`)); len(ids) != 0 {
				t.Fatalf("%s finds %v before anything was learned", words, ids)
			}
			ids, _ := foundTools(t, c.call("search_tools", `{"query":"`+words+` text","limit":20}`))
			if !slices.Contains(ids, "a__echo") {
				t.Fatalf("found %v", ids)
			}
			c.mustSay("call_read_tool", `{"name":"a__echo","arguments":{"text":"x"}}`)
			testkit.Eventually(t, func() bool {
				ids, _ := foundTools(t, c.call("search_tools", `{"query":"`+words+`"}`))
				return len(ids) == 1 && ids[0] == "a__echo"
			}, "it is found by the words that it was looked for with")
		})
	}
}
