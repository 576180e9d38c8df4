package clients

import (
	"encoding/json"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// readClaudeAdd returns the servers that `claude mcp add` commands add, as JSON. Many
// READMEs have such commands. It reports false if the text does not begin with one.
func readClaudeAdd(text string) (asJSON string, is bool, err error) {
	commands, unclosed := shellCommands(strings.ReplaceAll(text, "\r\n", "\n"))
	servers := map[string]any{}
	for i, words := range commands {
		if words[0] == "$" { // a prompt
			words = words[1:]
		}
		switch add := len(words) >= 3 && slices.Equal(words[:3], []string{"claude", "mcp", "add"}); {
		case !add && i == 0:
			return "", false, nil
		case unclosed:
			return "", true, gateway.Errorf(gateway.CodeInvalid, "the text has a quote that is not closed")
		case !add:
			return "", true, gateway.Errorf(gateway.CodeInvalid,
				"the text has other commands than `claude mcp add`: leave them out, and put quotes around values that contain & ; or |")
		}
		name, server := claudeServer(words[3:])
		if name == "" {
			return "", true, gateway.Errorf(gateway.CodeInvalid, "the command is not understood; it is written as %s or %s",
				"`claude mcp add -e KEY=VALUE NAME -- COMMAND ARGS`", "`claude mcp add --transport http NAME URL`")
		}
		if servers[name] != nil {
			return "", true, gateway.Errorf(gateway.CodeInvalid, "two of the commands add a server %q; give each server another name", gateway.Short(name))
		}
		servers[name] = server
	}
	out, err := json.Marshal(map[string]any{"mcpServers": servers})
	return string(out), len(servers) > 0, err
}

// claudeServer returns the server that the words behind `claude mcp add` describe; its
// name is empty if they are not understood. Unlike Claude Code, it reads options behind
// the command of a server as arguments of that command.
func claudeServer(words []string) (name string, server map[string]any) {
	kind, plain := "stdio", []string{}
	env, headers := pairs{"=", map[string]string{}}, pairs{":", map[string]string{}}
	var last *pairs // of the option whose values may go on
	for i := 0; i < len(words); i++ {
		option, value, given := strings.Cut(words[i], "=")
		switch {
		case words[i] == "--", len(plain) == 2 && kind == "stdio" && !isURL(plain[1]):
			if words[i] == "--" {
				i++
			}
			plain, words = append(plain, words[min(i, len(words)):]...), nil
			continue
		case !strings.HasPrefix(words[i], "-"):
			if last == nil || !last.add(words[i]) {
				plain, last = append(plain, words[i]), nil
			}
			continue
		case !given && i+1 < len(words):
			i++
			value = words[i]
		}
		last = nil
		switch option {
		case "-s", "--scope": // whose file the client would write
		case "-t", "--transport":
			kind = value
		case "-e", "--env":
			last = &env
		case "-H", "--header":
			last = &headers
		default:
			return "", nil
		}
		if last != nil && !last.add(value) {
			return "", nil
		}
	}
	switch {
	case len(plain) < 2:
		return "", nil
	case kind == "stdio" && !isURL(plain[1]):
		return plain[0], map[string]any{"command": plain[1], "args": plain[2:], "env": env.values}
	case len(plain) > 2:
		return "", nil
	}
	server = map[string]any{"url": plain[1], "headers": headers.values}
	if kind != "stdio" {
		server["type"] = kind
	}
	return plain[0], server
}

// pairs are the values of an option, such as KEY=VALUE. Several may follow the option.
type pairs struct {
	separator string
	values    map[string]string
}

// add adds a pair. It reports false if the word is none.
func (p pairs) add(word string) bool {
	key, value, ok := strings.Cut(word, p.separator)
	if !ok || isURL(word) {
		return false
	}
	p.values[key] = strings.TrimSpace(value)
	return true
}

func isURL(word string) bool {
	return strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://")
}

// shellCommands splits a text into commands, and these into words, as a shell does, but
// expands nothing. It also reports whether a quote is not closed.
func shellCommands(text string) (commands [][]string, unclosed bool) {
	var words []string
	var word strings.Builder
	inWord, escaped, comment := false, false, false
	quote := rune(0)
	endWord := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	endCommand := func() {
		if endWord(); len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for _, r := range text {
		switch {
		case comment:
			comment = r != '\n'
		case escaped:
			if escaped = false; r == '\n' {
				continue // the line goes on
			}
			if quote != 0 && !strings.ContainsRune("$`\"\\", r) {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			inWord = true
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			endWord()
		case strings.ContainsRune("\n;&|", r):
			endCommand()
		case r == '#' && !inWord:
			endCommand()
			comment = true
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	endCommand()
	return commands, quote != 0
}
