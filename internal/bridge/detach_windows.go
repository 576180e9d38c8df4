package bridge

import (
	"os/exec"
	"syscall"
)

// detach gives the process its own group and no console, so that Ctrl-C or the end
// of the window does not end it.
func detach(cmd *exec.Cmd) {
	const detachedProcess = 0x8
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
