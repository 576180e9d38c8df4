//go:build linux

package upstream

import (
	"strings"
	"testing"
	"time"

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

func TestTheLastLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"one\ntwo\n":                    "two",
		"one\r\ntwo\r\n\r\n  \n":        "two",
		"progress 1%\rprogress 2%\r":    "progress 2%",
		"no line break":                 "no line break",
		"\x1b[31mred\x1b[0m\n":          "[31mred[0m",
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
