//go:build linux

package upstream

import (
	"strings"
	"testing"
	"time"

	"genkan/internal/gateway"
	"genkan/internal/testkit"
)

// readsOn is the end of a script that is no server and waits.
const readsOn = `while read -r line; do :; done`

// A server that takes its time, or is none, says so while it starts: since
// when, what is waited for, and what it printed last.
func TestWhatAStartingServerIsDoing(t *testing.T) {
	for name, test := range map[string]struct {
		set           Settings
		problem, line string
	}{
		"no MCP server": {
			shell(`echo "Password for ann: " >&2; ` + readsOn),
			"s ago, has not answered `initialize` yet", "Password for ann:",
		},
		"talks on its output":     {shell(`echo "Usage: server [options]"; ` + readsOn), "has not answered `initialize` yet", "Usage: server [options]"},
		"says nothing":            {shell(readsOn), "has not answered `initialize` yet", ""},
		"does not list its tools": {faultChild(t, "-mode", "hang-list"), "has not listed its tools yet", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := open(t, test.set)
			testkit.Eventually(t, func() bool {
				st := u.Status()
				return st.State == StateStarting && strings.HasPrefix(st.Problem.String(), "started ") &&
					strings.HasSuffix(st.Problem.String(), test.problem) && st.LastLine == test.line
			}, "it says what it is doing")
		})
	}
}

// The same goes for later tries, beside what was wrong with the former.
func TestWhatAServerIsDoingWhenTriedAgain(t *testing.T) {
	t.Parallel()
	u := open(t, shell(readsOn), withStartup(500*time.Millisecond))
	testkit.Eventually(t, func() bool {
		st := u.Status()
		return st.State == StateDown && st.Starts == 2 && strings.HasPrefix(st.Problem.String(),
			"it did not finish starting within 500ms (startupTimeout): it has not answered `initialize`; is it an MCP server?; tried again: started ")
	}, "both are said")
}

// A reader of the output gets its words, not what a terminal would do with the rest.
func TestTheOutputHasNoTerminalCodes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\x1b[31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m\n":           "red and blue\n",
		"\x1b[2K\x1b[1Gdone\x1b[?25h":                                "done",
		"\x1b]0;a title\atext":                                       "text",
		"\x1b]8;;https://example.com\x1b\\a link\x1b]8;;\x1b\\ here": "a link here",
		"\x1b]0;a title that is cut\nthe next line":                  "\nthe next line",
		"cut \x1b[31":                                             "cut ",
		"cut \x1b[38;5\nthe next line":                            "cut \nthe next line",
		"\x1b(Bplain\x1b7\x1bM":                                   "plain",
		"\x1bP1$r0m\x1b\\after":                                   "after",
		"a secret \x1b[1mhun\x1b[0mter2":                          "a secret hunter2",
		"[31m is text, as are \u202e and \xff; so is a last \x1b": "[31m is text, as are \u202e and \xff; so is a last \x1b",
		"two\r\nlines\twith a tab and 日本語":                        "two\r\nlines\twith a tab and 日本語",
	} {
		r := &ring{}
		_, _ = r.Write([]byte(text))
		if got := r.String(); got != want {
			t.Errorf("of %q: %q", text, got)
		}
	}
}

// The log has a line at each start, which is not among the server's own.
func TestTheLogTellsStarts(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 19, 12, 3, 4, 0, time.Local)
	say := func(text gateway.Text) string { return text.String() }
	r := &ring{}
	r.started(at)
	if got := r.log(say); got != "" {
		t.Errorf("nothing was printed: %q", got)
	}
	for i, text := range []string{"\x1b[31mError: no\x1b[0m\n", "Error: cut", "", "Error: again\n"} {
		r.started(at.Add(time.Duration(i) * time.Second))
		_, _ = r.Write([]byte(text))
	}
	want := "--- started 12:03:04 ---\nError: no\n--- started 12:03:05 ---\nError: cut\n--- started 12:03:07 ---\nError: again\n"
	if got := r.log(say); got != want {
		t.Errorf("got %q", got)
	}
	if got := r.String(); got != "Error: no\nError: cutError: again\n" {
		t.Errorf("the server's words are %q", got)
	}
	r.started(at)
	if got := r.lastLine(); strings.Contains(got, "started") {
		t.Errorf("the last line is %q", got)
	}
	for range 3 { // what was dropped takes its start along
		_, _ = r.Write([]byte(strings.Repeat("x", ringSize/2)))
		r.started(at)
	}
	if got := r.log(say); strings.Count(got, "--- started") != 3 || strings.Contains(got, "Error") || len(r.starts) != 3 {
		t.Errorf("%d starts in %d bytes", len(r.starts), len(got))
	}
	_, _ = r.Write([]byte(strings.Repeat("y", 3*ringSize)))
	if got := r.log(say); got != "--- started 12:03:04 ---\n"+strings.Repeat("y", ringSize) {
		t.Errorf("%d bytes", len(got))
	}
}

func TestTheLastLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"one\ntwo\n":                    "two",
		"one\r\ntwo\r\n\r\n  \n":        "two",
		"progress 1%\rprogress 2%\r":    "progress 2%",
		"no line break":                 "no line break",
		"\x1b[31mred\x1b[0m\n":          "red",
		"a\tb \n":                       "a b",
		"bad \xff bytes":                "bad ? bytes",
		strings.Repeat("x", 300) + "\n": strings.Repeat("x", 200) + "…",
		// Node ends with its version, npm with its log; what is wrong stands above.
		"node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module '/x.js'\n    at Module._load (y:1:2) {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n": "Error: Cannot find module '/x.js'",
		"TypeError [ERR_X]: bad key: z\n    at a:1\n\nNode.js v22.1.0\n":              "TypeError [ERR_X]: bad key: z",
		"Error: of the process before\n\nNode.js v20.0.0\nhello\n\nNode.js v20.0.0\n": "Node.js v20.0.0",
		"npm warn exec x\nnpm error code E404\nnpm error 404 Not Found - GET https://registry.example.com/nothing\nnpm error 404\nnpm error 404 Note that you can also install from a\nnpm error 404 tarball, folder, http url, or git folder.\nnpm error A complete log of this run can be found in: /l\n": "npm error 404 Not Found - GET https://registry.example.com/nothing",
		"npm ERR! A complete log of this run can be found in: /l\n": "npm ERR! A complete log of this run can be found in: /l",
	} {
		r := &ring{}
		_, _ = r.Write([]byte(text))
		if got := r.lastLine(); got != want {
			t.Errorf("of %q: %q", text, got)
		}
	}
}
