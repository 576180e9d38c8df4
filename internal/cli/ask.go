package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"genkan/internal/gateway"
)

// interactive reports whether standard input is a terminal, so that a person can be
// asked.
func (c *command) interactive() bool { return term.IsTerminal(int(c.std.In.Fd())) }

// confirm asks a person about a change that can be undone; Enter means yes. Without
// a person it fails, so that a script does not believe that the change was made.
func (c *command) confirm(ctx context.Context, question string) (bool, error) {
	return c.ask(ctx, question, true)
}

// confirmLoss is confirm for a change that deletes or overwrites; Enter means no.
func (c *command) confirmLoss(ctx context.Context, question string) (bool, error) {
	return c.ask(ctx, question, false)
}

// ask asks a person a yes-or-no question. otherwise is the answer of Enter alone.
func (c *command) ask(ctx context.Context, question string, otherwise bool) (bool, error) {
	if !c.interactive() {
		return false, gateway.Errorf(gateway.CodeInvalid, "nothing was changed, for nobody can be asked here; run it with --yes to do that")
	}
	choices := " [y/N] "
	if otherwise {
		choices = " [Y/n] "
	}
	fmt.Fprint(c.std.Err, question+choices)
	answer, err := c.typed(ctx, func() (string, error) { return bufio.NewReader(c.std.In).ReadString('\n') })
	if ctx.Err() != nil {
		return false, err
	}
	if err != nil { // the input ended
		return false, nil
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes" || answer == "" && otherwise, nil
}

// readSecret asks a person for a secret without echoing it. If standard input is
// not a terminal, it reads all of it without the final line break.
func (c *command) readSecret(ctx context.Context, prompt string) (gateway.Secret, error) {
	var text string
	if c.interactive() {
		fmt.Fprint(c.std.Err, prompt)
		typed, err := c.typed(ctx, func() (string, error) {
			raw, err := term.ReadPassword(int(c.std.In.Fd()))
			return string(raw), err
		})
		fmt.Fprintln(c.std.Err)
		if err != nil {
			return "", err
		}
		text = typed
	} else {
		const most = 64 << 10
		raw, err := io.ReadAll(io.LimitReader(bufio.NewReader(c.std.In), most+1))
		if err != nil {
			return "", err
		}
		if len(raw) > most {
			return "", gateway.Errorf(gateway.CodeInvalid, "a secret has at most %d bytes", most)
		}
		text = strings.TrimRight(string(raw), "\r\n")
	}
	if text == "" {
		return "", gateway.Errorf(gateway.CodeInvalid, "the secret is empty; nothing was kept")
	}
	return gateway.Secret(text), nil
}

// typed waits for a person's input or for Ctrl-C. A read of the terminal cannot be
// interrupted, so on Ctrl-C it is left running and the terminal's state is
// restored.
func (c *command) typed(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	fd := int(c.std.In.Fd())
	before, stateErr := term.GetState(fd)
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		if stateErr == nil {
			_ = term.Restore(fd, before) // the process ends even if this fails
		}
		fmt.Fprintln(c.std.Err)
		return "", &gateway.Error{Code: gateway.CodeCanceled, Err: ctx.Err(), Message: "canceled"}
	}
}
