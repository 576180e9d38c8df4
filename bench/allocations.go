package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// measureAllocations runs the benchmarks of the way through the house, which
// count what a call allocates without any network.
func measureAllocations(l *lab, r *report) error {
	fmt.Fprintln(l.progress, "allocations: go test -bench")
	cmd := exec.CommandContext(l.ctx, "go", "test", "-run", "^$", "-bench", ".", "-benchmem",
		"-benchtime", l.scale.benchTime, ".")
	cmd.Dir = "bench"
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "Benchmark") {
			r.Allocations = append(r.Allocations, strings.TrimSpace(line))
		}
	}
	return nil
}
