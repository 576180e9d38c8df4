// Package testkit has what all tests share: a misbehaving MCP server (package
// fault, started here as a process of its own), conversations written as txtar
// files, golden files, and functions that wait for conditions instead of for time.
//
// It is imported by tests only.
package testkit

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"genkan/internal/testkit/fault"
)

const (
	// faultEnv makes a test binary be the fault server.
	faultEnv = "GENKAN_FAULT_SERVER"
	// mainEnv remembers, for FaultCommand, that Main is in place; without it
	// the child would run the tests again, which start a child, and so on.
	mainEnv = "GENKAN_TESTKIT_MAIN"
)

// Main is the body of TestMain:
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
//
// It runs the tests and then fails if goroutines are left over. In a process
// that FaultCommand describes it is the fault server instead.
func Main(m *testing.M, opts ...goleak.Option) {
	if os.Getenv(faultEnv) == "1" {
		os.Exit(fault.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	registerUpdate()
	if checks := flag.Lookup("rapid.checks"); checks != nil && !Full() {
		_ = checks.Value.Set("20") // a flag on the command line still counts
	}
	for name, value := range map[string]string{
		mainEnv: "1",
		// No test depends on the start files of whoever runs it.
		"SHELL": "/bin/false",
		// Nor on their language.
		"LC_ALL": "", "LC_MESSAGES": "", "LANG": "C.UTF-8",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, append(opts, goleak.Cleanup(func(status int) {
		_ = os.RemoveAll(faultDir)
		os.Exit(status)
	}))...)
}

// RaceDetector reports whether this binary was built with -race.
func RaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// Full reports whether tests run with their full counts. `make check` and CI ask
// for that with GENKAN_TESTS=full; `make test` is for people who wait for it.
func Full() bool { return os.Getenv("GENKAN_TESTS") == "full" }

// Count returns how often a test does something that it repeats for rare cases.
func Count(usual, full int) int {
	if Full() {
		return full
	}
	return usual
}

// OneIn reports whether a test runs a combination of values, each given by its index
// in its dimension. With full counts it runs all, usually one in n. Any value of a
// dimension is then combined with any of another if a third has at least n values.
func OneIn(n int, indices ...int) bool {
	sum := 0
	for _, i := range indices {
		sum += i
	}
	return Full() || sum%n == 0
}

// patience is how long Eventually waits. It is long because machines are busy
// and because nobody waits for it but tests that fail.
const patience = 2 * time.Minute

// Eventually waits until the condition holds, and fails the test with the
// message when it does not. Call it from the test's goroutine.
func Eventually(tb testing.TB, condition func() bool, format string, args ...any) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	// Most conditions ask over HTTP: to look more often takes time from what is waited for.
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if condition() {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("after %v still not: %s", patience, fmt.Sprintf(format, args...))
		}
		time.Sleep(pause)
	}
}

// Lines reads a file that somebody may still be appending to: its complete
// lines, and none when it does not exist yet.
func Lines(tb testing.TB, file string) []string {
	tb.Helper()
	content, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		tb.Fatal(err)
	}
	complete, _, _ := cutLast(string(content), "\n")
	if complete == "" {
		return nil
	}
	return strings.Split(complete, "\n")
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// Pids reads the file that the fault server's -pidfile names: one process id
// for each process that it started, in that order.
func Pids(tb testing.TB, file string) []int {
	tb.Helper()
	var pids []int
	for _, line := range Lines(tb, file) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// Alive reports whether a process runs. One that has ended but was not waited
// for does not run, where the system lets us see that.
func Alive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	if err := process.Signal(syscall.Signal(0)); err != nil {
		return false
	}
	if runtime.GOOS != "linux" {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the command, which stands in parentheses and may
	// itself contain any of them.
	_, state, found := cutLast(string(stat), ") ")
	return !found || (state[0] != 'Z' && state[0] != 'X')
}
