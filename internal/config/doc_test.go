package config_test

import (
	"fmt"

	"genkan/internal/config"
)

func ExampleParse() {
	file := []byte("port: 8080\nmcpServers:\n  files: {command: npx, args: [-y, some-server]}\n  search: {url: https://example.com/mcp, prefix: web}\n")
	cfg, err := config.Parse(file, "genkan.yaml", config.Sources{}, config.Flags{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg.Listen)
	for _, s := range cfg.Servers {
		fmt.Println(s.Name, s.Prefix, s.Timeout)
	}

	_, err = config.Parse([]byte("prot: 8080\nlang: fr\n"), "genkan.yaml", config.Sources{}, config.Flags{})
	fmt.Println(err)
	// Output:
	// 127.0.0.1:8080
	// files files 10m0s
	// search web 10m0s
	// genkan.yaml:1:1: unknown key "prot"; did you mean "port"?
	// genkan.yaml:2:7: lang cannot be "fr"; use one of en, ja
}
