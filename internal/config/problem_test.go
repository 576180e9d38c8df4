package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is refused, and the words that people read then. A line that ends in …
// is only compared up to there.
func TestProblems(t *testing.T) {
	t.Parallel()
	server := func(body string) string { return "mcpServers:\n  a:\n    " + body + "\n" }
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		// Keys.
		{"unknown key", "mcpServers:\n  github:\n    env: {}\n    comand: npx\n    command: npx\n", []string{
			`genkan.yaml:4:5: unknown key "comand" in mcpServers.github; did you mean "command"?`,
		}},
		{"unknown key at the top", "port: 80\nlog_level: info\n", []string{`genkan.yaml:2:1: unknown key "log_level"; did you mean "logLevel"?`}},
		{"another client's key", "servers: {}\n", []string{`genkan.yaml:1:1: unknown key "servers"; did you mean "mcpServers"?`}},
		{"unknown key like no other", "tls: {zebra: 1}\n", []string{`genkan.yaml:1:7: unknown key "zebra" in tls; use one of cert, key`}},
		{"unknown key in JSON", "{\n\t\"prot\": 1\n}", []string{`genkan.yaml:2:2: unknown key "prot"; did you mean "port"?`}},
		{"columns count characters", `{"lang": "日本", "prot": 1}`, []string{
			`genkan.yaml:1:10: lang cannot be "日本"; use one of en, ja`,
			`genkan.yaml:1:16: unknown key "prot"; did you mean "port"?`,
		}},
		{"duplicate key", "port: 1\nlang: en\nport: 2\n", []string{`genkan.yaml:3:1: duplicate key "port"; it is already on line 1`}},
		{"duplicate server", "mcpServers:\n  a: {command: x}\n  a: {command: y}\n", []string{`genkan.yaml:3:3: duplicate key "a" in mcpServers; it is already on line 2`}},
		{"duplicate key in JSON", `{"mcpServers": {"a": {"command": "safe", "command": "evil"}}}`, []string{
			`genkan.yaml:1:42: duplicate key "command" in mcpServers.a; it is already on line 1`,
		}},
		{"duplicate variable", server("env: {A: x, A: y}\n    command: x"), []string{`genkan.yaml:3:17: duplicate key "A" in mcpServers.a.env; it is already on line 3`}},

		// Types.
		{"not a map", "- a\n", []string{"genkan.yaml:1:1: the file must be a map, found a list"}},
		{"only text", "hello\n", []string{"genkan.yaml:1:1: the file must be a map, found text"}},
		{"JSON list", "[1]", []string{"genkan.yaml:1:1: the file must be a map, found a list"}},
		{"servers are not a list", "mcpServers: [a]\n", []string{"genkan.yaml:1:13: mcpServers must be a map, found a list"}},
		{"server is not text", "mcpServers: {a: npx}\n", []string{"genkan.yaml:1:17: mcpServers.a must be a map, found text"}},
		{"number in quotes", "port: \"80\"\n", []string{"genkan.yaml:1:7: port must be a number, found text; write it without quotes"}},
		{"number without quotes", server("command: x\n    args: [-p, 80]"), []string{"genkan.yaml:4:16: mcpServers.a.args[1] must be text, found a number; put it in quotes"}},
		{"truth without quotes", server("command: x\n    env: {A: true}"), []string{"genkan.yaml:4:14: mcpServers.a.env.A must be text, found true or false; put it in quotes"}},
		{"yes is text", "behindProxy: yes\n", []string{"genkan.yaml:1:14: behindProxy must be true or false, found text; write it without quotes"}},
		{"arguments in one text", server("command: x\n    args: -y foo"), []string{"genkan.yaml:4:11: mcpServers.a.args must be a list, found text"}},
		{"colon without quotes", "cors: {enabled: true, origin: [https://a:1]}\n", []string{"genkan.yaml:1:32: cors.origin[0] must be text, found a map; text with a colon may need quotes"}},
		{"null in a list", server("command: x\n    args: [null]"), []string{"genkan.yaml:4:12: mcpServers.a.args[0] must be text, found nothing"}},
		{"origin is a number", "cors: {enabled: true, origin: 5}", []string{"genkan.yaml:1:31: cors.origin must be text or a list of texts, found a number"}},

		// The knowledge base.
		{"statuses are a list", "kb: {statuses: {Open: false}}\n", []string{"genkan.yaml:1:16: kb.statuses must be a list, found a map"}},
		{"no statuses", "kb: {statuses: []}\n", []string{"genkan.yaml:1:16: kb.statuses must have 1 to 100 statuses; leave it out for the usual ones"}},
		{"too many statuses", "kb:\n  statuses: [" + strings.Repeat("{name: a}, ", 101) + "]\n", []string{"genkan.yaml:2:13: kb.statuses must have 1 to 100 statuses; …"}},
		{"bad statuses", "kb:\n  statuses:\n    - {name: Open}\n    - {closed: true}\n    - {name: open}\n    - {name: ' '}\n    - {name: ' a'}\n    - {name: 'a,b'}\n    - {name: " + strings.Repeat("状", 51) + "}\n    - {nam: x}\n    - Done\n    - {name: B, closed: yes}\n", []string{
			"genkan.yaml:4:7: kb.statuses[1] needs a name",
			"genkan.yaml:5:14: kb.statuses[2].name is the status of line 3 again; each must be there once, in whichever case",
			"genkan.yaml:6:14: kb.statuses[3].name must not be empty",
			"genkan.yaml:7:14: kb.statuses[4].name must not begin or end with white space",
			"genkan.yaml:8:14: kb.statuses[5].name must not have commas or control characters; …",
			"genkan.yaml:9:14: kb.statuses[6].name must have at most 50 characters",
			`genkan.yaml:10:8: unknown key "nam" in kb.statuses[7]; did you mean "name"?`,
			"genkan.yaml:11:7: kb.statuses[8] must be a map, found text",
			"genkan.yaml:12:25: kb.statuses[9].closed must be true or false, found text; …",
		}},
		{"no open status", "kb:\n  statuses: [{name: Done, closed: true}]\n", []string{"genkan.yaml:2:13: kb.statuses has closed statuses only; new items need an open one"}},

		// Servers.
		{"neither command nor url", "mcpServers:\n  a: {}\n  b:\n", []string{
			"genkan.yaml:2:3: mcpServers.a needs a command (a process to start) or a url (a remote server to call)",
			"genkan.yaml:3:3: mcpServers.b needs a command …",
		}},
		{"both command and url", server("command: x\n    url: https://x"), []string{
			"genkan.yaml:4:5: mcpServers.a has both command and url; keep one: command starts a process, url calls a remote server",
		}},
		{"empty command", server(`command: ""`), []string{"genkan.yaml:3:14: mcpServers.a.command is empty"}},
		{"command from an empty variable", server(`command: ${NONE:-}`), []string{"genkan.yaml:3:14: mcpServers.a.command is empty"}},
		{"bad names", "mcpServers:\n  GitHub: {command: x}\n  github: {command: x}\n  github.com/upstash/context7-mcp: {command: x}\n  9lives: {command: x}\n  日本: {command: x}\n", []string{
			`genkan.yaml:2:3: "GitHub" cannot be the name of a server: it has capital letters; how about "github-2"?`,
			`genkan.yaml:4:3: "github.com/upstash/context7-mcp" cannot be … how about "context7-mcp"?`,
			`genkan.yaml:5:3: "9lives" cannot be the name of a server: it begins with "9"; how about "s-9lives"?`,
			`genkan.yaml:6:3: "日本" cannot be the name of a server: only a-z, 0-9 and - can be in it`,
		}},
		{"type against transport", "mcpServers:\n  a: {command: x, type: http}\n  b: {url: 'http://x', type: stdio}\n  c: {command: x, type: sse}\n", []string{
			"genkan.yaml:2:19: mcpServers.a.type is http, but the server has a command; remove type",
			"genkan.yaml:3:24: mcpServers.b.type is stdio, but the server has a url; remove type",
			"genkan.yaml:4:19: mcpServers.c.type is sse, but the server has a command; remove type",
		}},
		{"unknown type", server("url: https://x\n    type: htpp"), []string{`genkan.yaml:4:11: mcpServers.a.type cannot be "htpp"; did you mean "http"?`}},
		{"keys of the other transport", "mcpServers:\n  a: {command: x, headers: {}}\n  b: {url: 'http://x', args: [], env: {}, cwd: x}\n", []string{
			"genkan.yaml:2:19: mcpServers.a.headers goes with url, but the server has a command; remove it",
			"genkan.yaml:3:24: mcpServers.b.args goes with command, but the server has a url; remove it",
			"genkan.yaml:3:34: mcpServers.b.env goes with command…",
			"genkan.yaml:3:43: mcpServers.b.cwd goes with command…",
		}},
		{"isolation", "mcpServers:\n  a: {command: x, isolation: session}\n  b: {command: x, isolation: root}\n  c: {command: x, isolation: none}\n", []string{
			`genkan.yaml:4:30: mcpServers.c.isolation cannot be "none"; …`,
		}},
		{"bad URLs", "mcpServers:\n  a: {url: 'ftp://x'}\n  b: {url: 'x.example.com/mcp'}\n  c: {url: 'https:///mcp'}\n  d: {url: 'https://u:p@x'}\n  e: {url: 'https://x:99999'}\n  f: {url: 'http://[x'}\n  g: {url: ''}\n", []string{
			"genkan.yaml:2:12: mcpServers.a.url must begin with http:// or https://",
			"genkan.yaml:3:12: mcpServers.b.url must begin with http:// or https://",
			"genkan.yaml:4:12: mcpServers.c.url has no host",
			"genkan.yaml:5:12: mcpServers.d.url cannot hold a user name or password; …",
			"genkan.yaml:6:12: mcpServers.e.url has a port that is not a number from 1 to 65535",
			"genkan.yaml:7:12: mcpServers.f.url is not a URL",
			"genkan.yaml:8:12: mcpServers.g.url must begin with http:// or https://",
		}},
		{"bad patterns", server("command: x\n    tools: {allow: ['[a', ''], deny: ['x\\']}"), []string{
			"genkan.yaml:4:21: mcpServers.a.tools.allow[0] is not a pattern; use * for any text, ? for one character, [ab] for a choice",
			"genkan.yaml:4:27: mcpServers.a.tools.allow[1] is not a pattern…",
			"genkan.yaml:4:39: mcpServers.a.tools.deny[0] is not a pattern…",
		}},
		{"nothing allowed", server("command: x\n    tools: {allow: []}"), []string{"genkan.yaml:4:20: mcpServers.a.tools.allow is empty, which would hide every tool; …"}},
		{"same prefix", "mcpServers:\n  a: {command: x, prefix: b}\n  b: {command: y}\n  c: {command: y, prefix: b}\n", []string{
			`genkan.yaml:3:3: mcpServers.b has the prefix "b", as mcpServers.a has; …`,
			`genkan.yaml:4:27: mcpServers.c has the prefix "b", as mcpServers.a has; …`,
		}},
		{"bad prefixes", "mcpServers:\n  a: {command: x, prefix: a.b}\n  b: {command: x, prefix: " + strings.Repeat("x", 33) + "}\n", []string{
			"genkan.yaml:2:27: mcpServers.a.prefix may only have letters, digits, _ and -",
			"genkan.yaml:3:27: mcpServers.b.prefix is longer than 32 characters; …",
		}},
		{"bad durations", "mcpServers:\n  a: {command: x, timeout: -1, startupTimeout: 0}\n  b: {command: x, timeout: '30', startupTimeout: 1.5}\n  c: {command: x, timeout: true, startupTimeout: -5s}\n  d: {command: x, timeout: 99999999999999999999, startupTimeout: 9223372036854775807}\n  e: {command: x, timeout: -9223372036854775807, startupTimeout: 9000h}\n", []string{
			"genkan.yaml:2:28: mcpServers.a.timeout must be more than 0 and at most a year",
			"genkan.yaml:2:48: mcpServers.a.startupTimeout must be more than 0 and at most a year",
			`genkan.yaml:3:28: mcpServers.b.timeout must be a duration such as "30s" or "10m"; a number without quotes is milliseconds`,
			`genkan.yaml:3:50: mcpServers.b.startupTimeout must be a whole number of milliseconds, or text with a unit such as "30s"`,
			`genkan.yaml:4:28: mcpServers.c.timeout must be a number of milliseconds or text such as "30s", found true or false`,
			"genkan.yaml:4:50: mcpServers.c.startupTimeout must be more than 0 and at most a year",
			"genkan.yaml:5:28: mcpServers.d.timeout must be …",
			"genkan.yaml:5:66: mcpServers.d.startupTimeout must be more than 0 and at most a year",
			"genkan.yaml:6:28: mcpServers.e.timeout must be more than 0 and at most a year",
			"genkan.yaml:6:66: mcpServers.e.startupTimeout must be more than 0 and at most a year",
		}},
		{"bad environment", server("command: x\n    env: {'A=B': x, '': y, GONE}"), []string{
			"genkan.yaml:4:11: mcpServers.a.env has a name that a variable cannot have; write NAME: value",
			"genkan.yaml:4:21: mcpServers.a.env has a name that a variable cannot have; write NAME: value",
			"genkan.yaml:4:28: mcpServers.a.env has an entry without a value; write name: value",
		}},
		{"bad headers", server("url: https://x\n    headers: {'A B': x, X-Key: a, x-key: b, C: \"a\\nb\"}"), []string{
			"genkan.yaml:4:15: mcpServers.a.headers has a name that a header cannot have; write Name: value",
			`genkan.yaml:4:35: mcpServers.a.headers has "X-Key" and "x-key", which are the same header`,
			"genkan.yaml:4:48: mcpServers.a.headers.C has a line break or another control character, which a header cannot hold",
		}},
		{"NUL for a process", server(`command: "a\0b"`), []string{"genkan.yaml:3:14: mcpServers.a.command has a NUL character, which a process cannot be given"}},
		{"variables", server("command: ${GONE}\n    args: ['${A B}', '${GONE} ${GONE2}', '${', '${input:a b}', '${workspaceFolder}', '${X:-${Y}}', '${}']"), []string{
			"genkan.yaml:4:12: mcpServers.a.args[0] has a ${…} that is not ${NAME}, ${NAME:-default}, ${env:NAME} or ${secret:NAME}; write $${ for the two characters themselves",
			"genkan.yaml:4:42: mcpServers.a.args[2] has a ${ without its }; write $${ for the two characters themselves",
			"genkan.yaml:4:48: mcpServers.a.args[3] refers to a secret whose name is not letters, digits, '.', '_' and '-', at most 128",
			"genkan.yaml:4:86: mcpServers.a.args[5] has a variable inside the default of another, which is not read here",
			"genkan.yaml:4:100: mcpServers.a.args[6] has a …",
		}},

		// The house.
		{"ports", "port: 65536\n", []string{"genkan.yaml:1:7: port must be a whole number from 1 to 65535"}},
		{"port zero", "port: 0\n", []string{"genkan.yaml:1:7: port must be a whole number from 1 to 65535"}},
		{"negative port", "port: -1\n", []string{"genkan.yaml:1:7: port must be a whole number from 1 to 65535"}},
		{"octal port", "port: 0x50\n", []string{"genkan.yaml:1:7: port must be a whole number from 1 to 65535"}},
		{"infinite port", "port: .inf\n", []string{"genkan.yaml:1:7: port must be a whole number from 1 to 65535"}},
		{"listen", "listen: '3000'\n", []string{"genkan.yaml:1:9: listen must be host:port, such as 127.0.0.1:3000 or [::1]:3000"}},
		{"listen on a service", "listen: localhost:http\n", []string{"genkan.yaml:1:9: listen must end in a port from 0 to 65535"}},
		{"listen on a URL", "listen: http://localhost:3000\n", []string{"genkan.yaml:1:9: listen must be host:port, …"}},
		{"listen and port", "port: 80\nlisten: localhost:80\n", []string{"genkan.yaml:2:9: listen already has the host and the port; write either listen, or host and port"}},
		{"host with a port", "host: localhost:80\n", []string{"genkan.yaml:1:7: host must be an IP address or a host name, without scheme, port or path"}},
		{"log level", "logLevel: warning\n", []string{`genkan.yaml:1:11: logLevel cannot be "warning"; did you mean "warn"?`}},
		{"language", "lang: fr\n", []string{`genkan.yaml:1:7: lang cannot be "fr"; use one of en, ja`}},
		{"CORS without an origin", "cors: {enabled: true}\n", []string{"genkan.yaml:1:17: CORS is enabled without an origin, which would admit every page; …"}},
		{"CORS with no origins", "cors: {enabled: true, origin: []}\nport: 0\n", []string{"genkan.yaml:1:17: CORS is enabled without an origin…", "genkan.yaml:2:7: port …"}},
		{"CORS for everybody", "cors: {enabled: true, origin: '*'}\n", []string{
			"genkan.yaml:1:31: cors.origin cannot have a wildcard: every page on the internet could then call the gateway with a leaked token; name the origins that may, such as https://app.example.com",
		}},
		{"bad origins", "cors:\n  origin: [example.com, 'https://x/', 'null', 'https://', 'https://u@x', 'https://*.x', 'https://x:0']\n", []string{
			"genkan.yaml:2:12: cors.origin[0] must be scheme://host or scheme://host:port, without a path, such as https://app.example.com",
			"genkan.yaml:2:25: cors.origin[1] must be …", "genkan.yaml:2:39: cors.origin[2] must be …", "genkan.yaml:2:47: cors.origin[3] must be …",
			"genkan.yaml:2:59: cors.origin[4] must be …", "genkan.yaml:2:74: cors.origin[5] cannot have a wildcard…", "genkan.yaml:2:89: cors.origin[6] must be …",
		}},
		{"options of tools", server("command: x\n    tools: {options: {'[a': {}, b: {retry: 11, retryDelay: 61s, timeout: 0, retries: 1}, c: 5}}"), []string{
			"genkan.yaml:4:23: mcpServers.a.tools.options.[a is not a pattern…",
			"genkan.yaml:4:44: mcpServers.a.tools.options.b.retry must be a whole number from 0 to 10",
			"genkan.yaml:4:60: mcpServers.a.tools.options.b.retryDelay must not be longer than 1m",
			"genkan.yaml:4:74: mcpServers.a.tools.options.b.timeout must be more than 0 and at most a year",
			"genkan.yaml:4:77: unknown key \"retries\" in mcpServers.a.tools.options.b…",
			"genkan.yaml:4:93: mcpServers.a.tools.options.c must be a map, found a number",
		}},
		{"labels of tools", server("command: x\n    overwrite: 1\n    tools: {options: {a: {version: '', category: ' c', tags: [1, \"a\\nb\"]}}}"), []string{
			"genkan.yaml:4:16: mcpServers.a.overwrite must be true or false…",
			"genkan.yaml:5:36: mcpServers.a.tools.options.a.version must be one line…",
			"genkan.yaml:5:50: mcpServers.a.tools.options.a.category must be one line…",
			"genkan.yaml:5:63: mcpServers.a.tools.options.a.tags[0] must be text…",
			"genkan.yaml:5:66: mcpServers.a.tools.options.a.tags[1] must be one line…",
		}},
		{"rate limit", "rateLimit: {max: -1, timeWindow: -1}\n", []string{
			"genkan.yaml:1:18: rateLimit.max must be a whole number, 0 or more",
			"genkan.yaml:1:34: rateLimit.timeWindow must be more than 0 and at most a year",
		}},
		{"rate limit of nothing", "rateLimit: {timeWindow: 1s}\n", []string{"genkan.yaml:1:12: rateLimit needs max, the number of calls per timeWindow; 0 is no limit"}},
		{"page size", "pageSize: -1\n", []string{"genkan.yaml:1:11: pageSize must be a whole number, 0 or more"}},
		{"folders", "folders: [projects, '', ~me/x]\n", []string{
			"genkan.yaml:1:11: folders[0] must be an absolute path, or one that begins with ~/",
			"genkan.yaml:1:21: folders[1] must be an absolute path, …",
			"genkan.yaml:1:25: folders[2] must be an absolute path, …",
		}},
		{"workflows", "workflows: projects\n", []string{"genkan.yaml:1:12: workflows must be an absolute path, or one that begins with ~/"}},
		{"workflows in a list", "workflows: [/a]\n", []string{"genkan.yaml:1:12: workflows must be text…"}},
		{"allowed hosts", "allowedHosts: ['*', 'https://x', 'x:y', '']\n", []string{
			"genkan.yaml:1:16: allowedHosts[0] cannot have a wildcard: any page on the internet could point its own name at this gateway; list each name",
			"genkan.yaml:1:21: allowedHosts[1] must be a host name or address, …",
			"genkan.yaml:1:34: allowedHosts[2] must be a host name or address, …",
			"genkan.yaml:1:41: allowedHosts[3] must be a host name or address, …",
		}},
		{"half of TLS", "tls: {cert: a}\n", []string{"genkan.yaml:1:6: TLS needs both a certificate and its key: …"}},

		// Syntax.
		{"JSON syntax", "{\n\t\"port\": 80,\n\t\"lang\" \"en\"\n}", []string{"genkan.yaml:3:9: the file is not valid JSON: invalid character '\"' after object key"}},
		{"cut JSON", `{"port": `, []string{"genkan.yaml:1:9: the file is not valid JSON: unexpected end of JSON input"}},
		{"YAML syntax", "a: b: c\n", []string{"genkan.yaml:1:4: the file is not valid YAML: mapping value is not allowed in this context"}},
		{"YAML with tabs", "mcpServers:\n\ta: {}\n", []string{"genkan.yaml:2:1: the file is not valid YAML: a tab stands here; indent with spaces"}},
		{"anchor", "host: &h x\n", []string{"genkan.yaml:1:7: YAML anchors are not read here; text that begins with & needs quotes"}},
		{"alias", server("command: x\n    tools: {deny: [*_all]}"), []string{"genkan.yaml:4:20: YAML aliases are not read here; text that begins with * needs quotes"}},
		{"merge key", "<<: {port: 1}\n", []string{"genkan.yaml:1:1: YAML merge keys are not read here; write the keys out"}},
		{"tag", "host: !!binary eA==\n", []string{"genkan.yaml:1:7: YAML tags are not read here; text that begins with ! needs quotes"}},
		{"directive", "%YAML 1.1\n---\nport: 80\n", []string{"genkan.yaml:1:1: YAML directives are not read here; …"}},
		{"two documents", "port: 80\n---\nport: 81\n", []string{"genkan.yaml:3:1: the file has a second YAML document; …"}},
		{"complex key", "? [a]\n: b\n", []string{"genkan.yaml:2:1: the file is not valid YAML: …"}},
		{"not UTF-8", "host: caf\xe9\n", []string{"genkan.yaml:1:10: the file is not UTF-8 text; save it as UTF-8"}},
		{"deep JSON", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), []string{"genkan.yaml:1:33: values are nested more than 32 deep; reading stops here"}},
		{"deep flow", "a: " + strings.Repeat("[", 20_000), []string{"genkan.yaml:1:36: values are nested more than 32 deep; reading stops here"}},
		{"deep dashes", strings.Repeat("- ", 20_000), []string{"genkan.yaml:1:65: values are nested more than 32 deep; reading stops here"}},
		{"deep blocks", deepBlocks(300), []string{"genkan.yaml:33:33: values are nested more than 32 deep; reading stops here"}},
		{"too many", "a: [" + strings.Repeat("1,", 70_000) + "1]", []string{"genkan.yaml:1:…"}},
		{"too many in JSON", "[" + strings.Repeat("1,", 70_000) + "1]", []string{"genkan.yaml:1:65536: the file has more values than any configuration needs; reading stops here"}},
		{"too large", strings.Repeat("#\n", maxFile/2) + "#", []string{"genkan.yaml: the file is larger than 4 MiB, which no configuration needs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			compareLines(t, refused(t, tt.text, environ(), Flags{}), tt.want)
		})
	}
}

