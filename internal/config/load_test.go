package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"genkan/internal/gateway"
)

func defaults() *Config {
	return &Config{Listen: "127.0.0.1:3000", LogLevel: "info", Lang: "en", LoginShell: true, Learn: true, Record: usualRecord}
}

func stdio(name, command string, args ...string) Server {
	return Server{
		Name: name, Command: command, Args: args, Prefix: name, Isolation: "auto", Schemas: "plain",
		Timeout: 10 * time.Minute, StartupTimeout: 180 * time.Second,
	}
}

// Every way to write the file, and what it means.
func TestFile(t *testing.T) {
	t.Parallel()
	with := func(change func(*Config)) *Config {
		c := defaults()
		change(c)
		return c
	}
	github := with(func(c *Config) { c.Servers = []Server{stdio("github", "npx", "-y", "server")} })
	for _, tt := range []struct {
		name, text string
		want       *Config
	}{
		{"empty", "", defaults()},
		{"white space", " \t\r\n\n", defaults()},
		{"only comments", "# nothing\n\n# at all\n", defaults()},
		{"null", "null", defaults()},
		{"document start", "---\n# nothing\n", defaults()},
		{"empty JSON", "{}", defaults()},
		{"no servers yet", "mcpServers:\n", defaults()},
		{"YAML", "mcpServers:\n  github:\n    command: npx\n    args: [-y, server]\n", github},
		{"YAML with comments", "# a\nmcpServers: # b\n  # c\n  github: # d\n    command: npx # e\n    # f\n    args: # g\n      - -y # h\n      # i\n      - server\n", github},
		{"YAML with Windows line ends", "mcpServers:\r\n  github:\r\n    command: npx\r\n    args:\r\n      - \"-y\"\r\n      - server\r\n", github},
		{"YAML flow map", `{mcpServers: {github: {command: npx, args: [-y, server],}}}`, github},
		{"JSON", `{"mcpServers": {"github": {"command": "npx", "args": ["-y", "server"]}}}`, github},
		{"JSON with tabs", "{\n\t\"mcpServers\": {\n\t\t\"github\": {\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\"-y\", \"server\"]\n\t\t}\n\t}\n}\n", github},
		{"JSON with a byte order mark", "\ufeff{\"mcpServers\": {\"github\": {\"command\": \"npx\", \"args\": [\"-y\", \"server\"]}}}", github},
		{"YAML with a byte order mark", "\ufeffmcpServers:\n  github:\n    command: npx\n    args: [-y, server]\n", github},
		{"UTF-16 from PowerShell", utf16LE("{\"mcpServers\": {\"github\": {\"command\": \"npx\", \"args\": [\"-y\", \"server\"]}}}"), github},
		{"every setting", `
listen: "[::1]:8080"
logLevel: TRACE
lang: ja
cors: {enabled: true, origin: ["https://App.example.com:443", "http://localhost:5173"]}
rateLimit: {max: 5, timeWindow: 2000}
allowedHosts: [Genkan.example.com, "genkan.example.com:8443", "::1"]
folders: [/srv/projects, ~/.dotfiles, "~"]
workflows: ~/workflows
approvals: {webhook: "https://chat.example.com/${KEY}", link: "https://genkan.example.com"}
behindProxy: true
tls: {cert: a.pem, key: b.pem}
pageSize: 50
loginShell: false
learn: false
kb: {enabled: false}
`, &Config{
			Record: usualRecord,
			Listen: "[::1]:8080", LogLevel: "trace", Lang: "ja",
			CORS:         CORS{Enabled: true, Origins: []string{"https://app.example.com", "http://localhost:5173"}},
			RateLimit:    RateLimit{Max: 5, TimeWindow: 2 * time.Second},
			AllowedHosts: []string{"genkan.example.com", "genkan.example.com:8443", "[::1]"},
			Folders:      []string{"/srv/projects", "~/.dotfiles", "~"},
			Workflows:    "~/workflows",
			Approvals:    Approvals{Webhook: "https://chat.example.com/k", Link: "https://genkan.example.com"},
			BehindProxy:  true,
			TLS:          TLS{CertFile: "a.pem", KeyFile: "b.pem"},
			PageSize:     50,
			Knowledge:    Knowledge{Off: true},
		}},
		{"statuses", "kb: {statuses: [{name: 未着手}, {name: In Progress, closed: false}, {name: Done, closed: true}]}", with(func(c *Config) {
			c.Knowledge.Statuses = []Status{{Name: "未着手"}, {Name: "In Progress"}, {Name: "Done", Closed: true}}
		})},
		{"host and port", "host: \"::1\"\nport: 80\n", with(func(c *Config) { c.Listen = "[::1]:80" })},
		{"only a port", "port: 80\n", with(func(c *Config) { c.Listen = "127.0.0.1:80" })},
		{"every address", "listen: :80\n", with(func(c *Config) { c.Listen = ":80" })},
		{"any free port", "listen: localhost:0\n", with(func(c *Config) { c.Listen = "localhost:0" })},
		{"one origin", "cors: {enabled: true, origin: 'chrome-extension://abc'}", with(func(c *Config) {
			c.CORS = CORS{Enabled: true, Origins: []string{"chrome-extension://abc"}}
		})},
		{"a rate limit per minute", "rateLimit: {max: 9}", with(func(c *Config) { c.RateLimit = RateLimit{9, time.Minute} })},
		{"no rate limit", "rateLimit: {max: 0, timeWindow: 5}", defaults()},
		{"a process with everything", `
mcpServers:
  fs:
    type: stdio
    command: ${TOOL:-fs}
    args: ["--root=${HOME}", "$HOME", "$${HOME}"]
    env: {KEY: "${env:KEY}", EMPTY: ""}
    cwd: ${HOME}/src
    prefix: ""
    overwrite: true
    isolation: shared
    timeout: 1500
    startupTimeout: 1m30s
    disabled: true
    tools:
      allow: ["read_*", "[ab]?"]
      deny: ["*"]
      options: {"read_[ab]": {retry: 0, timeout: 9000}, "read_*": {timeout: 1h, retry: 10, retryDelay: 1m, version: "2.1", category: files, tags: [r, "read only", r]}, x: {}}
    validate: true
    schemas: Original
`, with(func(c *Config) {
			c.Servers = []Server{{
				Name: "fs", Command: "fs", Args: []string{"--root=/srv/example", "$HOME", "${HOME}"},
				Env: map[string]gateway.Secret{"KEY": "k", "EMPTY": ""}, Cwd: "/srv/example/src",
				Overwrite: true, Isolation: "shared", Timeout: 1500 * time.Millisecond, StartupTimeout: 90 * time.Second,
				Disabled: true, Tools: ToolFilter{Allow: []string{"read_*", "[ab]?"}, Deny: []string{"*"}}, Validate: true,
				ToolOptions: []ToolOptions{
					{Pattern: "read_[ab]", ExecuteOptions: gateway.ExecuteOptions{Timeout: 9 * time.Second, Retries: gateway.NoRetries}},
					{
						Pattern: "read_*", ExecuteOptions: gateway.ExecuteOptions{Timeout: time.Hour, Retries: 10, RetryDelay: time.Minute},
						ToolLabels: ToolLabels{Version: "2.1", Category: "files", Tags: []string{"r", "read only"}},
					},
					{Pattern: "x"},
				},
				Schemas: "original",
			}}
		})},
		{"endpoints in file order", `
mcpServers:
  z: {url: "https://z.example.com/mcp?x=${KEY}", type: streamable-http, headers: {Authorization: "Bearer ${KEY}"}}
  a: {url: "http://127.0.0.1:1", type: streamableHttp, prefix: A_}
  m: {url: "http://[::1]:1", type: http, prefix: null, args: null}
  s: {url: "http://[::1]:1/sse", type: sse}
  n: {url: "http://[::1]:1/any"}
`, with(func(c *Config) {
			http := func(name, url, prefix string, headers map[string]gateway.Secret) Server {
				s := stdio(name, "")
				s.URL, s.Prefix, s.Headers, s.Transport = url, prefix, headers, TransportHTTP
				return s
			}
			sse, either := http("s", "http://[::1]:1/sse", "s", nil), http("n", "http://[::1]:1/any", "n", nil)
			sse.Transport, either.Transport = TransportSSE, ""
			c.Servers = []Server{
				http("z", "https://z.example.com/mcp?x=k", "z", map[string]gateway.Secret{"Authorization": "Bearer k"}),
				http("a", "http://127.0.0.1:1", "A_", nil),
				http("m", "http://[::1]:1", "m", nil), sse, either,
			}
		})},
		{"several servers without a prefix", `{"mcpServers": {"a": {"command": "x", "prefix": ""}, "b": {"command": "y", "prefix": ""}}}`, with(func(c *Config) {
			a, b := stdio("a", "x"), stdio("b", "y")
			a.Prefix, b.Prefix = "", ""
			c.Servers = []Server{a, b}
		})},
		{"schemas for all, but for one", "mcpServers:\n  a: {command: x}\n  b: {command: y, schemas: plain}\nschemas: original\n", with(func(c *Config) {
			a, b := stdio("a", "x"), stdio("b", "y")
			a.Schemas = SchemasOriginal
			c.Servers = []Server{a, b}
		})},
		{"a disabled twin", "mcpServers:\n  a: {command: x, prefix: p}\n  b: {command: y, prefix: p, disabled: true}\n", with(func(c *Config) {
			a, b := stdio("a", "x"), stdio("b", "y")
			a.Prefix, b.Prefix, b.Disabled = "p", "p", true
			c.Servers = []Server{a, b}
		})},
		{"block text", "mcpServers:\n  a:\n    command: sh\n    args:\n      - -c\n      - |\n        echo\n        echo\n", with(func(c *Config) {
			c.Servers = []Server{stdio("a", "sh", "-c", "echo\necho\n")}
		})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mustLoad(t, tt.text, environ("HOME", "/srv/example", "KEY", "k"), Flags{})
			if diff := cmp.Diff(tt.want, got, asRead); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func utf16LE(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// A flag wins over the environment, that over the file, that over the default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	const file = "listen: 10.0.0.1:1000\nlogLevel: warn\nlang: ja\nallowedHosts: [file]\ntls: {cert: f.crt, key: f.key}\n" +
		"cors: {enabled: true, origin: https://file}\n"
	env := environ("PORT", "2000", "HOST", "10.0.0.2", "LOG_LEVEL", "Error", "CORS_ENABLED", "false", "CORS_ORIGIN", "https://env, https://env2")
	none := environ()
	for _, tt := range []struct {
		name, file string
		env        func(string) (string, bool)
		flags      Flags
		want       Config
	}{
		{"default", "", none, Flags{}, *defaults()},
		{"no environment at all", "", nil, Flags{}, *defaults()},
		{"empty variables are not set", "", environ("PORT", "", "HOST", "", "LOG_LEVEL", "", "CORS_ENABLED", "", "CORS_ORIGIN", ""), Flags{}, *defaults()},
		{"file over default", file, none, Flags{}, Config{
			LoginShell: true, Learn: true, Record: usualRecord, Listen: "10.0.0.1:1000", LogLevel: "warn", Lang: "ja", AllowedHosts: []string{"file"}, TLS: TLS{"f.crt", "f.key"},
			CORS: CORS{Enabled: true, Origins: []string{"https://file"}},
		}},
		{"environment over file", file, env, Flags{}, Config{
			LoginShell: true, Learn: true, Record: usualRecord, Listen: "10.0.0.2:2000", LogLevel: "error", Lang: "ja", AllowedHosts: []string{"file"}, TLS: TLS{"f.crt", "f.key"},
			CORS: CORS{Origins: []string{"https://env", "https://env2"}},
		}},
		{"flag over environment", file, env, Flags{
			Host: "10.0.0.3", Port: 3003, LogLevel: "debug", Lang: "en", AllowedHosts: []string{"Flag"}, BehindProxy: true, TLSCert: "x.crt", TLSKey: "x.key",
		}, Config{
			LoginShell: true, Learn: true, Record: usualRecord, Listen: "10.0.0.3:3003", LogLevel: "debug", Lang: "en", AllowedHosts: []string{"flag"}, BehindProxy: true, TLS: TLS{"x.crt", "x.key"},
			CORS: CORS{Origins: []string{"https://env", "https://env2"}},
		}},
		{"listen flag over all", file, env, Flags{Listen: ":0"}, Config{
			LoginShell: true, Learn: true, Record: usualRecord, Listen: ":0", LogLevel: "error", Lang: "ja", AllowedHosts: []string{"file"}, TLS: TLS{"f.crt", "f.key"},
			CORS: CORS{Origins: []string{"https://env", "https://env2"}},
		}},
		{"port 0 is any that is free", "listen: 10.0.0.1:1000", environ("HOST", "127.0.0.1"), Flags{AnyPort: true}, Config{
			LoginShell: true, Learn: true, Record: usualRecord, Listen: "127.0.0.1:0", LogLevel: "info", Lang: "en",
		}},
		{"host and port are settings of their own", "listen: 10.0.0.1:1000", environ("HOST", "10.0.0.2"), Flags{Port: 3003}, Config{
			LoginShell: true, Learn: true, Record: usualRecord, Listen: "10.0.0.2:3003", LogLevel: "info", Lang: "en",
		}},
		{"CORS from the environment alone", "", environ("CORS_ENABLED", "1", "CORS_ORIGIN", "https://a"), Flags{}, Config{
			LoginShell: true, Learn: true, Record: usualRecord, Listen: "127.0.0.1:3000", LogLevel: "info", Lang: "en", CORS: CORS{Enabled: true, Origins: []string{"https://a"}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mustLoad(t, tt.file, tt.env, tt.flags)
			if diff := cmp.Diff(tt.want, *got, asRead); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadReadsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.yaml", "port: 8080\n")
	huge := write("huge.yaml", strings.Repeat("#\n", maxFile/2)+"#\n")
	missing := filepath.Join(dir, "missing.yaml")

	if c, err := Load(good, true, Sources{}, Flags{}); err != nil || c.Listen != "127.0.0.1:8080" {
		t.Errorf("good: %+v, %v", c, err)
	}
	for _, path := range []string{missing, ""} {
		if c, err := Load(path, false, Sources{}, Flags{}); err != nil || !cmp.Equal(c, defaults()) {
			t.Errorf("%q may be missing: %+v, %v", path, c, err)
		}
	}
	if _, err := Load(missing, true, Sources{}, Flags{}); !errors.Is(err, fs.ErrNotExist) || gateway.AsError(err).Code != gateway.CodeInvalid {
		t.Errorf("missing: %v", err)
	}
	for path, want := range map[string]string{dir: "not a regular file", huge: "larger than 4 MiB"} {
		if _, err := Load(path, false, Sources{}, Flags{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// A listener that others can reach needs TLS or a proxy.
func TestExposure(t *testing.T) {
	t.Parallel()
	for listen, exposed := range map[string]bool{
		"127.0.0.1:3000":          false,
		"127.8.9.1:3000":          false,
		"[::1]:3000":              false,
		"[::ffff:127.0.0.1]:3000": false,
		"localhost:3000":          false,
		"LocalHost:3000":          false,
		":3000":                   true,
		"0.0.0.0:3000":            true,
		"[::]:3000":               true,
		"192.168.1.5:3000":        true,
		"[fe80::1%eth0]:3000":     true,
		"localhost.example:3000":  true,
		"127.0.0.1.example:3000":  true,
		"127.1:3000":              true,
		"nonsense":                true,
	} {
		c := &Config{Listen: listen}
		if c.Exposed() != exposed {
			t.Errorf("%s: exposed is %v", listen, c.Exposed())
		}
		if err := c.CheckExposure(); (err != nil) != exposed {
			t.Errorf("%s: %v", listen, err)
		}
		for _, safe := range []*Config{{Listen: listen, BehindProxy: true}, {Listen: listen, TLS: TLS{"c", "k"}}} {
			if err := safe.CheckExposure(); err != nil {
				t.Errorf("%s with protection: %v", listen, err)
			}
		}
	}
	err := (&Config{Listen: "0.0.0.0:8080"}).CheckExposure()
	for _, want := range []string{"tls.cert", "--behind-proxy", "127.0.0.1:8080"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestToolFilter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		filter ToolFilter
		tool   string
		want   bool
	}{
		{ToolFilter{}, "anything", true},
		{ToolFilter{Allow: []string{"get_*"}}, "get_x", true},
		{ToolFilter{Allow: []string{"get_*"}}, "set_x", false},
		{ToolFilter{Deny: []string{"set_*"}}, "set_x", false},
		{ToolFilter{Deny: []string{"set_*"}}, "get_x", true},
		{ToolFilter{Allow: []string{"*"}, Deny: []string{"set_*"}}, "set_x", false},
		{ToolFilter{Allow: []string{}}, "x", false},
	} {
		if got := tt.filter.Allows(tt.tool); got != tt.want {
			t.Errorf("%v allows %q: %v", tt.filter, tt.tool, got)
		}
	}
}

var usualRecord = Record{Bodies: BodiesLocal, Days: 7, Megabytes: 256}

func TestRecord(t *testing.T) {
	for text, want := range map[string]Record{
		"":                        usualRecord,
		"record: {}":              usualRecord,
		"record: off":             {Off: true, Bodies: BodiesLocal, Days: 7, Megabytes: 256},
		"record: false":           {Off: true, Bodies: BodiesLocal, Days: 7, Megabytes: 256},
		"record: on":              usualRecord,
		"record: {enabled: true}": usualRecord,
		"record: {enabled: false, replay: off, megabytes: 64}": {Off: true, NoReplay: true, Bodies: BodiesLocal, Days: 7, Megabytes: 64},
		"record: {bodies: off}":                                {Bodies: BodiesOff, Days: 7, Megabytes: 256},
		"record: {bodies: all}":                                {Bodies: BodiesAll, Days: 7, Megabytes: 256},
		"record: {replay: off}":                                {Bodies: BodiesLocal, NoReplay: true, Days: 7, Megabytes: 256},
		"record: {replay: false}":                              {Bodies: BodiesLocal, NoReplay: true, Days: 7, Megabytes: 256},
		"record: {days: 1}":                                    {Bodies: BodiesLocal, Days: 1, Megabytes: 256},
		"record: {megabytes: 1000000}":                         {Bodies: BodiesLocal, Days: 7, Megabytes: 1_000_000},
	} {
		c, err := Parse([]byte(text), "f.yaml", Sources{}, Flags{})
		if err != nil || c.Record != want {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	for text, want := range map[string]string{
		"record: maybe":                "record must be on or off",
		"record: {bodies: mine}":       "record.bodies cannot be \"mine\"",
		"record: {bodies: true}":       "record.bodies must be text",
		"record: {megabytes: 1}":       "record.megabytes must be a whole number from 16",
		"record: {enabled: sometimes}": "record.enabled must be true or false",
		"record: {days: 0}":            "record.days must be a whole number from 1",
		"record: {megabyte: 1}":        "did you mean \"megabytes\"",
		"record: {replay: sometime}":   "record.replay must be on or off",
		"record: [off]":                "record must be",
	} {
		if _, err := Parse([]byte(text), "f.yaml", Sources{}, Flags{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
