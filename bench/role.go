package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"

	"genkan/internal/cli"
	"genkan/internal/script"
)

// roleCommand is the first argument of a process that plays a role.
const roleCommand = "role"

// runRole plays the role that the arguments name, and reports whether they
// name one.
func runRole(args []string) (code int, ok bool) {
	script.Main() // a genkan that is a role of this binary starts its workers from it
	if len(args) == 1 && args[0] == cli.GuardCommand {
		// The role genkan starts its guard as the real one does.
		return genkanRole(args), true
	}
	if len(args) < 2 || args[0] != roleCommand {
		return 0, false
	}
	name, args := args[1], args[2:]
	var err error
	switch name {
	case "genkan":
		return genkanRole(args), true
	case "gateway":
		err = gatewayRole(args)
	case "upstream":
		err = upstreamRole(args)
	case "child":
		err = childRole(args)
	case "reverse":
		err = reverseRole(args)
	case "static":
		err = staticRole(args)
	case roleKnowledge:
		args, stop, err := profiled(args)
		if err == nil {
			err = kbRole(args)
			stop()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench: kb:", err)
			return 1, true
		}
		return 0, true
	case "ui":
		err = uiRole(args)
	case "calls":
		err = callsRole(args)
	case "spin":
		err = spinRole(os.Stdin, os.Stdout)
	case "load":
		err = loadRole(os.Stdin, os.Stdout)
	default:
		err = fmt.Errorf("there is no role %q", name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", name+":", err)
		return 1, true
	}
	return 0, true
}

// profileFlag precedes a role's own arguments when it is to be profiled.
const profileFlag = "-cpuprofile"

// genkanRole is the whole genkan, in this binary.
func genkanRole(args []string) int {
	args, stop, err := profiled(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	defer stop()
	return cli.Main(args, "bench", cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// profiled begins a processor profile if the arguments ask for one.
func profiled(args []string) (rest []string, stop func(), err error) {
	if len(args) < 2 || args[0] != profileFlag {
		return args, func() {}, nil
	}
	f, err := os.Create(args[1])
	if err != nil {
		return nil, nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, nil, err
	}
	return args[2:], func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}, nil
}

// serveRole listens on loopback, tells the harness where, and serves until the
// harness is gone.
func serveRole(h http.Handler) error {
	return serveRoleAt(h, func(string) error { return nil })
}

// serveRoleAt is serveRole with something to do once the address is known.
func serveRoleAt(h http.Handler, before func(address string) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := before(l.Addr().String()); err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go untilOrphaned()
	return http.Serve(l, h)
}

// untilOrphaned ends the process when the harness, which holds the other end
// of its standard input, has ended in whatever way.
func untilOrphaned() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
