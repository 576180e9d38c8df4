package clients

// place is one file of a client, with its peculiarities.
type place struct {
	path     string
	scope    Scope
	keys     []string
	sections string
	list     bool
	// remote and local, if set, are used instead of the client's own.
	remote func(url string, headers []pair) []pair
	local  func(command string, args []string) []pair
}

func claudeDesktopPlaces(e Environment) []place {
	const file = "claude_desktop_config.json"
	keys := []string{"mcpServers"}
	places := []place{{path: e.join(e.applications(), "Claude", file), keys: keys}}
	if e.windows() {
		// The packaged app from the store has its own roaming folder.
		local := e.from("LOCALAPPDATA", e.home("AppData/Local"))
		for _, path := range e.matching(e.join(local, "Packages/Claude_*/LocalCache/Roaming/Claude", file)) {
			places = append(places, place{path: path, keys: keys})
		}
	}
	return places
}

func claudeCodePlaces(e Environment) []place {
	keys := []string{"mcpServers"}
	places := []place{{path: e.join(e.from("CLAUDE_CONFIG_DIR", e.Home), ".claude.json"), keys: keys, sections: "projects"}}
	return append(places, e.project(place{path: ".mcp.json", keys: keys})...)
}

func cursorPlaces(e Environment) []place {
	keys := []string{"mcpServers"}
	places := []place{{path: e.home(".cursor/mcp.json"), keys: keys}}
	return append(places, e.project(place{path: ".cursor/mcp.json", keys: keys})...)
}

// vscodePlaces returns the files in VS Code's own format, and those in the portable
// format that it shares with the Copilot command line.
func vscodePlaces(e Environment) []place {
	own, portable := []string{"servers"}, []string{"mcpServers"}
	var places []place
	for _, folder := range vscodeFolders(e) {
		places = append(places, place{path: e.join(folder, "mcp.json"), keys: own})
		for _, path := range e.matching(e.join(folder, "profiles/*/mcp.json")) {
			places = append(places, place{path: path, keys: own})
		}
	}
	places = append(places, place{
		path: e.join(e.from("COPILOT_HOME", e.home(".copilot")), "mcp-config.json"), keys: portable,
		remote: copilotHTTP, local: copilotProcess,
	})
	places = append(places, e.project(place{path: ".vscode/mcp.json", keys: own})...)
	return append(places, e.project(place{path: ".mcp.json", keys: portable})...)
}

func vscodeFolders(e Environment) []string {
	return []string{
		e.join(e.applications(), "Code/User"),
		e.join(e.applications(), "Code - Insiders/User"),
	}
}

// windsurfPlaces returns the files of Windsurf. The program has been called Devin
// Desktop since 2026, and has files of that name too.
func windsurfPlaces(e Environment) []place {
	keys := []string{"mcpServers"}
	devin := e.join(e.config(), "devin")
	if e.windows() {
		devin = e.join(e.applications(), "devin")
	}
	places := []place{{path: e.home(".codeium/windsurf/mcp_config.json"), keys: keys}}
	devins := func(path string) place { return place{path: path, keys: keys, remote: devinHTTP, local: devinProcess} }
	for _, file := range []string{"mcp_config.json", "config.json"} {
		places = append(places, devins(e.join(devin, file)))
	}
	for _, file := range []string{".devin/mcp_config.json", ".devin/config.json", ".devin/config.local.json"} {
		places = append(places, e.project(devins(file))...)
	}
	return places
}

func codexPlaces(e Environment) []place {
	keys := []string{"mcp_servers"}
	places := []place{{path: e.join(e.from("CODEX_HOME", e.home(".codex")), "config.toml"), keys: keys}}
	return append(places, e.project(place{path: ".codex/config.toml", keys: keys})...)
}

func geminiPlaces(e Environment) []place {
	keys := []string{"mcpServers"}
	places := []place{{path: e.home(".gemini/settings.json"), keys: keys}}
	return append(places, e.project(place{path: ".gemini/settings.json", keys: keys})...)
}

func zedPlaces(e Environment) []place {
	keys := []string{"context_servers"}
	folder := e.join(e.config(), "zed")
	switch {
	case e.windows():
		folder = e.join(e.applications(), "Zed")
	case e.GOOS == "darwin":
		folder = e.home(".config/zed")
	}
	places := []place{{path: e.join(folder, "settings.json"), keys: keys}}
	return append(places, e.project(place{path: ".zed/settings.json", keys: keys})...)
}

// clinePlaces returns the files of the extension in its editors, and those of the
// command line.
func clinePlaces(e Environment) []place {
	const file = "cline_mcp_settings.json"
	keys := []string{"mcpServers"}
	var places []place
	editors := append(vscodeFolders(e), e.join(e.applications(), "Cursor/User"), e.join(e.applications(), "Windsurf/User"))
	for _, folder := range editors {
		places = append(places, place{path: e.join(folder, "globalStorage/saoudrizwan.claude-dev/settings", file), keys: keys})
	}
	return append(places, place{path: e.from("CLINE_MCP_SETTINGS_PATH", e.home(".cline/data/settings", file)), keys: keys})
}

// continuePlaces returns the files of Continue. Besides its configuration it reads
// every file of a folder, which may contain copies of other clients' files.
func continuePlaces(e Environment) []place {
	keys := []string{"mcpServers"}
	home := e.from("CONTINUE_GLOBAL_DIR", e.home(".continue"))
	places := []place{
		{path: e.join(home, "config.yaml"), keys: keys, list: true},
		{path: e.join(home, "config.json"), keys: keys, list: true}, // before 2025
	}
	blocks := func(folder string, scope Scope) {
		for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
			for _, path := range e.matching(e.join(folder, "mcpServers", pattern)) {
				places = append(places, place{path: path, scope: scope, keys: keys, list: formatOf(path) == YAML})
			}
		}
	}
	blocks(home, User)
	if e.WorkDir != "" {
		blocks(e.join(e.WorkDir, ".continue"), Project)
	}
	return places
}

func opencodePlaces(e Environment) []place {
	keys := []string{"mcp"}
	var places []place
	if named := e.from("OPENCODE_CONFIG", ""); named != "" {
		places = append(places, place{path: named, keys: keys})
	}
	for _, file := range []string{"opencode.json", "opencode.jsonc"} {
		places = append(places, place{path: e.join(e.config(), "opencode", file), keys: keys})
	}
	for _, file := range []string{"opencode.json", "opencode.jsonc"} {
		places = append(places, e.project(place{path: file, keys: keys})...)
	}
	return places
}

// project puts a place into the project's folder, if there is one.
func (e Environment) project(p place) []place {
	if e.WorkDir == "" {
		return nil
	}
	p.path, p.scope = e.join(e.WorkDir, p.path), Project
	return []place{p}
}
