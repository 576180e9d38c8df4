package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"

	"genkan/internal/gateway"
)

// paged prints a long text through a pager if standard output is a terminal, as git
// does: $PAGER, or less if that is not set. An empty PAGER and cat mean none.
func (c *command) paged(ctx context.Context, write func(io.Writer) error) error {
	pager := ""
	if isTerminal(c.std.Out) {
		pager = pagerCommand()
	}
	if pager == "" {
		return write(c.std.Out)
	}
	var text bytes.Buffer
	if err := write(&screen{out: &text, form: gateway.AppendEscape}); err != nil {
		return err
	}
	// A pager handles Ctrl-C itself, so that it can restore the terminal.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text.Bytes()), behind(c.std.Out), behind(c.std.Err)
	cmd.Env = os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRX") // no pager for what fits on the screen
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		_, err = c.std.Out.Write(text.Bytes()) // it could not be started
		return err
	}
	return nil
}

// pagerCommand returns the command of the pager; empty for none.
func pagerCommand() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	pager, set := os.LookupEnv("PAGER")
	if !set {
		if _, err := exec.LookPath("less"); err == nil {
			pager = "less"
		}
	}
	if pager == "cat" {
		return ""
	}
	return pager
}
