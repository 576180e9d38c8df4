// Package fault is an MCP server that misbehaves on request: the upstream that
// every promise about hung, broken, chatty and dying servers is tested against.
//
// With no mode switched on it is a correct and strict server in both eras of
// the protocol, over stdio and streamable HTTP, and the official SDK's client
// is its oracle. Each mode then breaks exactly one thing. It is a separate
// process in almost every test, because crashing, ignoring signals and leaving
// grandchildren behind cannot be done in somebody else's process; package
// testkit starts it.
//
// It imports the standard library only and nothing of the house, so that a
// mistake in our own protocol code cannot hide in it.
package fault

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Exit codes of Main.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	// exitCrash is how every deliberate crash ends.
	exitCrash = 3
	// exitLifetime is how a forgotten process ends, see -lifetime.
	exitLifetime = 4
)

// Main runs the server until its input ends, its listener is closed by a
// signal, or a mode ends it, and returns the exit code. Modes that crash call
// os.Exit, so Main belongs into a process of its own.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "faultserver:", err)
		return exitUsage
	}

	// A test that fails or is killed must not leave processes on the machine
	// for ever, least of all those that ignore every polite request to go.
	suicide := time.AfterFunc(opts.lifetime, func() { os.Exit(exitLifetime) })
	defer suicide.Stop()

	if err := appendPid(opts.pidfile); err != nil {
		_, _ = fmt.Fprintln(stderr, "faultserver:", err)
		return exitFailure
	}
	if err := run(opts, args, stdin, stdout, stderr); err != nil {
		var crash crashError
		if errors.As(err, &crash) {
			return exitCrash
		}
		_, _ = fmt.Fprintln(stderr, "faultserver:", err)
		return exitFailure
	}
	return exitOK
}

// crashError ends the process with exitCrash from within run.
type crashError struct{}

func (crashError) Error() string { return "deliberate crash" }

func run(opts *options, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if opts.child != "" {
		waitForTheEnd()
	}
	if opts.on(modeTree) && !opts.grown {
		return becomeTree(opts, args)
	}
	if opts.on(modeCrashLoop) {
		_, _ = fmt.Fprintln(stderr, "faultserver: crashing at once, as asked")
		return crashError{}
	}
	if opts.on(modeIgnoreTerm) {
		// SIGPIPE too: a server that wants to stay also survives the loss of
		// its output.
		signal.Ignore(syscall.SIGTERM, os.Interrupt, syscall.SIGPIPE)
	}
	if opts.on(modeDaemonChild) {
		if err := startDaemonChild(opts, stdout, stderr); err != nil {
			return err
		}
	}
	if opts.on(modeStderrFlood) {
		flood(stderr)
	}
	if opts.on(modeSlowStart) {
		time.Sleep(opts.delay)
	}

	record, err := openRecord(opts.record)
	if err != nil {
		return err
	}
	defer func() { _ = record.close() }()

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(errShutdown)
	s := newServer(ctx, opts, record, stderr)
	if opts.transport == transportHTTP {
		return serveHTTP(ctx, cancel, s, stdin, stdout)
	}
	return serveStdio(ctx, cancel, s, stdin, stdout)
}

// waitForTheEnd blocks until a signal or the lifetime ends the process. It is
// not an empty select, which the runtime would report as a deadlock.
func waitForTheEnd() {
	for {
		time.Sleep(time.Hour)
	}
}

// flood writes a mebibyte of log lines. A parent that does not drain its
// child's stderr stops it here, since pipes hold far less.
func flood(stderr io.Writer) {
	line := []byte("faultserver: WARN this line says nothing, and there are many thousands like it, so drain them quickly\n")
	for written := 0; written < 1<<20; {
		n, err := stderr.Write(line)
		if err != nil {
			return
		}
		written += n
	}
}
