// Command genkan is the front door to an agent's tools.
package main

import (
	"os"

	"genkan/internal/cli"
)

// version is set when the binary is built.
var version = "dev"

func main() {
	os.Exit(cli.Main(os.Args[1:], version, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
