package fault

import (
	"io"
	"os"
	"os/exec"
	"syscall"
)

// becomeTree turns this process into a shell whose child is the real server,
// which is how npx, uvx and friends look to whoever started them: killing the
// child that one knows leaves the server running. A sleeping process beside
// the server stands for the helpers that servers start.
func becomeTree(opts *options, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// Not by PATH, which a clean environment may lack.
	const shell = "/bin/sh"
	// The exit keeps the shell from replacing itself with the server.
	script := `"$0" -child sleep -pidfile "$FAULT_PIDFILE" -lifetime "$FAULT_LIFETIME" & "$0" "$@"; exit $?`
	argv := append([]string{"sh", "-c", script, self}, args...)
	argv = append(argv, "-grown")
	env := append(os.Environ(), "FAULT_PIDFILE="+opts.pidfile, "FAULT_LIFETIME="+opts.lifetime.String())
	return syscall.Exec(shell, argv, env)
}

// startDaemonChild starts a process that does not notice when the server
// ends. It inherits the server's output, as daemons that somebody forgot to
// detach do, so that a parent which waits for the end of the output waits for
// the daemon.
func startDaemonChild(opts *options, stdout, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "-child", "sleep", "-pidfile", opts.pidfile, "-lifetime", opts.lifetime.String())
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd.Start()
}
