package clients

import (
	"net/url"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// nameFor returns the text that genkan's name of a server is made of: the client's
// name or, if that has no Latin letter, the name of the package, program or host.
// People write names in their own language, and server-2 describes nothing.
func nameFor(original string, s Server) string {
	if strings.ContainsFunc(strings.ToLower(gateway.NarrowLetters(original)), func(r rune) bool { return r >= 'a' && r <= 'z' }) {
		return original
	}
	what := ""
	if s.URL != "" {
		what = nameOfURL(s.URL)
	} else {
		what = nameOfCommand(s.Command, s.Args)
	}
	if what == "" || Mask(what) != what {
		return original
	}
	return what
}

// NameFor returns genkan's name of a server, which taken does not report.
func NameFor(s Server, taken func(string) bool) string {
	return gateway.ServerName(nameFor(s.OriginalName, s), taken)
}

// runners are programs that run another, which the first plain argument names;
// verbs may stand before it.
//
//nolint:gochecknoglobals // tables, built once
var (
	runners = words("npx bunx pnpx npm pnpm yarn bun deno node tsx ts-node uvx uv pipx python python3 py docker podman cmd sh bash env java go cargo dotnet ruby php")
	verbs   = words("run exec dlx x tool start /c")
	// takers are flags with a value behind them.
	takers = words("-e --env --env-file -v --volume --mount --name --network -p --publish -w --workdir -u --user --entrypoint --with --python --index-url -r --require --import")
	// plain are words that say nothing about a server.
	plain = words("index main __main__ dist build out src bin lib server servers mcp mcp-server app cli run start stdio www api sse http local localhost com co org net home users usr opt tmp node_modules packages latest")

	sourceEnding = lazily(`\.(?:[cm]?[jt]s|py|rb|php|sh|jar|exe|cmd|bat|ps1|dll)$`)
	affixes      = lazily(`^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-server-mcp|-server|-mcp)$`)
	address      = lazily(`^[0-9.:\[\]a-fA-F]*$`)
)

func words(all string) []string { return strings.Fields(all) }

func nameOfCommand(command string, args []string) string {
	base := baseName(command)
	if !slices.Contains(runners, base) {
		return nameOfPath(command)
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case slices.Contains(takers, arg):
			i++
		case strings.HasPrefix(arg, "-"), slices.Contains(verbs, arg), slices.Contains(runners, baseName(arg)):
		case strings.ContainsAny(arg, "$= "):
			// A variable, a setting or a whole line is not a name.
		default:
			// Everything behind it is an argument of the server.
			return nameOfPath(arg)
		}
	}
	return ""
}

// nameOfPath returns the last part of a path, package or image that describes it.
func nameOfPath(path string) string {
	const farthest = 4 // parts beyond it say where a machine keeps its files
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	slices.Reverse(parts)
	for _, part := range parts[:min(len(parts), farthest)] {
		if at := strings.IndexAny(part, "@:"); at > 0 { // a version
			part = part[:at]
		}
		if name := descriptive(sourceEnding().ReplaceAllString(strings.ToLower(part), "")); name != "" {
			return name
		}
	}
	return ""
}

// nameOfURL returns the descriptive part of a host name or, for an IP address, of
// the path.
func nameOfURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	host := u.Hostname()
	if address().MatchString(host) || !strings.Contains(host, ".") {
		return nameOfPath(u.Path)
	}
	labels := strings.Split(strings.ToLower(host), ".")
	for _, label := range slices.Backward(labels[:len(labels)-1]) {
		if name := descriptive(label); name != "" {
			return name
		}
	}
	return ""
}

// descriptive returns a word without affixes such as -mcp-server; empty if nothing
// is left.
func descriptive(word string) string {
	word = strings.ReplaceAll(word, "_", "-")
	if name := affixes().ReplaceAllString(word, ""); name != "" {
		word = name
	}
	if slices.Contains(plain, word) || !strings.ContainsFunc(word, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
		return ""
	}
	return word
}