func deepBlocks(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// compareLines compares line by line; an … in a wanted line stands for any
// text.
func compareLines(t *testing.T, got string, want []string) {
	t.Helper()
	lines := strings.Split(got, "\n")
	if len(lines) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%s", len(lines), len(want), got)
	}
	for i, w := range want {
		if lines[i] == w {
			continue
		}
		head, tail, open := strings.Cut(w, "…")
		if !open || !strings.HasPrefix(lines[i], head) || !strings.HasSuffix(lines[i], tail) {
			t.Error(cmp.Diff(w, lines[i]))
		}
	}
}

// Problems of environment and flags come after the file's, without a place.
func TestProblemsOutsideTheFile(t *testing.T) {
	t.Parallel()
	env := environ("PORT", "http", "HOST", "a b", "LOG_LEVEL", "loud", "CORS_ENABLED", "maybe", "CORS_ORIGIN", "https://a,*")
	flags := Flags{Port: 70000, Host: "x/y", LogLevel: "loud", Lang: "fr", AllowedHosts: []string{"*"}, TLSCert: "c"}
	compareLines(t, refused(t, "pageSize: -1\n", env, flags), []string{
		"genkan.yaml:1:11: pageSize must be a whole number, 0 or more",
		"--host must be an IP address or a host name, without scheme, port or path",
		"--port must be a whole number from 1 to 65535",
		"--log-level must be one of fatal, error, warn, info, debug, trace",
		"--lang must be one of en, ja",
		"--allowed-host cannot have a wildcard: …",
		"the environment variable HOST must be an IP address or a host name, without scheme, port or path",
		"the environment variable PORT must be a whole number from 1 to 65535",
		"the environment variable LOG_LEVEL must be one of fatal, error, warn, info, debug, trace",
		"the environment variable CORS_ENABLED must be one of true, false, 1, 0",
		"the environment variable CORS_ORIGIN cannot have a wildcard: …",
		"TLS needs both a certificate and its key: …",
	})
	compareLines(t, refused(t, "", environ("CORS_ENABLED", "true"), Flags{}), []string{"CORS is enabled without an origin, …"})
	compareLines(t, refused(t, "", nil, Flags{Listen: "localhost:1", Port: 2}), []string{"--listen already has the host and the port; give either --listen, or --host and --port"})
	compareLines(t, refused(t, "", nil, Flags{Listen: "localhost"}), []string{"--listen must be host:port, …"})
}

// A file that is wrong throughout does not fill the terminal.
func TestProblemsAreCapped(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "zebra%d: 1\n", i)
	}
	lines := strings.Split(refused(t, b.String(), nil, Flags{}), "\n")
	if len(lines) != maxShown+1 || lines[maxShown] != "… and 900 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}
