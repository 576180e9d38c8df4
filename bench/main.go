// Command bench measures what the house promises about its own weight: how
// much processor time a call costs compared with a plain reverse proxy, what a
// list costs, how fast genkan starts, and how much memory it keeps. Run it
// with make bench; docs/benchmarks.md explains what is measured and why.
//
// Machines are noisy, and shared ones more so. A goal is therefore a ratio
// between two processes that were measured in turns within the same minute,
// round after round, and the median of these ratios counts. Every subject is a
// process of its own, so that its processor time is its own: this binary runs
// itself again in different roles, beside the real bin/genkan.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if code, ok := runRole(os.Args[1:]); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are what the command line asks for.
type options struct {
	scale      scale
	only       string
	genkan     string
	rival      string
	profileDir string
	kbDir      string
	noC        bool
	// selfAsGenkan runs genkan as a role of this binary instead of building
	// it: for profiles, and for the test of the harness.
	selfAsGenkan bool
}

// run is main without the process around it.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	quick := flags.Bool("quick", false, "a short run, to see that everything works; its figures are rough")
	strict := flags.Bool("strict", false, "exit with status 1 when a goal is missed")
	jsonFile := flags.String("json", "", "also write the results to this `file`")
	only := flags.String("only", "", "run only the `parts` named here, separated by commas: "+partNames())
	genkan := flags.String("genkan", "", "measure this `binary` instead of building one")
	rival := flags.String("rival", "", "also measure calls through this `binary`, another build of genkan, in turns with ours")
	profile := flags.String("profile", "", "write processor profiles of the genkan processes to this `directory`")
	items := flags.String("items", "", "how many items the knowledge bases have, `numbers` separated by commas")
	kbDir := flags.String("kb-dir", "", "keep the made knowledge bases in this `directory` instead of the user's cache")
	noC := flags.Bool("no-c", false, "do not compare the knowledge base with SQLite in C, which takes a minute to build")
	limit := flags.Duration("timeout", 40*time.Minute, "give up after this long")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	opt := options{
		scale: fullScale, only: *only, genkan: *genkan, rival: *rival,
		profileDir: *profile, selfAsGenkan: *profile != "", kbDir: *kbDir, noC: *noC,
	}
	if *quick {
		opt.scale = quickScale
	}
	if *items != "" {
		opt.scale.kbItems = nil
		for text := range strings.SplitSeq(*items, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < leastItems {
				fmt.Fprintf(progress, "bench: -items takes numbers of at least %d, separated by commas, and not %q\n", leastItems, text)
				return 2
			}
			opt.scale.kbItems = append(opt.scale.kbItems, n)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	began := time.Now()
	report, err := measureAll(ctx, opt, progress)
	if report != nil {
		report.Seconds = time.Since(began).Seconds()
		report.print(out)
		if *jsonFile != "" {
			if err := report.writeJSON(*jsonFile); err != nil {
				fmt.Fprintln(progress, "bench:", err)
				return 2
			}
		}
	}
	if err != nil {
		fmt.Fprintln(progress, "bench:", err)
		return 2
	}
	if *strict && report.missed() > 0 {
		return 1
	}
	return 0
}
