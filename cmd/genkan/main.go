// Command genkan is the front door to an agent's tools.
package main

import (
	"os"
	"runtime"

	"genkan/internal/cli"
	"genkan/internal/script"
)

// version is set when the binary is built.
var version = "dev"

func main() {
	script.Main() // does not return if this process is a worker
	// Never written to, so it takes no memory, but the garbage collector counts
	// it: without it an idle gateway's heap is so small that a collection runs
	// every few calls (docs/benchmarks.md).
	ballast := make([]byte, 4<<20)
	status := cli.Main(os.Args[1:], version, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	runtime.KeepAlive(ballast)
	os.Exit(status)
}
