//go:build unix

package bridge

import (
	"os/exec"
	"syscall"
)

// detach gives the process its own session, so that Ctrl-C or the end of the
// terminal does not end it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
