package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// roleCommand is the first argument of a process that plays a role beside the
// one that runs the suite.
const (
	roleCommand     = "role"
	roleLegacyStdio = "legacy-stdio"
	roleClient      = "client"
	roleSignIn      = "sign-in"
	roleBrowser     = "browser"
)

// runRole plays the role that the arguments name, and reports whether they
// name one.
func runRole(ctx context.Context, args []string) (code int, ok bool) {
	if len(args) < 2 || args[0] != roleCommand {
		return 0, false
	}
	var err error
	switch name, rest := args[1], args[2:]; {
	case name == roleLegacyStdio && len(rest) > 0:
		err = legacyStdio(ctx, rest, os.Stdin, os.Stdout)
	case name == roleClient && len(rest) == 1:
		err = actAsClient(ctx, rest[0])
	case name == roleSignIn && len(rest) == 1:
		err = actAsPerson(ctx, rest[0])
	case name == roleBrowser && len(rest) == 1:
		err = browse(ctx, rest[0])
	default:
		err = fmt.Errorf("there is no role %q with these arguments", args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", args[1]+":", err)
		return 1, true
	}
	return 0, true
}

// legacyStdio runs a stdio server that speaks both eras as one that never
// heard of the modern one: it answers server/discover itself.
func legacyStdio(ctx context.Context, command []string, in io.Reader, out io.Writer) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	toServer, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	shared := &lines{out: out}
	cmd.Stdout = shared
	if err := cmd.Start(); err != nil {
		return err
	}
	err = refuseDiscover(in, toServer, shared)
	return errors.Join(err, toServer.Close(), cmd.Wait())
}

// refuseDiscover passes lines on, but for the questions that it answers.
func refuseDiscover(in io.Reader, toServer io.Writer, toClient *lines) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var msg struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(line, &msg) == nil && msg.Method == "server/discover" {
			err = toClient.insert(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", msg.ID))
		} else {
			_, err = toServer.Write(line)
		}
		if err != nil {
			return err
		}
	}
}

// lines is an output that a server writes to, and into which others insert
// whole lines between its own.
type lines struct {
	mu   sync.Mutex
	out  io.Writer
	rest []byte // the begun line of the server, whose writes may end anywhere
}

func (w *lines) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	_, err := w.out.Write(w.rest[:end])
	w.rest = append(w.rest[:0], w.rest[end:]...)
	return len(p), err
}

func (w *lines) insert(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(line)
	return err
}
