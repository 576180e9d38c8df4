package clients

import (
	"strings"
	"testing"

	"genkan/internal/gateway"
)

const ownYAML = `# My servers.
listen: 127.0.0.1:3000

mcpServers: # all of them
  # for issues
  jira:
    command: "npx" # from npm
    args: ["-y", 'jira # mcp'] # two
    env:
      # asked for in May
      TOKEN: ${secret:jira.TOKEN}
      REGION: eu   # or us
    timeout: 90s

  # the last one
  files: {command: "files"} # short

logLevel: info # at the end
`

// A change writes the keys that differ; comments and everything else stay.
func TestChangeOwnKeepsTheRest(t *testing.T) {
	t.Parallel()
	const jira = `{"command":"npx","args":["-y","jira # mcp"],"env":{"TOKEN":"${secret:jira.TOKEN}","REGION":"eu"},"timeout":"90s"}`
	for name, c := range map[string]struct {
		src, server, was, want string
		replaced               []string // pairs of a part before and after
	}{
		"nothing":                {ownYAML, "jira", jira, jira, nil},
		"switched off":           {ownYAML, "jira", jira, strings.Replace(jira, `"timeout":"90s"`, `"timeout":"90s","disabled":true`, 1), []string{"timeout: 90s\n", "timeout: 90s\n    disabled: true\n"}},
		"a text":                 {ownYAML, "jira", jira, strings.Replace(jira, `"npx"`, `"bunx"`, 1), []string{`command: "npx" # from npm`, `command: "bunx" # from npm`}},
		"a list":                 {ownYAML, "jira", jira, strings.Replace(jira, `"-y",`, ``, 1), []string{`args: ["-y", 'jira # mcp'] # two`, "args: # two\n      - \"jira # mcp\""}},
		"one variable":           {ownYAML, "jira", jira, strings.Replace(jira, `"REGION":"eu"`, `"REGION":"us"`, 1), []string{"REGION: eu   # or us", `REGION: "us" # or us`}},
		"a variable less":        {ownYAML, "jira", jira, strings.Replace(jira, `,"REGION":"eu"`, ``, 1), []string{"      REGION: eu   # or us\n", ""}},
		"a key less":             {ownYAML, "jira", jira, strings.Replace(jira, `,"timeout":"90s"`, ``, 1), []string{"    timeout: 90s\n", ""}},
		"one in brackets":        {ownYAML, "files", `{"command":"files"}`, `{"command":"files","disabled":true}`, []string{`files: {command: "files"} # short`, "files: # short\n    command: \"files\"\n    disabled: true"}},
		"removed":                {ownYAML, "files", `{"command":"files"}`, ``, []string{"  files: {command: \"files\"} # short\n", ""}},
		"the only one":           {"mcpServers: # all\n  a:\n    command: x\n# end\n", "a", `{"command":"x"}`, ``, []string{"mcpServers: # all\n  a:\n    command: x\n", "mcpServers: {} # all\n"}},
		"without an end of line": {"mcpServers:\n  a:\n    command: x", "a", `{"command":"x"}`, `{"command":"x","disabled":true}`, []string{"command: x", "command: x\n    disabled: true\n"}},
		"carriage returns":       {"mcpServers:\r\n  a:\r\n    command: x\r\n", "a", `{"command":"x"}`, `{"command":"x","disabled":true}`, []string{"command: x\r\n", "command: x\r\n    disabled: true\r\n"}},
		"JSON":                   {"{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"b\": {\"command\": \"y\", \"env\": {\"A\": \"1\"}} // b\n  }\n}\n", "b", `{"command":"y","env":{"A":"1"}}`, `{"command":"y","env":{"A":"2"},"disabled":true}`, []string{`"A": "1"}}`, `"A": "2"}, "disabled": true}`}},
		"JSON removed":           {`{"mcpServers": {"a": {"command": "x"}}}`, "a", `{"command":"x"}`, ``, []string{`"a": {"command": "x"}`, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []byte
			if c.want != "" {
				want = []byte(c.want)
			}
			got, err := ChangeOwn("genkan.yaml", []byte(c.src), c.server, []byte(c.was), want)
			if err != nil {
				t.Fatal(err)
			}
			expected := c.src
			if c.replaced != nil {
				if strings.Count(c.src, c.replaced[0]) != 1 {
					t.Fatalf("%q is not in the file once", c.replaced[0])
				}
				expected = strings.Replace(c.src, c.replaced[0], c.replaced[1], 1)
			}
			if string(got) != expected {
				t.Errorf("got:\n%s\nwant:\n%s", got, expected)
			}
		})
	}
}

// The order of the patterns of tools.options has a meaning, so it is written.
func TestChangeOwnKeepsTheOrderOfOptions(t *testing.T) {
	t.Parallel()
	const src = "mcpServers:\n  a:\n    command: x\n    tools:\n      options:\n        get_*: {retry: 1}\n        \"*\": {retry: 2}\n"
	const was = `{"command":"x","tools":{"options":{"get_*":{"retry":1},"*":{"retry":2}}}}`
	const want = `{"command":"x","tools":{"options":{"*":{"retry":2},"get_*":{"retry":1}}}}`
	got, err := ChangeOwn("genkan.yaml", []byte(src), "a", []byte(was), []byte(want))
	if err != nil || strings.Index(string(got), `"*"`) > strings.Index(string(got), "get_") {
		t.Errorf("%v\n%s", err, got)
	}
}

// What cannot be edited is refused with its line.
func TestChangeOwnRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, message string }{
		"all in brackets": {"# x\nmcpServers: {a: {command: x}}\n", "genkan.yaml:2:"},
		"not there":       {"mcpServers:\n  b:\n    command: x\n", "does not declare server a any more"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ChangeOwn("genkan.yaml", []byte(c.src), "a", []byte(`{"command":"x"}`), nil)
			if e := gateway.AsError(err); e == nil || !strings.Contains(e.Error(), c.message) {
				t.Errorf("got %v", err)
			}
		})
	}
	if line := OwnLines("genkan.yaml", []byte(ownYAML))["files"]; line != 16 {
		t.Errorf("files is declared in line %d", line)
	}
}
