package launch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// ResolvingVariable is set for the login shell that is asked for its PATH, so
// that people's start files can leave out what is slow or talks to a terminal.
const ResolvingVariable = "GENKAN_RESOLVING_PATH"

const (
	// patienceWithShell is how long the start files of the login shell may take.
	patienceWithShell = 5 * time.Second
	// maxShellOutput is how much they may print.
	maxShellOutput = 1 << 20
)

// loginShell returns the shell of the user: SHELL or, if that is not set, as for
// services, what the user database says. It returns "" for users without one.
func loginShell(goos string, env []string, uid int, userDatabase string) string {
	shell := lookup(goos, env, "SHELL")
	if shell == "" {
		shell = shellOf(uid, userDatabase)
	}
	if shell == "" && goos == "darwin" {
		shell = "/bin/zsh" // people are not in the user database there
	}
	switch base := path.Base(shell); {
	case goos == "windows", !strings.HasPrefix(shell, "/"), base == "nologin", base == "false", base == "true":
		return ""
	}
	return shell
}

// shellOf parses a line like ann:x:1000:1000:Ann:/folder:/bin/bash.
func shellOf(uid int, userDatabase string) string {
	raw, err := os.ReadFile(userDatabase)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == 7 && fields[2] == strconv.Itoa(uid) {
			return fields[6]
		}
	}
	return ""
}

// shellArguments return the arguments with which a shell prints its PATH between
// two marks. It runs as an interactive login shell, because nvm and similar tools
// are set up in the start files of terminals.
func shellArguments(shell, mark string) []string {
	const posix = `printf '%s' "MARK${PATH}MARK"`
	flags, script := []string{"-l", "-i", "-c"}, posix
	switch strings.TrimSuffix(path.Base(shell), ".exe") {
	case "fish": // a list, which old versions join with spaces
		script = `printf '%s' "MARK"(string join : $PATH)"MARK"`
	case "csh", "tcsh": // -l stands alone there or not at all
		flags = []string{"-i", "-c"}
	case "nu":
		script = `print --no-newline $"MARK($env.PATH | str join ':')MARK"`
	case "xonsh":
		script = `print("MARK" + ":".join($PATH) + "MARK", end="")`
	case "pwsh":
		flags, script = []string{"-Login", "-Command"}, `[Console]::Write("MARK$($env:PATH)MARK")`
	}
	return append(flags, strings.ReplaceAll(script, "MARK", mark))
}

// errNoAnswer means that the shell ended without printing its PATH.
var errNoAnswer = errors.New("it did not print its PATH")

// askShell asks a login shell for its PATH. The shell has no terminal, no input
// and a few seconds; other output is ignored.
func (l *Launcher) askShell(ctx context.Context, shell string, env []string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patienceWithShell, errors.New("it took more than "+patienceWithShell.String()))
	defer cancel()
	mark := "genkan-" + rand.Text()
	cmd := exec.Command(shell, shellArguments(shell, mark)...) //nolint:gosec,noctx // the user's own shell; its group is ended below
	cmd.Dir = lookup(runtime.GOOS, env, "HOME")
	cmd.Env = append(env, "TERM=dumb", ResolvingVariable+"=1", "DISABLE_AUTO_UPDATE=true")
	// A session of its own: an interactive shell would fight for our terminal.
	leaveTerminal(cmd)
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer closeAll(r)
	cmd.Stdout = w
	err = cmd.Start()
	closeAll(w)
	if err != nil {
		return "", err
	}
	l.guard.watch(cmd.Process.Pid)
	// Processes that the start files left running end with the shell.
	defer func() {
		killGroup(cmd.Process.Pid)
		_ = cmd.Wait()
		l.guard.unwatch(cmd.Process.Pid)
	}()
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) })
	defer stop()
	answer, err := between(io.LimitReader(r, maxShellOutput), mark)
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	return answer, err
}

// between reads until it has found a text between two marks. It does not wait for
// the end of the output, which a background process may hold open.
func between(r io.Reader, mark string) (string, error) {
	lines := bufio.NewReader(r)
	var seen []byte
	for {
		b, err := lines.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errNoAnswer
			}
			return "", err
		}
		seen = append(seen, b)
		if !bytes.HasSuffix(seen, []byte(mark)) {
			continue
		}
		if before := bytes.Index(seen, []byte(mark)); before < len(seen)-len(mark) {
			text := string(seen[before+len(mark) : len(seen)-len(mark)])
			if !strings.Contains(text, "\n") && len(folders("unix", text)) > 0 {
				return text, nil
			}
			// The shell echoes the command, and may still answer it.
			seen = append(seen[:0], mark...)
		}
	}
}
