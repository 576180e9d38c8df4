//go:build unix

package bridge

import (
	"os/exec"
	"syscall"
)

// detach gives the process a session of its own: a Ctrl-C or the end of the
// terminal is not for it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
