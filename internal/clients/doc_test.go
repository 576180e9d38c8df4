package clients_test

import (
	"fmt"

	"genkan/internal/clients"
)

func ExampleFile_Parse() {
	cursor, _ := clients.Lookup("cursor")
	file := cursor.Files(clients.Environment{GOOS: "linux", Home: "/srv/example/mika"})[0]
	found, err := file.Parse([]byte(`{"mcpServers": {"GitHub": {"command": "npx", "args": ["-y", "github-server"], "env": {"TOKEN": "ghp_0123456789abcdefghij0123456789abcdef"}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Path)
	for _, s := range found.Servers {
		fmt.Println(s.Name, s.Command, s.Args, len(s.Secrets))
	}
	// Output:
	// /srv/example/mika/.cursor/mcp.json
	// github npx [-y github-server] 1
}
