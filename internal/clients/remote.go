package clients

import (
	"maps"
	"strings"
)

//nolint:gochecknoglobals // compiled once
var (
	remotePackage = lazily(`^(?:mcp-remote)(?:@[\w.^~-]+)?$`)
	shellVariable = lazily(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// unwrap replaces `npx mcp-remote URL` with the URL, because that program only
// forwards messages to a server that genkan can call itself.
func (d *entryDraft) unwrap() {
	if d.command == "" || d.url != "" {
		return
	}
	words := append([]string{d.command}, d.args...)
	if base := baseName(d.command); base == "cmd" && len(words) > 2 && strings.EqualFold(words[1], "/c") {
		words = words[2:]
	}
	switch baseName(words[0]) {
	case "npx", "bunx", "pnpx":
		words = words[1:]
	case "pnpm", "yarn", "bun", "npm":
		if len(words) < 2 || words[1] != "dlx" && words[1] != "x" && words[1] != "exec" {
			return
		}
		words = words[2:]
	case "mcp-remote":
		words[0] = "mcp-remote"
	default:
		return
	}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	if len(words) < 2 || !remotePackage().MatchString(words[0]) {
		return
	}
	d.remote(words[1:])
}

// remote reads the arguments of mcp-remote.
func (d *entryDraft) remote(words []string) {
	url, kind := "", ""
	headers := map[string]string{}
	var dropped []string
	for i := 0; i < len(words); i++ {
		word, next := words[i], ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case word == "--header" && next != "":
			i++
			name, value, ok := strings.Cut(next, ":")
			if !ok {
				return
			}
			headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		case word == "--transport" && next != "":
			i++
			switch next {
			case "http-only":
				kind = TypeHTTP
			case "sse-only":
				kind = TypeSSE
			}
		case strings.HasPrefix(word, "-"):
			dropped = append(dropped, word)
			if next != "" && !strings.HasPrefix(next, "-") && !strings.Contains(next, "://") {
				i++
			}
		case url == "" && strings.Contains(word, "://"):
			url = word
		}
	}
	if url == "" {
		return
	}
	// Some clients lose spaces in arguments, so headers are often composed of the
	// entry's own variables.
	used := map[string]bool{}
	for name, value := range headers {
		headers[name] = shellVariable().ReplaceAllStringFunc(value, func(v string) string {
			key := v[2 : len(v)-1]
			if own, ok := d.env[key]; ok {
				used[key] = true
				return own
			}
			return v
		})
	}
	d.note("mcp-remote is not needed, because genkan calls the URL itself")
	for _, word := range dropped {
		d.note("the option %s of mcp-remote is left out", word)
	}
	rest := maps.Clone(d.env)
	maps.DeleteFunc(rest, func(key, _ string) bool { return used[key] })
	if len(rest) > 0 {
		d.note("the environment of mcp-remote is left out")
	}
	d.command, d.args, d.env, d.cwd = "", nil, nil, ""
	d.url, d.kind = url, kind
	if d.headers == nil {
		d.headers = map[string]string{}
	}
	maps.Copy(d.headers, headers)
}

// baseName returns a program's name without its folder and Windows' extensions.
func baseName(command string) string {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	for _, ending := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}
