package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"genkan/internal/gateway"
)

// asRead compares what was read, and not how it was written.
var asRead = cmpopts.IgnoreFields(Server{}, "Definition")

// A server that is kept beside the file is read as one in it: the same keys, the
// same checks, all problems at once.
func TestCheckServer(t *testing.T) {
	from := Sources{
		Env:    func(name string) (string, bool) { return "from env", name == "SET" },
		Secret: func(name string) (gateway.Secret, bool, error) { return "kept", name == "key", nil },
	}
	for name, c := range map[string]struct {
		server, definition string
		field              string
		has                []string
	}{
		"a process":          {server: "one", definition: `{"command":"npx","args":["-y","x"],"env":{"A":"${secret:key}","B":"${SET}"},"timeout":1000}`},
		"an endpoint":        {server: "one", definition: `{"url":"https://example.com/mcp","type":"sse","oauth":false,"tools":{"deny":["a*"]}}`},
		"something missing":  {server: "one", definition: `{"command":"npx","env":{"A":"${secret:other}"}}`},
		"no name":            {definition: `{"command":"npx"}`, field: "name", has: []string{"name is required"}},
		"an odd name":        {server: "My Server", definition: `{}`, field: "name", has: []string{`how about "my-server"?`}},
		"nothing":            {server: "one", definition: `{}`, has: []string{"one needs a command"}},
		"a list":             {server: "one", definition: `[]`, has: []string{"one must be a map, found a list"}},
		"no JSON":            {server: "one", definition: `{"command":`, has: []string{"not valid JSON"}},
		"YAML":               {server: "one", definition: `{command: npx}`, has: []string{"not valid JSON"}},
		"an unknown key":     {server: "one", definition: `{"command":"npx","arg":[]}`, field: "arg", has: []string{`unknown key "arg" in one; did you mean "args"?`}},
		"a wrong type":       {server: "one", definition: `{"command":"npx","args":["a",1]}`, field: "args[1]", has: []string{"one.args[1] must be text"}},
		"a wrong value":      {server: "one", definition: `{"command":"npx","env":{"A":"${secret:a b}"}}`, field: "env.A"},
		"a misspelt key":     {server: "one", definition: `{"comand":"npx"}`, field: "comand", has: []string{"one needs a command", "did you mean"}},
		"deep":               {server: "one", definition: `{"url":"https://x","oauth":{"scopes":["a b"]}}`, field: "oauth.scopes[0]"},
		"both":               {server: "one", definition: `{"command":"npx","url":"https://x"}`, field: "url", has: []string{"has both command and url"}},
		"a password":         {server: "one", definition: `{"url":"https://me:canary@x/"}`, field: "url", has: []string{"cannot hold a user name"}},
		"all of it at once":  {server: "one", definition: `{"command":1,"colour":"red","disabled":"no"}`, field: "command", has: []string{"command must be", "colour", "disabled must be"}},
		"with the name":      {server: "My Server", definition: `{"command":1,"disabled":"no"}`, field: "name", has: []string{`how about "my-server"?`, "command must be", "disabled must be"}},
		"without a name":     {definition: `{"comand":"npx"}`, field: "name", has: []string{"name is required", `did you mean "command"?`}},
		"the same key twice": {server: "one", definition: `{"command":"a","command":"b"}`, field: "command", has: []string{"duplicate key"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := CheckServer(c.server, []byte(c.definition), from)
			if err == nil {
				if c.has != nil || c.field != "" {
					t.Fatal("it was taken")
				}
				if !json.Valid([]byte(s.Definition.Reveal())) || s.Name != c.server || s.Prefix != c.server || s.Schemas != SchemasPlain {
					t.Errorf("got %v, written %s", s, s.Definition.Reveal())
				}
				return
			}
			e := gateway.AsError(err)
			if e.Code != gateway.CodeInvalid || e.Field != c.field || c.has == nil && c.field == "" {
				t.Errorf("%v with the field %q: %s", e.Code, e.Field, e.Text())
			}
			for _, part := range c.has {
				if !strings.Contains(e.Text(), part) {
					t.Errorf("lacks %q: %s", part, e.Text())
				}
			}
			if strings.Contains(e.Text(), "canary") {
				t.Errorf("it shows a secret: %s", e.Text())
			}
		})
	}
}

// Kept servers follow those of the file and are never in their way.
func TestKeptServers(t *testing.T) {
	from := Sources{Stored: []StoredServer{
		{Name: "kept", Definition: []byte(`{"command":"npx","timeout":"5s"}`)},
		{Name: "one", Definition: []byte(`{"command":"shadowed"}`)},
		{Name: "alike", Definition: []byte(`{"command":"npx","prefix":"uno"}`)},
		{Name: "off", Definition: []byte(`{"command":"npx","prefix":"uno","disabled":true}`)},
		{Name: "broken", Definition: []byte(`{"comand":"npx"}`)},
	}}
	file := "mcpServers: {one: {command: uvx, prefix: uno}}\nprofiles: {small: {servers: [kept, broken]}}\nschemas: original\n"
	c, err := Parse([]byte(file), "genkan.yaml", from, Flags{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Servers {
		kind := "file"
		if s.Stored {
			kind = "kept"
		}
		got = append(got, s.Name+" "+kind+" "+s.Command+" "+s.Schemas)
	}
	if diff := cmp.Diff([]string{"one file uvx original", "kept kept npx original", "off kept npx original"}, got); diff != "" {
		t.Error(diff)
	}
	got = nil
	for _, s := range c.Rejected {
		got = append(got, s.Name+": "+s.Reason.String())
	}
	if diff := cmp.Diff([]string{
		"one: the configuration file declares a server of this name, which is used in its place",
		`alike: it has the prefix "uno", as one has; their tools would be confused, so give one of them another prefix`,
		"broken: broken needs a command (a process to start) or a url (a remote server to call)\nunknown key \"comand\" in broken; did you mean \"command\"?",
	}, got); diff != "" {
		t.Error(diff)
	}
	if c.Servers[0].Definition.Reveal() != `{"command":"uvx","prefix":"uno"}` {
		t.Errorf("written: %s", c.Servers[0].Definition.Reveal())
	}
}

// A form shows a problem at its field, where the words of the file mean nothing.
func TestProblemsOfFields(t *testing.T) {
	_, settings := CheckSettings([]byte(`{"record": {"days": "many"}, "rateLimit": {"max": 1, "timeWindow": "soon"}, "budget": "all",
		"n8n": [{"name": "a", "url": "http://a", "apiKey": "x"}, {"name": "a", "url": "b", "apiKey": "x"}]}`), Sources{})
	_, server := CheckServer("docs", []byte(`{"url": "docs"}`), Sources{})
	got := map[string]string{}
	for _, err := range []error{settings, server} {
		for _, p := range gateway.AsError(err).Problems {
			got[p.Field] = p.Text.String()
		}
	}
	want := map[string]string{
		"record.days":          "record.days must be a whole number from 1 to 3650",
		"rateLimit.timeWindow": `rateLimit.timeWindow must be a duration such as "30s" or "10m"`,
		"budget":               "budget must be a number of tokens in digits, 500 or more",
		"n8n[1].name":          `n8n[1].name is "a", as that of another; give each instance its own name`,
		"n8n[1].url":           "n8n[1].url must begin with http:// or https://",
		"url":                  "url must begin with http:// or https://",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
