package clients

import (
	"path"
	"strings"

	"genkan/internal/gateway"
)

// containerKeys are the paths under which files of clients have their servers.
var containerKeys = [][]string{{"mcpServers"}, {"servers"}, {"mcp_servers"}, {"context_servers"}, {"mcp", "servers"}, {"mcp"}}

// ReadText reads the servers in a text that a person pasted: a whole file of any
// client, the servers alone, a part of them as documentation shows it, one entry
// without a name, or `claude mcp add`. home is the person's home directory.
func ReadText(text, home string) (Imported, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, `"`) { // "github": {…}
		text = "{" + strings.TrimSuffix(text, ",") + "}"
	}
	switch commands, is, err := readClaudeAdd(text); {
	case err != nil:
		return Imported{}, err
	case is:
		text = commands
	}
	format := formatOfText(text)
	root, bad := parse(format, []byte(text))
	if format == TOML {
		if _, notJSON := parseJSON([]byte(text)); notJSON == nil {
			return Imported{}, gateway.Errorf(gateway.CodeInvalid, "the text is a list; a JSON object with mcpServers is expected")
		}
	}
	if format != JSON && (bad != nil || !root.is(kindMap)) {
		// Not what a client writes: JSON is what was meant.
		if _, worse := parseJSON([]byte(text)); worse != nil {
			format, bad = JSON, worse
		}
	}
	if bad != nil {
		line, column := position([]byte(text), bad.at)
		return Imported{}, gateway.Errorf(gateway.CodeInvalid, "the text is not %s: line %d, column %d: %s", format.String(), line, column, bad.text)
	}
	f := File{Client: pastedText, Path: "the text", Format: format, home: home}
	if f.Format == JSON && isEntry(root) {
		text = `{"` + nameOfEntry(root) + `":` + text + `}`
		root, _ = parse(f.Format, []byte(text))
	}
	if f.keys, f.list = containerIn(root); f.keys == nil && f.Format == JSON && hasEntries(root) {
		text = `{"mcpServers":` + text + `}`
		root, _ = parse(f.Format, []byte(text))
		f.keys, f.list = containerIn(root)
	}
	if f.keys == nil {
		return Imported{}, gateway.Errorf(gateway.CodeInvalid,
			"the text has no MCP servers: they have a command or a url each, and in most files stand below mcpServers")
	}
	f.dialect.variables = braceForm | secretsForm
	return f.Parse([]byte(text))
}

// pastedText is the client of a pasted text.
const pastedText = "text"

func formatOfText(text string) Format {
	switch {
	case strings.HasPrefix(text, "{"):
		return JSON
	case strings.HasPrefix(text, "["):
		return TOML
	default:
		return YAML
	}
}

// containerIn returns the path to the servers of a file whose client is unknown, and
// whether they are a list; nil if there are none.
func containerIn(root *node) (keys []string, list bool) {
	for _, keys := range containerKeys {
		if at, left, bad := find(root, keys); bad == nil && len(left) == 0 && (at.is(kindMap) || at.is(kindList)) {
			return keys, at.is(kindList)
		}
	}
	return nil, false
}

// isEntry reports whether a node is the entry of a server, rather than a map of them.
func isEntry(n *node) bool {
	for _, key := range []string{"command", "url", "httpUrl", "serverUrl"} {
		if at := n.get(key); at != nil && !at.is(kindMap) {
			return true
		}
	}
	return false
}

func hasEntries(root *node) bool {
	for _, e := range root.entries {
		if !isEntry(e.value) {
			return false
		}
	}
	return len(root.entries) > 0
}

// nameOfEntry returns a name for an entry without one: that of its program, package
// or host.
func nameOfEntry(n *node) string {
	words := []string{n.textAt("url"), n.textAt("httpUrl"), n.textAt("serverUrl"), n.textAt("command")}
	if args := n.get("args"); args.is(kindList) {
		for _, e := range args.entries {
			words = append(words, e.value.text)
		}
	}
	name := "server"
	for _, word := range words {
		if _, rest, ok := strings.Cut(word, "://"); ok {
			host, _, _ := strings.Cut(rest, "/")
			name = strings.TrimPrefix(strings.TrimPrefix(host, "www."), "mcp.")
			break
		}
		if word == "" || strings.HasPrefix(word, "-") {
			continue
		}
		name = path.Base(strings.ReplaceAll(word, `\`, "/"))
		switch name {
		case "npx", "uvx", "node", "python", "python3", "docker", "run", "bunx", "uv", "pnpm", "dlx", "bun", "deno":
			continue
		}
		break
	}
	name, _, _ = strings.Cut(name, "@")
	return gateway.ServerName(name, nobody)
}
