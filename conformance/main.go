// Command conformance holds genkan against the public conformance suite of
// MCP: the suite's server scenarios, asked of a fixture directly and of the
// same fixture behind genkan, for every pairing of eras and wires; and its
// client scenarios, run by a client directly and by the same client behind
// genkan. What differs is what genkan does wrong, or what a wire cannot carry.
// Run it with make conformance; docs/conformance.md keeps the result.
//
// Its command peers, which make peers runs, does the same with real clients and
// servers: docs/peers.md.
//
// Every subject is a real process: bin/genkan as make build makes it, the Go
// SDK's fixture, and the suite in Node.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, ok := runRole(ctx, os.Args[1:])
	switch {
	case ok:
	case len(os.Args) > 1 && os.Args[1] == peersCommand:
		code = runPeers(ctx, os.Args[2:], os.Stdout, os.Stderr)
	default:
		code = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	os.Exit(code)
}

// document keeps the result.
const document = "docs/conformance.md"

// options are what the command line asks for.
type options struct {
	only   string
	behind string
	quick  bool
	keep   string
	genkan string
}

// run is main without the process around it. Its status is 1 when genkan
// differs where it must not, and 2 when that could not be found out.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	var opt options
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.StringVar(&opt.only, "only", "", "run only the `pairings` named here, separated by commas: "+partNames())
	flags.BoolVar(&opt.quick, "quick", false, "only the pairings of one era over HTTP")
	flags.StringVar(&opt.keep, "keep", "", "keep the suite's output and all logs in this `directory`")
	flags.StringVar(&opt.genkan, "genkan", "", "test this `binary` instead of building one")
	write := flags.Bool("write", false, "also keep the result in "+document)
	limit := flags.Duration("timeout", 20*time.Minute, "give up after this long")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *write && (opt.only != "" || opt.quick) {
		fmt.Fprintln(progress, "conformance: -write keeps whole results; it does not go with -only and -quick")
		return 2
	}
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	r, err := examine(ctx, opt, progress)
	if r != nil {
		r.print(out)
	}
	if err == nil && *write {
		err = writeInto(document, r.markdown())
	}
	if err != nil {
		fmt.Fprintln(progress, "conformance:", err)
		return 2
	}
	if r.unexplained() > 0 {
		return 1
	}
	return 0
}
