// Command faultserver is the misbehaving MCP server of package fault, for use
// by hand and by scripts.
package main

import (
	"os"

	"genkan/internal/testkit/fault"
)

func main() { os.Exit(fault.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
